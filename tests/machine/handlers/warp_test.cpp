// SPDX-License-Identifier: MIT
// What lanes of a warp do together, lane by lane against the ISA's definitions.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using words = std::vector<std::uint32_t>;

words random_words(std::size_t count, std::uint32_t seed) {
    random32 engine(seed);
    words v(count);
    for (std::uint32_t& x : v) {
        x = engine();
    }
    return v;
}

// One warp for each 32 entries of the inputs; each lane gets its a, b, c in %r3 %r4 %r5 and stores `outputs` words from
// %r10, %r11, ...
words run_warps(const std::string& body, const words& a, const words& b, const words& c, unsigned outputs) {
    std::string text = "mul.wide.u32 %rd1, %i, 4;\n";
    for (unsigned k = 0; k < 3; ++k) {
        text += "add.u64 %rd2, %rd1, %p" + std::to_string(k + 1) + "; ld.global.u32 %r" + std::to_string(k + 3) +
                ", [%rd2];\n";
    }
    text += "mul.wide.u32 %rd0, %i, " + std::to_string(4 * outputs) +
            "; add.u64 %rd0, %rd0, %p0;\nmov.u32 %r6, %laneid;\n" + body + "\n";
    for (unsigned k = 0; k < outputs; ++k) {
        text += "st.global.u32 [%rd0+" + std::to_string(4 * k) + "], %r" + std::to_string(10 + k) + ";\n";
    }
    program p(kernel(text + "ret;"));
    const std::uint64_t out = p.buffer<std::uint32_t>(a.size() * outputs);
    launch_options how;
    how.block.x = 128;
    how.grid.x = static_cast<std::uint32_t>(a.size() / 128);
    p.run(how, {out, p.buffer(a), p.buffer(b), p.buffer(c)});
    return p.contents<std::uint32_t>(out, a.size() * outputs);
}

struct shuffled {
    unsigned from;
    bool inside;
};
shuffled source_of(const std::string& mode, unsigned own, std::uint32_t b, std::uint32_t c) {
    const int lane = static_cast<int>(own);
    const int bval = static_cast<int>(b & 31);
    const int cval = static_cast<int>(c & 31);
    const int segment = static_cast<int>(c >> 8 & 31);
    const int most = (lane & segment) | (cval & ~segment);
    const int least = lane & segment;
    int j = 0;
    bool inside = false;
    if (mode == "up") {
        j = lane - bval;
        inside = j >= most;
    } else if (mode == "down") {
        j = lane + bval;
        inside = j <= most;
    } else if (mode == "bfly") {
        j = lane ^ bval;
        inside = j <= most;
    } else {
        j = least | (bval & ~segment);
        inside = j <= most;
    }
    return {static_cast<unsigned>(inside ? j : lane), inside};
}

TEST(Warp, ShuffleEveryDistanceAndSegment) {
    for (const std::string mode : {"up", "down", "bfly", "idx"}) {
        words b;
        words c;
        for (std::uint32_t width = 1; width <= 32; width *= 2) {
            for (std::uint32_t distance = 0; distance < 34; ++distance) {
                b.insert(b.end(), 32, distance);
                c.insert(c.end(), 32, (32 - width) << 8 | (mode == "up" ? 0 : 31));
            }
        }
        const words any = random_words(4096, 11); // distances, clamps and segments that differ from lane to lane
        b.insert(b.end(), any.begin(), any.begin() + 2048);
        c.insert(c.end(), any.begin() + 2048, any.end());
        b.resize(b.size() / 128 * 128);
        c.resize(b.size());
        const words a = random_words(b.size(), 12);
        const words d = run_warps("shfl.sync." + mode +
                                      ".b32 %r10|%q0, %r3, %r4, %r5, 0xFFFFFFFF; selp.u32 %r11, 1, 0, %q0;\n"
                                      "shfl.sync." +
                                      mode + ".b32 %r12, %r3, %r4, %r5, -1;",
                                  a, b, c, 3);
        std::size_t wrong = 0;
        for (std::size_t n = 0; n < a.size(); ++n) {
            const shuffled s = source_of(mode, n % 32, b[n], c[n]);
            const std::uint32_t expected = a[n / 32 * 32 + s.from];
            if (d[3 * n] != expected || d[3 * n + 1] != (s.inside ? 1u : 0u) || d[3 * n + 2] != expected) {
                ++wrong;
                EXPECT_LE(wrong, 3u) << mode << " lane " << n % 32 << " b " << b[n] << " c " << c[n];
            }
        }
        EXPECT_EQ(wrong, 0u) << mode;
    }
}

