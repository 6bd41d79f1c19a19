// SPDX-License-Identifier: MIT
// Random accesses of a block's warps in all the patterns that the interpreter knows, with barriers here and there: the
// race check finds something exactly where a plain model of "two threads, one word, one of them writes, nothing between
// them" does. Each kernel makes its accesses twice by the same registers, first with a barrier after each, so that the
// second time their patterns are known and go the short way.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "softgpu/check/session.hpp"
#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

constexpr unsigned lanes = 32;
constexpr unsigned warps = 3;
constexpr unsigned words = 1024;
constexpr std::uint32_t away = 0xFFFFFFFFu;

enum class order { nothing, warp, block };

struct step {
    unsigned warp = 0;
    bool writes = false;
    unsigned bytes = 4;                    // of a lane
    std::array<std::uint32_t, lanes> at{}; // byte offset of each lane; away: it takes no part
    order after = order::nothing;
};

// Whether the steps, one after the other, have two accesses to one word without an order.
bool has_race(const std::vector<step>& steps) {
    struct touch {
        unsigned thread, interval, since_warp;
        bool write;
    };
    std::vector<std::vector<touch>> of_word(words);
    unsigned interval = 0;
    unsigned meetings = 0;
    bool found = false;
    for (const step& s : steps) {
        for (unsigned l = 0; l < lanes; ++l) {
            for (unsigned k = 0; s.at[l] != away && k < s.bytes; k += 4) {
                auto& before = of_word.at((s.at[l] + k) / 4);
                const touch mine{s.warp * lanes + l, interval, meetings, s.writes};
                for (const touch& t : before) {
                    const bool same_warp = t.thread / lanes == s.warp;
                    found = found || (t.thread != mine.thread && (t.write || mine.write) && t.interval == interval &&
                                      (!same_warp || t.since_warp == meetings));
                }
                before.push_back(mine);
            }
        }
        interval += s.after == order::block ? 1 : 0;
        meetings += s.after == order::nothing ? 0 : 1;
    }
    return found;
}

class generator {
public:
    explicit generator(unsigned seed) : random_(seed) {}

    // All but the last are in order.
    std::vector<step> steps() {
        std::vector<step> made;
        const std::size_t wanted = 2 + below(7);
        for (unsigned attempts = 40; attempts > 0 && made.size() < wanted; --attempts) {
            made.push_back(one());
            if (has_race(made)) {
                made.pop_back();
            }
        }
        made.push_back(one());
        return made;
    }

private:
    unsigned below(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random_); }

    step one() {
        step s;
        s.warp = below(warps);
        s.writes = below(3) == 0;
        s.bytes = below(2) == 0 ? 4 : 4u << below(3);
        s.after = static_cast<order>(below(3));
        std::array<unsigned, lanes> element{};
        std::iota(element.begin(), element.end(), 0u);
        const unsigned shape = below(s.writes ? 3 : 6);
        std::array<unsigned, 4> quarter{0, 1, 2, 3};
        std::shuffle(quarter.begin(), quarter.end(), random_);
        for (unsigned l = 0; l < lanes; ++l) {
            switch (shape) {
            case 1: element[l] = 8 * quarter[l / 8] + l % 8; break;
            case 3: element[l] = 8 * (l / 8 % 2) + l % 8; break; // two rows of a tile, read twice
            case 4: element[l] = quarter[l / 8] / 2; break;
            case 5: element[l] = 0; break;
            default: break;
            }
        }
        if (shape == 2) {
            std::shuffle(element.begin(), element.end(), random_);
        }
        const unsigned partial = below(6); // all lanes, or every other one, or the first few
        const unsigned first = (below(2) * 32 + below(2) * 8) * 4;
        for (unsigned l = 0; l < lanes; ++l) {
            const bool takes_part = partial > 1 || (partial == 1 ? l % 2 == 0 : l < 13);
            s.at[l] = takes_part ? first + element[l] * s.bytes : away;
        }
        return s;
    }

    std::mt19937 random_;
};

