// SPDX-License-Identifier: MIT
// Allocations of every kind, and copies that must not leave them.
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/runtime/api.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::size_t mebibyte = 1 << 20;

class memory_test : public testing::Test {
protected:
    void SetUp() override { (void)cudaGetLastError(); }
    void TearDown() override { EXPECT_EQ(cudaDeviceReset(), error::success); }
};

TEST_F(memory_test, allocations_are_aligned_and_distinct) {
    void* a = nullptr;
    void* b = nullptr;
    ASSERT_EQ(cudaMalloc(&a, 1), error::success);
    ASSERT_EQ(cudaMalloc(&b, 1), error::success);
    EXPECT_NE(a, b);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b) % 256, 0u);
    EXPECT_EQ(cudaFree(a), error::success);
    EXPECT_EQ(cudaFree(a), error::invalid_value);
    EXPECT_EQ(cudaFree(static_cast<char*>(b) + 1), error::invalid_value);
    EXPECT_EQ(cudaFree(b), error::success);
}

TEST_F(memory_test, no_more_than_the_card_has) {
    std::size_t available = 0;
    std::size_t total = 0;
    ASSERT_EQ(cudaMemGetInfo(&available, &total), error::success);
    EXPECT_LE(available, total);
    void* p = nullptr;
    EXPECT_EQ(cudaMalloc(&p, total + 1), error::memory_allocation);
    EXPECT_EQ(cudaGetLastError(), error::memory_allocation);
    EXPECT_EQ(cudaMalloc(&p, std::numeric_limits<std::size_t>::max()), error::memory_allocation);
    std::size_t pitch = 0;
    EXPECT_EQ(cudaMallocPitch(&p, &pitch, std::numeric_limits<std::size_t>::max() - 5, 2), error::memory_allocation);
    EXPECT_EQ(cudaMallocPitch(&p, &pitch, std::size_t{1} << 40, std::size_t{1} << 40), error::memory_allocation);
}

TEST_F(memory_test, a_copy_must_not_leave_its_allocation) {
    void* device = nullptr;
    std::vector<char> host(4096);
    ASSERT_EQ(cudaMalloc(&device, 1024), error::success);
    EXPECT_EQ(cudaMemcpy(device, host.data(), 1024, copy_kind::host_to_device), error::success);
    EXPECT_EQ(cudaMemcpy(device, host.data(), 1025, copy_kind::host_to_device), error::invalid_value);
    EXPECT_EQ(cudaMemcpy(host.data(), static_cast<char*>(device) + 1, 1024, copy_kind::device_to_host),
              error::invalid_value);
    EXPECT_EQ(cudaMemcpy(host.data(), static_cast<char*>(device) + 1, 1024, copy_kind::automatic),
              error::invalid_value);
    EXPECT_EQ(cudaMemset(static_cast<char*>(device) + 1000, 1, 25), error::invalid_value);
    EXPECT_EQ(cudaMemset(static_cast<char*>(device) + 1000, 1, 24), error::success);
    EXPECT_EQ(cudaMemcpy2D(device, 128, host.data(), 64, 64, 8, copy_kind::host_to_device), error::success);
    EXPECT_EQ(cudaMemcpy2D(device, 128, host.data(), 64, 64, 9, copy_kind::host_to_device), error::invalid_value);
    EXPECT_EQ(cudaMemset2D(device, 128, 1, 64, 9), error::invalid_value);
    EXPECT_EQ(cudaMemcpy(device, host.data(), std::numeric_limits<std::size_t>::max(), copy_kind::host_to_device),
              error::invalid_value);
    ASSERT_EQ(cudaFree(device), error::success);
    EXPECT_EQ(cudaMemcpy(device, host.data(), 16, copy_kind::host_to_device), error::invalid_value);
    EXPECT_EQ(cudaMemcpy(device, host.data(), 16, copy_kind::host_to_host), error::invalid_value) << "freed memory";
}

