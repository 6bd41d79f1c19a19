// SPDX-License-Identifier: MIT
// Which accesses stay behind others, as ptxas 13.0 orders them for sm_90.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"
#include "softgpu/machine/decode/ptxas/memory_order.hpp"
#include "tests/predict/kernel_text.hpp"

namespace softgpu::machine {
namespace {

using namespace std::string_literals;

using order = std::vector<std::vector<std::uint32_t>>;

// Of each instruction, the numbers of those before it that it stays behind.
order order_of(const std::string& body) {
    const kernel_text k(body);
    memory_order accesses;
    order all;
    for (const ptx::instruction& i : k.f.instructions) {
        all.push_back(accesses.before(static_cast<std::uint32_t>(all.size()), i, cost_of(i).what));
    }
    all.pop_back();
    return all;
}

TEST(MemoryOrder, ALoadPassesAStoreBesideIt) {
    for (const std::string space : {"global", "shared", "local"}) {
        const std::string base = space == "shared" ? "%r1" : "%rd1";
        const auto load_behind_store = [&](const std::string& store, const std::string& load) {
            std::string body;
            for (const std::string& part :
                 {"st." + space, ".f32 [" + base, store, "], %f1;\nld."s, space, ".f32 %f2, [" + base, load, "];\n"s}) {
                body += part;
            }
            return order_of(body)[1];
        };
        EXPECT_EQ(load_behind_store("", "+4"), std::vector<std::uint32_t>{}) << space;
        EXPECT_EQ(load_behind_store("+4", ""), std::vector<std::uint32_t>{}) << space;
        EXPECT_EQ(load_behind_store("+4", "+4"), std::vector<std::uint32_t>{0}) << space;
        EXPECT_EQ(load_behind_store("+4", "+2"), std::vector<std::uint32_t>{0}) << space; // a part of it
    }
    EXPECT_EQ(order_of("st.global.v2.f32 [%rd1], {%f1, %f2};\nld.global.f32 %f3, [%rd1+4];\n")[1],
              std::vector<std::uint32_t>{0});
}

TEST(MemoryOrder, AddressesOfDifferentRegistersMayMeet) {
    EXPECT_EQ(order_of("st.global.f32 [%rd1], %f1;\nld.global.f32 %f2, [%rd2+4];\n")[1], std::vector<std::uint32_t>{0});
    EXPECT_EQ(order_of("st.global.f32 [%rd1], %f1;\nld.global.nc.f32 %f2, [%rd2+4];\n")[1],
              std::vector<std::uint32_t>{}); // nobody writes it
    EXPECT_EQ(order_of("st.global.f32 [%rd1], %f1;\nld.shared.f32 %f2, [%r1];\n")[1], std::vector<std::uint32_t>{});
}

// The next round of a loop that counts by a constant; one that counts by a register.
TEST(MemoryOrder, AConstantMoreIsFollowed) {
    const auto next_round = [](const std::string& step) {
        return order_of("ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1], %f2;\nadd.s64 %rd1, %rd1, " + step +
                        ";\nld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1], %f2;\n");
    };
    EXPECT_EQ(next_round("4"), (order{{}, {0}, {}, {}, {1, 3}}));
    EXPECT_EQ(next_round("2"), (order{{}, {0}, {}, {1}, {1, 3}}));
    EXPECT_EQ(next_round("%rd2"), (order{{}, {0}, {}, {1}, {1, 3}}));
}

TEST(MemoryOrder, AStoreStaysBehindALoadThatOthersPassed) {
    EXPECT_EQ(order_of("ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1+4], %f2;\nst.global.f32 [%rd1], %f2;\n"),
              (order{{}, {}, {1, 0}}));
}

TEST(MemoryOrder, NothingPassesAnAtomicOrAVolatileAccess) {
    for (const std::string fence : {"red.global.add.u32 [%rd1], %r1;\n", "ld.volatile.global.f32 %f1, [%rd1];\n"}) {
        EXPECT_EQ(order_of(fence + "ld.global.f32 %f2, [%rd1+4];\n")[1], std::vector<std::uint32_t>{0}) << fence;
        EXPECT_EQ(order_of("ld.global.f32 %f2, [%rd1+4];\n" + fence)[1], std::vector<std::uint32_t>{0}) << fence;
    }
}

// Of more stores than are compared one by one, the last one stands for all.
TEST(MemoryOrder, ManyStoresCostNoMore) {
    std::string body;
    for (unsigned k = 0; k < 65; ++k) {
        body += "st.global.f32 [%rd1+" + std::to_string(4 * k) + "], %f1;\n";
    }
    EXPECT_EQ(order_of(body + "ld.global.f32 %f2, [%rd1+1000];\n").back(), std::vector<std::uint32_t>{64});
    EXPECT_EQ(order_of(body.substr(0, body.rfind("st.")) + "ld.global.f32 %f2, [%rd1+1000];\n").back(),
              std::vector<std::uint32_t>{});
}

} // namespace
} // namespace softgpu::machine
