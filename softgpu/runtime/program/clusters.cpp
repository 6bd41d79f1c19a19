// SPDX-License-Identifier: MIT
#include "softgpu/runtime/program/clusters.hpp"

#include <algorithm>

#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

constexpr unsigned portable = 8;
constexpr unsigned most = 16;

bool is_given(const dimensions& d) { return d.x != 0; }

bool are_equal(const dimensions& a, const dimensions& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Of __cluster_dims__, or of the kernel's attributes.
dimensions required(const function_on_device& kernel) {
    const std::uint32_t(&own)[3] = kernel.image.facts->cluster;
    const dimensions& set = kernel.required_cluster;
    return own[0] != 0     ? dimensions{own[0], std::max(own[1], 1u), std::max(own[2], 1u)}
           : is_given(set) ? dimensions{set.x, std::max(set.y, 1u), std::max(set.z, 1u)}
                           : dimensions{0, 0, 0};
}

} // namespace

unsigned most_cluster_blocks(const card& device, const function_on_device& kernel) {
    if (device.major < 9) {
        return 1;
    }
    const unsigned limit = kernel.non_portable_cluster ? most : portable;
    const unsigned own = kernel.image.facts->most_cluster_blocks;
    return own != 0 ? std::min(own, limit) : limit;
}

dimensions cluster_of(const card& device, const function_on_device& kernel, const dimensions& grid,
                      const dimensions& asked) {
    const dimensions needed = required(kernel);
    if (!is_given(needed) && !is_given(asked)) {
        require(!kernel.image.facts->needs_cluster, error::invalid_cluster_size);
        return {1, 1, 1};
    }
    require(!is_given(needed) || !is_given(asked) || are_equal(needed, asked), error::invalid_cluster_size);
    const dimensions cluster = is_given(needed) ? needed : asked;
    require(cluster.y != 0 && cluster.z != 0);
    if (count_of(cluster) == 1) {
        return cluster;
    }
    require(device.major >= 9, error::not_supported);
    require(count_of(cluster) <= most_cluster_blocks(device, kernel), error::invalid_cluster_size);
    require(grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0, error::invalid_cluster_size);
    return cluster;
}

unsigned active_clusters(const card& device, unsigned cluster_blocks, unsigned resident) {
    // A cluster is within a graphics processing cluster. Cards of one kind differ; these are an H200's, by its answers.
    constexpr unsigned together_on_132[] = {17, 17, 17, 17, 17, 17, 15, 15};
    unsigned clusters = 0;
    if (device.multiprocessors == 132) {
        for (const unsigned together : together_on_132) {
            clusters += together * resident / cluster_blocks;
        }
        return clusters;
    }
    constexpr unsigned usual = 16;
    for (auto left = static_cast<unsigned>(device.multiprocessors); left != 0;) {
        const unsigned together = std::min(left, usual);
        clusters += together * resident / cluster_blocks;
        left -= together;
    }
    return clusters;
}

} // namespace softgpu::runtime
