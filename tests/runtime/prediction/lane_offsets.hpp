// SPDX-License-Identifier: MIT
// A warp whose lanes access memory at offsets of their own: kernels with the parameters (data, offsets).
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "tests/runtime/prediction/predicted_launch.hpp"

// PTX of a kernel with the parameters p and offsets: %rd1 = p, %rd4 = the lane's offset, %r1 = its number.
#define LANE_OFFSET                                                                                                    \
    "mov.u32 %r1, %tid.x;\n"                                                                                           \
    "ld.param.u64 %rd1, [p];\n"                                                                                        \
    "ld.param.u64 %rd2, [offsets];\n"                                                                                  \
    "mul.wide.u32 %rd3, %r1, 8;\n"                                                                                     \
    "add.s64 %rd3, %rd2, %rd3;\n"                                                                                      \
    "ld.global.u64 %rd4, [%rd3];\n"

namespace softgpu::runtime {

constexpr unsigned lanes = 32;
using offsets = std::array<std::int64_t, lanes>;

inline offsets each(const std::function<std::int64_t(unsigned)>& offset) {
    offsets all;
    for (unsigned l = 0; l < lanes; ++l) {
        all[l] = offset(l);
    }
    return all;
}

class lane_offsets_test : public testing::Test {
protected:
    explicit lane_offsets_test(std::size_t bytes) : data_(bytes) {}

    // Without those of the offsets. The K40m loads global memory from L2, by single sectors.
    std::int64_t sectors_read(const void* kernel, const offsets& at) {
        EXPECT_EQ(cudaMemcpy(offsets_.get(), at.data(), sizeof at, copy_kind::automatic), error::success);
        const auto sum = predicted(kernel, 1, lanes, data_.get(), offsets_.get());
        return sum.on("k40m").cold_dram_read_bytes / 32 - static_cast<std::int64_t>(sizeof at / 32);
    }

    device_bytes data_;
    device_bytes offsets_{sizeof(offsets)};
};

} // namespace softgpu::runtime
