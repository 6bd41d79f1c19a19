// SPDX-License-Identifier: MIT
// Arrays, mipmapped arrays, textures and surfaces of the driver, and the copies from and to arrays.
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/runtime/abi/batch.hpp"
#include "softgpu/runtime/abi/driver_texture.hpp"
#include "tests/driver/driver_fixture.hpp"

namespace softgpu::runtime {

extern "C" {

result cuArrayCreate_v2(array** out, const array_description* d);
result cuArray3DCreate_v2(array** out, const array_3d_description* d);
result cuArrayGetDescriptor_v2(array_description* out, array* handle);
result cuArray3DGetDescriptor_v2(array_3d_description* out, array* handle);
result cuArrayDestroy(array* handle);
result cuMipmappedArrayCreate(mipmapped_array** out, const array_3d_description* d, unsigned levels);
result cuMipmappedArrayGetLevel(array** out, mipmapped_array* handle, unsigned level);
result cuMipmappedArrayDestroy(mipmapped_array* handle);
result cuTexObjectCreate(texture_handle* out, const driver_resource* resource, const driver_texture* how,
                         const view_description* view);
result cuTexObjectDestroy(texture_handle handle);
result cuTexObjectGetResourceDesc(driver_resource* out, texture_handle handle);
result cuTexObjectGetTextureDesc(driver_texture* out, texture_handle handle);
result cuSurfObjectCreate(texture_handle* out, const driver_resource* resource);
result cuSurfObjectDestroy(texture_handle handle);
result cuSurfObjectGetResourceDesc(driver_resource* out, texture_handle handle);
result cuMemcpyHtoA_v2(array* to, std::size_t x, const void* from, std::size_t bytes);
result cuMemcpyAtoH_v2(void* to, array* from, std::size_t x, std::size_t bytes);
result cuMemcpyHtoAAsync_v2(array* to, std::size_t x, const void* from, std::size_t bytes, stream* on);
result cuMemcpyAtoHAsync_v2(void* to, array* from, std::size_t x, std::size_t bytes, stream* on);
result cuMemcpyDtoA_v2(array* to, std::size_t x, device_address from, std::size_t bytes);
result cuMemcpyAtoD_v2(device_address to, array* from, std::size_t x, std::size_t bytes);
result cuMemcpyAtoA_v2(array* to, std::size_t to_x, array* from, std::size_t from_x, std::size_t bytes);
result cuMemcpy2DAsync_v2(const driver_copy_2d* c, stream* on);
result cuMemcpy3DPeer(const driver_copy_3d* c);
result cuMemcpyBatchAsync_v2(device_address* to, device_address* from, std::size_t* sizes, std::size_t count,
                             void* attributes, std::size_t* attribute_indices, std::size_t attribute_count, stream* on);
result cuMemcpyBatchAsync(device_address* to, device_address* from, std::size_t* sizes, std::size_t count,
                          void* attributes, std::size_t* attribute_indices, std::size_t attribute_count,
                          std::size_t* failed, stream* on);

} // extern "C"

namespace {

// sample(out, texture, y): out[t] = texture at (t + 0.5, y). store(surface, y): surface[t, y] = 100 + t.
constexpr std::string_view image_ptx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry sample(.param .u64 out, .param .u64 texture, .param .f32 y)
{
    .reg .b32 %r<3>;
    .reg .f32 %f<9>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [texture];
    ld.param.f32 %f1, [y];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f2, %r1;
    add.f32 %f3, %f2, 0f3F000000;
    tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f3, %f1}];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.f32 [%rd4], %f4;
    ret;
}
.visible .entry store(.param .u64 surface, .param .u32 y)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [surface];
    ld.param.u32 %r1, [y];
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r2, 2;
    add.s32 %r4, %r2, 100;
    sust.b.2d.b32.trap [%rd1, {%r3, %r1}], {%r4};
    ret;
}
)";

class driver_texture_test : public driver_fixture {
protected:
    static constexpr std::size_t width = 8;
    static constexpr std::size_t height = 3;

