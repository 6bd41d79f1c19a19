// SPDX-License-Identifier: MIT
// Ranks: the processes or threads that make one call together, each on its part of the arrays. This header has what a
// communicator is; thread_communicator.hpp, mpi.hpp and nccl.cuh have some.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "warpfold/error.hpp"

namespace warpfold {

// Thrown at every rank when a rank failed in a call, or made another call than the others.
struct rank_error : error {
    rank_error(int rank_, const std::string& what) : error(what), rank(rank_) {}

    int rank; // the rank that failed, or that differs from rank 0
};

// The library below a communicator failed, or the communicator was given up by an earlier error. It is of no use then.
struct communicator_error : error {
    using error::error;
};

// Ranks did not make the call within the communicator's time limit. The communicator is of no use after that.
struct time_limit_error : communicator_error {
    using communicator_error::communicator_error;
};

// How long a rank waits for the others in one step of a call; 0: for ever.
using time_limit = std::chrono::milliseconds;

// Every rank, as the place of a result.
inline constexpr int every_rank = -1;

// Bytes to a rank or from one.
struct message {
    int rank;
    void* data;
    std::size_t bytes;
};

// All members are collective: every rank calls the same ones in the same order. They wait. `call` is the name of the
// public call, for messages. Throws communicator_error and time_limit_error.
//   all_gather(mine, all, bytes, call)        `bytes` bytes of every rank, in rank order
//   add(values, n, root, call)                the sum of values[k] over all ranks, wrapping; at `root` or every_rank
//   exchange(sent, received, call)            sends and receives messages; between two ranks they arrive in order, and
//                                             each has the length that is expected
//   gathers()                                 the number of calls of all_gather so far
template <class C>
concept communicator = requires(C& comm, const C& same, const void* mine, void* all, std::size_t bytes,
                                std::uint64_t* counts, std::uint32_t* short_counts, std::span<const message> messages,
                                const char* call) {
    { same.rank() } -> std::convertible_to<int>;
    { same.size() } -> std::convertible_to<int>;
    { same.gathers() } -> std::convertible_to<std::uint64_t>;
    comm.all_gather(mine, all, bytes, call);
    comm.add(counts, std::uint64_t{}, int{}, call);
    comm.add(short_counts, std::uint64_t{}, int{}, call);
    comm.exchange(messages, messages, call);
};

} // namespace warpfold
