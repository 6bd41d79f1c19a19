// SPDX-License-Identifier: MIT
// What the policies of all primitives have in common. A policy says how a primitive is launched on a GPU. It has two
// parts, both with named fields:
//
//     reduce_kernels      compile-time values of the kernels: the most threads of a block, loads in flight, rows of a tile.
//                         Policies with equal kernels share the compiled code.
//     reduce_policy<K>    run-time values: block sizes, thresholds. K is a value of reduce_kernels.
//
// reduce_policy<K>::of(compute_capability) has the defaults of an architecture, with their source. The kernels' values
// are the same on all architectures, so a call compiles one set of kernels. A target carries other policies:
//
//     constexpr tuning::reduce_kernels wide{.vector_loads_in_flight = 4};
//     reduce(gpu{stream}.with(tuning::reduce_policy<wide>{.one_block_max_elements = 8192}), data, n)
//
// Kernels that cannot work are rejected at compile time, run-time values by with(), which throws invalid_argument. No
// macro is involved: calls with different policies may be in one program, and in one file.
#pragma once

#include <cstdint>
#include <string>

#include "warpfold/error.hpp"

namespace warpfold::tuning {

// Which calls a policy is for.
enum class primitive { reduce, exact_sum, histogram, convolve, scan, segmented_reduce, along_axis, compact };

// A policy: what with() takes.
template <class P>
concept policy = requires(const P& p, unsigned compute_capability) {
    P::kernels;
    P::calls == primitive::reduce;
    P::of(compute_capability);
    p.check();
};

// Threads that a multiprocessor holds. `compute_capability` is 10 times the major number plus the minor one, here and
// everywhere. Source: CUDA C++ Programming Guide, technical specifications per compute capability.
constexpr unsigned threads_of_multiprocessor(unsigned compute_capability) {
    if (compute_capability < 80) {
        return 1024;
    }
    const bool datacenter = compute_capability == 80 || (compute_capability >= 90 && compute_capability < 110);
    return datacenter ? 2048 : 1536;
}

constexpr bool is_block_size(unsigned threads) { return threads >= 32 && threads <= 1024 && threads % 32 == 0; }

// Throws where `value` is not from `least` to `most`.
constexpr void check_field(const char* policy_and_field, std::uint64_t value, std::uint64_t least,
                           std::uint64_t most = ~std::uint64_t{0}) {
    if (value < least || value > most) {
        throw invalid_argument(
            std::string("warpfold: ") + policy_and_field + " is " + std::to_string(value) + ", not " +
            (value < least ? "at least " + std::to_string(least) : "at most " + std::to_string(most)));
    }
}
// Throws where a block cannot have so many threads.
constexpr void check_block_threads(const char* policy_and_field, unsigned threads, unsigned most) {
    if (!is_block_size(threads) || threads > most) {
        throw invalid_argument(std::string("warpfold: ") + policy_and_field + " is " + std::to_string(threads) +
                               ", not a multiple of 32 from 32 to " + std::to_string(most));
    }
}

} // namespace warpfold::tuning

namespace warpfold::detail {

// The kernels' values as a type: what kernels are templates of. (nvcc 13.0 rejects kernels that are templates of values
// of a class.)
template <auto Kernels>
struct kernel_values {
    static constexpr auto value = Kernels;
};
template <class Policy>
using kernels_of = kernel_values<Policy::kernels>;

} // namespace warpfold::detail
