// SPDX-License-Identifier: MIT
// The table of cards, and the occupancy that follows from it.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "softgpu/runtime/cards/cards.hpp"
#include "softgpu/runtime/cards/occupancy.hpp"
#include "softgpu/runtime/cards/properties.hpp"

namespace softgpu::runtime {
namespace {

TEST(cards, are_found_by_key_in_any_case) {
    for (const card& c : all_cards()) {
        EXPECT_EQ(find_card(c.key), &c);
    }
    ASSERT_NE(find_card("h100"), nullptr);
    EXPECT_EQ(find_card("h100")->multiprocessors, 132);
    ASSERT_NE(find_card("rtx5090"), nullptr);
    EXPECT_EQ(find_card("rtx5090")->newest_ptx(), 120u);
    EXPECT_EQ(find_card("H10"), nullptr);
    EXPECT_EQ(find_card("H1000"), nullptr);
    EXPECT_EQ(find_card(""), nullptr);
}

TEST(cards, answer_every_attribute) {
    for (const card& c : all_cards()) {
        int value = 0;
        for (int attribute = 1; attribute <= 147; ++attribute) {
            EXPECT_TRUE(device_attribute(c, attribute, value)) << attribute;
        }
        EXPECT_FALSE(device_attribute(c, 0, value));
        EXPECT_FALSE(device_attribute(c, 148, value));
    }
}

TEST(cards, properties_and_attributes_agree) {
    for (const card& c : all_cards()) {
        const device_properties p = properties_of(c);
        EXPECT_EQ(std::string(p.name), c.name);
        EXPECT_EQ(p.total_global_memory, c.memory_bytes);
        EXPECT_EQ(p.multi_processor_count, c.multiprocessors);
        EXPECT_EQ(p.shared_memory_per_block_optin, static_cast<std::size_t>(c.shared_per_block_optin));
        EXPECT_EQ(p.max_threads_dimensions[2], 64);
        EXPECT_EQ(p.l2_cache_bytes, c.l2_bytes);
        EXPECT_EQ(10 * p.major + p.minor, static_cast<int>(c.compute_capability()));
    }
}

// Facts of a kernel that matter for its occupancy.
machine::kernel_facts facts(std::uint32_t registers, std::uint32_t shared, std::uint32_t maxntid = 0) {
    machine::kernel_facts f;
    f.registers = registers;
    f.static_shared_bytes = shared;
    f.maxntid = maxntid;
    return f;
}

// Expected figures: CUDA's occupancy calculator (cuda_occupancy.h's rules, worked by hand).
TEST(occupancy, follows_the_calculator) {
    const card& h100 = *find_card("H100");
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 1024, 0), 2u);
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 128, 0), 16u);
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 32, 0), 32u) << "no more than 32 blocks";
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 33, 0), 32u);
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 129, 0), 12u) << "5 warps each of 64";
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(64, 0), 256, 0), 4u) << "65536 / (64 * 256)";
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(65, 0), 256, 0), 3u) << "65 are allocated as 72";
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 40960), 128, 0), 5u) << "228 KiB / (40 + 1) KiB";
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 128, 20000), 11u);
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 128, 227 << 10), 1u);
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 128, 228 << 10), 0u);
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 0, 0), 0u);
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(16, 0), 1025, 0), 0u);
    const card& t4 = *find_card("T4");
    EXPECT_EQ(blocks_per_multiprocessor(t4, facts(16, 0), 128, 0), 8u) << "1024 threads";
    EXPECT_EQ(blocks_per_multiprocessor(t4, facts(16, 0), 32, 0), 16u);
    EXPECT_EQ(blocks_per_multiprocessor(t4, facts(16, 16384), 128, 0), 4u) << "nothing reserved before 8.0";
}

TEST(occupancy, an_estimate_of_registers_refuses_no_launch) {
    const card& h100 = *find_card("H100");
    EXPECT_EQ(blocks_per_multiprocessor(h100, facts(200, 0), 1024, 0), 1u);
    EXPECT_EQ(registers_of(h100, facts(400, 0)), 255u);
    EXPECT_EQ(registers_of(h100, facts(400, 0, 1024)), 64u) << "what __launch_bounds__(1024) leaves";
    machine::kernel_facts two = facts(100, 0, 512);
    EXPECT_EQ(registers_of(h100, two), 100u);
    two.least_blocks = 2;
    EXPECT_EQ(registers_of(h100, two), 64u) << "what __launch_bounds__(512, 2) leaves";
    two.maxnreg = 40;
    EXPECT_EQ(registers_of(h100, two), 40u);
}

} // namespace
} // namespace softgpu::runtime
