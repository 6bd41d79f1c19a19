// SPDX-License-Identifier: MIT
// Counters against figures worked out by hand, by plain transcriptions of their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using observe::counters;

class Counters : public testing::Test {
protected:
    void SetUp() override {
        if (on_hardware()) {
            GTEST_SKIP() << "counters of hardware come from its profiler";
        }
    }
};

counters counted(const std::string& body, const launch_options& how = {}) { return run_threads(body, how).how.total; }

std::uint64_t sectors_of(const std::vector<std::uint64_t>& at, unsigned bytes) {
    std::set<std::uint64_t> touched;
    for (const std::uint64_t a : at) {
        for (unsigned k = 0; k < bytes; ++k) {
            touched.insert((a + k) / 32);
        }
    }
    return touched.size();
}

// Where the lanes part that are served together: 8-byte accesses go by half warps, 16-byte ones by quarters; of a load,
// two of these together where the neighbour of every lane of the warp, one apart or else two, is absent or wants the same.
std::vector<unsigned> parts_of(const std::vector<std::uint64_t>& at, const std::vector<bool>& active, unsigned bytes,
                               bool load) {
    bool together[2] = {load && bytes > 4, load && bytes > 4};
    for (unsigned l = 0; l < 32; ++l) {
        for (const unsigned n : {0u, 1u}) {
            const unsigned other = l ^ (n + 1);
            together[n] = together[n] && (!active[l] || !active[other] || at[l] == at[other]);
        }
    }
    const unsigned group = (bytes <= 4 ? 32 : bytes == 8 ? 16 : 8) * (together[0] || together[1] ? 2 : 1);
    std::vector<unsigned> parts;
    for (unsigned first = 0; first < 32; first += group) {
        parts.push_back(first);
    }
    return parts;
}

// Passes over 32 banks of 4 bytes, part by part.
std::uint64_t wavefronts_of(const std::vector<std::uint64_t>& at, const std::vector<bool>& active, unsigned bytes,
                            bool load) {
    std::vector<unsigned> parts = parts_of(at, active, bytes, load);
    parts.push_back(32);
    std::uint64_t passes = 0;
    for (std::size_t n = 0; n + 1 < parts.size(); ++n) {
        std::map<std::uint64_t, std::set<std::uint64_t>> words;
        for (unsigned l = parts[n]; l < parts[n + 1]; ++l) {
            for (unsigned k = 0; active[l] && k < bytes; ++k) {
                words[(at[l] + k) / 4 % 32].insert((at[l] + k) / 4);
            }
        }
        std::size_t worst = 0;
        for (const auto& [bank, wanted] : words) {
            worst = std::max(worst, wanted.size());
        }
        passes += worst;
    }
    return passes;
}
std::uint64_t groups_of(const std::vector<std::uint64_t>& at, const std::vector<bool>& active, unsigned bytes,
                        bool load) {
    std::vector<unsigned> parts = parts_of(at, active, bytes, load);
    parts.push_back(32);
    std::uint64_t n = 0;
    for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
        n += std::count(active.begin() + parts[k], active.begin() + parts[k + 1], true) != 0 ? 1 : 0;
    }
    return n;
}

// What one warp loads and stores: registers and type of an access of so many bytes.
std::string load(const std::string& space, unsigned bytes, const std::string& at) {
    switch (bytes) {
    case 1: return "ld." + space + ".u8 %r20, [" + at + "];\n";
    case 2: return "ld." + space + ".u16 %h0, [" + at + "];\n";
    case 4: return "ld." + space + ".u32 %r20, [" + at + "];\n";
    case 8: return "ld." + space + ".u64 %rd20, [" + at + "];\n";
    default: return "ld." + space + ".v4.u32 {%r20, %r21, %r22, %r23}, [" + at + "];\n";
    }
}
std::string store(const std::string& space, unsigned bytes, const std::string& at) {
    switch (bytes) {
    case 1: return "st." + space + ".u8 [" + at + "], %r20;\n";
    case 2: return "st." + space + ".u16 [" + at + "], %h0;\n";
    case 4: return "st." + space + ".u32 [" + at + "], %r20;\n";
    case 8: return "st." + space + ".u64 [" + at + "], %rd20;\n";
    default: return "st." + space + ".v4.u32 [" + at + "], {%r20, %r21, %r22, %r23};\n";
    }
}

