// SPDX-License-Identifier: MIT
// The tile of a warp in shared memory: its size, its layout, and how elements get there.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/core/thread_items.cuh"
#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/gpu/segmented_reduce/teams.cuh"
#include "warpfold/tuning/segmented_reduce.hpp"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// A value of any type in registers.
template <class T>
struct raw_value {
    static constexpr unsigned words = (sizeof(T) + 3) / 4;

    unsigned word[words];

    // By value: nvcc reads an element byte by byte if memcpy gets a reference to memory.
    __device__ void put(const T x) {
        word[words - 1] = 0;
        std::memcpy(word, &x, sizeof(T));
    }
    __device__ void take_from(const void* place) { std::memcpy(word, place, sizeof(T)); }
    __device__ void bring_to(void* place) const { std::memcpy(place, word, sizeof(T)); }
    __device__ T element() const {
        T x;
        std::memcpy(&x, word, sizeof(T));
        return x;
    }
};

// Rows of `Count` values of T in shared memory, one per lane. The stride avoids bank conflicts when each lane reads its
// row in 16-byte words, or in words of the type's alignment.
template <class T, unsigned Count>
struct lane_rows {
    static constexpr bool by_vectors = fits_vectors_v<T> && sizeof(T) * Count % 16 == 0;
    static constexpr unsigned unit = by_vectors ? 16 : (alignof(T) < 4 ? 4 : alignof(T));
    static constexpr unsigned units = (sizeof(T) * Count + unit - 1) / unit;
    static constexpr unsigned stride = (units % 2 == 1 ? units : units + 1) * unit; // bytes
    static constexpr unsigned bytes = warp::lanes * stride;
    static constexpr unsigned alignment = alignof(T) < 16 ? 16 : alignof(T);

    // The byte offset of element k.
    __device__ static unsigned place(unsigned k) {
        return k / Count * stride + k % Count * static_cast<unsigned>(sizeof(T));
    }
};

template <class Kernels, class T, class A>
struct warp_tile {
    static constexpr unsigned larger = sizeof(T) > sizeof(A) ? sizeof(T) : sizeof(A);
    static_assert(sizeof(T) + sizeof(A) <= 640,
                  "segmented_reduce: elements and values are too large for a GPU's shared memory");
    // Elements of a lane. Values may be twice as large as elements, like sums of integers.
    static constexpr unsigned half = (sizeof(A) + 1) / 2;
    static constexpr unsigned fit = Kernels::value.tile_bytes_per_lane / (sizeof(T) > half ? sizeof(T) : half);
    static constexpr unsigned items = fit >= 16 ? 16 : (fit >= 8 ? 8 : (fit >= 4 ? 4 : (fit >= 2 ? 2 : 1)));
    static constexpr unsigned size = warp::lanes * items;
    using elements = lane_rows<T, items>;
    using values = lane_rows<A, items>;

    // The warps of a block follow from the shared memory of a warp.
    static constexpr unsigned warp_bytes =
        (elements::bytes > values::bytes ? elements::bytes : values::bytes) + warp::lanes * sizeof(A) + 3 * size;
    static constexpr unsigned fitting =
        warp_bytes <= 4608 ? 256 : (warp_bytes <= 7680 ? 128 : (warp_bytes <= 12288 ? 64 : 32));
    static constexpr unsigned threads =
        fitting < Kernels::value.max_block_threads ? fitting : Kernels::value.max_block_threads;
    static constexpr unsigned warps = threads / warp::lanes;
    static constexpr unsigned blocks_per_multiprocessor =
        Kernels::value.resident_blocks * (larger <= 16 ? Kernels::value.max_block_threads / threads : 1);
};

// The elements of a tile on their way from global memory, in registers of a warp.
template <class Kernels, class In, class A>
struct tile_elements {
    using T = element_t<In>;
    using tile = warp_tile<Kernels, T, A>;
    using runs = typename tile::elements;