    static array_3d_description words_of(std::size_t w, std::size_t h, std::size_t d = 0, unsigned flags = 0) {
        return {w, h, d, array_format::unsigned_32, 1, flags};
    }
    static array* make(const array_3d_description& d) {
        array* made = nullptr;
        EXPECT_EQ(cuArray3DCreate_v2(&made, &d), result::success);
        return made;
    }
    static driver_resource of(array* a) {
        driver_resource r{};
        r.type = resource_type::array;
        r.array = a;
        return r;
    }
    // Copies a plane between the host and an array.
    static driver_copy_2d to_array(array* to, const void* from, std::size_t pitch) {
        driver_copy_2d c{};
        c.source_type = driver_memory_type::host;
        c.source_host = from;
        c.source_pitch = pitch;
        c.destination_type = driver_memory_type::array;
        c.destination_array = to;
        c.width = pitch;
        c.height = height;
        return c;
    }
    std::vector<float> sampled(texture_handle texture, float y) {
        device_address out = 0;
        EXPECT_EQ(cuMemAlloc_v2(&out, width * 4), result::success);
        EXPECT_EQ(launch(kernel(image_ptx, "sample"), width, out, texture, y), result::success);
        std::vector<float> values(width);
        EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), out, width * 4), result::success);
        return values;
    }
};

TEST_F(driver_texture_test, descriptions_come_back) {
    const array_description plane{5, 7, array_format::signed_16, 2};
    array* a = nullptr;
    ASSERT_EQ(cuArrayCreate_v2(&a, &plane), result::success);
    array_description said{};
    ASSERT_EQ(cuArrayGetDescriptor_v2(&said, a), result::success);
    EXPECT_EQ(said.width, 5u);
    EXPECT_EQ(said.height, 7u);
    EXPECT_EQ(said.format, array_format::signed_16);
    EXPECT_EQ(said.channels, 2u);
    const struct {
        array_format format;
        unsigned channels;
    } kinds[] = {{array_format::unsigned_8, 4},        {array_format::unsigned_16, 1},     {array_format::signed_8, 2},
                 {array_format::signed_32, 1},         {array_format::real_16, 4},         {array_format::real_32, 2},
                 {array_format::unsigned_unit_8x1, 1}, {array_format::signed_unit_16x4, 4}};
    for (const auto& k : kinds) {
        const array_3d_description asked{4, 3, 2, k.format, k.channels, array_layered | array_surface};
        array* layers = make(asked);
        array_3d_description all{};
        ASSERT_EQ(cuArray3DGetDescriptor_v2(&all, layers), result::success);
        EXPECT_EQ(all.format, k.format);
        EXPECT_EQ(all.channels, k.channels);
        EXPECT_EQ(all.depth, 2u);
        EXPECT_EQ(all.flags, asked.flags);
        EXPECT_EQ(cuArrayDestroy(layers), result::success);
    }
    EXPECT_EQ(cuArrayDestroy(a), result::success);
    EXPECT_EQ(cuArrayDestroy(a), result::invalid_value);
    EXPECT_EQ(cuArrayGetDescriptor_v2(&said, a), result::invalid_handle);
    const array_description three{5, 7, array_format::unsigned_8, 3};
    EXPECT_EQ(cuArrayCreate_v2(&a, &three), result::invalid_value);
    const array_description empty{0, 7, array_format::unsigned_8, 1};
    EXPECT_EQ(cuArrayCreate_v2(&a, &empty), result::invalid_value);
    EXPECT_EQ(cuArrayCreate_v2(&a, nullptr), result::invalid_value);
}