// One warp accesses element offsets[l] (in bytes) in lane l, where active.
void check_pattern(const std::vector<std::uint64_t>& offsets, const std::vector<bool>& active, unsigned bytes) {
    std::vector<std::uint32_t> table;
    for (unsigned l = 0; l < 32; ++l) {
        table.push_back(static_cast<std::uint32_t>(offsets[l]));
    }
    std::uint32_t mask = 0;
    std::vector<std::uint64_t> touched;
    for (unsigned l = 0; l < 32; ++l) {
        mask |= (active[l] ? 1u : 0u) << l;
        if (active[l]) {
            touched.push_back(offsets[l]);
        }
    }
    const auto lanes = static_cast<std::uint64_t>(std::popcount(mask));
    const std::string guard =
        "shr.u32 %r5, " + std::to_string(mask) + ", %r3; and.b32 %r5, %r5, 1; setp.eq.u32 %q0, %r5, 0; @%q0 exit;\n";
    const std::string start =
        "mov.u32 %r3, %tid.x; mad.wide.u32 %rd1, %r3, 4, %p1; ld.global.u32 %r4, [%rd1];\n" + guard;

    program p(kernel(start + "cvt.u64.u32 %rd2, %r4; add.u64 %rd2, %rd2, %p0;\n" + load("global", bytes, "%rd2") +
                     store("global", bytes, "%rd2") + "ret;"));
    const std::uint64_t most = *std::max_element(offsets.begin(), offsets.end());
    counters c = p.run({}, {p.buffer<std::uint8_t>(most + 64), p.buffer(table)}).total;
    const std::uint64_t sectors = sectors_of(touched, bytes);
    EXPECT_EQ(c.global_load_requests, 2u);
    EXPECT_EQ(c.global_load_sectors, 4 + sectors) << bytes << " bytes, mask " << std::hex << mask;
    EXPECT_EQ(c.global_load_bytes, 128 + lanes * bytes);
    EXPECT_EQ(c.global_store_requests, 1u);
    EXPECT_EQ(c.global_store_sectors, sectors) << bytes << " bytes, mask " << std::hex << mask;
    EXPECT_EQ(c.global_store_bytes, lanes * bytes);

    program q(kernel(".shared .align 16 .b8 s[16448]; mov.u32 %r6, s;\n" + start + "add.u32 %r6, %r6, %r4;\n" +
                     load("shared", bytes, "%r6") + store("shared", bytes, "%r6") + "ret;"));
    c = q.run({}, {0, q.buffer(table)}).total;
    std::uint64_t passes = wavefronts_of(offsets, active, bytes, true);
    EXPECT_EQ(c.shared_load_requests, 1u);
    EXPECT_EQ(c.shared_load_wavefronts, passes) << bytes << " bytes, mask " << std::hex << mask;
    EXPECT_EQ(c.shared_load_bank_conflicts, passes - groups_of(offsets, active, bytes, true));
    EXPECT_EQ(c.shared_load_bytes, lanes * bytes);
    passes = wavefronts_of(offsets, active, bytes, false);
    EXPECT_EQ(c.shared_store_requests, 1u);
    EXPECT_EQ(c.shared_store_wavefronts, passes);
    EXPECT_EQ(c.shared_store_bank_conflicts, passes - groups_of(offsets, active, bytes, false));
    EXPECT_EQ(c.shared_store_bytes, lanes * bytes);
}

const std::vector<bool> full(32, true);
std::vector<std::uint64_t> strided(std::uint64_t step, std::uint64_t offset = 0) {
    std::vector<std::uint64_t> at;
    for (std::uint64_t l = 0; l < 32; ++l) {
        at.push_back(offset + l * step);
    }
    return at;
}

TEST_F(Counters, Strides) {
    for (std::uint64_t words = 0; words <= 33; ++words) {
        check_pattern(strided(4 * words), full, 4);
    }
    for (const std::uint64_t elements : {0u, 1u, 2u, 3u, 4u, 8u, 16u, 17u, 31u}) {
        check_pattern(strided(8 * elements), full, 8);
        check_pattern(strided(16 * elements), full, 16);
        check_pattern(strided(elements), full, 1);
        check_pattern(strided(2 * elements), full, 2);
    }
}

TEST_F(Counters, Offsets) {
    for (std::uint64_t words = 0; words <= 17; ++words) {
        check_pattern(strided(4, 4 * words), full, 4);
        check_pattern(strided(8, 8 * words), full, 8);
        check_pattern(strided(16, 16 * words), full, 16);
    }
    std::vector<std::uint64_t> down = strided(4);
    std::reverse(down.begin(), down.end());
    check_pattern(down, full, 4);
}

