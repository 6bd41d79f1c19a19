// SPDX-License-Identifier: MIT
// The calls that only CUDA 12 has in this form: older layouts, devices by number, and names that CUDA 13 dropped.
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/calls/memory/batches.hpp"
#include "softgpu/runtime/cards/properties.hpp"
#include "softgpu/runtime/memory/managed.hpp"

namespace softgpu::runtime {
namespace {

constexpr int runtime_version = 12090;

error give_version(int* version) {
    return call([&] {
        require(version != nullptr);
        *version = runtime_version;
    });
}

// A device by its number, where -1 is the host.
memory_location location_of(int device) {
    return device == host_number ? memory_location{location_type::host, 0}
                                 : memory_location{location_type::device, device};
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaDeviceGetLimit(std::size_t* value, limit which);
error cudaDeviceSetLimit(limit which, std::size_t value);
error cudaDeviceGetCacheConfig(cache_preference* preference);
error cudaDeviceSetCacheConfig(cache_preference preference);

error cudaRuntimeGetVersion(int* version) { return give_version(version); }

error cudaDriverGetVersion(int* version) { return give_version(version); }

// The headers of CUDA 12 call this cudaGetDeviceProperties; the name without _v2 is CUDA 11's.
error cudaGetDeviceProperties_v2(device_properties_12* out, int device) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        *out = properties_12_of(checked_device(gpu, device).device(), device);
    });
}

error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, stream* on) {
    return call(on, [&](context& gpu, locked&) { prefetch(gpu, pointer, bytes, location_of(device), 0, on); });
}

error cudaMemPrefetchAsync_v2(const void* pointer, std::size_t bytes, memory_location to, unsigned flags, stream* on) {
    return call(on, [&](context& gpu, locked&) { prefetch(gpu, pointer, bytes, to, flags, on); });
}

error cudaMemAdvise(const void* pointer, std::size_t bytes, memory_advice what, int device) {
    return call([&](context& gpu, locked&) { advise(gpu, pointer, bytes, what, location_of(device)); });
}

error cudaMemAdvise_v2(const void* pointer, std::size_t bytes, memory_advice what, memory_location at) {
    return call([&](context& gpu, locked&) { advise(gpu, pointer, bytes, what, at); });
}

error cudaMemcpyBatchAsync(void* const* destinations, const void* const* sources, const std::size_t* sizes,
                           std::size_t count, void*, std::size_t* attribute_indices, std::size_t attribute_count,
                           std::size_t* failed, stream* on) {
    return call(on, [&](context& gpu, locked& lock) {
        if (failed != nullptr) {
            *failed = static_cast<std::size_t>(-1); // no particular one
        }
        copy_batch(gpu, lock, destinations, sources, sizes, count, attribute_indices, attribute_count, on);
    });
}

error cudaMemcpy3DBatchAsync(std::size_t count, batch_operation* operations, std::size_t* failed,
                             unsigned long long flags, stream* on) {
    return call(on, [&](context& gpu, locked& lock) {
        if (failed != nullptr) {
            *failed = static_cast<std::size_t>(-1); // no particular one
        }
        copy_batch_of_boxes(gpu, lock, operations, count, flags, on);
    });
}

error cudaMemcpy3DBatchAsync_ptsz(std::size_t count, batch_operation* operations, std::size_t* failed,
                                  unsigned long long flags, stream* on) {
    return cudaMemcpy3DBatchAsync(count, operations, failed, flags, of_this_thread(on));
}

error cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes, int device, stream* on) {
    return cudaMemPrefetchAsync(pointer, bytes, device, of_this_thread(on));
}

error cudaMemPrefetchAsync_v2_ptsz(const void* pointer, std::size_t bytes, memory_location to, unsigned flags,
                                   stream* on) {
    return cudaMemPrefetchAsync_v2(pointer, bytes, to, flags, of_this_thread(on));
}

error cudaMemcpyBatchAsync_ptsz(void* const* destinations, const void* const* sources, const std::size_t* sizes,
                                std::size_t count, void* attributes, std::size_t* attribute_indices,
                                std::size_t attribute_count, std::size_t* failed, stream* on) {
    return cudaMemcpyBatchAsync(destinations, sources, sizes, count, attributes, attribute_indices, attribute_count,
                                failed, of_this_thread(on));
}

error cudaThreadSynchronize() {
    return call([](context& gpu, locked& lock) { gpu.synchronize(lock); });
}

error cudaThreadGetLimit(std::size_t* value, limit which) { return cudaDeviceGetLimit(value, which); }

error cudaThreadSetLimit(limit which, std::size_t value) { return cudaDeviceSetLimit(which, value); }

error cudaThreadGetCacheConfig(cache_preference* preference) { return cudaDeviceGetCacheConfig(preference); }

error cudaThreadSetCacheConfig(cache_preference preference) { return cudaDeviceSetCacheConfig(preference); }

// For devices without doubles, which CUDA 12 does not support.
error cudaSetDoubleForDevice(double* value) {
    return call([&] { require(value != nullptr); });
}

error cudaSetDoubleForHost(double* value) {
    return call([&] { require(value != nullptr); });
}

error cudaThreadExit() {
    return call([](context& gpu, locked& lock) { gpu.reset(lock); });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
