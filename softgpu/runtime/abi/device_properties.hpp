// SPDX-License-Identifier: MIT
// What cudaGetDeviceProperties of CUDA 13 fills, as it lies in memory. Our names; CUDA's are compared in the tests.
#pragma once

#include <cstddef>

namespace softgpu::runtime {

struct uuid_bytes {
    char bytes[16];
};

struct device_properties {
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
    std::size_t total_constant_memory;
    int major;
    int minor;
    std::size_t texture_alignment;
    std::size_t texture_pitch_alignment;
    int multi_processor_count;
    int integrated;
    int can_map_host_memory;
    int max_texture_1d;
    int max_texture_1d_mipmap;
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
    int pageable_memory_access;
    int concurrent_managed_access;
    int compute_preemption_supported;
    int can_use_host_pointer_for_registered_memory;
    int cooperative_launch;
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
    int device_numa_config;
    int device_numa_id;
    int mps_enabled;
    int host_numa_id;
    unsigned gpu_pci_device_id;
    unsigned gpu_pci_subsystem_id;
    int host_numa_multinode_ipc_supported;
    int reserved[56];
};

} // namespace softgpu::runtime
