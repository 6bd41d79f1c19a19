// SPDX-License-Identifier: MIT
// Where the segments of a scan by key begin (gpu/scan/segment_heads.cuh): keys are read in whole vectors where they can be.
#pragma once

#include <cstdint>

#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/thread_items.cuh"
#include "warpfold/gpu/scan/segment_heads.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

template <class Elements, unsigned Rows, unsigned Tile, class Options, class Key, class Equal>
struct segment_heads<Elements, Rows, Tile, Options, heads<run_heads<const Key*, Equal>>>
    : head_bits<Rows, Elements::run> {
    static constexpr unsigned run = Elements::run, row = run * warp::lanes;

    __device__ void find(const Elements& elements, std::uint64_t, unsigned, std::uint64_t first, unsigned rows,
                         bool inside) {
        check_operation<Equal, Key>();
        const auto& flags = elements.options.segments.flags;
        const bool vectors = !Options::reverse && inside &&
                             reinterpret_cast<std::uintptr_t>(flags.keys + first) % items_alignment_v<Key, run> == 0;
        if (vectors) {
            constexpr unsigned at_once = 64 / (sizeof(Key) * run) > 1 ? 64 / (sizeof(Key) * run) : 1; // rows
#pragma unroll
            for (unsigned begin = 0; begin < Rows && begin < rows; begin += at_once) {
                find_in_rows<at_once>(flags, begin, first, rows);
            }
        }
#pragma unroll
        for (unsigned r = 0; r < Rows; ++r) {
            if (r >= rows) {
                break;
            }
            const std::uint64_t v = first + r * row;
            if (!vectors) {
#pragma unroll
                for (unsigned j = 0; j < run; ++j) {
                    if (v + j != 0 && v + j < elements.n) {
                        const std::uint64_t k = elements.place(v + j);
                        this->bits[r] |= (flags[Options::reverse ? k + 1 : k] ? 1u : 0u) << j;
                    }
                }
            }
            if (v == 0 || 0 - v < run) {
                this->bits[r] |= 1u << static_cast<unsigned>(0 - v); // the first element of all
            }
        }
    }

private:
    // Reads the keys of all these rows before it compares those of the first.
    template <unsigned Count, class Flags>
    __device__ void find_in_rows(const Flags& flags, unsigned begin, std::uint64_t first, unsigned rows) {
        Key keys[Count][run], before[Count];
#pragma unroll
        for (unsigned r = 0; r < Count; ++r) {
            if (begin + r < Rows && begin + r < rows) {
                const std::uint64_t v = first + (begin + r) * row;
                load_items(flags.keys + v, keys[r]);
                if (threadIdx.x % warp::lanes == 0) {
                    before[r] = flags.keys[v == 0 ? 0 : v - 1];
                }
            }
        }
#pragma unroll
        for (unsigned r = 0; r < Count; ++r) {
            if (begin + r < Rows && begin + r < rows) {
                const Key in_lane_before = warp::shuffle_up(keys[r][run - 1], 1);
                if (threadIdx.x % warp::lanes != 0) {
                    before[r] = in_lane_before;
                }
#pragma unroll
                for (unsigned j = 0; j < run; ++j) {
                    const Key& left = j == 0 ? before[r] : keys[r][j - 1];
                    this->bits[begin + r] |= (detail::equal_by(flags.equal, left, keys[r][j]) ? 0u : 1u) << j;
                }
            }
        }
    }
};

} // namespace warpfold::detail
