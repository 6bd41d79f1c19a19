// SPDX-License-Identifier: MIT
// Almost every property is an attribute too; the values come from there.
#include "softgpu/runtime/cards/properties.hpp"

#include <algorithm>
#include <iterator>

namespace softgpu::runtime {

device_properties properties_of(const card& c) {
    const auto at = [&](int attribute) {
        int value = 0;
        (void)device_attribute(c, attribute, value);
        return value;
    };
    device_properties p{};
    std::ranges::copy(c.name, std::begin(p.name));
    std::ranges::copy(std::string_view("softgpu"), std::begin(p.uuid.bytes)); // no real card's UUID begins so
    std::ranges::copy(c.key.substr(0, 8), std::begin(p.uuid.bytes) + 8);
    p.total_global_memory = c.memory_bytes;
    p.unified_function_pointers = 0;
    p.shared_memory_per_block = static_cast<std::size_t>(at(8));
    p.registers_per_block = at(12);
    p.warp_size = at(10);
    p.memory_pitch = static_cast<std::size_t>(at(11));
    p.max_threads_per_block = at(1);
    p.max_threads_dimensions[0] = at(2);
    p.max_threads_dimensions[1] = at(3);
    p.max_threads_dimensions[2] = at(4);
    p.max_grid_size[0] = at(5);
    p.max_grid_size[1] = at(6);
    p.max_grid_size[2] = at(7);
    p.total_constant_memory = static_cast<std::size_t>(at(9));
    p.major = at(75);
    p.minor = at(76);
    p.texture_alignment = static_cast<std::size_t>(at(14));
    p.texture_pitch_alignment = static_cast<std::size_t>(at(51));
    p.multi_processor_count = at(16);
    p.integrated = at(18);
    p.can_map_host_memory = at(19);
    p.max_texture_1d = at(21);
    p.max_texture_1d_mipmap = at(77);
    p.max_texture_2d[0] = at(22);
    p.max_texture_2d[1] = at(23);
    p.max_texture_2d_mipmap[0] = at(73);
    p.max_texture_2d_mipmap[1] = at(74);
    p.max_texture_2d_linear[0] = at(70);
    p.max_texture_2d_linear[1] = at(71);
    p.max_texture_2d_linear[2] = at(72);
    p.max_texture_2d_gather[0] = at(45);
    p.max_texture_2d_gather[1] = at(46);
    p.max_texture_3d[0] = at(24);
    p.max_texture_3d[1] = at(25);
    p.max_texture_3d[2] = at(26);
    p.max_texture_3d_alt[0] = at(47);
    p.max_texture_3d_alt[1] = at(48);
    p.max_texture_3d_alt[2] = at(49);
    p.max_texture_cubemap = at(52);
    p.max_texture_1d_layered[0] = at(42);
    p.max_texture_1d_layered[1] = at(43);
    p.max_texture_2d_layered[0] = at(27);
    p.max_texture_2d_layered[1] = at(28);
    p.max_texture_2d_layered[2] = at(29);
    p.max_texture_cubemap_layered[0] = at(53);
    p.max_texture_cubemap_layered[1] = at(54);
    p.max_surface_1d = at(55);
    p.max_surface_2d[0] = at(56);
    p.max_surface_2d[1] = at(57);
    p.max_surface_3d[0] = at(58);
    p.max_surface_3d[1] = at(59);
    p.max_surface_3d[2] = at(60);
    p.max_surface_1d_layered[0] = at(61);
    p.max_surface_1d_layered[1] = at(62);
    p.max_surface_2d_layered[0] = at(63);
    p.max_surface_2d_layered[1] = at(64);
    p.max_surface_2d_layered[2] = at(65);
    p.max_surface_cubemap = at(66);
    p.max_surface_cubemap_layered[0] = at(67);
    p.max_surface_cubemap_layered[1] = at(68);
    p.surface_alignment = static_cast<std::size_t>(at(30));
    p.concurrent_kernels = at(31);
    p.ecc_enabled = at(32);
    p.pci_bus_id = at(33);
    p.pci_device_id = at(34);
    p.pci_domain_id = at(50);
    p.tcc_driver = at(35);
    p.async_engine_count = at(40);
    p.unified_addressing = at(41);
    p.memory_bus_width = at(37);
    p.l2_cache_bytes = at(38);
    p.persisting_l2_cache_max_bytes = at(108);
    p.max_threads_per_multi_processor = at(39);
    p.stream_priorities_supported = at(78);
    p.global_l1_cache_supported = at(79);
    p.local_l1_cache_supported = at(80);
    p.shared_memory_per_multiprocessor = static_cast<std::size_t>(at(81));
    p.registers_per_multiprocessor = at(82);
    p.managed_memory = at(83);
    p.is_multi_gpu_board = at(84);
    p.multi_gpu_board_group_id = at(85);
    p.host_native_atomic_supported = at(86);
    p.pageable_memory_access = at(88);
    p.concurrent_managed_access = at(89);
    p.compute_preemption_supported = at(90);
    p.can_use_host_pointer_for_registered_memory = at(91);
    p.cooperative_launch = at(95);
    p.shared_memory_per_block_optin = static_cast<std::size_t>(at(97));
    p.pageable_memory_access_uses_host_page_tables = at(100);
    p.direct_managed_memory_access_from_host = at(101);
    p.max_blocks_per_multi_processor = at(106);
    p.access_policy_max_window_bytes = at(109);
    p.reserved_shared_memory_per_block = static_cast<std::size_t>(at(111));
    p.host_register_supported = at(99);
    p.sparse_cuda_array_supported = at(112);
    p.host_register_read_only_supported = at(113);
    p.timeline_semaphore_interop_supported = at(114);
    p.memory_pools_supported = at(115);
    p.gpu_direct_rdma_supported = at(116);
    p.gpu_direct_rdma_flush_writes_options = static_cast<unsigned>(at(117));
    p.gpu_direct_rdma_writes_ordering = at(118);
    p.memory_pool_supported_handle_types = static_cast<unsigned>(at(119));
    p.deferred_mapping_cuda_array_supported = at(121);
    p.ipc_event_supported = at(125);
    p.cluster_launch = at(120);
    p.device_numa_config = at(130);
    p.device_numa_id = at(131);
    p.mps_enabled = at(133);
    p.host_numa_id = at(134);
    p.gpu_pci_device_id = static_cast<unsigned>(at(139));
    p.gpu_pci_subsystem_id = static_cast<unsigned>(at(140));
    p.host_numa_multinode_ipc_supported = at(143);
    return p;
}

} // namespace softgpu::runtime