// In place, and with constant distance, mask and clamp as nvcc writes it.
TEST(Warp, ShuffleInPlaceSums) {
    const words a = random_words(256, 13);
    std::string body = "mov.u32 %r10, %r3;\n";
    for (const unsigned d : {16u, 8u, 4u, 2u, 1u}) {
        body += "shfl.sync.bfly.b32 %r11, %r10, " + std::to_string(d) + ", 31, -1; add.u32 %r10, %r10, %r11;\n";
    }
    body += "shfl.sync.idx.b32 %r3, %r3, 3, 31, -1; mov.u32 %r11, %r3;";
    const words d = run_warps(body, a, a, a, 2);
    for (std::size_t n = 0; n < a.size(); ++n) {
        std::uint32_t sum = 0;
        for (std::size_t k = n / 32 * 32; k < n / 32 * 32 + 32; ++k) {
            sum += a[k];
        }
        EXPECT_EQ(d[2 * n], sum);
        EXPECT_EQ(d[2 * n + 1], a[n / 32 * 32 + 3]);
    }
}

// Only the lanes of the mask take part; the others do other things meanwhile.
TEST(Warp, ShuffleAmongSome) {
    const words a = random_words(128, 14);
    const words d = run_warps("mov.u32 %r10, 77; setp.lt.u32 %q1, %r6, 16; @!%q1 bra other;\n"
                              "shfl.sync.bfly.b32 %r10, %r3, 5, 31, 0xFFFF; bra both;\n"
                              "other: shfl.sync.up.b32 %r10, %r3, 1, 0, 0xFFFF0000;\nboth:\n"
                              "mov.u32 %r11, 5; @%q1 shfl.sync.idx.b32 %r11, %r3, 9, 31, 0xFFFF;",
                              a, a, a, 2);
    for (std::size_t n = 0; n < a.size(); ++n) {
        const std::size_t warp = n / 32 * 32;
        const std::size_t lane = n % 32;
        // The source of lane 16 is away, and as on an H100 it gets 0.
        EXPECT_EQ(d[2 * n], lane < 16 ? a[warp + (lane ^ 5)] : lane == 16 ? 0 : a[n - 1]) << lane;
        EXPECT_EQ(d[2 * n + 1], lane < 16 ? a[warp + 9] : 5) << lane;
    }
}

// Sums by halves among eight lanes ask lanes that are elsewhere or have returned: the hardware gives 0 for them, and
// NVIDIA's own reduction counts on it.
TEST(Warp, ShuffleFromAbsentLanesGivesZero) {
    const words a = random_words(128, 16);
    const std::string sum_of_eight = [] {
        std::string text;
        for (const unsigned d : {16u, 8u, 4u, 2u, 1u}) {
            text += "shfl.sync.down.b32 %r12, %r10, " + std::to_string(d) + ", 31, 0xFF; add.u32 %r10, %r10, %r12;\n";
        }
        return text;
    }();
    const std::string start = "mov.u32 %r10, %r3; mov.u32 %r11, 0; setp.ge.u32 %q1, %r6, 8;\n";
    const words away = run_warps(start + "@%q1 bra both;\n" + sum_of_eight + "both:", a, a, a, 2);
    const words gone = run_warps(start + "@%q1 exit;\n" + sum_of_eight, a, a, a, 2);
    for (std::size_t n = 0; n < a.size(); n += 32) {
        for (std::size_t lane = 0; lane < 8; ++lane) {
            std::uint32_t sum = 0;
            for (std::size_t k = lane; k < 8; ++k) {
                sum += a[n + k];
            }
            EXPECT_EQ(away[2 * (n + lane)], sum) << lane;
            EXPECT_EQ(gone[2 * (n + lane)], sum) << lane;
        }
    }
}

