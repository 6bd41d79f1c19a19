// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/operands/special_registers.hpp"

#include <unordered_map>

#include "softgpu/machine/code/program_code.hpp"

namespace softgpu::machine {

namespace {

// Never destroyed: kernels may still run while the process ends.
const std::unordered_map<std::string_view, special>& special_registers() {
    using k = special::kind;
    static const auto& table = *new const std::unordered_map<std::string_view, special>{
        {"%tid.x", {k::by_warp, unsigned(per_warp::tid_x)}},
        {"%tid.y", {k::by_warp, unsigned(per_warp::tid_y)}},
        {"%tid.z", {k::by_warp, unsigned(per_warp::tid_z)}},
        {"%warpid", {k::by_warp, unsigned(per_warp::warpid)}},
        {"%ntid.x", {k::by_launch, unsigned(uniform::ntid_x)}},
        {"%ntid.y", {k::by_launch, unsigned(uniform::ntid_y)}},
        {"%ntid.z", {k::by_launch, unsigned(uniform::ntid_z)}},
        {"%nctaid.x", {k::by_launch, unsigned(uniform::nctaid_x)}},
        {"%nctaid.y", {k::by_launch, unsigned(uniform::nctaid_y)}},
        {"%nctaid.z", {k::by_launch, unsigned(uniform::nctaid_z)}},
        {"%ctaid.x", {k::by_launch, unsigned(uniform::ctaid_x)}},
        {"%ctaid.y", {k::by_launch, unsigned(uniform::ctaid_y)}},
        {"%ctaid.z", {k::by_launch, unsigned(uniform::ctaid_z)}},
        {"%clusterid.x", {k::by_launch, unsigned(uniform::clusterid_x)}},
        {"%clusterid.y", {k::by_launch, unsigned(uniform::clusterid_y)}},
        {"%clusterid.z", {k::by_launch, unsigned(uniform::clusterid_z)}},
        {"%nclusterid.x", {k::by_launch, unsigned(uniform::nclusterid_x)}},
        {"%nclusterid.y", {k::by_launch, unsigned(uniform::nclusterid_y)}},
        {"%nclusterid.z", {k::by_launch, unsigned(uniform::nclusterid_z)}},
        {"%cluster_ctaid.x", {k::by_launch, unsigned(uniform::cluster_ctaid_x)}},
        {"%cluster_ctaid.y", {k::by_launch, unsigned(uniform::cluster_ctaid_y)}},
        {"%cluster_ctaid.z", {k::by_launch, unsigned(uniform::cluster_ctaid_z)}},
        {"%cluster_nctaid.x", {k::by_launch, unsigned(uniform::cluster_nctaid_x)}},
        {"%cluster_nctaid.y", {k::by_launch, unsigned(uniform::cluster_nctaid_y)}},
        {"%cluster_nctaid.z", {k::by_launch, unsigned(uniform::cluster_nctaid_z)}},
        {"%cluster_ctarank", {k::by_launch, unsigned(uniform::cluster_ctarank)}},
        {"%cluster_nctarank", {k::by_launch, unsigned(uniform::cluster_nctarank)}},
        {"%is_explicit_cluster", {k::by_launch, unsigned(uniform::is_explicit_cluster)}},
        {"%nwarpid", {k::by_launch, unsigned(uniform::nwarpid)}},
        {"%smid", {k::by_launch, unsigned(uniform::smid)}},
        {"%nsmid", {k::by_launch, unsigned(uniform::nsmid)}},
        {"%gridid", {k::by_launch, unsigned(uniform::gridid)}},
        {"%envreg1", {k::by_launch, unsigned(uniform::grid_workspace_high)}},
        {"%envreg2", {k::by_launch, unsigned(uniform::grid_workspace_low)}},
        {"%dynamic_smem_size", {k::by_launch, unsigned(uniform::dynamic_shared_bytes)}},
        {"%total_smem_size", {k::by_launch, unsigned(uniform::total_shared_bytes)}},
        {"%aggr_smem_size", {k::by_launch, unsigned(uniform::aggregate_shared_bytes)}},
        {"%reserved_smem_offset_begin", {k::by_launch, unsigned(uniform::reserved_shared_begin)}},
        {"%reserved_smem_offset_0", {k::by_launch, unsigned(uniform::reserved_shared_begin)}},
        {"%reserved_smem_offset_1", {k::by_launch, unsigned(uniform::reserved_shared_groups)}},
        {"%reserved_smem_offset_end", {k::by_launch, unsigned(uniform::reserved_shared_end)}},
        {"%reserved_smem_offset_cap", {k::by_launch, unsigned(uniform::reserved_shared_end)}},
        {"%laneid", {k::by_lane, 0}},
        {"%lanemask_eq", {k::by_lane, 1}},
        {"%lanemask_lt", {k::by_lane, 2}},
        {"%lanemask_le", {k::by_lane, 3}},
        {"%lanemask_gt", {k::by_lane, 4}},
        {"%lanemask_ge", {k::by_lane, 5}},
        {"%clock", {k::clock, 0}},
        {"%clock64", {k::clock, 1}},
        {"%globaltimer", {k::clock, 2}},
        {"%clock_hi", {k::clock, 3}},
        {"%globaltimer_lo", {k::clock, 4}},
        {"%globaltimer_hi", {k::clock, 5}},
    };
    return table;
}

} // namespace

std::optional<special> find_special(std::string_view name) {
    const auto found = special_registers().find(name);
    return found == special_registers().end() ? std::nullopt : std::optional(found->second);
}

std::uint32_t lane_value(unsigned function, unsigned lane) {
    const std::uint32_t own = 1u << lane;
    switch (function) {
    case 0: return lane;
    case 1: return own;
    case 2: return own - 1;
    case 3: return own | (own - 1);
    case 4: return ~(own | (own - 1));
    default: return ~(own - 1);
    }
}

} // namespace softgpu::machine