TEST_F(memory_test, a_copy_in_the_wrong_direction_names_its_sides) {
    void* device = nullptr;
    std::vector<char> host(64);
    ASSERT_EQ(cudaMalloc(&device, 64), error::success);
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaMemcpy(host.data(), device, 64, copy_kind::host_to_device), error::invalid_value);
    EXPECT_EQ(cudaMemcpyAsync(device, host.data(), 64, copy_kind::device_to_host, nullptr), error::invalid_value);
    const std::string said = testing::internal::GetCapturedStderr();
    for (const char* const part :
         {"softgpu: a copy from host to device: the source 0x", "is device memory, the destination 0x",
          "softgpu: a copy from device to host: the source 0x", "is pageable memory of the host, the destination 0x"}) {
        EXPECT_NE(said.find(part), std::string::npos) << said;
    }
}

TEST_F(memory_test, bytes_arrive) {
    std::vector<int> sent(1000);
    std::iota(sent.begin(), sent.end(), 5);
    std::vector<int> received(1000);
    void* a = nullptr;
    void* b = nullptr;
    ASSERT_EQ(cudaMalloc(&a, 4000), error::success);
    ASSERT_EQ(cudaMalloc(&b, 4000), error::success);
    ASSERT_EQ(cudaMemcpy(a, sent.data(), 4000, copy_kind::host_to_device), error::success);
    ASSERT_EQ(cudaMemcpyAsync(b, a, 4000, copy_kind::device_to_device, nullptr), error::success);
    ASSERT_EQ(cudaMemset(b, 0xFF, 4), error::success);
    ASSERT_EQ(cudaMemcpy(received.data(), b, 4000, copy_kind::automatic), error::success);
    EXPECT_EQ(received.front(), -1);
    received.front() = sent.front();
    EXPECT_EQ(received, sent);
}

TEST_F(memory_test, rows_and_boxes_arrive_where_they_belong) {
    constexpr std::size_t width = 5, height = 4, depth = 3, pitch = 16, slice_rows = 6;
    std::vector<unsigned char> box(width * height * depth);
    std::iota(box.begin(), box.end(), static_cast<unsigned char>(1));
    void* device = nullptr;
    ASSERT_EQ(cudaMalloc(&device, pitch * slice_rows * depth), error::success);
    ASSERT_EQ(cudaMemset(device, 0, pitch * slice_rows * depth), error::success);
    copy_3d in{};
    in.source = {box.data(), width, width, height};
    in.destination = {device, pitch, width, slice_rows};
    in.destination_position = {2, 1, 0};
    in.extent = {width, height, depth};
    in.kind = copy_kind::host_to_device;
    ASSERT_EQ(cudaMemcpy3D(&in), error::success);
    std::vector<unsigned char> all(pitch * slice_rows * depth);
    ASSERT_EQ(cudaMemcpy(all.data(), device, all.size(), copy_kind::device_to_host), error::success);
    std::vector<unsigned char> expected(all.size());
    for (std::size_t z = 0; z < depth; ++z) {
        for (std::size_t y = 0; y < height; ++y) {
            for (std::size_t x = 0; x < width; ++x) {
                expected[((z * slice_rows) + y + 1) * pitch + x + 2] = box[(z * height + y) * width + x];
            }
        }
    }
    EXPECT_EQ(all, expected);
    in.destination_position = {0, 1, 3};
    EXPECT_EQ(cudaMemcpy3D(&in), error::invalid_value) << "slice 3 of 3 is outside";
    in.destination_position = {12, 0, 0};
    EXPECT_EQ(cudaMemcpy3D(&in), error::invalid_value) << "columns 12 to 16 of 16";
}

TEST_F(memory_test, pinned_memory_is_the_hosts_and_the_devices) {
    void* p = nullptr;
    ASSERT_EQ(cudaHostAlloc(&p, 4096, host_allocation_mapped), error::success);
    std::memset(p, 7, 4096);
    pointer_attributes a{};
    ASSERT_EQ(cudaPointerGetAttributes(&a, static_cast<char*>(p) + 9), error::success);
    EXPECT_EQ(a.type, memory_type::host);
    void* device = nullptr;
    ASSERT_EQ(cudaHostGetDevicePointer(&device, p, 0), error::success);
    EXPECT_EQ(device, p);
    EXPECT_EQ(cudaFree(p), error::invalid_value);
    EXPECT_EQ(cudaFreeHost(p), error::success);
    ASSERT_EQ(cudaPointerGetAttributes(&a, p), error::success);
    EXPECT_EQ(a.type, memory_type::unregistered);
}

