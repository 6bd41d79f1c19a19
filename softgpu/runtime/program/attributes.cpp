// SPDX-License-Identifier: MIT
#include "softgpu/runtime/program/attributes.hpp"

#include <algorithm>

#include "softgpu/runtime/cards/occupancy.hpp"
#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {

function_attributes attributes_of(context& gpu, function& f) {
    constexpr int most_threads = 1024;
    const function_on_device& here = registry::instance().load(f, gpu);
    const machine::kernel_facts& facts = *here.image.facts;
    const bool fixed = facts.cluster[0] != 0;
    return {
        .shared_bytes = facts.static_shared_bytes,
        .constant_bytes = facts.constant_bytes,
        .local_bytes = facts.local_bytes,
        .max_threads_per_block =
            facts.maxntid == 0 ? most_threads : std::min(static_cast<int>(facts.maxntid), most_threads),
        .registers = static_cast<int>(registers_of(gpu.device(), facts)),
        .ptx_version = static_cast<int>(facts.ptx_target),
        .binary_version = static_cast<int>(gpu.device().compute_capability()),
        .cache_mode = 0,
        .max_dynamic_shared_bytes = static_cast<int>(max_dynamic_shared(gpu.device(), facts, here.max_dynamic_shared)),
        .preferred_shared_carveout = here.preferred_carveout,
        .cluster_dimensions_must_be_set = facts.needs_cluster ? 1 : 0,
        .required_cluster_width = static_cast<int>(fixed ? facts.cluster[0] : here.required_cluster.x),
        .required_cluster_height = static_cast<int>(fixed ? facts.cluster[1] : here.required_cluster.y),
        .required_cluster_depth = static_cast<int>(fixed ? facts.cluster[2] : here.required_cluster.z),
        .cluster_scheduling_policy = here.cluster_policy,
        .non_portable_cluster_size_allowed = here.non_portable_cluster ? 1 : 0,
        .reserved = {},
    };
}

} // namespace softgpu::runtime
