// SPDX-License-Identifier: MIT
// Chains of blocks through an if whose body loads. prediction_test.cpp, of the same process, names the cards.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "tests/runtime/embedded.hpp"
#include "warpfold/testing/counters.hpp"

namespace softgpu::runtime {
namespace {

// A kernel that sums p[0] and, if n is less than 5, p[32 MiB]. The sum is the first instruction that waits for a load. `more` is in the
// body of the if.
std::string kernel_of(const std::string& name, const std::string& more) {
    return ".visible .entry " + name + R"((.param .u64 p, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r3, %r2, %r2;
    setp.ge.u32 %p1, %r1, 5;
    @%p1 bra BEHIND;
    ld.global.u32 %r4, [%rd1+33554432];
)" + more + R"(    add.u32 %r3, %r3, %r4;
BEHIND:
    st.global.u32 [%rd1+128], %r3;
    ret;
}
)";
}

// The body of the first is predicated by ptxas, that of the second stays behind a branch.
const std::string ptx =
    PTX_HEAD + kernel_of("_Z10predicatedPjj", "") + kernel_of("_Z8branchedPjj", "red.global.add.u32 [%rd1+256], 1;\n");

class loads_of_an_if : public testing::Test {
protected:
    loads_of_an_if() : program_(ptx) {
        program_.kernel(&predicated_, "_Z10predicatedPjj");
        program_.kernel(&branched_, "_Z8branchedPjj");
    }
    void SetUp() override { ASSERT_EQ(cudaMalloc(&data_, (32 << 20) + 128), error::success); }
    void TearDown() override { EXPECT_EQ(cudaFree(data_), error::success); }

    // Of one warp, with an empty L2.
    double microseconds(const char& kernel, std::uint32_t n) {
        const auto sum = warpfold::testing::predict([&] {
            ASSERT_EQ(cudaStreamSynchronize(nullptr), error::success); // so that it follows no launch
            void* arguments[] = {&data_, &n};
            ASSERT_EQ(cudaLaunchKernel(&kernel, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr), error::success);
        });
        return sum.on("h200").cold_microseconds;
    }

    embedded_program program_;
    char predicated_ = 0;
    char branched_ = 0;
    void* data_ = nullptr;
};

TEST_F(loads_of_an_if, both_loads_wait_together) {
    const double one = microseconds(predicated_, 5);
    const double both = microseconds(predicated_, 4);
    EXPECT_GT(both, one); // for the slower one
    EXPECT_LT(both, one + 0.1);
    const double branched = microseconds(branched_, 5);
    EXPECT_NEAR(branched, one, 0.02);
    EXPECT_GT(microseconds(branched_, 4), branched + 0.3); // a second load by DRAM
}

} // namespace
} // namespace softgpu::runtime
