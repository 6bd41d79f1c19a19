// SPDX-License-Identifier: MIT
// What cuTensorMapEncodeIm2col accepts and refuses: an H200's answers.
#include <array>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include "tests/driver/driver_fixture.hpp"

namespace softgpu::runtime {

struct tensor_map;

extern "C" {

result cuTensorMapEncodeIm2col(tensor_map* out, unsigned type, unsigned rank, void* address, const std::uint64_t* size,
                               const std::uint64_t* stride, const int* lower, const int* upper, unsigned channels,
                               unsigned pixels, const unsigned* element_stride, unsigned interleave, unsigned swizzle,
                               unsigned l2_promotion, unsigned fill);

} // extern "C"

namespace {

using im2col_test = driver_fixture;

constexpr unsigned s32 = 4, f32 = 7, types = 13;

struct description {
    unsigned type = f32, rank = 4;
    std::uint64_t offset = 0; // of the tensor's address
    std::array<std::uint64_t, 5> size{64, 16, 16, 4, 2};
    std::array<std::uint64_t, 4> stride{256, 4096, 65536, 262144};
    std::array<int, 3> lower{-1, -1, -1}, upper{-1, -1, -1};
    unsigned channels = 8, pixels = 64;
    std::array<unsigned, 5> element_stride{1, 1, 1, 1, 1};
    unsigned interleave = 0, swizzle = 0, l2_promotion = 0, fill = 0;
};

TEST_F(im2col_test, accepts_and_refuses_what_an_h200_does) {
    device_address memory = 0;
    ASSERT_EQ(cuMemAlloc_v2(&memory, 1 << 24), result::success);
    const auto encode = [&](const std::function<void(description&)>& change) {
        description d;
        change(d);
        alignas(64) std::byte map[128];
        return cuTensorMapEncodeIm2col(reinterpret_cast<tensor_map*>(map), d.type, d.rank,
                                       reinterpret_cast<void*>(memory + d.offset), d.size.data(), d.stride.data(),
                                       d.lower.data(), d.upper.data(), d.channels, d.pixels, d.element_stride.data(),
                                       d.interleave, d.swizzle, d.l2_promotion, d.fill) == result::success;
    };
#define ACCEPTED(...) EXPECT_TRUE(encode([&](description& d) { __VA_ARGS__; })) << #__VA_ARGS__
#define REFUSED(...) EXPECT_FALSE(encode([&](description& d) { __VA_ARGS__; })) << #__VA_ARGS__
    ACCEPTED(d.rank = 4);
    ACCEPTED(d.rank = 3);
    ACCEPTED(d.rank = 5);
    REFUSED(d.rank = 2);
    REFUSED(d.rank = 6);
    ACCEPTED(d.offset = 16);
    REFUSED(d.offset = 8);
    REFUSED(d.type = types);
    REFUSED(d.type = 16);
    ACCEPTED(d.fill = 1);
    REFUSED(d.fill = 2);
    REFUSED(d.type = s32; d.fill = 1);
    REFUSED(d.l2_promotion = 4);
    // Channels, pixels and the swizzle.
    ACCEPTED(d.swizzle = 1);
    REFUSED(d.swizzle = 1; d.channels = 16);
    ACCEPTED(d.swizzle = 3; d.channels = 32);
    REFUSED(d.swizzle = 3; d.channels = 33);
    REFUSED(d.swizzle = 4);
    REFUSED(d.channels = 0);
    REFUSED(d.channels = 3);
    ACCEPTED(d.channels = 4);
    ACCEPTED(d.channels = 256);
    REFUSED(d.channels = 260);
    REFUSED(d.pixels = 0);
    ACCEPTED(d.pixels = 1);
    ACCEPTED(d.pixels = 1024);
    REFUSED(d.pixels = 1025);
    REFUSED(d.channels = 256; d.pixels = 1024);
    // Corners: 16, 8 or 5 bits each, and a box of pixels that is not empty.
    ACCEPTED(d.lower = {-128});
    REFUSED(d.lower = {-129});
    ACCEPTED(d.lower = {}; d.upper = {127});
    REFUSED(d.lower = {}; d.upper = {128});
    ACCEPTED(d.rank = 3; d.lower = {-32768});
    REFUSED(d.rank = 3; d.lower = {-32769});
    ACCEPTED(d.rank = 5; d.lower = {-16});
    REFUSED(d.rank = 5; d.lower = {-17});
    ACCEPTED(d.lower = {15}; d.upper = {});
    REFUSED(d.lower = {16}; d.upper = {});
    REFUSED(d.lower = {}; d.upper = {-16});
    ACCEPTED(d.lower = {}; d.upper = {-15});
    // Strides and sizes.
    ACCEPTED(d.element_stride = {1, 2, 2, 1, 1});
    ACCEPTED(d.element_stride = {1, 8, 8, 1, 1});
    REFUSED(d.element_stride = {1, 9, 1, 1, 1});
    REFUSED(d.element_stride = {1, 0, 1, 1, 1});
    REFUSED(d.element_stride = {0, 1, 1, 1, 1});
    ACCEPTED(d.element_stride = {2, 1, 1, 1, 1});
    REFUSED(d.size[0] = 0);
    REFUSED(d.size[1] = (1ull << 32) + 1);
    REFUSED(d.stride[0] = 264);
    ACCEPTED(d.stride[0] = 128);
    REFUSED(d.stride[1] = 1ull << 40);
    // Interleaved tensors: any swizzle, whole slices of 16 bytes, addresses and strides of 16 or 32 bytes.
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
        ACCEPTED(d.interleave = 2; d.swizzle = swizzle);
    }
    ACCEPTED(d.interleave = 1);
    REFUSED(d.interleave = 3);
    ACCEPTED(d.interleave = 1; d.channels = 4);
    REFUSED(d.interleave = 1; d.channels = 3);
    ACCEPTED(d.interleave = 1; d.swizzle = 1);
    ACCEPTED(d.interleave = 1; d.swizzle = 3);
    REFUSED(d.interleave = 2; d.offset = 16);
    REFUSED(d.interleave = 2; d.stride[0] = 272);
    ACCEPTED(d.interleave = 1; d.rank = 3);
    ACCEPTED(d.interleave = 2; d.rank = 3; d.swizzle = 1);
#undef ACCEPTED
#undef REFUSED
}

} // namespace
} // namespace softgpu::runtime
