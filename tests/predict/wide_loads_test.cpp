// SPDX-License-Identifier: MIT
// Loads that ptxas makes one wide load of, as ptxas 13.0 does for sm_75 and sm_90.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"
#include "softgpu/machine/decode/ptxas/schedule.hpp"
#include "softgpu/machine/decode/ptxas/wide_loads.hpp"
#include "tests/predict/kernel_text.hpp"

namespace softgpu::machine {
namespace {

using observe::instruction_class;

struct code : kernel_text {
    explicit code(const std::string& text)
        : kernel_text("mov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\n" + text), wide(wide_loads(f, flow)) {}

    // Of the wide loads, in their order.
    [[nodiscard]] std::vector<unsigned> bytes() const {
        std::vector<unsigned> all;
        for (const wide_load& w : wide) {
            if (w.bytes != 0) {
                all.push_back(w.bytes);
            }
        }
        return all;
    }

    std::vector<wide_load> wide;
};

std::string words(const std::vector<int>& offsets, const std::string& base = "%r4",
                  const std::string& space = "shared") {
    std::string all;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
        for (const std::string& part : {"ld." + space, ".f32 %f" + std::to_string(k + 1), ", [" + base,
                                        "+" + std::to_string(offsets[k]), std::string("];\n")}) {
            all += part;
        }
    }
    return all;
}

// s + thread * `step`.
std::string row(int step) { return "mad.lo.s32 %r4, %r1, " + std::to_string(step) + ", %r2;\n"; }

using list = std::vector<unsigned>;

TEST(WideLoads, ThreeOrFourWordsOf16BytesAreOne) {
    EXPECT_EQ(code(row(128) + words({0, 4, 8, 12})).bytes(), list{16});
    EXPECT_EQ(code(row(128) + words({4, 8, 12, 16, 20, 24, 28})).bytes(), (list{16, 16}));
    EXPECT_EQ(code(row(128) + words({0, 4, 8, 12, 16, 20})).bytes(), (list{16, 8}));
    EXPECT_EQ(code(row(128) + words({8, 12})).bytes(), list{8});
    EXPECT_EQ(code(row(128) + words({4, 8})).bytes(), list{});
    EXPECT_EQ(code(row(128) + words({0, 12})).bytes(), list{});
}

TEST(WideLoads, TheCodeTellsHowRowsAreAligned) {
    EXPECT_EQ(code(row(132) + words({0, 4, 8, 12})).bytes(), list{});
    EXPECT_EQ(code(row(136) + words({0, 4, 8, 12})).bytes(), (list{8, 8}));
    EXPECT_EQ(code("shl.b32 %r3, %r1, 4;\nadd.s32 %r4, %r2, %r3;\n" + words({0, 4, 8})).bytes(), list{16});
    EXPECT_EQ(code("add.s32 %r4, %r2, %r1;\n" + words({0, 4, 8})).bytes(), list{});
    EXPECT_EQ(code("add.s32 %r4, %r2, 16;\nLOOP:\n" + words({0, 4, 8}) +
                   "add.s32 %r4, %r4, 64;\nsetp.lt.u32 %p1, %r4, 4096;\n@%p1 bra LOOP;\n")
                  .bytes(),
              list{16});
    EXPECT_EQ(code("add.s32 %r4, %r2, 16;\nLOOP:\n" + words({0, 4, 8}) +
                   "add.s32 %r4, %r4, 4;\nsetp.lt.u32 %p1, %r4, 4096;\n@%p1 bra LOOP;\n")
                  .bytes(),
              list{});
}

TEST(WideLoads, NothingThatMayStoreThereIsPassed) {
    const auto with = [](const std::string& between) {
        return code(row(128) + words({0}) + between + words({4})).bytes();
    };
    EXPECT_EQ(with(""), list{8});
    EXPECT_EQ(with("st.global.f32 [%rd1], %f1;\n"), list{8});
    EXPECT_EQ(with("st.shared.f32 [%r5], %f1;\n"), list{});
    EXPECT_EQ(with("st.f32 [%rd1], %f1;\n"), list{});
    EXPECT_EQ(with("bar.sync 0;\n"), list{});
    EXPECT_EQ(with("mov.u32 %r4, %r6;\n"), list{});
    EXPECT_EQ(code(row(128) + "ld.volatile.shared.f32 %f1, [%r4];\nld.volatile.shared.f32 %f2, [%r4+4];\n").bytes(),
              list{});
}

TEST(WideLoads, ConstantMemoryHas8BytesAtOnce) {
    const std::string base = "mul.wide.u32 %rd2, %r1, 32;\nmov.u64 %rd3, c;\nadd.s64 %rd4, %rd3, %rd2;\n";
    EXPECT_EQ(code(base + words({0, 4, 8, 12}, "%rd4", "const")).bytes(), (list{8, 8}));
}

// One instruction, whose words are all there when it is.
TEST(WideLoads, TheOthersTakeNothing) {
    const code c(row(128) + words({0, 4, 8, 12}) + "add.f32 %f5, %f4, %f4;\n");
    surroundings around;
    around.wide = &c.wide;
    const auto end = static_cast<std::uint32_t>(c.f.instructions.size()) - 1;
    EXPECT_EQ(mix_of(c.f, 0, end, around)[instruction_class::shared_load], 1u);
    observe::latency_table t;
    t.of.fill(1);
    t[instruction_class::shared_load] = 100;
    EXPECT_EQ(schedule_of(c.f, 3, end, {&t, 1}, carried_registers_of(c.f), 1, around).cycles, std::vector{100. + 1});
}

} // namespace
} // namespace softgpu::machine
