// SPDX-License-Identifier: MIT
// The calls that only CUDA 12 has in this form: older layouts, devices by number, and names that CUDA 13 dropped.
#include <algorithm>

#include "softgpu/runtime/abi/device_properties_12.hpp"
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

device_properties_12 properties_12_of(const card& c) {
    const auto at = [&](int attribute) {
        int value = 0;
        (void)device_attribute(c, attribute, value);
        return value;
    };
    const device_properties q = properties_of(c);
    device_properties_12 p{};
    std::ranges::copy(q.name, p.name);
    p.uuid = q.uuid;
    std::ranges::copy(q.luid, p.luid);
    p.luid_device_node_mask = q.luid_device_node_mask;
    p.total_global_memory = q.total_global_memory;
    p.shared_memory_per_block = q.shared_memory_per_block;
    p.registers_per_block = q.registers_per_block;
    p.warp_size = q.warp_size;
    p.memory_pitch = q.memory_pitch;
    p.max_threads_per_block = q.max_threads_per_block;
    std::ranges::copy(q.max_threads_dimensions, p.max_threads_dimensions);
    std::ranges::copy(q.max_grid_size, p.max_grid_size);
    p.clock_khz = at(13);
    p.total_constant_memory = q.total_constant_memory;
    p.major = q.major;
    p.minor = q.minor;
    p.texture_alignment = q.texture_alignment;
    p.texture_pitch_alignment = q.texture_pitch_alignment;
    p.device_overlap = at(15);
    p.multi_processor_count = q.multi_processor_count;
    p.kernel_timeout_enabled = at(17);
    p.integrated = q.integrated;
    p.can_map_host_memory = q.can_map_host_memory;
    p.compute_mode = at(20);
    p.max_texture_1d = q.max_texture_1d;
    p.max_texture_1d_mipmap = q.max_texture_1d_mipmap;
    p.max_texture_1d_linear = at(69);
    std::ranges::copy(q.max_texture_2d, p.max_texture_2d);
    std::ranges::copy(q.max_texture_2d_mipmap, p.max_texture_2d_mipmap);
    std::ranges::copy(q.max_texture_2d_linear, p.max_texture_2d_linear);
    std::ranges::copy(q.max_texture_2d_gather, p.max_texture_2d_gather);
    std::ranges::copy(q.max_texture_3d, p.max_texture_3d);
    std::ranges::copy(q.max_texture_3d_alt, p.max_texture_3d_alt);
    p.max_texture_cubemap = q.max_texture_cubemap;
    std::ranges::copy(q.max_texture_1d_layered, p.max_texture_1d_layered);
    std::ranges::copy(q.max_texture_2d_layered, p.max_texture_2d_layered);
    std::ranges::copy(q.max_texture_cubemap_layered, p.max_texture_cubemap_layered);
    p.max_surface_1d = q.max_surface_1d;
    std::ranges::copy(q.max_surface_2d, p.max_surface_2d);
    std::ranges::copy(q.max_surface_3d, p.max_surface_3d);
    std::ranges::copy(q.max_surface_1d_layered, p.max_surface_1d_layered);
    std::ranges::copy(q.max_surface_2d_layered, p.max_surface_2d_layered);
    p.max_surface_cubemap = q.max_surface_cubemap;
    std::ranges::copy(q.max_surface_cubemap_layered, p.max_surface_cubemap_layered);
    p.surface_alignment = q.surface_alignment;
    p.concurrent_kernels = q.concurrent_kernels;
    p.ecc_enabled = q.ecc_enabled;
    p.pci_bus_id = q.pci_bus_id;
    p.pci_device_id = q.pci_device_id;
    p.pci_domain_id = q.pci_domain_id;
    p.tcc_driver = q.tcc_driver;
    p.async_engine_count = q.async_engine_count;
    p.unified_addressing = q.unified_addressing;
    p.memory_clock_khz = at(36);
    p.memory_bus_width = q.memory_bus_width;
    p.l2_cache_bytes = q.l2_cache_bytes;
    p.persisting_l2_cache_max_bytes = q.persisting_l2_cache_max_bytes;
    p.max_threads_per_multi_processor = q.max_threads_per_multi_processor;
    p.stream_priorities_supported = q.stream_priorities_supported;
    p.global_l1_cache_supported = q.global_l1_cache_supported;
    p.local_l1_cache_supported = q.local_l1_cache_supported;
    p.shared_memory_per_multiprocessor = q.shared_memory_per_multiprocessor;
    p.registers_per_multiprocessor = q.registers_per_multiprocessor;
    p.managed_memory = q.managed_memory;
    p.is_multi_gpu_board = q.is_multi_gpu_board;
    p.multi_gpu_board_group_id = q.multi_gpu_board_group_id;
    p.host_native_atomic_supported = q.host_native_atomic_supported;
    p.single_to_double_ratio = at(87);
    p.pageable_memory_access = q.pageable_memory_access;
    p.concurrent_managed_access = q.concurrent_managed_access;
    p.compute_preemption_supported = q.compute_preemption_supported;
    p.can_use_host_pointer_for_registered_memory = q.can_use_host_pointer_for_registered_memory;
    p.cooperative_launch = q.cooperative_launch;
    p.shared_memory_per_block_optin = q.shared_memory_per_block_optin;
    p.pageable_memory_access_uses_host_page_tables = q.pageable_memory_access_uses_host_page_tables;
    p.direct_managed_memory_access_from_host = q.direct_managed_memory_access_from_host;
    p.max_blocks_per_multi_processor = q.max_blocks_per_multi_processor;
    p.access_policy_max_window_bytes = q.access_policy_max_window_bytes;
    p.reserved_shared_memory_per_block = q.reserved_shared_memory_per_block;
    p.host_register_supported = q.host_register_supported;
    p.sparse_cuda_array_supported = q.sparse_cuda_array_supported;
    p.host_register_read_only_supported = q.host_register_read_only_supported;
    p.timeline_semaphore_interop_supported = q.timeline_semaphore_interop_supported;
    p.memory_pools_supported = q.memory_pools_supported;
    p.gpu_direct_rdma_supported = q.gpu_direct_rdma_supported;
    p.gpu_direct_rdma_flush_writes_options = q.gpu_direct_rdma_flush_writes_options;
    p.gpu_direct_rdma_writes_ordering = q.gpu_direct_rdma_writes_ordering;
    p.memory_pool_supported_handle_types = q.memory_pool_supported_handle_types;
    p.deferred_mapping_cuda_array_supported = q.deferred_mapping_cuda_array_supported;
    p.ipc_event_supported = q.ipc_event_supported;
    p.cluster_launch = q.cluster_launch;
    p.unified_function_pointers = q.unified_function_pointers;
    return p;
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
        require(device == 0, error::invalid_device);
        *out = properties_12_of(gpu.device());
    });
}

error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, stream* on) {
    return call([&](context& gpu, locked&) { prefetch(gpu, pointer, bytes, location_of(device), 0, on); });
}

error cudaMemPrefetchAsync_v2(const void* pointer, std::size_t bytes, memory_location to, unsigned flags, stream* on) {
    return call([&](context& gpu, locked&) { prefetch(gpu, pointer, bytes, to, flags, on); });
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
    return call([&](context& gpu, locked& lock) {
        if (failed != nullptr) {
            *failed = static_cast<std::size_t>(-1); // no particular one
        }
        copy_batch(gpu, lock, destinations, sources, sizes, count, attribute_indices, attribute_count, on);
    });
}

error cudaMemcpy3DBatchAsync(std::size_t count, batch_operation* operations, std::size_t* failed,
                             unsigned long long flags, stream* on) {
    return call([&](context& gpu, locked& lock) {
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