TEST_F(driver_texture_test, a_texture_reads_what_a_copy_has_brought) {
    std::vector<float> host(width * height);
    std::iota(host.begin(), host.end(), 1.0f);
    array* const a = make({width, height, 0, array_format::real_32, 1, 0});
    const driver_copy_2d c = to_array(a, host.data(), width * 4);
    ASSERT_EQ(cuMemcpy2D_v2(&c), result::success);
    driver_texture how{};
    how.mode[0] = how.mode[1] = address_mode::clamp;
    texture_handle texture = 0;
    const driver_resource resource = of(a);
    ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), result::success);
    EXPECT_EQ(sampled(texture, 1.5f), std::vector<float>(host.begin() + width, host.begin() + 2 * width));
    driver_resource said{};
    ASSERT_EQ(cuTexObjectGetResourceDesc(&said, texture), result::success);
    EXPECT_EQ(said.type, resource_type::array);
    EXPECT_EQ(said.array, a);
    EXPECT_EQ(cuTexObjectDestroy(texture), result::success);
    EXPECT_EQ(cuTexObjectDestroy(texture), result::invalid_value);
    how.flags = 0x80;
    EXPECT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), result::invalid_value);
}

// Without the flag for integers, the driver reads bytes as fractions.
TEST_F(driver_texture_test, integers_are_fractions_unless_the_flag_is_set) {
    std::vector<std::uint8_t> host(width * height);
    std::iota(host.begin(), host.end(), std::uint8_t{0});
    array* const a = make({width, height, 0, array_format::unsigned_8, 1, 0});
    const driver_copy_2d c = to_array(a, host.data(), width);
    ASSERT_EQ(cuMemcpy2D_v2(&c), result::success);
    driver_texture how{};
    how.mode[0] = how.mode[1] = address_mode::clamp;
    texture_handle texture = 0;
    const driver_resource resource = of(a);
    ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), result::success);
    const std::vector<float> fractions = sampled(texture, 2.5f);
    for (std::size_t i = 0; i < width; ++i) {
        EXPECT_EQ(fractions[i], static_cast<float>(host[2 * width + i]) / 255.0f) << i;
    }
    how.flags = texture_reads_integers;
    texture_handle integers = 0;
    ASSERT_EQ(cuTexObjectCreate(&integers, &resource, &how, nullptr), result::success);
    driver_texture said{};
    ASSERT_EQ(cuTexObjectGetTextureDesc(&said, integers), result::success);
    EXPECT_EQ(said.flags, texture_reads_integers);
    ASSERT_EQ(cuTexObjectGetTextureDesc(&said, texture), result::success);
    EXPECT_EQ(said.flags, 0u);
}

TEST_F(driver_texture_test, pitched_and_linear_memory) {
    device_address memory = 0;
    ASSERT_EQ(cuMemAlloc_v2(&memory, 512 * height), result::success);
    for (unsigned y = 0; y < height; ++y) {
        ASSERT_EQ(cuMemsetD32_v2(memory + 512 * y, 0x3F800000u + 0x00800000u * y, width), result::success); // 1, 2, 4
    }
    driver_resource resource{};
    resource.type = resource_type::plane;
    resource.plane = {memory, array_format::real_32, 1, width, height, 512};
    driver_texture how{};
    how.mode[0] = how.mode[1] = address_mode::clamp;
    texture_handle texture = 0;
    ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), result::success);
    EXPECT_EQ(sampled(texture, 2.5f), std::vector<float>(width, 4.0f));
    driver_resource said{};
    ASSERT_EQ(cuTexObjectGetResourceDesc(&said, texture), result::success);
    EXPECT_EQ(said.plane.pointer, memory);
    EXPECT_EQ(said.plane.pitch, 512u);
    EXPECT_EQ(said.plane.format, array_format::real_32);
    resource = {};
    resource.type = resource_type::linear;
    resource.linear = {memory, array_format::unsigned_16, 2, 64};
    ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), result::success);
    ASSERT_EQ(cuTexObjectGetResourceDesc(&said, texture), result::success);
    EXPECT_EQ(said.linear.bytes, 64u);
    EXPECT_EQ(said.linear.channels, 2u);
    resource.linear.pointer = memory + 4; // not aligned
    EXPECT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), result::invalid_value);
}