TEST(Warp, Votes) {
    const std::size_t warps = 32;
    words a = random_words(warps * 32, 15);
    for (std::size_t w = 0; w < 8; ++w) { // unanimous ones
        std::fill_n(a.begin() + static_cast<std::ptrdiff_t>(32 * w), 32, w % 2 == 0 ? 1u : 2u);
    }
    // The mask is one of the warp: half of the warps vote in full, of the others the odd lanes only.
    const words d = run_warps(
        "and.b32 %r7, %r3, 1; setp.ne.u32 %q0, %r7, 0; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0;\n"
        "shr.u32 %r8, %i, 5; and.b32 %r8, %r8, 8; setp.eq.u32 %q1, %r8, 0; selp.u32 %r9, -1, 0xAAAAAAAA, %q1;\n"
        "shr.u32 %r8, %r9, %r6; and.b32 %r8, %r8, 1; setp.eq.u32 %q2, %r8, 0; @%q2 bra done;\n"
        "vote.sync.all.pred %q3, %q0, %r9; @%q3 or.b32 %r10, %r10, 1; vote.sync.any.pred %q3, %q0, %r9; @%q3 or.b32 "
        "%r10, %r10, 2;\n"
        "vote.sync.uni.pred %q3, %q0, %r9; @%q3 or.b32 %r10, %r10, 4; vote.sync.all.pred %q3, !%q0, %r9; @%q3 or.b32 "
        "%r10, %r10, 8;\n"
        "vote.sync.any.pred %q3, !%q0, %r9; @%q3 or.b32 %r10, %r10, 16; vote.sync.ballot.b32 %r11, %q0, %r9;\n"
        "vote.sync.ballot.b32 %r12, !%q0, %r9;\ndone:",
        a, a, a, 3);
    for (std::size_t n = 0; n < a.size(); ++n) {
        const std::uint32_t members = (n / 32 & 8) == 0 ? 0xFFFFFFFF : 0xAAAAAAAA;
        std::uint32_t yes = 0;
        for (std::uint32_t l = 0; l < 32; ++l) {
            yes |= (a[n / 32 * 32 + l] & 1u) << l;
        }
        yes &= members;
        const std::uint32_t flags = (yes == members ? 1u : 0u) | (yes != 0 ? 2u : 0u) |
                                    (yes == members || yes == 0 ? 4u : 0u) | (yes == 0 ? 8u : 0u) |
                                    (yes != members ? 16u : 0u);
        const bool in = (members >> n % 32 & 1) != 0;
        EXPECT_EQ(d[3 * n], in ? flags : 0) << n;
        EXPECT_EQ(d[3 * n + 1], in ? yes : 0) << n;
        EXPECT_EQ(d[3 * n + 2], in ? members & ~yes : 0) << n;
    }
}

TEST(Warp, Match) {
    words a = random_words(256, 16);
    for (std::size_t n = 0; n < a.size(); ++n) {
        a[n] = n < 128 ? a[n] % 4 : static_cast<std::uint32_t>(n / 32); // mixed, then unanimous
    }
    const words d =
        run_warps("match.any.sync.b32 %r10, %r3, -1; match.all.sync.b32 %r11|%q0, %r3, -1; selp.u32 %r12, 1, 0, %q0;\n"
                  "cvt.u64.u32 %rd3, %r3; shl.b64 %rd3, %rd3, 40; match.any.sync.b64 %r13, %rd3, -1;\n"
                  "match.all.sync.b64 %r14|%q0, %rd3, -1; selp.u32 %r15, 1, 0, %q0;",
                  a, a, a, 6);
    for (std::size_t n = 0; n < a.size(); ++n) {
        std::uint32_t same = 0;
        for (std::uint32_t l = 0; l < 32; ++l) {
            same |= (a[n / 32 * 32 + l] == a[n] ? 1u : 0u) << l;
        }
        const std::uint32_t all = same == 0xFFFFFFFF ? same : 0;
        const words mine(d.begin() + static_cast<std::ptrdiff_t>(6 * n),
                         d.begin() + static_cast<std::ptrdiff_t>(6 * n + 6));
        EXPECT_EQ(mine, (words{same, all, all & 1, same, all, all & 1})) << n;
    }
}

TEST(Warp, Redux) {
    const words a = random_words(128, 17);
    const words d = run_warps(
        "redux.sync.add.u32 %r10, %r3, -1; redux.sync.min.u32 %r11, %r3, -1; redux.sync.max.u32 %r12, %r3, -1;\n"
        "redux.sync.min.s32 %r13, %r3, -1; redux.sync.max.s32 %r14, %r3, -1; redux.sync.and.b32 %r15, %r3, -1;\n"
        "redux.sync.or.b32 %r16, %r3, -1; redux.sync.xor.b32 %r17, %r3, -1; redux.sync.add.s32 %r18, %r3, -1;",
        a, a, a, 9);
    for (std::size_t n = 0; n < a.size(); ++n) {
        words e{0, 0xFFFFFFFF, 0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0, 0, 0};
        for (std::size_t k = n / 32 * 32; k < n / 32 * 32 + 32; ++k) {
            const auto s = static_cast<std::int32_t>(a[k]);
            e = {e[0] + a[k],
                 std::min(e[1], a[k]),
                 std::max(e[2], a[k]),
                 static_cast<std::uint32_t>(std::min(static_cast<std::int32_t>(e[3]), s)),
                 static_cast<std::uint32_t>(std::max(static_cast<std::int32_t>(e[4]), s)),
                 e[5] & a[k],
                 e[6] | a[k],
                 e[7] ^ a[k],
                 e[0] + a[k]};
        }
        EXPECT_EQ(
            words(d.begin() + static_cast<std::ptrdiff_t>(9 * n), d.begin() + static_cast<std::ptrdiff_t>(9 * n + 9)),
            e)
            << n;
    }
}