    static constexpr bool by_vectors = std::is_pointer_v<In> && runs::by_vectors;
    static constexpr unsigned width = by_vectors ? 16 / sizeof(T) : 1;
    static constexpr unsigned groups = tile::items / width;
    using group = std::conditional_t<by_vectors, uint4, raw_value<T>>;

    group held[groups];

    __device__ static unsigned lane() { return threadIdx.x % warp::lanes; }

    // The number of elements before `at` where a tile has to begin for aligned vectors; 0 if there is no such place.
    __device__ static unsigned beyond(const In& in, std::uint64_t at) {
        if constexpr (by_vectors) {
            return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in + at) % 128 / sizeof(T));
        } else {
            return 0;
        }
    }
    // True if load() can read the array.
    __device__ static bool readable(const In& in) {
        if constexpr (by_vectors) {
            return reinterpret_cast<std::uintptr_t>(in) % sizeof(T) == 0;
        } else {
            return true;
        }
    }

    // Loads the whole tile that begins at in[first].
    __device__ void load(const In& in, std::uint64_t first) {
#pragma unroll
        for (unsigned g = 0; g < groups; ++g) {
            load(in, first, g);
        }
    }
    __device__ void load(const In& in, std::uint64_t first, unsigned g) {
        if constexpr (by_vectors) {
            held[g] =
                load_vector<cache_hint::stream>(reinterpret_cast<const uint4*>(in + first) + lane() + g * warp::lanes);
        } else {
            held[g].put(in[first + g * warp::lanes + lane()]);
        }
    }
    // Copies the elements [from, to) of the tile to shared memory, and zeros around them.
    __device__ static void copy(const In& in, std::uint64_t first, unsigned from, unsigned to, unsigned char* shared) {
        raw_value<T> some[tile::items] = {};
#pragma unroll
        for (unsigned j = 0; j < tile::items; ++j) {
            const unsigned k = j * warp::lanes + lane();
            if (k >= from && k < to) {
                some[j].put(in[first + k]);
            }
        }
#pragma unroll
        for (unsigned j = 0; j < tile::items; ++j) {
            some[j].bring_to(shared + runs::place(j * warp::lanes + lane()));
        }
    }
    __device__ void put(unsigned char* shared) const {
#pragma unroll
        for (unsigned g = 0; g < groups; ++g) {
            unsigned char* const place = shared + runs::place((g * warp::lanes + lane()) * width);
            if constexpr (by_vectors) {
                *reinterpret_cast<uint4*>(place) = held[g];
            } else {
                held[g].bring_to(place);
            }
        }
    }
    // Calls take(element, index in the tile) for all elements of each lane, and loads the next tile into the same
    // registers.
    template <class Take>
    __device__ void each(const In& in, std::uint64_t next, bool load_next, const Take& take) {
#pragma unroll
        for (unsigned g = 0; g < groups; ++g) {
            if constexpr (by_vectors) {
#pragma unroll
                for (unsigned j = 0; j < width; ++j) {
                    take(element_of<T>(held[g], j), (g * warp::lanes + lane()) * width + j);
                }
            } else {
                take(held[g].element(), g * warp::lanes + lane());
            }
            if (load_next) {
                load(in, next, g);
            }
        }
    }
    // This lane's row of a tile in shared memory.
    __device__ static void take_run(const unsigned char* shared, raw_value<T> (&to)[tile::items]) {
        const unsigned char* const mine = shared + lane() * runs::stride;
        if constexpr (runs::by_vectors) {
            constexpr unsigned width_here = 16 / sizeof(T);
#pragma unroll
            for (unsigned g = 0; g < tile::items / width_here; ++g) {
                const uint4 some = *reinterpret_cast<const uint4*>(mine + g * 16);
#pragma unroll
                for (unsigned j = 0; j < width_here; ++j) {
                    to[g * width_here + j].put(element_of<T>(some, j));
                }
            }
        } else {
#pragma unroll
            for (unsigned j = 0; j < tile::items; ++j) {
                to[j].take_from(mine + j * sizeof(T));
            }
        }
    }
};

} // namespace warpfold::detail