TEST_F(driver_texture_test, a_surface_writes_and_copies_read) {
    array* const a = make(words_of(width, height, 0, array_surface));
    std::vector<std::uint32_t> host(width * height, 7);
    const driver_copy_2d zero = to_array(a, host.data(), width * 4);
    ASSERT_EQ(cuMemcpy2DAsync_v2(&zero, nullptr), result::success);
    const driver_resource resource = of(a);
    texture_handle surface = 0;
    ASSERT_EQ(cuSurfObjectCreate(&surface, &resource), result::success);
    driver_resource said{};
    ASSERT_EQ(cuSurfObjectGetResourceDesc(&said, surface), result::success);
    EXPECT_EQ(said.array, a);
    ASSERT_EQ(launch(kernel(image_ptx, "store"), width, surface, std::uint32_t{1}), result::success);
    // Words 3 to 5 of rows 1 and 2, behind the second byte of memory: no multiple of an element there.
    device_address memory = 0;
    ASSERT_EQ(cuMemAlloc_v2(&memory, 64), result::success);
    driver_copy_2d back{};
    back.source_type = driver_memory_type::array;
    back.source_array = a;
    back.source_x = 12;
    back.source_y = 1;
    back.destination_type = driver_memory_type::device;
    back.destination_device = memory;
    back.destination_pitch = 32;
    back.destination_x = 6;
    back.width = 12;
    back.height = 2;
    ASSERT_EQ(cuMemcpy2D_v2(&back), result::success);
    std::uint32_t words[3];
    ASSERT_EQ(cuMemcpyDtoH_v2(words, memory + 6, sizeof words), result::success);
    EXPECT_EQ(words[0], 103u);
    EXPECT_EQ(words[2], 105u);
    ASSERT_EQ(cuMemcpyDtoH_v2(words, memory + 38, sizeof words), result::success);
    EXPECT_EQ(words[1], 7u);
    back.source_x = 2;
    EXPECT_EQ(cuMemcpy2D_v2(&back), result::invalid_value);
    back.source_x = 28; // over the end of a row
    EXPECT_EQ(cuMemcpy2D_v2(&back), result::invalid_value);
    EXPECT_EQ(cuSurfObjectDestroy(surface), result::success);
}

TEST_F(driver_texture_test, boxes_between_arrays) {
    array* const from = make(words_of(4, 3, 2));
    array* const to = make(words_of(4, 3, 2));
    std::vector<std::uint32_t> host(24);
    std::iota(host.begin(), host.end(), 0u);
    driver_copy_3d c{};
    c.source_type = driver_memory_type::host;
    c.source_host = host.data();
    c.source_pitch = 16;
    c.source_height = 3;
    c.destination_type = driver_memory_type::array;
    c.destination_array = from;
    c.width = 16;
    c.height = 3;
    c.depth = 2;
    ASSERT_EQ(cuMemcpy3D_v2(&c), result::success);
    driver_copy_3d across{};
    across.source_type = across.destination_type = driver_memory_type::array;
    across.source_array = from;
    across.destination_array = to;
    across.source_x = 4;
    across.source_z = 1;
    across.width = 8;
    across.height = 3;
    across.depth = 1;
    ASSERT_EQ(cuMemcpy3DPeer(&across), result::success);
    std::swap(c.source_type, c.destination_type);
    std::vector<std::uint32_t> back(24, 99);
    c.source_array = to;
    c.destination_host = back.data();
    c.destination_pitch = 16;
    c.destination_height = 3;
    c.depth = 1;
    ASSERT_EQ(cuMemcpy3D_v2(&c), result::success);
    EXPECT_EQ(back[0], 13u);
    EXPECT_EQ(back[1], 14u);
    EXPECT_EQ(back[5], 18u);
    EXPECT_EQ(back[12], 99u);
    EXPECT_EQ(cuArrayDestroy(from), result::success);
    EXPECT_EQ(cuMemcpy3DPeer(&across), result::invalid_handle);
}

