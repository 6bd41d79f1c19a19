// SPDX-License-Identifier: MIT
// A communicator.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "softgpu/runtime/nccl/clique.hpp"
#include "softgpu/runtime/nccl/group.hpp"
#include "softgpu/runtime/nccl/process_clique.hpp"

struct ncclComm {
    std::shared_ptr<softgpu::runtime::nccl::clique> all;
    int rank = 0;
    int device = 0;
    std::string folder{}; // where ranks of other processes join; empty: there are none
    std::unique_ptr<softgpu::runtime::nccl::process_clique> others{};
};

namespace softgpu::runtime::nccl {

// With a communicator, which may be null.
template <class Body>
ncclResult_t with(ncclComm_t comm, Body&& body) noexcept {
    return guarded([&] { return comm == nullptr ? ncclInvalidArgument : (body(*comm), ncclSuccess); });
}

// Whether the ranks are in other processes. Waits for that to show: until all ranks of the communicator have joined here, or
// one elsewhere.
bool is_of_processes(ncclComm& comm);

// Throws failure unless the device can access it.
void require_memory(context& gpu, const void* at, std::size_t bytes);

} // namespace softgpu::runtime::nccl
