// SPDX-License-Identifier: MIT
// Counters by instruction: each where it belongs, and all together what a launch without a profile counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

using observe::point_counts;
using observe::profile_point;

// Lines 1 to 9 of file 1; `twice` of file 2 was inlined in `middle` at 1:5, and that at 2:20.
const char* const text = R"(.version 8.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p0)
{
    .reg .pred %q<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 s[8192];
    mov.u32 %r0, %tid.x;
    .loc 1 2 3
    and.b32 %r1, %r0, 31;
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r1, 128, %r2;
    .loc 1 3 5
    st.shared.u32 [%r3], %r0;
    .loc 1 4 1
    bar.sync 0;
    .loc 1 5 9
    .loc 2 20 3, function_name $L__info_string0, inlined_at 1 5 9
    .loc 2 8 1, function_name $L__info_string0+7, inlined_at 2 20 3
    ld.shared.u32 %r4, [%r3];
    .loc 1 6 2
    setp.lt.u32 %q0, %r1, 8;
    @%q0 add.u32 %r4, %r4, 1;
    @!%q0 bra other;
    .loc 1 7 2
    shfl.sync.bfly.b32 %r5, %r4, 1, 31, 255;
    add.u32 %r4, %r4, %r5;
    bra join;
other:
    .loc 1 8 2
    shfl.sync.bfly.b32 %r5, %r4, 1, 31, 0xFFFFFF00;
join:
    .loc 1 9 2
    ld.param.u64 %rd1, [p0];
    mul.wide.u32 %rd2, %r0, 64;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r4;
    bar.sync 0;
    st.global.u32 [%rd1], %r5;
    ret;
}
.file 1 "/made/up.cu"
.file 2 "up.cuh"
.section .debug_str
{
$L__info_string0:
.b8 109,105,100,100,108,101,0
.b8 95,90,53,116,119,105,99,101,105
.b8 0
}
)";

struct profiled {
    machine::launch_result result;
    std::vector<profile_point> points;
};

profiled run(bool with_profile, unsigned workers = 1) {
    memory::device_memory memory(1 << 24);
    profiled p;
    {
        machine::module m(text, memory);
        if (with_profile) {
            m.profile();
        }
        const machine::kernel* const k = m.find_kernel("k");
        const memory::address out = memory.allocate(64 * 64, memory::allocation_kind::device, "out");
        machine::launch_request request;
        request.grid = {3, 1, 1};
        request.block = {64, 1, 1};
        request.parameters = reinterpret_cast<const std::byte*>(&out);
        request.workers = workers;
        p.result = machine::launch(m, *k, request);
        p.points = m.profile_points(*k);
        memory.release(out);
    }
    EXPECT_EQ(p.result.error.message, "");
    return p;
}

const point_counts& at_line(const profiled& p, std::uint32_t line, std::string_view opcode) {
    static const point_counts none;
    for (std::size_t n = 0; n < p.points.size(); ++n) {
        if (!p.points[n].at.empty() && p.points[n].at[0].line == line &&
            p.points[n].ptx.find(opcode) != std::string::npos) {
            return p.result.profile.at(n);
        }
    }
    ADD_FAILURE() << "no " << opcode << " at line " << line;
    return none;
}

class Profile : public testing::Test {
protected:
    void SetUp() override {
        if (on_hardware()) {
            GTEST_SKIP() << "the profile is the software GPU's";
        }
    }
};

TEST_F(Profile, EachInstructionCountsItsOwn) {
    const profiled p = run(true);
    ASSERT_EQ(p.result.profile.size(), p.points.size());
    // Six warps; lanes that store 128 bytes apart all meet in one bank.
    EXPECT_EQ(at_line(p, 3, "st.shared").counts.shared_store_bank_conflicts, 6u * 31);
    EXPECT_EQ(at_line(p, 3, "st.shared").counts.shared_load_requests, 0u);
    EXPECT_EQ(at_line(p, 8, "ld.shared").counts.shared_load_wavefronts, 6u * 32);
    EXPECT_EQ(at_line(p, 4, "bar.sync").counts.barriers, 6u);
    EXPECT_EQ(at_line(p, 6, "bra").counts.branches, 6u);
    EXPECT_EQ(at_line(p, 6, "bra").counts.divergent_branches, 6u);
    EXPECT_EQ(at_line(p, 9, "st.global").counts.global_store_sectors, 6u * 32);
}

TEST_F(Profile, BothSidesOfABranch) {
    const profiled p = run(true);
    EXPECT_EQ(at_line(p, 7, "shfl").counts.shuffles, 6u);
    EXPECT_EQ(at_line(p, 8, "shfl").counts.shuffles, 6u);
    EXPECT_EQ(at_line(p, 7, "shfl").counts.thread_instructions, 6u * 8);
    EXPECT_EQ(at_line(p, 8, "shfl").counts.thread_instructions, 6u * 24);
}

TEST_F(Profile, ActiveLanesAndThoseThatTheGuardHoldsOff) {
    const profiled p = run(true);
    const point_counts& guarded = at_line(p, 6, "add.u32");
    EXPECT_EQ(guarded.counts.warp_instructions, 6u);
    EXPECT_EQ(guarded.counts.thread_instructions, 6u * 32);
    EXPECT_EQ(guarded.guarded_off, 6u * 24);
    EXPECT_EQ(at_line(p, 2, "mad").guarded_off, 0u);
}

TEST_F(Profile, AllTogetherAreTheLaunch) {
    const profiled with = run(true);
    const profiled without = run(false);
    EXPECT_TRUE(without.result.profile.empty());
    EXPECT_EQ(with.result.total, without.result.total);
    EXPECT_EQ(with.result.by_interval, without.result.by_interval);
    observe::counters sum;
    for (const point_counts& c : with.result.profile) {
        sum.add(c.counts);
    }
    EXPECT_EQ(sum, without.result.total);
    const profiled spread = run(true, 3);
    for (std::size_t n = 0; n < with.points.size(); ++n) {
        EXPECT_EQ(spread.result.profile[n].counts, with.result.profile[n].counts) << with.points[n].ptx;
    }
}

TEST_F(Profile, PlacesFromTheInside) {
    const profiled p = run(true);
    const auto load = std::find_if(p.points.begin(), p.points.end(),
                                   [](const profile_point& point) { return point.ptx.starts_with("ld.shared"); });
    ASSERT_NE(load, p.points.end());
    ASSERT_EQ(load->at.size(), 3u);
    EXPECT_EQ(load->at[0].file, "up.cuh");
    EXPECT_EQ(load->at[0].line, 8u);
    EXPECT_EQ(load->at[0].function, "twice(int)");
    EXPECT_EQ(load->at[1].line, 20u);
    EXPECT_EQ(load->at[1].function, "middle");
    EXPECT_EQ(load->at[2].file, "/made/up.cu");
    EXPECT_EQ(load->at[2].line, 5u);
    EXPECT_EQ(load->at[2].column, 9u);
    EXPECT_EQ(load->at[2].function, "");
    EXPECT_TRUE(p.points.front().at.empty());
    EXPECT_EQ(p.points.front().function, "k");
}

} // namespace
} // namespace softgpu::test
