// SPDX-License-Identifier: MIT
// Halos between GPUs of ranks of MPI stay in device memory, unless MPI cannot take them from there.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/ranks/device_halo_memory.cuh"

namespace warpfold {

class mpi_communicator;

namespace detail {

template <gpu_target On>
struct halo_memory<On, mpi_communicator> : device_halo_memory<On> {
    template <class Interior>
    static void exchange(const over_ranks<On, mpi_communicator>& on, std::span<const message> sent,
                         std::span<const message> received, const char* call, const Interior& interior) {
        if (on.comm->is_cuda_aware()) {
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.on.stream)); // MPI does not know streams
            interior();
            on.comm->exchange_in_place(sent, received, call);
            return;
        }
        using memory = rank_target<On>;
        std::vector<std::vector<unsigned char>> bytes;
        const auto staged = [&](std::span<const message> of, const auto& fill) {
            std::vector<message> messages(of.begin(), of.end());
            for (message& one : messages) {
                fill(bytes.emplace_back(one.bytes), one);
                one.data = bytes.back().data();
            }
            return messages;
        };
        const auto out = staged(sent, [&](std::vector<unsigned char>& to, const message& one) {
            memory::read(on.on, to.data(), static_cast<const unsigned char*>(one.data), one.bytes);
        });
        const auto in = staged(received, [](std::vector<unsigned char>&, const message&) {});
        interior();
        on.comm->exchange(out, in, call);
        for (std::size_t k = 0; k < in.size(); ++k) {
            memory::write(on.on, static_cast<unsigned char*>(received[k].data),
                          static_cast<const unsigned char*>(in[k].data), in[k].bytes);
        }
    }
};

} // namespace detail
} // namespace warpfold
