// SPDX-License-Identifier: MIT
// Memory of several devices: whose it is, copies between devices, peer access and pools.
#include <vector>

#include "tests/runtime/devices/devices.hpp"

namespace softgpu::runtime {
namespace {

memory_location place_of(int device) { return {location_type::device, device}; }

// Nothing is written to the memory, so the host has it all the time.
TEST_F(devices_test, memory_is_counted_by_device) {
    constexpr std::size_t piece = std::size_t{1} << 30;
    std::size_t free = 0;
    std::size_t total = 0;
    std::vector<void*> held;
    use(1);
    ASSERT_EQ(cudaMemGetInfo(&free, &total), error::success);
    for (void* p = nullptr; held.size() <= total / piece && cudaMalloc(&p, piece) == error::success;) {
        held.push_back(p);
    }
    EXPECT_EQ(cudaGetLastError(), error::memory_allocation);
    EXPECT_EQ(held.size(), total / piece);
    ASSERT_EQ(cudaMemGetInfo(&free, &total), error::success);
    EXPECT_LT(free, piece);
    use(2);
    ASSERT_EQ(cudaMemGetInfo(&free, &total), error::success);
    EXPECT_GE(free, piece);
    void* elsewhere = nullptr;
    EXPECT_EQ(cudaMalloc(&elsewhere, piece), error::success);
    for (void* const p : held) { // a free needs no current device
        EXPECT_EQ(cudaFree(p), error::success);
        EXPECT_EQ(cudaFree(p), error::invalid_value);
        EXPECT_EQ(attributes_of(p).type, memory_type::unregistered);
    }
    use(1);
    ASSERT_EQ(cudaMemGetInfo(&free, &total), error::success);
    EXPECT_GE(free, piece);
}

TEST_F(devices_test, a_pointer_says_whose_it_is) {
    for (int device = 0; device < device_count; ++device) {
        std::uint32_t* const p = allocate(device, 8);
        void* managed = nullptr;
        void* pinned = nullptr;
        ASSERT_EQ(cudaMallocManaged(&managed, 4, 1), error::success);
        ASSERT_EQ(cudaMallocHost(&pinned, 4), error::success);
        use((device + 1) % device_count);
        EXPECT_EQ(attributes_of(p + 7).device, device);
        EXPECT_EQ(attributes_of(p).type, memory_type::device);
        EXPECT_EQ(attributes_of(managed).device, device);
        EXPECT_EQ(attributes_of(managed).type, memory_type::managed);
        EXPECT_EQ(attributes_of(pinned).device, device);
        EXPECT_EQ(attributes_of(pinned).type, memory_type::host);
        EXPECT_EQ(cudaFree(managed), error::success);
        EXPECT_EQ(cudaFreeHost(pinned), error::success);
        EXPECT_EQ(cudaFreeHost(pinned), error::invalid_value);
    }
}

TEST_F(devices_test, a_pointer_without_peer_access_is_none_of_the_current_device) {
    std::uint32_t* const p = allocate(1, 8);
    EXPECT_EQ(attributes_of(p).device_pointer, p);
    use(0);
    EXPECT_EQ(attributes_of(p).device_pointer, nullptr);
    EXPECT_EQ(attributes_of(p).device, 1);
    ASSERT_EQ(cudaDeviceEnablePeerAccess(1, 0), error::success);
    EXPECT_EQ(attributes_of(p).device_pointer, p);
}

TEST_F(devices_test, host_memory_is_registered_once_for_all_devices) {
    std::vector<char> bytes(4096);
    use(0);
    ASSERT_EQ(cudaHostRegister(bytes.data() + 1024, 1024, 0), error::success);
    use(1);
    EXPECT_EQ(cudaHostRegister(bytes.data(), 4096, 0), error::host_memory_already_registered);
    EXPECT_EQ(cudaHostUnregister(bytes.data() + 1024), error::success);
    ASSERT_EQ(cudaHostRegister(bytes.data(), 4096, 0), error::success);
    EXPECT_EQ(cudaHostUnregister(bytes.data()), error::success);
}

TEST_F(devices_test, copies_between_devices) {
    std::uint32_t* const from = allocate(1, 32);
    ASSERT_EQ(fill(from, 1000), error::success);
    std::uint32_t* const to = allocate(2, 32);
    use(0);
    ASSERT_EQ(cudaMemcpyPeer(to, 2, from, 1, 128), error::success);
    EXPECT_EQ(read(to + 31), 1031u);
    ASSERT_EQ(cudaMemcpy(to + 1, from + 5, 4, copy_kind::automatic), error::success);
    EXPECT_EQ(read(to + 1), 1005u);
    ASSERT_EQ(cudaMemcpy(to + 2, from + 6, 4, copy_kind::device_to_device), error::success);
    EXPECT_EQ(read(to + 2), 1006u);
    ASSERT_EQ(cudaMemcpyPeer(to, 2, from, 1, 0), error::success);
    EXPECT_EQ(cudaMemcpyPeer(to, 3, from, 1, 4), error::invalid_device);
    EXPECT_EQ(cudaMemcpyPeer(to, 2, from, -1, 4), error::invalid_device);
    EXPECT_EQ(cudaMemcpyPeer(to, 2, from, 1, 132), error::invalid_value);
    EXPECT_EQ(cudaMemcpyPeer(to + 1, 2, from, 1, 128), error::invalid_value);
    EXPECT_EQ(cudaMemcpy(to, from + 32, 4, copy_kind::automatic), error::invalid_value);
    use(1);
    ASSERT_EQ(cudaMemset(to, 0xFF, 8), error::success);
    EXPECT_EQ(read(to + 1), 0xFFFFFFFFu);
}

// In the default stream a copy comes after all work so far of both devices, and before all that follows.
TEST_F(devices_test, a_copy_in_the_default_stream_orders_both_devices) {
    std::uint32_t* const from = allocate(1, 32);
    std::uint32_t* const to = allocate(0, 32);
    use(1);
    stream* s = nullptr;
    ASSERT_EQ(cudaStreamCreate(&s), error::success);
    held_stream held(s);
    ASSERT_EQ(fill(from, 50, s), error::success);
    use(0);
    ASSERT_EQ(cudaMemcpyPeer(to, 0, from, 1, 128), error::success);
    use(1);
    ASSERT_EQ(fill(from, 90, s), error::success);
    held.release();
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(read(from), 90u);
    EXPECT_EQ(read(to), 50u);
}

TEST_F(devices_test, peer_access_is_enabled_once) {
    int can = -1;
    ASSERT_EQ(cudaDeviceCanAccessPeer(&can, 0, 2), error::success);
    EXPECT_EQ(can, 1);
    ASSERT_EQ(cudaDeviceCanAccessPeer(&can, 1, 1), error::success);
    EXPECT_EQ(can, 0);
    EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 3), error::invalid_device);
    int value = -1;
    for (const auto& [attribute, expected] : {std::pair{1, 0}, {2, 1}, {3, 1}, {4, 1}}) {
        ASSERT_EQ(cudaDeviceGetP2PAttribute(&value, attribute, 0, 1), error::success);
        EXPECT_EQ(value, expected) << attribute;
    }
    EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, 0, 0, 1), error::invalid_value);
    EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, 2, 1, 1), error::invalid_device);
    use(0);
    EXPECT_EQ(cudaDeviceDisablePeerAccess(1), error::peer_access_not_enabled);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 1), error::invalid_value);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(3, 0), error::invalid_device);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), error::success);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), error::peer_access_already_enabled);
    use(1);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), error::success) << "in one direction at a time";
    EXPECT_EQ(cudaDeviceDisablePeerAccess(0), error::success);
    use(0);
    EXPECT_EQ(cudaDeviceDisablePeerAccess(1), error::success);
    EXPECT_EQ(cudaDeviceDisablePeerAccess(1), error::peer_access_not_enabled);
}