// %p0: the words, %p1: the offsets, 32 for each step.
std::string body_of(const std::vector<step>& steps, bool global) {
    std::string text = "mov.u32 %r3, %laneid; shr.u32 %r4, %r0, 5; mov.u32 %r5, 0; mov.u32 %r7, s;\n"
                       "mul.wide.u32 %rd0, %r3, 4; add.u64 %rd0, %rd0, %p1;\n";
    const auto number = [](std::size_t n) { return std::to_string(n); };
    for (std::size_t n = 0; n < steps.size(); ++n) {
        const std::string own = number(10 + n);
        text += "ld.global.u32 %r" + own + ", [%rd0+" + number(128 * n) + "];\n";
        text += global ? "cvt.u64.u32 %rd" + own + ", %r" + own + "; add.u64 %rd" + own + ", %rd" + own + ", %p0;\n"
                       : "add.u32 %rd_" + own + ", %r" + own + ", %r7;\n";
    }
    text += "AGAIN:\n";
    for (std::size_t n = 0; n < steps.size(); ++n) {
        const step& s = steps[n];
        const std::string own = number(10 + n);
        const std::string address = global ? "[%rd" + own + "]" : "[%rd_" + own + "]";
        const std::string space = global ? ".global" : ".shared";
        const std::string type = s.bytes == 4 ? ".u32" : s.bytes == 8 ? ".u64" : ".v4.u32";
        text += "setp.ne.u32 %q1, %r4, " + number(s.warp) + "; @%q1 bra SKIP" + number(n) + ";\n";
        text += "setp.ne.u32 %q2, %r" + own + ", -1;\n";
        if (s.writes) {
            text += "add.u32 %r6, %i, " + number(1000 * n) + "; cvt.u64.u32 %rd1, %r6;\n@%q2 st" + space + type + " " +
                    address + ", " +
                    (s.bytes == 4   ? "%r6"
                     : s.bytes == 8 ? "%rd1"
                                    : "{%r6, %r6, %r6, %r6}") +
                    ";\n";
        } else {
            text += "@%q2 ld" + space + type + " " +
                    (s.bytes == 4   ? "%r6"
                     : s.bytes == 8 ? "%rd1"
                                    : "{%r6, %r8, %r9, %r31}") +
                    ", " + address + ";\n";
        }
        text += "SKIP" + number(n) + ":\n";
        text += s.after == order::block ? "bar.sync 0;\n" : s.after == order::warp ? "bar.warp.sync -1;\n" : "";
        text += "setp.ne.u32 %q1, %r5, 0; @%q1 bra LATER" + number(n) + "; bar.sync 0;\nLATER" + number(n) + ":\n";
    }
    text += "add.u32 %r5, %r5, 1; setp.lt.u32 %q1, %r5, 2; @%q1 bra AGAIN;\n";
    if (!global) {
        // What lanes of one warp overwrite in shared memory is a finding where it is read.
        text += "bar.sync 0; shl.b32 %r6, %r3, 2; add.u32 %r6, %r6, %r7;\n";
        for (unsigned n = 0; n < words / lanes; ++n) {
            text += "ld.shared.u32 %r8, [%r6+" + number(std::size_t{4} * lanes * n) + "];\n";
        }
    }
    return ".reg .b32 %rd_<32>;\n" + text + "ret;";
}

class RaceModel : public testing::TestWithParam<bool> {};

TEST_P(RaceModel, AgreesOnRandomAccesses) {
    if (on_hardware()) {
        GTEST_SKIP() << "the software GPU's own checks";
    }
    unsigned racing = 0;
    constexpr unsigned kernels = 600;
    for (unsigned seed = 0; seed < kernels; ++seed) {
        const std::vector<step> steps = generator(seed).steps();
        memory::device_memory memory(1ull << 28);
        check::findings sink;
        check::session session(check::race, sink, memory);
        std::array<std::uint64_t, 8> arguments{memory.allocate(4 * words, memory::allocation_kind::device),
                                               memory.allocate(128 * steps.size(), memory::allocation_kind::device)};
        for (std::size_t n = 0; n < steps.size(); ++n) {
            std::memcpy(reinterpret_cast<std::byte*>(arguments[1]) + 128 * n, steps[n].at.data(), 128);
        }
        const std::string declaration = ".shared .align 16 .b8 s[" + std::to_string(4 * words) + "];";
        const std::string text = kernel(body_of(steps, GetParam()), declaration);
        machine::module module(text, memory);
        machine::launch_request request;
        request.block = {warps * lanes};
        request.parameters = reinterpret_cast<const std::byte*>(arguments.data());
        request.checks = &session;
        const auto result = machine::launch(module, *module.find_kernel("k"), request);
        ASSERT_FALSE(result.error) << result.error.message;
        const auto found = sink.take();
        ASSERT_EQ(!found.empty(), has_race(steps)) << "seed " << seed << '\n'
                                                   << text << (found.empty() ? "" : check::to_text(found.front()));
        racing += found.empty() ? 0 : 1;
    }
    EXPECT_GT(racing, kernels / 5);
    EXPECT_LT(racing, kernels * 4 / 5);
}

INSTANTIATE_TEST_SUITE_P(Space, RaceModel, testing::Bool(),
                         [](const auto& i) { return i.param ? "Global" : "Shared"; });

} // namespace
} // namespace softgpu::test