// Where all neighbours want the same, two halves or quarters of a load go together.
TEST_F(Counters, Neighbours) {
    for (const unsigned bytes : {4u, 8u, 16u}) {
        for (const auto place :
             {+[](unsigned l) { return l / 2; }, +[](unsigned l) { return l / 4; },
              +[](unsigned l) { return l % 2 * 16; }, +[](unsigned l) { return l & ~2u; },
              +[](unsigned l) { return l < 16 ? l / 2 : l; }, +[](unsigned) { return 3u; },
              +[](unsigned l) { return l % 16; }, +[](unsigned l) { return l == 9 ? 40u : l / 2; }}) {
            std::vector<std::uint64_t> at;
            for (unsigned l = 0; l < 32; ++l) {
                at.push_back(std::uint64_t{place(l)} * bytes);
            }
            check_pattern(at, full, bytes);
            for (const std::uint32_t mask : {0x55555555u, 0x33333333u, 0x11111111u, 0x0000FFFFu, 0x5555FFFFu}) {
                std::vector<bool> active;
                for (unsigned l = 0; l < 32; ++l) {
                    active.push_back((mask >> l & 1) != 0);
                }
                check_pattern(at, active, bytes);
            }
        }
    }
}

TEST_F(Counters, SomeLanes) {
    for (const std::uint32_t mask :
         {0x1u, 0x80000000u, 0xFFFFu, 0xFFFF0000u, 0xAAAAAAAAu, 0x0FF0u, 0x00010001u, 0x7FFFFFFFu, 0x8001u}) {
        std::vector<bool> active;
        for (unsigned l = 0; l < 32; ++l) {
            active.push_back((mask >> l & 1) != 0);
        }
        for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
            for (const std::uint64_t step : {1u, 2u, 5u, 32u}) {
                check_pattern(strided(bytes * step), active, bytes);
            }
        }
    }
}

TEST_F(Counters, RandomScatter) {
    random32 engine(7);
    for (unsigned n = 0; n < 40; ++n) {
        const unsigned bytes = 1u << n % 5;
        const unsigned range = n % 3 == 0 ? 40 : n % 3 == 1 ? 300 : 1000;
        std::vector<std::uint64_t> at;
        std::vector<bool> active;
        for (unsigned l = 0; l < 32; ++l) {
            at.push_back(engine() % range * bytes);
            active.push_back(n % 4 != 0 || engine() % 3 != 0);
        }
        active[n % 32] = true;
        check_pattern(at, active, bytes);
    }
}

TEST_F(Counters, InstructionsAndBranches) {
    // 4 parameters of the frame (8 ld.param, 3 mov, 1 mad, 2 of run_threads) come before each body, ret after it.
    const counters empty = counted("", {.block = {64}});
    const counters c = counted(
        "setp.lt.u32 %q0, %i, 40; @%q0 bra low; add.u32 %r3, %i, 1; add.u32 %r3, %i, 2; low: add.u32 %r3, %i, 3;\n"
        "@%q0 add.u32 %r3, %i, 4; setp.lt.u32 %q1, %i, 32; @%q1 bra end; add.u32 %r3, %i, 5; end: bra over; over:",
        {.block = {64}});
    // Warp 0: 7 + bra end + bra over; warp 1 has 8 lanes at the first branch, and both adds of its other 24.
    EXPECT_EQ(c.warp_instructions - empty.warp_instructions, (2 + 2 + 2 + 1) + (2 + 2 + 2 + 2 + 1 + 1));
    EXPECT_EQ(c.thread_instructions - empty.thread_instructions, 32 * 7 + (64 + 48 + 64 + 64 + 32 + 32));
    EXPECT_EQ(c.branches, 4u);
    EXPECT_EQ(c.divergent_branches, 1u);
    EXPECT_EQ(empty.branches, 0u);
}

TEST_F(Counters, LoopOfDifferentLengths) {
    const counters c = counted(
        "mov.u32 %r3, %laneid; mov.u32 %r4, 0; head: add.u32 %r4, %r4, 1; setp.le.u32 %q0, %r4, %r3; @%q0 bra head;\n"
        "mov.u32 %r5, 0;"); // an end alone would be no place to meet
    const counters empty = counted("mov.u32 %r5, 0;");
    EXPECT_EQ(c.warp_instructions - empty.warp_instructions, 2u + 3 * 32);
    EXPECT_EQ(c.thread_instructions - empty.thread_instructions, 64u + 3 * (32 * 33 / 2));
    EXPECT_EQ(c.branches, 32u);
    EXPECT_EQ(c.divergent_branches, 31u);
}

