// SPDX-License-Identifier: MIT
// The results of a tile, or of a warp's part of one, on their way to consecutive places of an output: collected in shared memory, so that they are
// written in whole vectors.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/gpu/core/thread_items.cuh"
#include "warpfold/gpu/scan/elements.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// Elements of a run, those with a bit, for at[0] and on.
template <class U, class T, unsigned Run>
__device__ void put_selected(U* at, unsigned bits, const T (&items)[Run]) {
#pragma unroll
    for (unsigned j = 0; j < Run; ++j) {
        const unsigned bit = bits >> j & 1;
        if (bit != 0) {
            *at = static_cast<U>(items[j]);
        }
        at += bit; // without a branch
    }
}

// `count` results of type U for out[position] and on. Put at their place(), in any order, and written by write() behind a barrier.
// `memory` has room for them and 16 bytes more, and is aligned to 16 bytes. A block has them, or a warp each its own:
// `OfWarp`; then the barrier is the warp's.
template <class Out, class U, bool OfWarp = false>
class staged_results {
public:
    static constexpr unsigned run = scan_run_of(sizeof(U)); // results in a vector

    __device__ staged_results(unsigned char* memory, const Out& out, std::uint64_t position, unsigned count)
        : results_(reinterpret_cast<U*>(memory)), out_(out), position_(position), count_(count) {
        if constexpr (std::is_pointer_v<Out>) {
            const auto address = reinterpret_cast<std::uintptr_t>(out + position);
            vectors_ = address % sizeof(U) == 0;
            gap_ = vectors_ ? static_cast<unsigned>(address / sizeof(U) % run) : 0;
        }
    }

    // Where result k waits to be written.
    [[nodiscard]] __device__ U* place(unsigned k) const { return results_ + gap_ + k; }

    // Elements of a run, those with a bit, for `first` and the following places.
    template <class T, unsigned Run>
    __device__ void put(unsigned first, unsigned bits, const T (&items)[Run]) const {
        detail::put_selected(place(first), bits, items);
    }

    // By all threads of the block, or the warp.
    __device__ void write() const {
        if constexpr (std::is_pointer_v<Out> && run > 1) {
            if (vectors_) {
                const unsigned first = (gap_ + run - 1) / run, last = (gap_ + count_) / run; // vectors
                if (first < last) {
                    const Out base = out_ + position_ - gap_;
                    for (unsigned v = first + thread(); v < last; v += threads()) {
                        U items[run];
                        load_items(results_ + v * run, items);
                        store_whole_vector(base + v * run, items);
                    }
                    // The results before the first vector, and those behind the last one.
                    const unsigned t = thread(), behind = last * run - gap_;
                    const unsigned k = t < run ? t : behind + t - run, end = t < run ? first * run - gap_ : count_;
                    if (t < 2 * run && k < end) {
                        out_[position_ + k] = results_[gap_ + k];
                    }
                    return;
                }
            }
        }
#pragma unroll 1
        for (unsigned k = thread(); k < count_; k += threads()) {
            out_[position_ + k] = results_[gap_ + k];
        }
    }

private:
    __device__ static unsigned thread() { return OfWarp ? threadIdx.x % warp::lanes : threadIdx.x; }
    __device__ static unsigned threads() { return OfWarp ? warp::lanes : blockDim.x; }

    U* results_;
    const Out& out_;
    std::uint64_t position_;
    unsigned count_, gap_ = 0;
    bool vectors_ = false;
};

} // namespace warpfold::detail