TEST_F(memory_test, no_more_pinned_memory_than_the_host_has) {
    void* p = nullptr;
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    for (const std::size_t bytes : {all, all - 1, all - 4095, all - 4096, all / 2 + 1, std::size_t{1} << 50}) {
        EXPECT_EQ(cudaHostAlloc(&p, bytes, 0), error::memory_allocation) << bytes;
        EXPECT_EQ(cudaMallocHost(&p, bytes), error::memory_allocation) << bytes;
    }
    ASSERT_EQ(cudaMallocHost(&p, 5000), error::success) << "the error is not one that stays";
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 4096, 0u);
    EXPECT_EQ(std::vector<char>(static_cast<char*>(p), static_cast<char*>(p) + 5000), std::vector<char>(5000));
    EXPECT_EQ(cudaFreeHost(p), error::success);
}

TEST_F(memory_test, registered_memory_has_to_be_there) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    char* const at =
        static_cast<char*>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(at, MAP_FAILED);
    ASSERT_EQ(munmap(at + page, page), 0);
    EXPECT_EQ(cudaHostRegister(at, page, 0), error::success) << "pages that nobody has touched";
    EXPECT_EQ(cudaHostUnregister(at), error::success);
    EXPECT_EQ(cudaHostRegister(at + page - 1, 1, 0), error::success);
    EXPECT_EQ(cudaHostUnregister(at + page - 1), error::success);
    EXPECT_EQ(cudaHostRegister(at, page + 1, 0), error::invalid_value);
    EXPECT_EQ(cudaHostRegister(at + page, 16, 0), error::invalid_value);
    EXPECT_EQ(cudaHostRegister(at, 3 * page, 0), error::invalid_value);
    EXPECT_EQ(cudaHostRegister(at + 2 * page - 1, 2, 0), error::invalid_value);
    EXPECT_EQ(cudaHostRegister(at, std::numeric_limits<std::size_t>::max(), 0), error::invalid_value);
    EXPECT_EQ(cudaHostRegister(at, std::numeric_limits<std::size_t>::max() - reinterpret_cast<std::size_t>(at) + 2, 0),
              error::invalid_value);
    EXPECT_EQ(munmap(at, page), 0);
    EXPECT_EQ(munmap(at + 2 * page, page), 0);
}

TEST_F(memory_test, registered_ranges_must_not_overlap) {
    std::vector<char> mine(4 * mebibyte);
    char* const at = mine.data();
    EXPECT_EQ(cudaHostRegister(at + mebibyte, mebibyte, 0), error::success);
    EXPECT_EQ(cudaHostRegister(at, mebibyte + 1, 0), error::host_memory_already_registered);
    EXPECT_EQ(cudaHostRegister(at + 2 * mebibyte - 1, 10, 0), error::host_memory_already_registered);
    EXPECT_EQ(cudaHostRegister(at, 4 * mebibyte, 0), error::host_memory_already_registered);
    EXPECT_EQ(cudaHostRegister(at, mebibyte, 0), error::success);
    EXPECT_EQ(cudaFreeHost(at), error::invalid_value) << "registered memory is not the runtime's to free";
    EXPECT_EQ(cudaHostUnregister(at), error::success);
    EXPECT_EQ(cudaHostUnregister(at), error::host_memory_not_registered);
    EXPECT_EQ(cudaHostUnregister(at + mebibyte), error::success);
}

