// SPDX-License-Identifier: MIT
// What cudaGetDeviceProperties of CUDA 12 (cudaGetDeviceProperties_v2) fills, as it lies in memory.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/device_properties.hpp"

namespace softgpu::runtime {

struct device_properties_12 {
    char name[256];
    uuid_bytes uuid;
    char luid[8];
    unsigned luid_device_node_mask;
    std::size_t total_global_memory;
    std::size_t shared_memory_per_block;
    int registers_per_block;
    int warp_size;
    std::size_t memory_pitch;
    int max_threads_per_block;
    int max_threads_dimensions[3];
    int max_grid_size[3];
    int clock_khz;
    std::size_t total_constant_memory;
    int major;
    int minor;
    std::size_t texture_alignment;
    std::size_t texture_pitch_alignment;
    int device_overlap;
    int multi_processor_count;
    int kernel_timeout_enabled;
    int integrated;
    int can_map_host_memory;
    int compute_mode;
    int max_texture_1d;
    int max_texture_1d_mipmap;
    int max_texture_1d_linear;
    int max_texture_2d[2];
    int max_texture_2d_mipmap[2];
    int max_texture_2d_linear[3];
    int max_texture_2d_gather[2];
    int max_texture_3d[3];
    int max_texture_3d_alt[3];
    int max_texture_cubemap;
    int max_texture_1d_layered[2];
    int max_texture_2d_layered[3];
    int max_texture_cubemap_layered[2];
    int max_surface_1d;
    int max_surface_2d[2];
    int max_surface_3d[3];
    int max_surface_1d_layered[2];
    int max_surface_2d_layered[3];
    int max_surface_cubemap;
    int max_surface_cubemap_layered[2];
    std::size_t surface_alignment;
    int concurrent_kernels;
    int ecc_enabled;
    int pci_bus_id;
    int pci_device_id;
    int pci_domain_id;
    int tcc_driver;
    int async_engine_count;
    int unified_addressing;
    int memory_clock_khz;
    int memory_bus_width;
    int l2_cache_bytes;
    int persisting_l2_cache_max_bytes;
    int max_threads_per_multi_processor;
    int stream_priorities_supported;
    int global_l1_cache_supported;
    int local_l1_cache_supported;
    std::size_t shared_memory_per_multiprocessor;
    int registers_per_multiprocessor;
    int managed_memory;
    int is_multi_gpu_board;
    int multi_gpu_board_group_id;
    int host_native_atomic_supported;
    int single_to_double_ratio;
    int pageable_memory_access;
    int concurrent_managed_access;
    int compute_preemption_supported;
    int can_use_host_pointer_for_registered_memory;
    int cooperative_launch;
    int cooperative_multi_device_launch;
    std::size_t shared_memory_per_block_optin;
    int pageable_memory_access_uses_host_page_tables;
    int direct_managed_memory_access_from_host;
    int max_blocks_per_multi_processor;
    int access_policy_max_window_bytes;
    std::size_t reserved_shared_memory_per_block;
    int host_register_supported;
    int sparse_cuda_array_supported;
    int host_register_read_only_supported;
    int timeline_semaphore_interop_supported;
    int memory_pools_supported;
    int gpu_direct_rdma_supported;
    unsigned gpu_direct_rdma_flush_writes_options;
    int gpu_direct_rdma_writes_ordering;
    unsigned memory_pool_supported_handle_types;
    int deferred_mapping_cuda_array_supported;
    int ipc_event_supported;
    int cluster_launch;
    int unified_function_pointers;
    int reserved2[2];
    int reserved1[1];
    int reserved[60];
};

} // namespace softgpu::runtime
