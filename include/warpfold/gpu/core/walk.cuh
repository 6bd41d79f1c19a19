// SPDX-License-Identifier: MIT
// How a grid's threads go through an array, 16 bytes at a time where it is one in memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/core/load.cuh"

namespace warpfold::detail {

// Goes through n elements together with `threads`, a multiple of 32, of which this is one; lanes of a warp have numbers
// side by side. An element's channel is its index modulo Channels.
//   take.one(x, channel)                  an element
//   take.template many<T>(vector, channel)   16 bytes of elements, of which the first has that channel, by the whole
//                                         warp together
// With `once` the caches need not keep what is read, and a warp's vectors lie together in memory.
template <unsigned Channels, unsigned Loads, class In, class Take>
__device__ void walk(const In& in, std::uint64_t n, std::uint64_t thread, std::uint64_t threads, bool once,
                     Take&& take) {
    using T = element_t<In>;
    if constexpr (std::is_pointer_v<In> && fits_vectors_v<T>) {
        const vector_view<T> view(in, n);
        constexpr unsigned width = vector_view<T>::width;
        const auto channel_of = [&](std::uint64_t k) {
            return static_cast<unsigned>((view.head + k * width) % Channels);
        };
        const std::uint64_t apart = once ? 32 : threads;
        const std::uint64_t begin = once ? (thread - thread % 32) * Loads + thread % 32 : thread;
        // Rounds of Loads vectors for all lanes of the warp, to the last of them.
        const std::uint64_t reach = (begin | 31) + (Loads - 1) * apart;
        const std::uint64_t rounds = view.vectors <= reach ? 0 : (view.vectors - reach - 1) / (Loads * threads) + 1;
        const uint4* at = view.data + begin;
        std::uint64_t k = begin;
        for (auto left = static_cast<unsigned>(rounds); left != 0; --left) {
            uint4 loaded[Loads];
            if (once) {
#pragma unroll
                for (unsigned i = 0; i < Loads; ++i) {
                    loaded[i] = __ldcs(at + i * apart);
                }
            } else {
#pragma unroll
                for (unsigned i = 0; i < Loads; ++i) {
                    loaded[i] = __ldg(at + i * apart);
                }
            }
            at += Loads * threads;
#pragma unroll
            for (unsigned i = 0; i < Loads; ++i) {
                take.template many<T>(loaded[i], Channels == 1 ? 0 : channel_of(k + i * apart));
            }
            if constexpr (Channels != 1) {
                k += Loads * threads;
            }
        }
        k = begin + rounds * Loads * threads;
        for (; k < view.vectors; k += apart) {
            const uint4 loaded = __ldg(view.data + k);
#pragma unroll
            for (unsigned j = 0; j < width; ++j) {
                take.one(element_of<T>(loaded, j), (channel_of(k) + j) % Channels);
            }
        }
        for (k = thread; k < view.head; k += threads) {
            take.one(in[k], static_cast<unsigned>(k % Channels));
        }
        for (k = view.tail + thread; k < n; k += threads) {
            take.one(in[k], static_cast<unsigned>(k % Channels));
        }
    } else {
#pragma unroll 4
        for (std::uint64_t k = thread; k < n; k += threads) {
            take.one(in[k], static_cast<unsigned>(k % Channels));
        }
    }
}

} // namespace warpfold::detail
