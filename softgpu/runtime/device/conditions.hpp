// SPDX-License-Identifier: MIT
// The values that conditional graph nodes look at and kernels set: what a cudaGraphConditionalHandle names.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace softgpu::runtime {

struct condition {
    std::uint64_t handle = 0;
    unsigned initial = 0;
    bool is_reset = false; // to `initial`, when the graph is launched
    bool is_taken = false; // by a node; guarded by the context's lock
    std::atomic<unsigned> value{0};
};

// A condition that handles find for as long as it lives.
[[nodiscard]] std::shared_ptr<condition> make_condition(unsigned initial, bool is_reset);
// nullptr for an unknown handle.
[[nodiscard]] std::shared_ptr<condition> find_condition(std::uint64_t handle);

} // namespace softgpu::runtime
