// SPDX-License-Identifier: MIT
// Invalid and destroyed handles of arrays, textures and surfaces: each is an error and never a crash.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/runtime/abi/texture.hpp"
#include "tests/runtime/api.hpp"

namespace softgpu::runtime {

extern "C" {

error cudaMallocArray(array** out, const channel_format* format, std::size_t width, std::size_t height, unsigned flags);
error cudaArrayGetInfo(channel_format* format, extent* size, unsigned* flags, array* a);
error cudaMemcpy2DToArray(array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                          std::size_t width, std::size_t height, copy_kind kind);
}

namespace {

constexpr channel_format real{32, 0, 0, 0, channel_kind::real};

class array_test : public testing::Test {
protected:
    void SetUp() override { (void)cudaGetLastError(); }
    void TearDown() override { EXPECT_EQ(cudaDeviceReset(), error::success); }
};

resource_description of(array* a) {
    resource_description r{};
    r.type = resource_type::array;
    r.array = a;
    return r;
}

TEST_F(array_test, freed_arrays_are_no_arrays) {
    array* a = nullptr;
    ASSERT_EQ(cudaMallocArray(&a, &real, 8, 4, 0), error::success);
    ASSERT_EQ(cudaFreeArray(a), error::success);
    EXPECT_EQ(cudaFreeArray(a), error::invalid_value);
    EXPECT_EQ(cudaArrayGetInfo(nullptr, nullptr, nullptr, a), error::invalid_resource_handle);
    const float data[8] = {};
    EXPECT_EQ(cudaMemcpy2DToArray(a, 0, 0, data, 32, 32, 1, copy_kind::host_to_device), error::invalid_resource_handle);
    EXPECT_EQ(cudaMemcpyToArray(a, 0, 0, data, 32, copy_kind::host_to_device), error::invalid_resource_handle);
    copy_3d p{};
    p.destination_array = a;
    p.source = {const_cast<float*>(data), 32, 8, 1};
    p.extent = {8, 1, 1};
    p.kind = copy_kind::host_to_device;
    EXPECT_EQ(cudaMemcpy3D(&p), error::invalid_resource_handle);
    texture_handle t = 0;
    const resource_description r = of(a);
    const texture_description how{};
    EXPECT_EQ(cudaCreateTextureObject(&t, &r, &how, nullptr), error::invalid_resource_handle);
    EXPECT_EQ(cudaCreateSurfaceObject(&t, &r), error::invalid_resource_handle);
}

TEST_F(array_test, handles_are_no_pointers) {
    array* a = nullptr;
    ASSERT_EQ(cudaMallocArray(&a, &real, 8, 4, 0), error::success);
    float data[8] = {};
    EXPECT_EQ(cudaMemcpy(a, data, 32, copy_kind::host_to_device), error::invalid_value);
    EXPECT_EQ(cudaMemcpy(data, a, 32, copy_kind::automatic), error::invalid_value);
    EXPECT_EQ(cudaFree(a), error::invalid_value);
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, 256), error::success);
    for (void* const other : {memory, static_cast<void*>(data)}) {
        EXPECT_EQ(cudaFreeArray(static_cast<array*>(other)), error::invalid_value);
        EXPECT_EQ(cudaFreeMipmappedArray(static_cast<mipmapped_array*>(other)), error::invalid_value);
        EXPECT_EQ(cudaDestroyTextureObject(reinterpret_cast<std::uintptr_t>(other)), error::invalid_value);
        EXPECT_EQ(cudaDestroySurfaceObject(reinterpret_cast<std::uintptr_t>(other)), error::invalid_value);
    }
    EXPECT_EQ(cudaFreeArray(a), error::success);
}

TEST_F(array_test, levels_go_with_their_array) {
    mipmapped_array* m = nullptr;
    ASSERT_EQ(cudaMallocMipmappedArray(&m, &real, {8, 8, 0}, 3, 0), error::success);
    array* levels[3] = {};
    for (unsigned n = 0; n < 3; ++n) {
        ASSERT_EQ(cudaGetMipmappedArrayLevel(&levels[n], m, n), error::success);
    }
    extent size{};
    ASSERT_EQ(cudaArrayGetInfo(nullptr, &size, nullptr, levels[2]), error::success);
    EXPECT_EQ(size.width, 2u);
    ASSERT_EQ(cudaFreeMipmappedArray(m), error::success);
    EXPECT_EQ(cudaFreeMipmappedArray(m), error::invalid_value);
    for (array* const level : levels) {
        EXPECT_EQ(cudaArrayGetInfo(nullptr, nullptr, nullptr, level), error::invalid_resource_handle);
    }
}

TEST_F(array_test, textures_and_surfaces_are_different_things) {
    array* a = nullptr;
    ASSERT_EQ(cudaMallocArray(&a, &real, 8, 4, array_surface), error::success);
    const resource_description r = of(a);
    const texture_description how{};
    texture_handle t = 0;
    texture_handle s = 0;
    ASSERT_EQ(cudaCreateTextureObject(&t, &r, &how, nullptr), error::success);
    ASSERT_EQ(cudaCreateSurfaceObject(&s, &r), error::success);
    EXPECT_EQ(cudaDestroyTextureObject(s), error::invalid_value);
    EXPECT_EQ(cudaDestroySurfaceObject(t), error::invalid_value);
    EXPECT_EQ(cudaDestroyTextureObject(t), error::success);
    EXPECT_EQ(cudaDestroyTextureObject(t), error::invalid_value);
    resource_description told{};
    EXPECT_EQ(cudaGetTextureObjectResourceDesc(&told, t), error::invalid_value);
    EXPECT_EQ(cudaDestroySurfaceObject(s), error::success);
    EXPECT_EQ(cudaFreeArray(a), error::success);
}

TEST_F(array_test, no_more_than_the_card_has) {
    array* a = nullptr;
    const channel_format wide{32, 32, 32, 32, channel_kind::real};
    std::vector<array*> all;
    error last = error::success;
    while (all.size() < 64 && (last = cudaMallocArray(&a, &wide, 65536, 65536, 0)) == error::success) { // 64 GiB each
        all.push_back(a);
    }
    EXPECT_EQ(last, error::memory_allocation);
    for (array* const one : all) {
        EXPECT_EQ(cudaFreeArray(one), error::success);
    }
}

} // namespace
} // namespace softgpu::runtime