TEST_F(devices_test, kernels_reach_a_peer_only_with_access) {
    std::uint32_t* const there = allocate(1, 32);
    use(0);
    ASSERT_EQ(cudaDeviceEnablePeerAccess(1, 0), error::success);
    ASSERT_EQ(fill(there, 3), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(read(there + 4), 7u);
    use(2); // has no access of its own
    testing::internal::CaptureStderr();
    ASSERT_EQ(fill(there, 4), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("memory of another device, to which this device has no peer access"), std::string::npos)
        << said;
    EXPECT_EQ(cudaMemcpy(there, there + 1, 4, copy_kind::automatic), error::illegal_address);
    use(0);
    EXPECT_EQ(read(there + 4), 7u);
}

TEST_F(devices_test, a_reset_ends_peer_access) {
    use(0);
    ASSERT_EQ(cudaDeviceEnablePeerAccess(1, 0), error::success);
    ASSERT_EQ(cudaDeviceEnablePeerAccess(2, 0), error::success);
    use(1);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    use(0);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), error::success);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(2, 0), error::peer_access_already_enabled);
}

TEST_F(devices_test, managed_and_pinned_memory_is_for_all) {
    use(1);
    void* managed = nullptr;
    void* pinned = nullptr;
    ASSERT_EQ(cudaMallocManaged(&managed, 128, 1), error::success);
    ASSERT_EQ(cudaMallocHost(&pinned, 128), error::success);
    use(2);
    ASSERT_EQ(fill(static_cast<std::uint32_t*>(managed), 10), error::success);
    ASSERT_EQ(fill(static_cast<std::uint32_t*>(pinned), 20), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(static_cast<std::uint32_t*>(managed)[31], 41u);
    EXPECT_EQ(static_cast<std::uint32_t*>(pinned)[31], 51u);
    void* device = nullptr;
    ASSERT_EQ(cudaHostGetDevicePointer(&device, pinned, 0), error::success);
    EXPECT_EQ(device, pinned);
}

TEST_F(devices_test, pools_are_per_device_and_opened_by_name) {
    memory_pool* pools[device_count] = {};
    for (int device = 0; device < device_count; ++device) {
        ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pools[device], device), error::success);
        memory_pool* current = nullptr;
        ASSERT_EQ(cudaDeviceGetMemPool(&current, device), error::success);
        EXPECT_EQ(current, pools[device]);
    }
    EXPECT_NE(pools[0], pools[1]);
    EXPECT_EQ(cudaDeviceSetMemPool(0, pools[1]), error::invalid_value) << "a pool of another device";
    use(1);
    stream* s = nullptr;
    ASSERT_EQ(cudaStreamCreate(&s), error::success);
    use(0);
    void* p = nullptr;
    ASSERT_EQ(cudaMallocAsync(&p, 128, s), error::success);
    EXPECT_EQ(attributes_of(p).device, 1) << "the device of the stream";
    std::uint64_t used[2] = {};
    ASSERT_EQ(cudaMemPoolGetAttribute(pools[0], pool_attribute::used_current, &used[0]), error::success);
    ASSERT_EQ(cudaMemPoolGetAttribute(pools[1], pool_attribute::used_current, &used[1]), error::success);
    EXPECT_EQ(used[0], 0u);
    EXPECT_EQ(used[1], 128u);

    memory_location at = place_of(0);
    access_flags flags = access_flags::read;
    ASSERT_EQ(cudaMemPoolGetAccess(&flags, pools[1], &at), error::success);
    EXPECT_EQ(flags, access_flags::none);
    const memory_access open{at, access_flags::read_write};
    ASSERT_EQ(cudaMemPoolSetAccess(pools[1], &open, 1), error::success);
    ASSERT_EQ(cudaMemPoolGetAccess(&flags, pools[1], &at), error::success);
    EXPECT_EQ(flags, access_flags::read_write);
    ASSERT_EQ(fill(static_cast<std::uint32_t*>(p), 60), error::success);
    void* later = nullptr;
    ASSERT_EQ(cudaMallocFromPoolAsync(&later, 128, pools[1], nullptr), error::success);
    EXPECT_EQ(attributes_of(later).device, 1);
    ASSERT_EQ(fill(static_cast<std::uint32_t*>(later), 70), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(read(static_cast<std::uint32_t*>(p) + 1), 61u);
    EXPECT_EQ(read(static_cast<std::uint32_t*>(later) + 1), 71u);
    ASSERT_EQ(cudaFreeAsync(later, nullptr), error::success) << "in a stream of another device";
    ASSERT_EQ(cudaFreeAsync(p, s), error::success);
    ASSERT_EQ(cudaStreamSynchronize(s), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(attributes_of(later).type, memory_type::unregistered);
    const memory_access closed{at, access_flags::none};
    ASSERT_EQ(cudaMemPoolSetAccess(pools[1], &closed, 1), error::success);
    memory_location own = place_of(1);
    const memory_access own_closed{own, access_flags::none};
    EXPECT_EQ(cudaMemPoolSetAccess(pools[1], &own_closed, 1), error::invalid_value);
}

} // namespace
} // namespace softgpu::runtime
