// SPDX-License-Identifier: MIT
// Groups of one warp's lanes that synchronise apart, in adversarial schedules: wherever the lanes part, the findings are the same.
#include <gtest/gtest.h>

#include "tests/check/check_fixture.hpp"

namespace softgpu::test {
namespace {

constexpr std::uint64_t seeds = 64;

// Groups of eight lanes. %r4: the group's mask, %r5: the lane's word of shared memory, %r6: its address.
const std::string groups = "mov.u32 %r3, %laneid; and.b32 %r4, %r3, 24; mov.u32 %r5, 255; shl.b32 %r4, %r5, %r4;\n"
                           "mov.u32 %r7, s; shl.b32 %r5, %r3, 2; add.u32 %r6, %r5, %r7; st.shared.u32 [%r6], %r3;\n";
// Reads the word of the lane whose number differs in these bits.
std::string read_of(unsigned bits) {
    return "xor.b32 %r8, %r5, " + std::to_string(4 * bits) + "; add.u32 %r8, %r8, %r7; ld.shared.u32 %r9, [%r8];\n";
}

TEST_F(Check, GroupsOfAWarpSynchroniseApart) {
    const std::vector<std::string> orders{"bar.warp.sync %r4;\n", "shfl.sync.bfly.b32 %r9, %r3, 1, 0x181F, %r4;\n",
                                          "setp.eq.u32 %q0, %r3, 3; vote.sync.ballot.b32 %r9, %q0, %r4;\n",
                                          "match.any.sync.b32 %r9, %r3, %r4;\n", "redux.sync.add.u32 %r9, %r3, %r4;\n"};
    for (const std::string& order : orders) {
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            const launch_options how{.block = {32}, .seed = seed};
            expect_none(groups + order + read_of(7), how, {}, shared_array);
            expect_one(shared_race, groups + order + read_of(8), how, {}, shared_array);
        }
    }
    // Lanes that end early are waited for no more.
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        expect_none(groups + "setp.lt.u32 %q0, %r3, 5; @%q0 bra END;\nbar.warp.sync -1;\n" +
                        "setp.lt.u32 %q0, %r3, 24; @%q0 bra END;\n" + read_of(1) + "END:",
                    {.block = {32}, .seed = seed}, {}, shared_array);
    }
}

// All lanes store one value to one word, and use the register again.
TEST_F(Check, LanesThatPartStoreOneValue) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const auto found =
            run("mov.u32 %r7, s; mov.u32 %r4, 496; st.shared.u32 [%r7], %r4; add.u32 %r4, %r4, %i;\n"
                "bar.warp.sync -1; ld.shared.u32 %r5, [%r7]; shl.b32 %r6, %i, 2; add.u32 %r6, %r6, %r7;\n"
                "st.shared.u32 [%r6+4], %r4;",
                {.block = {32}, .seed = seed}, {}, shared_array);
        for (const finding& f : found) {
            EXPECT_TRUE(f.is_note) << seed << text(found);
        }
    }
}

} // namespace
} // namespace softgpu::test
