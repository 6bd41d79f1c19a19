// SPDX-License-Identifier: MIT
// Occupancy.
#include <algorithm>
#include <cstdint>
#include <span>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/cards/occupancy.hpp"
#include "softgpu/runtime/program/clusters.hpp"
#include "softgpu/runtime/program/launch.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {
namespace {

std::uint32_t occupancy(context& gpu, const void* kernel, int threads, std::size_t dynamic_shared) {
    function& f = function_of(kernel);
    const function_on_device& here = registry::instance().load(f, gpu);
    if (dynamic_shared > max_dynamic_shared(gpu.device(), *here.image.facts, here.max_dynamic_shared)) {
        return 0;
    }
    return blocks_per_multiprocessor(gpu.device(), *here.image.facts, static_cast<std::uint64_t>(threads),
                                     dynamic_shared);
}

struct cluster_question {
    const function_on_device* kernel = nullptr;
    unsigned resident = 0; // blocks of a multiprocessor
    unsigned cluster_blocks = 1;
    bool has_cluster = false;
};

cluster_question question(context& gpu, const void* kernel, const int* answer, const launch_configuration* c) {
    require(answer != nullptr && c != nullptr);
    gpu.require_usable();
    const function_on_device& here = registry::instance().load(function_of(kernel), gpu);
    kernel_work work{.grid = c->grid, .block = c->block};
    for (const launch_attribute& a : std::span(c->attributes, c->attribute_count)) {
        if (a.id == launch_attribute_id::cluster_dimensions) {
            work.cluster = a.value.cluster;
        }
    }
    const auto threads = static_cast<int>(count_of(c->block));
    require(threads > 0);
    const dimensions cluster = cluster_of(gpu.device(), here, work.grid, work.cluster);
    return {.kernel = &here,
            .resident = occupancy(gpu, kernel, threads, c->dynamic_shared_bytes),
            .cluster_blocks = static_cast<unsigned>(count_of(cluster)),
            .has_cluster = work.cluster.x != 0 || here.image.facts->cluster[0] != 0};
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int threads,
                                                             std::size_t dynamic_shared, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(blocks != nullptr && flags <= 1);
        gpu.require_usable();
        function_of(kernel);
        *blocks = 0;
        require(threads > 0);
        *blocks = static_cast<int>(occupancy(gpu, kernel, threads, dynamic_shared));
    });
}

error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                    std::size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, dynamic_shared, 0);
}

// The dynamic shared memory of a block if `blocks` blocks share a multiprocessor. As on an H100, the shared memory that the
// system reserves in each block is not subtracted.
error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* kernel, int blocks, int threads) {
    return call([&](context& gpu, locked&) {
        require(bytes != nullptr);
        gpu.require_usable();
        function& f = function_of(kernel);
        require(blocks > 0 && threads > 0);
        const function_on_device& here = registry::instance().load(f, gpu);
        const machine::kernel_facts& facts = *here.image.facts;
        require(static_cast<std::uint32_t>(blocks) <=
                blocks_per_multiprocessor(gpu.device(), facts, static_cast<std::uint64_t>(threads), 0));
        const auto granularity = static_cast<std::size_t>(gpu.device().shared_granularity);
        const std::size_t each =
            static_cast<std::size_t>(gpu.device().shared_per_multiprocessor / blocks) / granularity * granularity;
        const std::size_t left = each - std::min<std::size_t>(each, facts.static_shared_bytes);
        *bytes = std::min<std::size_t>(left, max_dynamic_shared(gpu.device(), facts, here.max_dynamic_shared));
    });
}

// As on an H200: a cluster size that the launch could not have is an error; without one there are no active clusters.
error cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel, const launch_configuration* configuration) {
    return call([&](context& gpu, locked&) {
        const cluster_question asked = question(gpu, kernel, blocks, configuration);
        unsigned largest = most_cluster_blocks(gpu.device(), *asked.kernel);
        while (largest > 0 && active_clusters(gpu.device(), largest, asked.resident) == 0) {
            largest /= 2;
        }
        *blocks = static_cast<int>(largest);
    });
}

error cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const launch_configuration* configuration) {
    return call([&](context& gpu, locked&) {
        const cluster_question asked = question(gpu, kernel, clusters, configuration);
        *clusters = asked.has_cluster
                        ? static_cast<int>(active_clusters(gpu.device(), asked.cluster_blocks, asked.resident))
                        : 0;
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
