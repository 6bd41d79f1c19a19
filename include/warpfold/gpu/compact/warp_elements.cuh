// SPDX-License-Identifier: MIT
// What a warp has of a long array at a time: where the elements are, and how they come into shared memory.
#pragma once

#include <cstdint>

#include "warpfold/block/exchange.cuh"
#include "warpfold/gpu/core/thread_items.cuh"
#include "warpfold/gpu/scan/elements.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// A lane has `Rows` runs of `Run` consecutive elements, lanes' runs side by side. Tiles begin where the input is aligned to
// a run, so the first positions of tile 0 hold no element; their index wraps. Nor do positions from n on.
template <unsigned Run, unsigned Rows>
struct warp_elements {
    static constexpr unsigned run = Run, rows = Rows, of_warp = warp::lanes * Rows * Run;

    // Part `number` of the array. `whole`: all its positions hold elements.
    __device__ warp_elements(unsigned shift, std::uint64_t n_, std::uint64_t number, bool whole_)
        : n(n_), begin(number * of_warp - shift), whole(whole_) {
        if (!whole) {
            missing = begin >> 63 != 0 ? shift : 0;
            const std::uint64_t rest = n - begin;
            behind = missing == 0 && begin >= n ? 0 : (rest < of_warp ? static_cast<unsigned>(rest) : of_warp);
        }
    }

    // Of the run in row r: its place in the part.
    [[nodiscard]] __device__ static unsigned place(unsigned r) {
        return (r * warp::lanes + threadIdx.x % warp::lanes) * Run;
    }
    // Whether the position at a place holds an element.
    [[nodiscard]] __device__ bool has(unsigned place) const { return whole || (place >= missing && place < behind); }
    // The index of the first element, and the number of elements.
    [[nodiscard]] __device__ std::uint64_t first_index() const { return begin + missing; }
    [[nodiscard]] __device__ unsigned size() const { return behind - missing; }

    // Starts to copy the part's elements of an array, of which vectors of 16 bytes are aligned, into shared memory. Where there
    // is no element, the nearest one.
    template <class T>
    __device__ void fetch(const T* in, T* shared) const {
        constexpr unsigned vector = 16 / sizeof(T), vectors = of_warp / vector;
        static_assert(16 % sizeof(T) == 0);
        const unsigned lane = threadIdx.x % warp::lanes;
        if (whole) {
            const T* const from = in + begin + lane * vector;
            T* const to = shared + lane * vector;
#pragma unroll
            for (unsigned k = 0; k < vectors; k += warp::lanes) {
                if (vectors % warp::lanes == 0 || k + lane < vectors) {
                    copy_items_async<T, vector>(from + k * vector, to + k * vector);
                }
            }
            return;
        }
        const T last = in[n - 1];
#pragma unroll 1
        for (unsigned p = lane * vector; p < of_warp; p += warp::lanes * vector) {
            if (p >= missing && p + vector <= behind) {
                copy_items_async<T, vector>(in + (begin + p), shared + p);
            } else {
#pragma unroll
                for (unsigned j = 0; j < vector; ++j) {
                    const unsigned k = p + j < missing ? missing : p + j;
                    shared[p + j] = k < behind ? in[begin + k] : last;
                }
            }
        }
    }

    // The same where a lane has one run of several vectors, in an order without bank conflicts, for take_run().
    template <class T>
    __device__ void fetch_runs(const T* in, unsigned char* shared) const {
        const vectors<T> to(shared);
        const unsigned lane = threadIdx.x % warp::lanes;
        if (whole) {
#pragma unroll
            for (unsigned c = 0; c < Run / vector<T>; ++c) {
                copy_items_async<T, vector<T>>(in + begin + (c * warp::lanes + lane) * vector<T>, to.in_row(c));
            }
            return;
        }
#pragma unroll 1
        for (unsigned c = 0; c < Run / vector<T>; ++c) {
            const unsigned first = (c * warp::lanes + lane) * vector<T>;
            if (first >= missing && first + vector<T> <= behind) {
                copy_items_async<T, vector<T>>(in + (begin + first), to.in_row(c));
                continue;
            }
#pragma unroll 1
            for (unsigned j = 0; j < vector<T>; ++j) {
                const unsigned k = first + j < missing ? missing : first + j;
                to.in_row(c)[j] = in[k < behind ? begin + k : n - 1];
            }
        }
    }
    // The lane's elements, from there.
    template <class T>
    __device__ void take_run(unsigned char* shared, T (&items)[Run]) const {
        const vectors<T> from(shared);
#pragma unroll
        for (unsigned c = 0; c < Run / vector<T>; ++c) {
            T some[vector<T>];
            load_items(from.blocked(c), some);
#pragma unroll
            for (unsigned j = 0; j < vector<T>; ++j) {
                items[c * vector<T> + j] = some[j];
            }
        }
    }
    // The element at a place, from there.
    template <class T>
    [[nodiscard]] __device__ static const T& element(unsigned char* shared, unsigned place) {
        return vectors<T>(shared).element(place);
    }
    // Bits: which positions of the lane's run hold elements.
    [[nodiscard]] __device__ unsigned present() const {
        const auto below = [](unsigned k) { return k >= 32 ? ~0u : (1u << k) - 1; };
        const unsigned at = place(0);
        return below(behind > at ? behind - at : 0) & ~below(missing > at ? missing - at : 0);
    }

    std::uint64_t n, begin;
    bool whole;
    unsigned missing = 0;      // positions before element 0
    unsigned behind = of_warp; // positions up to the end of the array

private:
    template <class T>
    static constexpr unsigned vector = 16 / sizeof(T) < Run ? 16 / sizeof(T) : Run;
    template <class T>
    using vectors = block::warp_runs<T, vector<T>, Run / vector<T>>;
};

} // namespace warpfold::detail
