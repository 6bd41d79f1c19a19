// SPDX-License-Identifier: MIT
// What the driver says of pointers and of links between devices, its logs, and the newer calls about managed memory.
#include <cstdint>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "report/passing_folder.hpp"
#include "softgpu/runtime/core/logs.hpp"
#include "tests/contents_of.hpp"
#include "tests/driver/driver_fixture.hpp"
#include "tests/driver/virtual_memory_api.hpp"
#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {

extern "C" {

result cuPointerGetAttributes(unsigned count, const driver_pointer_attribute* which, void** out, device_address at);
result cuDeviceGetHostAtomicCapabilities(unsigned* out, const int* operations, unsigned count, int device);
result cuDeviceGetP2PAtomicCapabilities(unsigned* out, const int* operations, unsigned count, int from, int to);
result cuDeviceRegisterAsyncNotification(int device, void (*who)(void*, void*, void*), void* user, void** handle);
result cuDeviceUnregisterAsyncNotification(int device, void* handle);
result cuLogsRegisterCallback(logs::listener who, void* user, logs::registration** out);
result cuLogsUnregisterCallback(logs::registration* r);
result cuLogsCurrent(std::uint32_t* iterator, unsigned flags);
result cuLogsDumpToFile(std::uint32_t* iterator, const char* path, unsigned flags);
result cuLogsDumpToMemory(std::uint32_t* iterator, char* buffer, std::size_t* bytes, unsigned flags);
result cuMemPrefetchBatchAsync(void** at, std::size_t* sizes, std::size_t count, memory_location* locations,
                               std::size_t* location_indices, std::size_t location_count, unsigned long long flags,
                               stream* on);
result cuMemDiscardBatchAsync(void** at, std::size_t* sizes, std::size_t count, unsigned long long flags, stream* on);
result cuOccupancyMaxPotentialClusterSize(int* blocks, function* kernel, const driver_launch* what);
result cuOccupancyMaxActiveClusters(int* clusters, function* kernel, const driver_launch* what);

} // extern "C"

