// SPDX-License-Identifier: MIT
// The warps' ways through the terms of an exact sum. go(to) hands the numbers of a few terms after the others to
// to.add(x), as exact_thread has it; where that returns false the way ends, and begins with the same ones when it is
// taken up again, by whomever. number(f, j) is the j-th number of factor f that comes next.
#pragma once

#include <cstdint>

#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/tuning/exact_sum.hpp"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// In vectors of 16 bytes, which all inputs have at the same places, some of them on their way from memory ahead of
// their turn; at last come the elements before and behind the vectors.
template <class Kernels, class T, unsigned Factors>
struct vectors_walk {
    // A product takes more registers than a sum, and one of floats more terms.
    static constexpr unsigned loads = Kernels::value.vector_loads_in_flight;
    static constexpr unsigned ahead = Factors == 1 ? loads : (sizeof(T) == 4 ? 1 : (loads + 1) / 2);
    static constexpr unsigned width = vector_view<T>::width;
    static constexpr unsigned count = ahead * width + 1;

    const T* in[Factors];
    std::uint64_t n;
    vector_view<T> view;
    std::uint64_t first; // the warp's next vector
    bool extra;          // the first warp has the elements before and behind the vectors too

    __device__ vectors_walk(const T* const (&in_)[Factors], std::uint64_t n_)
        : n(n_),
          view(in_[0], n_),
          first(std::uint64_t{blockIdx.x} * blockDim.x + (threadIdx.x - threadIdx.x % warp::lanes)),
          extra(first == 0 && view.vectors * width != n_) {
#pragma unroll
        for (unsigned f = 0; f < Factors; ++f) {
            in[f] = in_[f];
        }
    }

    __device__ bool done() const { return first >= view.vectors && !extra; }

    __device__ T number(unsigned f, unsigned j) const {
        const unsigned lane = threadIdx.x % warp::lanes;
        if (j == count - 1) {
            const std::uint64_t edge = lane < view.head ? lane : view.tail + (lane - view.head);
            return extra && edge < n ? in[f][edge] : T(0);
        }
        const std::uint64_t vector = first + lane + j / width * (std::uint64_t{gridDim.x} * blockDim.x);
        return vector < view.vectors ? in[f][view.head + vector * width + j % width] : T(0);
    }

    template <class To>
    __device__ void go(To& to) {
        if (!go_vectors(to) || !extra) {
            return;
        }
        T x[Factors][1];
#pragma unroll
        for (unsigned f = 0; f < Factors; ++f) {
            x[f][0] = number(f, count - 1);
        }
        extra = !to.template add<1>(x);
    }

private:
    // Whether all vectors have been taken.
    template <class To>
    __device__ bool go_vectors(To& to) {
        const unsigned lane = threadIdx.x % warp::lanes;
        const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
        const auto load = [&](uint4(&vector)[Factors], std::uint64_t at) {
#pragma unroll
            for (unsigned f = 0; f < Factors; ++f) {
                vector[f] =
                    at + lane < view.vectors
                        ? load_vector<cache_hint::stream>(reinterpret_cast<const uint4*>(in[f] + view.head) + at + lane)
                        : uint4{};
            }
        };
        uint4 loaded[ahead][Factors];
#pragma unroll
        for (unsigned g = 0; g < ahead; ++g) {
            load(loaded[g], first + g * threads);
        }
        // Each of them has registers of its own in the code: nothing is copied that has not come yet.
        for (;;) {
#pragma unroll
            for (unsigned g = 0; g < ahead; ++g) {
                if (first >= view.vectors) {
                    return true;
                }
                T x[Factors][width];
#pragma unroll
                for (unsigned f = 0; f < Factors; ++f) {
                    unpack(loaded[g][f], x[f]);
                }
                load(loaded[g], first + ahead * threads);
                if (!to.template add<width>(x)) {
                    return false;
                }
                first += threads;
            }
        }
    }
};

// Element by element, through inputs that are no arrays, or lie at different distances from a 16-byte boundary.
template <class T, unsigned Factors, class Read>
struct elements_walk {
    static constexpr unsigned width = 8 / Factors;
    static constexpr unsigned count = width;

    Read read;
    std::uint64_t n;
    std::uint64_t first;

    __device__ elements_walk(const Read& read_, std::uint64_t n_)
        : read(read_),
          n(n_),
          first(std::uint64_t{blockIdx.x} * blockDim.x + (threadIdx.x - threadIdx.x % warp::lanes)) {}

    __device__ bool done() const { return first >= n; }

    __device__ T number(unsigned f, unsigned j) const {
        const std::uint64_t k = first + threadIdx.x % warp::lanes + j * (std::uint64_t{gridDim.x} * blockDim.x);
        return k < n ? read(f, k) : T(0);
    }

    template <class To>
    __device__ void go(To& to) {
        const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
        while (!done()) {
            T x[Factors][count];
#pragma unroll
            for (unsigned j = 0; j < count; ++j) {
#pragma unroll
                for (unsigned f = 0; f < Factors; ++f) {
                    x[f][j] = number(f, j);
                }
            }
            if (!to.template add<width>(x)) {
                return;
            }
            first += width * threads;
        }
    }
};

} // namespace warpfold::detail
