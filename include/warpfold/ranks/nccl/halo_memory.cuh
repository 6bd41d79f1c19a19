// SPDX-License-Identifier: MIT
// Halos between ranks of NCCL stay on the devices.
#pragma once

#include <span>

#include "warpfold/ranks/device_halo_memory.cuh"

namespace warpfold {

class nccl_communicator;

namespace detail {

template <gpu_target On>
struct halo_memory<On, nccl_communicator> : device_halo_memory<On> {
    template <class Interior>
    static void exchange(const over_ranks<On, nccl_communicator>& on, std::span<const message> sent,
                         std::span<const message> received, const char* call, const Interior& interior) {
        on.comm->exchange_beside(sent, received, on.on.stream, call, interior);
    }
};

} // namespace detail
} // namespace warpfold