// Half of the lanes wait in a loop for what the others store behind it: those go on alone, all of them come to a barrier apart,
// and execute together what stands behind it in the same basic block.
TEST_F(Counters, LanesThatComeTogetherInsideABlock) {
    for (const char* barrier : {"bar.sync 0;", "bar.warp.sync -1;"}) {
        const auto with_additions = [&](int many) {
            std::string body =
                ".shared .align 4 .b8 s[4]; mov.u32 %r3, %laneid; mov.u32 %r4, s; setp.lt.u32 %q1, %r3, 16; "
                "st.shared.u32 [%r4], 0; bar.sync 0;\n"
                "head: ld.volatile.shared.u32 %r5, [%r4]; setp.eq.and.u32 %q0, %r5, 0, %q1; @%q0 bra head;\n"
                "st.volatile.shared.u32 [%r4], 1;";
            body += barrier;
            for (int k = 0; k < many; ++k) {
                body += " add.u32 %r6, %r3, 1;";
            }
            return counted(body);
        };
        const counters few = with_additions(3);
        const counters more = with_additions(13);
        EXPECT_GT(few.divergent_branches, 0u);
        EXPECT_EQ(few.barriers + few.warp_barriers, std::string(barrier) == "bar.sync 0;" ? 3u : 2u) << barrier;
        EXPECT_EQ(more.warp_instructions - few.warp_instructions, 10u) << barrier;
        EXPECT_EQ(more.thread_instructions - few.thread_instructions, 320u) << barrier;
    }
}

TEST_F(Counters, BarriersAndWarpWide) {
    const counters c = counted("bar.sync 0; bar.sync 0; bar.warp.sync -1; shfl.sync.bfly.b32 %r3, %i, 1, 31, -1; "
                               "shfl.sync.bfly.b32 %r3, %r3, 2, 31, -1;\n"
                               "vote.sync.ballot.b32 %r4, %q0, -1; activemask.b32 %r5; match.any.sync.b32 %r6, %i, -1; "
                               "redux.sync.add.u32 %r7, %i, -1;\n"
                               "membar.gl; fence.acq_rel.gpu; bar.red.popc.u32 %r8, 0, %q0;",
                               {.grid = {3}, .block = {96}});
    EXPECT_EQ(c.barriers, 3u * 3 * 3);
    EXPECT_EQ(c.warp_barriers, 9u);
    EXPECT_EQ(c.shuffles, 18u);
    EXPECT_EQ(c.votes, 36u);
    EXPECT_EQ(c.fences, 18u);
}

TEST_F(Counters, Atomics) {
    program p(kernel(".shared .align 4 .b8 s[128]; mov.u32 %r3, %tid.x; and.b32 %r4, %r3, 31; shr.u32 %r5, %r4, 2; "
                     "mov.u32 %r6, s; mad.lo.u32 %r6, %r5, 4, %r6;\n"
                     "red.shared.add.u32 [%r6], 1; mad.wide.u32 %rd1, %r4, 4, %p0; red.global.add.u32 [%rd1], 1; "
                     "setp.lt.u32 %q0, %r4, 10;\n"
                     "@%q0 atom.global.add.u32 %r7, [%p0], 1; ret;"));
    const counters d = p.run({.grid = {2}, .block = {64}}, {p.buffer<std::uint32_t>(32)}).total;
    EXPECT_EQ(d.shared_atomic_requests, 4u);
    EXPECT_EQ(d.shared_atomic_lanes, 128u);
    EXPECT_EQ(d.shared_atomic_wavefronts, 4u * 4);
    EXPECT_EQ(d.shared_atomic_bank_conflicts, 4u * 3);
    EXPECT_EQ(d.atomic_requests, 8u);
    EXPECT_EQ(d.atomic_lanes, 4u * 42);
    EXPECT_EQ(d.atomic_sectors, 4u * (4 + 10));
    EXPECT_EQ(d.atomic_worst_multiplicity, 10u);
    EXPECT_EQ(d.global_load_requests, 0u);
    EXPECT_EQ(d.global_store_requests, 0u);
}