TEST_F(memory_test, pools_keep_account) {
    pool_properties properties{};
    properties.allocation = pool_allocation::pinned;
    properties.location = {location_type::device, 0};
    properties.max_bytes = 1000;
    memory_pool* pool = nullptr;
    ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), error::success);
    void* p = nullptr;
    void* q = nullptr;
    ASSERT_EQ(cudaMallocFromPoolAsync(&p, 600, pool, nullptr), error::success);
    EXPECT_EQ(cudaMallocFromPoolAsync(&q, 401, pool, nullptr), error::memory_allocation);
    ASSERT_EQ(cudaMallocFromPoolAsync(&q, 400, pool, nullptr), error::success);
    ASSERT_EQ(cudaFreeAsync(p, nullptr), error::success);
    EXPECT_EQ(cudaFreeAsync(p, nullptr), error::invalid_value);
    ASSERT_EQ(cudaStreamSynchronize(nullptr), error::success);
    std::uint64_t bytes = 0;
    ASSERT_EQ(cudaMemPoolGetAttribute(pool, pool_attribute::used_current, &bytes), error::success);
    EXPECT_EQ(bytes, 400u);
    ASSERT_EQ(cudaMemPoolGetAttribute(pool, pool_attribute::used_high, &bytes), error::success);
    EXPECT_EQ(bytes, 1000u);
    ASSERT_EQ(cudaMemPoolDestroy(pool), error::success);
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, pool_attribute::used_current, &bytes), error::invalid_value);
    EXPECT_EQ(cudaMemset(q, 0, 400), error::success) << "what a destroyed pool gave is good until it is freed";
    EXPECT_EQ(cudaFree(q), error::success);
}

TEST_F(memory_test, pools_reserve_up_to_their_threshold) {
    pool_properties properties{};
    properties.allocation = pool_allocation::pinned;
    properties.location = {location_type::device, 0};
    memory_pool* pool = nullptr;
    ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), error::success);
    const auto get = [&](pool_attribute which) {
        std::uint64_t bytes = 0;
        EXPECT_EQ(cudaMemPoolGetAttribute(pool, which, &bytes), error::success);
        return bytes;
    };
    const auto set = [&](pool_attribute which, std::uint64_t bytes) {
        EXPECT_EQ(cudaMemPoolSetAttribute(pool, which, &bytes), error::success);
    };
    const auto take_and_free = [&] {
        void* p = nullptr;
        ASSERT_EQ(cudaMallocFromPoolAsync(&p, 3 * mebibyte, pool, nullptr), error::success);
        EXPECT_EQ(get(pool_attribute::reserved_current), 4 * mebibyte);
        ASSERT_EQ(cudaFreeAsync(p, nullptr), error::success);
        ASSERT_EQ(cudaStreamSynchronize(nullptr), error::success);
    };
    take_and_free();
    EXPECT_EQ(get(pool_attribute::reserved_current), 0u);
    set(pool_attribute::release_threshold, ~0ull);
    take_and_free();
    EXPECT_EQ(get(pool_attribute::reserved_current), 4 * mebibyte);
    ASSERT_EQ(cudaMemPoolTrimTo(pool, 0), error::success);
    EXPECT_EQ(get(pool_attribute::reserved_current), 0u);
    EXPECT_EQ(get(pool_attribute::reserved_high), 4 * mebibyte);
    set(pool_attribute::reserved_high, 0);
    EXPECT_EQ(get(pool_attribute::reserved_high), 0u);
    EXPECT_EQ(get(pool_attribute::used_high), 3 * mebibyte);
    set(pool_attribute::used_high, 0);
    EXPECT_EQ(get(pool_attribute::used_high), 0u);
    ASSERT_EQ(cudaMemPoolDestroy(pool), error::success);
}

TEST_F(memory_test, reset_takes_everything_back) {
    std::size_t before = 0;
    std::size_t after = 0;
    ASSERT_EQ(cudaDeviceReset(), error::success);
    ASSERT_EQ(cudaMemGetInfo(&before, nullptr), error::success);
    void* p = nullptr;
    ASSERT_EQ(cudaMalloc(&p, 64 * mebibyte), error::success);
    ASSERT_EQ(cudaMallocManaged(&p, mebibyte, attach_global), error::success);
    stream* s = nullptr;
    ASSERT_EQ(cudaStreamCreate(&s), error::success);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    EXPECT_EQ(cudaFree(p), error::invalid_value);
    EXPECT_EQ(cudaStreamSynchronize(s), error::invalid_resource_handle);
    ASSERT_EQ(cudaMalloc(&p, 16), error::success);
    ASSERT_EQ(cudaFree(p), error::success);
    ASSERT_EQ(cudaMemGetInfo(&after, nullptr), error::success);
    EXPECT_GE(after + 32 * mebibyte, before);
}

} // namespace
} // namespace softgpu::runtime