TEST_F(driver_texture_test, rows_of_bytes) {
    array* const a = make(words_of(16, 0));
    array* const b = make(words_of(16, 0));
    std::uint32_t host[16];
    std::iota(host, host + 16, 50u);
    ASSERT_EQ(cuMemcpyHtoA_v2(a, 0, host, 64), result::success);
    ASSERT_EQ(cuMemcpyAtoA_v2(b, 8, a, 4, 40), result::success);
    device_address memory = 0;
    ASSERT_EQ(cuMemAlloc_v2(&memory, 64), result::success);
    ASSERT_EQ(cuMemcpyAtoD_v2(memory, b, 8, 40), result::success);
    std::uint32_t back[16] = {};
    ASSERT_EQ(cuMemcpyDtoH_v2(back, memory, 40), result::success);
    EXPECT_EQ(back[0], 51u);
    EXPECT_EQ(back[9], 60u);
    ASSERT_EQ(cuMemcpyDtoA_v2(a, 60, memory, 4), result::success);
    ASSERT_EQ(cuMemcpyAtoHAsync_v2(back, a, 56, 8, nullptr), result::success);
    ASSERT_EQ(cuCtxSynchronize(), result::success);
    EXPECT_EQ(back[0], 64u);
    EXPECT_EQ(back[1], 51u);
    ASSERT_EQ(cuMemcpyHtoAAsync_v2(a, 0, host + 3, 4, nullptr), result::success);
    ASSERT_EQ(cuMemcpyAtoH_v2(back, a, 0, 4), result::success);
    EXPECT_EQ(back[0], 53u);
    EXPECT_EQ(cuMemcpyAtoH_v2(back, a, 60, 8), result::invalid_value);
}

TEST_F(driver_texture_test, levels_of_a_mipmapped_array) {
    mipmapped_array* m = nullptr;
    const array_3d_description d{16, 8, 0, array_format::real_32, 1, 0};
    ASSERT_EQ(cuMipmappedArrayCreate(&m, &d, 3), result::success);
    array* level = nullptr;
    ASSERT_EQ(cuMipmappedArrayGetLevel(&level, m, 2), result::success);
    array_description said{};
    ASSERT_EQ(cuArrayGetDescriptor_v2(&said, level), result::success);
    EXPECT_EQ(said.width, 4u);
    EXPECT_EQ(said.height, 2u);
    EXPECT_EQ(cuMipmappedArrayGetLevel(&level, m, 3), result::invalid_value);
    driver_resource resource{};
    resource.type = resource_type::mipmaps;
    resource.mipmaps = m;
    driver_texture how{};
    how.flags = texture_normalized;
    how.most_level = 2;
    texture_handle texture = 0;
    ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), result::success);
    EXPECT_EQ(cuTexObjectDestroy(texture), result::success);
    EXPECT_EQ(cuMipmappedArrayDestroy(m), result::success);
}

TEST_F(driver_texture_test, a_batch_of_copies) {
    device_address memory = 0;
    stream* s = nullptr;
    ASSERT_EQ(cuMemAlloc_v2(&memory, 16), result::success);
    ASSERT_EQ(cuStreamCreate(&s, 1), result::success);
    std::uint32_t first = 4, second = 9, back[2] = {};
    device_address to[] = {memory, memory + 8};
    device_address from[] = {reinterpret_cast<device_address>(&first), reinterpret_cast<device_address>(&second)};
    std::size_t sizes[] = {4, 4};
    std::size_t index = 0;
    std::uint64_t attribute[8] = {1};
    ASSERT_EQ(cuMemcpyBatchAsync_v2(to, from, sizes, 2, attribute, &index, 1, s), result::success);
    ASSERT_EQ(cuStreamSynchronize(s), result::success);
    ASSERT_EQ(cuMemcpyDtoH_v2(&back[0], memory, 4), result::success);
    ASSERT_EQ(cuMemcpyDtoH_v2(&back[1], memory + 8, 4), result::success);
    EXPECT_EQ(back[0], 4u);
    EXPECT_EQ(back[1], 9u);
    std::size_t failed = 0;
    first = 5;
    ASSERT_EQ(cuMemcpyBatchAsync(to, from, sizes, 1, attribute, &index, 1, &failed, s), result::success);
    EXPECT_EQ(failed, static_cast<std::size_t>(-1));
    ASSERT_EQ(cuStreamSynchronize(s), result::success);
    ASSERT_EQ(cuMemcpyDtoH_v2(&back[0], memory, 4), result::success);
    EXPECT_EQ(back[0], 5u);
}

} // namespace
} // namespace softgpu::runtime
