// SPDX-License-Identifier: MIT
// What nvcc makes of real kernels.
#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "softgpu/program/program.hpp"
#include "tests/contents_of.hpp"
#include "tests/program/oracle.hpp"

using namespace softgpu::program;
using namespace program_test;

namespace {

const softgpu::ptx::module& kernels() {
    static const softgpu::ptx::module m = softgpu::ptx::parse(warpfold::tests::contents_of(PROGRAM_PTX));
    return m;
}

TEST(real_kernels, places_satisfy_naive_liveness_and_are_few) {
    unsigned bodies = 0;
    for (const softgpu::ptx::function& f : kernels().functions) {
        if (!f.has_body) {
            continue;
        }
        ++bodies;
        const control_flow flow = make_control_flow(f);
        const register_places places = place_registers(f, flow);
        EXPECT_EQ(complaint_about(f, places), "") << f.name;
        EXPECT_EQ(places.live_words, most_live_words(f)) << f.name;
        // Widths have their most at different points, and holes do not fit each other: within a half of the least.
        EXPECT_LE(places.frame_bytes, 128 * places.live_words * 3 / 2 + 64) << f.name;
    }
    EXPECT_GE(bodies, 4u);
}

// A branch of a kernel whose lanes go on beyond it has a place where they meet, though there are early returns.
TEST(real_kernels, lanes_meet_again_before_every_barrier) {
    for (const softgpu::ptx::function& f : kernels().functions) {
        if (!f.has_body || !f.is_entry) {
            continue;
        }
        const control_flow flow = make_control_flow(f);
        for (const basic_block& block : flow.blocks) {
            bool barrier = false;
            for (std::uint32_t k = block.first; k < block.last; ++k) {
                barrier = barrier || f.instructions[k].op == softgpu::ptx::opcode::bar;
            }
            if (!barrier) {
                continue;
            }
            for (const basic_block& before : flow.blocks) {
                const bool leads_here =
                    std::find(before.successors.begin(), before.successors.end(),
                              static_cast<std::uint32_t>(&block - flow.blocks.data())) != before.successors.end();
                if (leads_here && before.successors.size() > 1) {
                    EXPECT_NE(before.immediate_post_dominator, no_block) << f.name << " line " << block.first;
                }
            }
        }
    }
}

} // namespace
