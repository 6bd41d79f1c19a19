// SPDX-License-Identifier: MIT
// The size of a launch's clusters: given by the launch, the kernel's __cluster_dims__ or its attributes.
#pragma once

#include <cstdint>

#include "softgpu/runtime/cards/cards.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {

// Throws failure, with the errors of a GPU, where the launch cannot have the clusters that it, or its kernel, asks for.
[[nodiscard]] dimensions cluster_of(const card& device, const function_on_device& kernel, const dimensions& grid,
                                    const dimensions& asked);
// The largest cluster that the kernel may have on the card; 1: it has no clusters.
[[nodiscard]] unsigned most_cluster_blocks(const card& device, const function_on_device& kernel);
// How many clusters of so many blocks run at once, where a multiprocessor holds `resident` blocks.
[[nodiscard]] unsigned active_clusters(const card& device, unsigned cluster_blocks, unsigned resident);

} // namespace softgpu::runtime
