// SPDX-License-Identifier: MIT
// Occupancy.
#include <algorithm>
#include <cstdint>
#include <span>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/cards/occupancy.hpp"
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

// Clusters of several blocks are not supported, so the largest cluster has one block.
error cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel, const launch_configuration* configuration) {
    return call([&](context& gpu, locked&) {
        require(blocks != nullptr && configuration != nullptr);
        gpu.require_usable();
        function_of(kernel);
        *blocks = 1;
    });
}

error cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const launch_configuration* configuration) {
    return call([&](context& gpu, locked&) {
        require(clusters != nullptr && configuration != nullptr);
        gpu.require_usable();
        function_of(kernel);
        for (const launch_attribute& a : std::span(configuration->attributes, configuration->attribute_count)) {
            const dimensions& c = a.value.cluster;
            if (a.id == launch_attribute_id::cluster_dimensions && c.x * c.y * c.z > 1) {
                fail(error::not_supported, "cudaOccupancyMaxActiveClusters: thread block clusters are not supported");
            }
        }
        const dimensions& b = configuration->block;
        const auto threads = static_cast<int>(b.x * b.y * b.z);
        require(threads > 0);
        *clusters = static_cast<int>(occupancy(gpu, kernel, threads, configuration->dynamic_shared_bytes)) *
                    gpu.device().multiprocessors;
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
