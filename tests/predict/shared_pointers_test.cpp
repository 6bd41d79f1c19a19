// SPDX-License-Identifier: MIT
// Generic accesses that are known to be of shared memory.
#include <string>

#include <gtest/gtest.h>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"
#include "softgpu/machine/decode/ptxas/shared_pointers.hpp"
#include "tests/predict/kernel_text.hpp"

namespace softgpu::machine {
namespace {

using observe::instruction_class;

observe::instruction_mix mix_with(const std::string& text) {
    const kernel_text k("mov.u64 %rd1, s;\n" + text);
    const std::vector<bool> pointers = shared_pointers(k.f);
    surroundings around;
    around.shared_pointers = &pointers;
    return mix_of(k.f, 0, static_cast<std::uint32_t>(k.f.instructions.size()), around);
}

TEST(SharedPointers, WhatIsAddedToThemIsOne) {
    const auto mix = mix_with("cvta.shared.u64 %rd2, %rd1;\nadd.s64 %rd3, %rd4, %rd2;\nmov.u64 %rd5, %rd3;\n"
                              "ld.f32 %f1, [%rd3+16];\nst.f32 [%rd5], %f1;\n");
    EXPECT_EQ(mix[instruction_class::shared_load], 1u);
    EXPECT_EQ(mix[instruction_class::shared_store], 1u);
    EXPECT_EQ(mix[instruction_class::global_load] + mix[instruction_class::global_store], 0u);
}

TEST(SharedPointers, WhatMayBeAnotherPlaceIsNone) {
    const auto mix = mix_with("cvta.shared.u64 %rd2, %rd1;\n@%p1 mov.u64 %rd2, %rd4;\nld.f32 %f1, [%rd2];\n"
                              "cvta.global.u64 %rd3, %rd4;\nld.f32 %f2, [%rd3];\nld.global.f32 %f3, [%rd2];\n");
    EXPECT_EQ(mix[instruction_class::shared_load], 0u);
    EXPECT_EQ(mix[instruction_class::global_load], 3u);
}

} // namespace
} // namespace softgpu::machine