TEST_F(Counters, OtherSpaces) {
    program p(kernel(".local .align 4 .b8 l[16]; st.local.u32 [l], %i; ld.local.u32 %r3, [l]; ld.local.u32 %r3, [l]; "
                     "ld.const.u32 %r4, [c+4]; ret;",
                     ".const .align 4 .u32 c[2] = {1, 2};"));
    const counters c = p.run({.block = {64}}, {}).total;
    EXPECT_EQ(c.local_store_requests, 2u);
    EXPECT_EQ(c.local_load_requests, 4u);
    EXPECT_EQ(c.constant_load_requests, 2u);
    EXPECT_EQ(c.global_load_requests, 0u);
}

// Interval n holds what happened after the nth barrier of each block.
TEST_F(Counters, ByInterval) {
    const threads_result r =
        run_threads(".shared .align 4 .b8 s[512]; mov.u32 %r3, %tid.x; mov.u32 %r4, s; mad.lo.u32 %r4, %r3, 4, %r4; "
                    "st.shared.u32 [%r4], %i; bar.sync 0;\n"
                    "setp.lt.u32 %q0, %r3, 64; @!%q0 bra skip; ld.shared.u32 %r5, [%r4]; skip: bar.sync 0;\n"
                    "setp.lt.u32 %q0, %r3, 32; @!%q0 bra end; ld.shared.u32 %r5, [%r4]; st.shared.u32 [%r4], %r5; end: "
                    "st.global.u32 [%rd0], %r5;",
                    {.grid = {5}, .block = {128}, .workers = 2});
    ASSERT_EQ(r.how.by_interval.size(), 3u);
    const auto& by = r.how.by_interval;
    EXPECT_EQ(by[0].shared_store_requests, 20u);
    EXPECT_EQ(by[0].shared_load_requests, 0u);
    EXPECT_EQ(by[1].shared_load_requests, 10u);
    EXPECT_EQ(by[1].shared_store_requests, 0u);
    EXPECT_EQ(by[2].shared_load_requests, 5u);
    EXPECT_EQ(by[2].shared_store_requests, 5u);
    EXPECT_EQ(by[2].global_store_requests, 20u);
    EXPECT_EQ(by[0].global_store_requests + by[1].global_store_requests, 0u);
    EXPECT_EQ(r.how.total.shared_store_requests, 25u);
}

// A kernel with some of everything.
const char* const mixture = ".shared .align 16 .b8 s[4096]; mov.u32 %r3, %tid.x; mov.u32 %r4, s; mul.lo.u32 %r5, %r3, "
                            "12; and.b32 %r5, %r5, 1020; add.u32 %r5, %r5, %r4; st.shared.u32 [%r5], %i;\n"
                            "bar.sync 0; mul.lo.u32 %r6, %r3, %r3; and.b32 %r6, %r6, 255; mad.lo.u32 %r7, %r6, 4, %r4; "
                            "ld.shared.u32 %r8, [%r7]; red.shared.add.u32 [%r7], 1; bar.sync 0;\n"
                            "mov.u32 %r9, 0; loop: add.u32 %r9, %r9, 1; and.b32 %r10, %i, 15; setp.lt.u32 %q0, %r9, "
                            "%r10; mad.wide.u32 %rd1, %r6, 4, %p0; ld.global.u32 %r11, [%rd1]; @%q0 bra loop;\n"
                            "shfl.sync.down.b32 %r12, %r9, 3, 31, -1; st.global.u32 [%rd0], %r12;";

TEST_F(Counters, SameForEveryWayToRun) {
    const launch_options base{.grid = {16}, .block = {160}};
    const threads_result one = run_threads(mixture, base);
    for (const unsigned workers : {1u, 2u, 3u}) {
        for (const unsigned resident : {0u, 1u, 5u}) {
            launch_options how = base;
            how.workers = workers;
            how.resident_blocks = resident;
            const threads_result r = run_threads(mixture, how);
            EXPECT_EQ(r.words, one.words);
            EXPECT_EQ(r.how.total, one.how.total);
            EXPECT_EQ(r.how.by_interval, one.how.by_interval);
        }
    }
    // The same in every instruction set: what one of them gave stands here.
    EXPECT_EQ(one.how.total.divergent_branches, 16u * 5 * 14);
    EXPECT_EQ(one.how.total.branches, 16u * 5 * 15);
    launch_options silent = base;
    silent.count = false;
    EXPECT_EQ(run_threads(mixture, silent).words, one.words);
}

} // namespace
} // namespace softgpu::test