// Tiles of 8 lanes: each names its own members in one instruction of the whole warp.
TEST(Warp, EveryTileForItself) {
    const words a = random_words(128, 19);
    words tiles(a.size());
    for (std::uint32_t n = 0; n < tiles.size(); ++n) {
        tiles[n] = 0xFFu << n % 32 / 8 * 8;
    }
    const words d =
        run_warps("redux.sync.add.u32 %r10, %r3, %r4; and.b32 %r16, %r3, 7; setp.ne.u32 %q0, %r16, 0;\n"
                  "vote.sync.ballot.b32 %r11, %q0, %r4; vote.sync.all.pred %q1, %q0, %r4; selp.u32 %r12, 1, 0, %q1;\n"
                  "match.any.sync.b32 %r13, %r16, %r4; elect.sync %r14|%q0, %r4; selp.u32 %r15, 1, 0, %q0;",
                  a, tiles, a, 6);
    for (std::uint32_t n = 0; n < a.size(); ++n) {
        std::uint32_t sum = 0;
        std::uint32_t odd = 0;
        std::uint32_t same = 0;
        const std::uint32_t first = n / 8 * 8;
        for (std::uint32_t k = first; k < first + 8; ++k) {
            sum += a[k];
            odd |= ((a[k] & 7) != 0 ? 1u : 0u) << k % 32;
            same |= ((a[k] & 7) == (a[n] & 7) ? 1u : 0u) << k % 32;
        }
        const words mine(d.begin() + 6 * n, d.begin() + 6 * n + 6);
        EXPECT_EQ(mine, (words{sum, odd, odd == tiles[n] ? 1u : 0u, same, mine[4], n % 32 == mine[4] ? 1u : 0u})) << n;
        EXPECT_EQ(mine[4] / 8, n % 32 / 8);
    }
}

TEST(Warp, ActiveMaskAndElect) {
    const words a = random_words(128, 18);
    const words d =
        run_warps("activemask.b32 %r10; mov.u32 %r11, 0; setp.ge.u32 %q1, %r6, 20; @%q1 activemask.b32 %r11;\n"
                  "elect.sync %r12|%q0, -1; selp.u32 %r13, 1, 0, %q0; mov.u32 %r14, 99; mov.u32 %r15, 0;\n"
                  "@!%q1 bra done; elect.sync %r14|%q0, 0xFFF00000; selp.u32 %r15, 1, 0, %q0;\ndone:",
                  a, a, a, 6);
    for (std::uint32_t n = 0; n < a.size(); ++n) {
        const std::uint32_t l = n % 32;
        const words mine(d.begin() + 6 * n, d.begin() + 6 * n + 6);
        EXPECT_EQ(mine, (words{0xFFFFFFFF, l >= 20 ? 0xFFF00000 : 0, mine[2], l == mine[2] ? 1u : 0u, mine[4],
                               l == mine[4] ? 1u : 0u}));
        EXPECT_LT(mine[2], 32u);
        EXPECT_TRUE(l < 20 ? mine[4] == 99 : mine[4] >= 20 && mine[4] < 32);
    }
}

// In a partial warp the lanes that never were are not waited for.
TEST(Warp, PartialWarp) {
    const threads_result r =
        run_threads("mov.u32 %r3, %laneid; shfl.sync.down.b32 %r4, %r3, 1, 31, -1;\n"
                    "setp.eq.u32 %q1, %r3, %r3; vote.sync.all.pred %q2, %q1, -1; selp.u32 %r6, 1, 0, %q2;\n"
                    "redux.sync.add.u32 %r7, 1, -1; st.global.v2.u32 [%rd0], {%r6, %r7};",
                    {.block = {45}}, 2);
    if (on_hardware()) {
        GTEST_SKIP() << "PTX leaves a member mask with lanes that never were open";
    }
    for (std::size_t t = 0; t < 45; ++t) {
        EXPECT_EQ(r.words[2 * t], 1u);
        EXPECT_EQ(r.words[2 * t + 1], t < 32 ? 32u : 13u);
    }
}

} // namespace
} // namespace softgpu::test
