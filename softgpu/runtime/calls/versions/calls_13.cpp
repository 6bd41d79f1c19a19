// SPDX-License-Identifier: MIT
// The calls that only CUDA 13 has in this form.
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/calls/memory/batches.hpp"
#include "softgpu/runtime/cards/properties.hpp"
#include "softgpu/runtime/memory/managed.hpp"

namespace softgpu::runtime {
namespace {

constexpr int runtime_version = 13000;

error give_version(int* version) {
    return call([&] {
        require(version != nullptr);
        *version = runtime_version;
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaRuntimeGetVersion(int* version) { return give_version(version); }

error cudaDriverGetVersion(int* version) { return give_version(version); }

error cudaGetDeviceProperties(device_properties* out, int device) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        *out = properties_of(checked_device(gpu, device).device(), device);
    });
}

error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, memory_location to, unsigned flags, stream* on) {
    return call(on, [&](context& gpu, locked&) { prefetch(gpu, pointer, bytes, to, flags, on); });
}

error cudaMemAdvise(const void* pointer, std::size_t bytes, memory_advice what, memory_location at) {
    return call([&](context& gpu, locked&) { advise(gpu, pointer, bytes, what, at); });
}

error cudaMemcpyBatchAsync(void* const* destinations, const void* const* sources, const std::size_t* sizes,
                           std::size_t count, void*, std::size_t* attribute_indices, std::size_t attribute_count,
                           stream* on) {
    return call(on, [&](context& gpu, locked& lock) {
        copy_batch(gpu, lock, destinations, sources, sizes, count, attribute_indices, attribute_count, on);
    });
}

error cudaMemcpy3DBatchAsync(std::size_t count, batch_operation* operations, unsigned long long flags, stream* on) {
    return call(on, [&](context& gpu, locked& lock) { copy_batch_of_boxes(gpu, lock, operations, count, flags, on); });
}

error cudaMemcpy3DBatchAsync_ptsz(std::size_t count, batch_operation* operations, unsigned long long flags,
                                  stream* on) {
    return cudaMemcpy3DBatchAsync(count, operations, flags, of_this_thread(on));
}

error cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes, memory_location to, unsigned flags,
                                stream* on) {
    return cudaMemPrefetchAsync(pointer, bytes, to, flags, of_this_thread(on));
}

error cudaMemcpyBatchAsync_ptsz(void* const* destinations, const void* const* sources, const std::size_t* sizes,
                                std::size_t count, void* attributes, std::size_t* attribute_indices,
                                std::size_t attribute_count, stream* on) {
    return cudaMemcpyBatchAsync(destinations, sources, sizes, count, attributes, attribute_indices, attribute_count,
                                of_this_thread(on));
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
