// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/fill_constants.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "softgpu/machine/module/shared_layout.hpp"
#include "softgpu/memory/alignment.hpp"

namespace softgpu::machine {

namespace {

template <class T>
void fill_lanes(std::byte* at, T value) {
    for (unsigned l = 0; l < lanes; ++l) {
        std::memcpy(at + l * sizeof(T), &value, sizeof(T));
    }
}

void fill_uniform(std::byte* at, std::uint64_t value, unsigned bytes) {
    if (bytes == 8) {
        fill_lanes(at, value);
    } else if (bytes == 4) {
        fill_lanes(at, static_cast<std::uint32_t>(value));
    } else if (bytes == 0) {
        const lane_mask all = value != 0 ? all_lanes : 0;
        std::memcpy(at, &all, sizeof(all));
    } else {
        fill_lanes(at, static_cast<std::uint16_t>(value));
    }
}

std::uint64_t launch_value(const launch_state& launch, uniform what) {
    const launch_request& r = *launch.request;
    const shared_layout shared = shared_layout_of(*launch.of, r);
    switch (what) {
    case uniform::ntid_x: return r.block.x;
    case uniform::ntid_y: return r.block.y;
    case uniform::ntid_z: return r.block.z;
    case uniform::nctaid_x: return r.grid.x;
    case uniform::nctaid_y: return r.grid.y;
    case uniform::nctaid_z: return r.grid.z;
    case uniform::nclusterid_x: return r.grid.x / r.cluster.x;
    case uniform::nclusterid_y: return r.grid.y / r.cluster.y;
    case uniform::nclusterid_z: return r.grid.z / r.cluster.z;
    case uniform::cluster_nctaid_x: return r.cluster.x;
    case uniform::cluster_nctaid_y: return r.cluster.y;
    case uniform::cluster_nctaid_z: return r.cluster.z;
    case uniform::cluster_nctarank: return launch.cluster_blocks;
    case uniform::is_explicit_cluster: return r.explicit_cluster ? 1 : 0;
    case uniform::nwarpid: return 64;
    case uniform::gridid: return r.number;
    case uniform::nsmid: return r.multiprocessors;
    case uniform::dynamic_shared_bytes: return r.dynamic_shared_bytes;
    case uniform::total_shared_bytes: return shared.given;
    case uniform::aggregate_shared_bytes: return shared.given + shared.reserved;
    case uniform::reserved_shared_begin: return shared.reserved_at;
    case uniform::reserved_shared_groups: return shared.reserved_at + reserved_for_system;
    case uniform::reserved_shared_end: return shared.reserved_at + shared.reserved;
    case uniform::grid_workspace_high: return launch.grid_workspace >> 32;
    case uniform::grid_workspace_low: return launch.grid_workspace & 0xFFFFFFFFu;
    default: return 0;
    }
}

std::uint64_t block_value(const launch_state& launch, const block& b, uniform what) {
    const extent& c = launch.request->cluster;
    switch (what) {
    case uniform::ctaid_x: return b.id.x;
    case uniform::ctaid_y: return b.id.y;
    case uniform::ctaid_z: return b.id.z;
    case uniform::clusterid_x: return b.id.x / c.x;
    case uniform::clusterid_y: return b.id.y / c.y;
    case uniform::clusterid_z: return b.id.z / c.z;
    case uniform::cluster_ctaid_x: return b.id.x % c.x;
    case uniform::cluster_ctaid_y: return b.id.y % c.y;
    case uniform::cluster_ctaid_z: return b.id.z % c.z;
    case uniform::cluster_ctarank: return b.rank;
    default: return b.linear % launch.request->multiprocessors; // smid
    }
}

std::byte* slot(std::byte* constants, place at) { return constants + (at & ~in_constants); }

} // namespace

std::byte* aligned(std::vector<std::byte>& storage, std::size_t bytes) {
    storage.resize(bytes + cache_line);
    const auto at = reinterpret_cast<std::uintptr_t>(storage.data());
    return storage.data() + (round_up(at, cache_line) - at);
}

std::byte* constants_of_launch(const program_code& code, const launch_state& launch, std::vector<std::byte>& storage) {
    std::byte* const constants = aligned(storage, code.constants.size());
    std::copy(code.constants.begin(), code.constants.end(), constants);
    for (const uniform_place& u : code.of_launch) {
        fill_uniform(slot(constants, u.at), launch_value(launch, u.what), u.bytes);
    }
    for (const parameter_place& p : code.parameters) {
        std::uint64_t value[2] = {0, 0};
        if (p.offset + p.bytes <= launch.parameter_bytes) {
            std::memcpy(value, launch.request->parameters + p.offset, p.bytes);
        }
        if (p.is_signed && p.bytes < 8 && (value[0] >> (8 * p.bytes - 1) & 1) != 0) {
            value[0] |= ~0ull << (8 * p.bytes);
        }
        for (unsigned l = 0; l < lanes; ++l) {
            std::memcpy(slot(constants, p.at) + l * p.lane_bytes, value, p.lane_bytes);
        }
    }
    for (const place at : code.parameter_address) {
        for (unsigned l = 0; l < lanes; ++l) {
            std::uint64_t value;
            std::memcpy(&value, slot(constants, at) + 8 * l, 8);
            value += launch.constant_base;
            std::memcpy(slot(constants, at) + 8 * l, &value, 8);
        }
    }
    return constants;
}

void fill_block_values(const program_code& code, const launch_state& launch, const block& b, std::byte* constants) {
    for (const uniform_place& u : code.of_block) {
        fill_uniform(slot(constants, u.at), block_value(launch, b, u.what), u.bytes);
    }
}

void fill_warp_values(const program_code& code, const launch_state& launch, std::uint32_t index, std::byte* frame) {
    const extent block = launch.request->block;
    for (const warp_place& p : code.of_warp) {
        for (unsigned l = 0; l < lanes; ++l) {
            const std::uint32_t thread = index * lanes + l;
            const std::uint32_t value =
                p.what == per_warp::warpid ? index : block.index(thread)[static_cast<std::size_t>(p.what)];
            std::memcpy(frame + p.at + 4 * l, &value, 4);
        }
    }
}

} // namespace softgpu::machine