namespace {

using facts_test = driver_fixture;

template <class Value>
Value attribute(driver_pointer_attribute which, device_address at) {
    Value v{};
    EXPECT_EQ(cuPointerGetAttribute(&v, which, at), result::success) << static_cast<int>(which);
    return v;
}

TEST_F(facts_test, every_attribute_of_a_pointer) {
    device_address memory = 0, managed = 0, pooled = 0;
    ASSERT_EQ(cuMemAlloc_v2(&memory, 512), result::success);
    ASSERT_EQ(cuMemAllocManaged(&managed, 64, 1), result::success);
    memory_pool* const pool = pool_of(pool_handles::file_descriptor);
    ASSERT_EQ(cuMemAllocFromPoolAsync(&pooled, 64, pool, nullptr), result::success);
    using a = driver_pointer_attribute;
    EXPECT_EQ(attribute<unsigned>(a::can_be_shared, memory + 8), 1u);
    EXPECT_EQ(attribute<unsigned>(a::can_be_shared, managed), 0u);
    EXPECT_EQ(attribute<device_address>(a::mapping_start, memory + 8), memory);
    EXPECT_EQ(attribute<std::size_t>(a::mapping_bytes, memory + 8), 512u);
    EXPECT_EQ(attribute<std::uint64_t>(a::handle_types, memory), 0u);
    EXPECT_EQ(attribute<std::uint64_t>(a::handle_types, pooled), 1u);
    EXPECT_EQ(attribute<memory_pool*>(a::pool, pooled), pool);
    EXPECT_EQ(attribute<memory_pool*>(a::pool, memory), nullptr);
    EXPECT_EQ(attribute<access_flags>(a::access, memory), access_flags::read_write);
    EXPECT_EQ(attribute<unsigned>(a::direct_rdma, memory), 0u);
    EXPECT_EQ(attribute<unsigned>(a::decompresses, memory), 0u);
    EXPECT_NE(attribute<std::uint64_t>(a::block_id, memory), attribute<std::uint64_t>(a::block_id, managed));
    std::uint64_t any[2];
    EXPECT_EQ(cuPointerGetAttribute(any, static_cast<a>(5), memory), static_cast<result>(801));
    // Of memory that CUDA does not know: zeros, no wider than the attribute.
    std::uint32_t words[6];
    std::memset(words, 0xFF, sizeof words);
    const a some[] = {a::access, a::mapping_bytes, a::can_be_shared};
    void* out[] = {&words[0], &words[2], &words[4]};
    ASSERT_EQ(cuPointerGetAttributes(3, some, out, reinterpret_cast<device_address>(words)), result::success);
    EXPECT_EQ(words[0], 0u);
    EXPECT_EQ(words[1], 0xFFFFFFFFu);
    EXPECT_EQ(words[2] | words[3] | words[4], 0u);
    EXPECT_EQ(words[5], 0xFFFFFFFFu);
}

TEST_F(facts_test, atomics_over_links) {
    const int operations[] = {0, 10, 12};
    unsigned can[3] = {9, 9, 9};
    ASSERT_EQ(cuDeviceGetHostAtomicCapabilities(can, operations, 3, 0), result::success);
    EXPECT_EQ(can[0] | can[1] | can[2], 0u); // as the card: its link to the host has none
    EXPECT_EQ(cuDeviceGetHostAtomicCapabilities(can, operations, 0, 0), result::invalid_value);
    EXPECT_EQ(cuDeviceGetHostAtomicCapabilities(can, operations, 1, 3), static_cast<result>(101));
    const int unknown = 13;
    EXPECT_EQ(cuDeviceGetHostAtomicCapabilities(can, &unknown, 1, 0), result::invalid_value);
    EXPECT_EQ(cuDeviceGetP2PAtomicCapabilities(can, operations, 3, 0, 0), static_cast<result>(101));
    void* handle = nullptr;
    ASSERT_EQ(cuDeviceRegisterAsyncNotification(
                  0, [](void*, void*, void*) {}, nullptr, &handle),
              result::success);
    EXPECT_EQ(cuDeviceUnregisterAsyncNotification(0, handle), result::success);
    EXPECT_EQ(cuDeviceUnregisterAsyncNotification(0, handle), result::invalid_value);
}

TEST_F(facts_test, the_logs_hold_what_was_said) {
    std::uint32_t here = 0;
    ASSERT_EQ(cuLogsCurrent(&here, 0), result::success);
    std::string heard;
    logs::registration* r = nullptr;
    ASSERT_EQ(cuLogsRegisterCallback([](void* user, int, char* text,
                                        std::size_t bytes) { static_cast<std::string*>(user)->append(text, bytes); },
                                     &heard, &r),
              result::success);
    library* none = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_EQ(cuModuleLoadData(&none, "\177ELF and so on"), no_binary);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ("softgpu: " + heard + "\n", said);
    ASSERT_EQ(cuLogsUnregisterCallback(r), result::success);
    EXPECT_EQ(cuLogsUnregisterCallback(r), result::invalid_value);
    std::uint32_t again = here, twice = here;
    char buffer[400];
    std::size_t bytes = sizeof buffer;
    ASSERT_EQ(cuLogsDumpToMemory(&here, buffer, &bytes, 0), result::success);
    EXPECT_EQ(std::string(buffer, bytes), heard + "\n");
    EXPECT_EQ(buffer[bytes], '\0');
    bytes = sizeof buffer;
    ASSERT_EQ(cuLogsDumpToMemory(&here, buffer, &bytes, 0), result::success); // nothing since
    EXPECT_EQ(bytes, 0u);
    bytes = 8;
    EXPECT_EQ(cuLogsDumpToMemory(&again, buffer, &bytes, 0), result::invalid_value);
    EXPECT_EQ(bytes, 0u);
    const warpfold::report::passing_folder folder("softgpu-logs");
    ASSERT_EQ(cuLogsDumpToFile(&twice, folder.file("log").c_str(), 0), result::success);
    EXPECT_EQ(warpfold::tests::contents_of(folder.file("log")), heard + "\n");
    EXPECT_EQ(cuLogsDumpToFile(nullptr, "/no/such/folder/file", 0), result::invalid_value);
}

TEST_F(facts_test, batches_about_managed_memory) {
    device_address managed = 0;
    stream* s = nullptr;
    ASSERT_EQ(cuMemAllocManaged(&managed, 4096, 1), result::success);
    ASSERT_EQ(cuStreamCreate(&s, 1), result::success);
    void* at = reinterpret_cast<void*>(managed);
    std::size_t bytes = 4096, index = 0;
    memory_location here{location_type::device, 0};
    EXPECT_EQ(cuMemPrefetchBatchAsync(&at, &bytes, 1, &here, &index, 1, 0, s), result::success);
    EXPECT_EQ(cuMemDiscardBatchAsync(&at, &bytes, 1, 0, s), result::success);
    EXPECT_EQ(cuMemDiscardBatchAsync(nullptr, &bytes, 1, 0, s), result::invalid_value);
    EXPECT_EQ(cuStreamSynchronize(s), result::success);
}

TEST_F(facts_test, clusters_of_one_block) {
    function* const fill = kernel(sample_ptx, "_Z4fillPjj");
    const driver_launch what{{2, 1, 1}, {1024, 1, 1}, 0, nullptr, nullptr, 0};
    int blocks = 0, clusters = 1;
    ASSERT_EQ(cuOccupancyMaxPotentialClusterSize(&blocks, fill, &what), result::success);
    EXPECT_GE(blocks, 1);
    ASSERT_EQ(cuOccupancyMaxActiveClusters(&clusters, fill, &what), result::success);
    EXPECT_EQ(clusters, 0); // as on an H200: none without a cluster size
    EXPECT_EQ(cuOccupancyMaxActiveClusters(&clusters, fill, nullptr), result::invalid_value);
}

} // namespace
} // namespace softgpu::runtime
