// SPDX-License-Identifier: MIT
// The grid-stride loop of histograms, in vectors of 16 bytes if the samples are an array.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/gpu/core/vector_load.cuh"

namespace warpfold::detail {

// Visits n samples as thread `thread` of `threads`, a multiple of 32; the lanes of a warp have consecutive numbers. The
// channel of a sample is its index modulo Channels.
//   visit.one(x, channel)                     one sample
//   visit.template many<T>(vector, channel)   16 bytes of samples, the first of which has that channel; the whole warp
//                                             calls it together
// With `once` no cache keeps the samples, and the vectors of a warp are consecutive in memory.
template <unsigned Channels, unsigned Loads, class In, class Visit>
__device__ void grid_stride_loop(const In& in, std::uint64_t n, std::uint64_t thread, std::uint64_t threads, bool once,
                                 Visit&& visit) {
    using T = element_t<In>;
    const auto visit_one = [&](std::uint64_t k) { visit.one(in[k], static_cast<unsigned>(k % Channels)); };
    if constexpr (std::is_pointer_v<In> && fits_vectors_v<T>) {
        const vector_view<T> view(in, n);
        constexpr unsigned width = vector_view<T>::width;
        const auto channel_of = [&](std::uint64_t k) {
            return static_cast<unsigned>((view.head + k * width) % Channels);
        };
        const std::uint64_t stride = once ? 32 : threads;
        const std::uint64_t begin = once ? (thread - thread % 32) * Loads + thread % 32 : thread;
        // Rounds of Loads vectors that all lanes of the warp complete.
        const std::uint64_t reach = (begin | 31) + (Loads - 1) * stride;
        const std::uint64_t rounds = view.vectors <= reach ? 0 : (view.vectors - reach - 1) / (Loads * threads) + 1;
        const uint4* at = view.data + begin;
        std::uint64_t k = begin;
        for (auto left = static_cast<unsigned>(rounds); left != 0; --left) {
            uint4 loaded[Loads];
            if (once) {
                load_vectors<cache_hint::stream>(loaded, at, stride);
            } else {
                load_vectors<cache_hint::keep>(loaded, at, stride);
            }
            at += Loads * threads;
#pragma unroll
            for (unsigned i = 0; i < Loads; ++i) {
                visit.template many<T>(loaded[i], Channels == 1 ? 0 : channel_of(k + i * stride));
            }
            if constexpr (Channels != 1) {
                k += Loads * threads;
            }
        }
        // The rest: lanes of a warp may have different numbers of vectors.
        view.template for_rounds<1, cache_hint::keep>(begin + rounds * Loads * threads, view.vectors, stride, stride,
                                                      [&](const uint4& vector, std::uint64_t which) {
#pragma unroll
                                                          for (unsigned j = 0; j < width; ++j) {
                                                              visit.one(element_of<T>(vector, j),
                                                                        (channel_of(which) + j) % Channels);
                                                          }
                                                      });
        view.for_edges(n, thread, threads, visit_one);
    } else {
#pragma unroll 4
        for (std::uint64_t k = thread; k < n; k += threads) {
            visit_one(k);
        }
    }
}

} // namespace warpfold::detail
