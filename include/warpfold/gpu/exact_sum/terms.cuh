// SPDX-License-Identifier: MIT
// How the warps of a grid go through the terms of an exact sum. feed(to) passes a few terms at a time to to.add(x), as
// moving_window has it. If that returns false, feed() returns, and the next feed(), to any object, starts with the same
// terms. number(f, j) is number j of factor f of the next terms.
#pragma once

#include <cstdint>

#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/tuning/exact_sum.hpp"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// Arrays with the same alignment: vectors of 16 bytes, `ahead` of them in flight per array; then the elements before
// and after the vectors.
template <class Kernels, class T, unsigned Factors>
struct vector_terms {
    // Products need more registers than sums, and products of floats have more terms per vector.
    static constexpr unsigned loads = Kernels::value.vector_loads_in_flight;
    static constexpr unsigned ahead = Factors == 1 ? loads : (sizeof(T) == 4 ? 1 : (loads + 1) / 2);
    static constexpr unsigned width = vector_view<T>::width;
    static constexpr unsigned count = ahead * width + 1;

    const T* in[Factors];
    std::uint64_t n;
    vector_view<T> view;
    std::uint64_t first; // the warp's next vector
    bool extra;          // the first warp still has the elements outside the vectors

    __device__ vector_terms(const T* const (&in_)[Factors], std::uint64_t n_)
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
    __device__ void feed(To& to) {
        if (!feed_vectors(to) || !extra) {
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
    // Returns true when all vectors are taken.
    template <class To>
    __device__ bool feed_vectors(To& to) {
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
        // Each vector in flight has registers of its own: no moves wait for a load.
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

// Element by element, for inputs that are not arrays, or arrays with different alignment.
template <class T, unsigned Factors, class Read>
struct element_terms {
    static constexpr unsigned width = 8 / Factors;
    static constexpr unsigned count = width;

    Read read;
    std::uint64_t n;
    std::uint64_t first;

    __device__ element_terms(const Read& read_, std::uint64_t n_)
        : read(read_),
          n(n_),
          first(std::uint64_t{blockIdx.x} * blockDim.x + (threadIdx.x - threadIdx.x % warp::lanes)) {}

    __device__ bool done() const { return first >= n; }

    __device__ T number(unsigned f, unsigned j) const {
        const std::uint64_t k = first + threadIdx.x % warp::lanes + j * (std::uint64_t{gridDim.x} * blockDim.x);
        return k < n ? read(f, k) : T(0);
    }

    template <class To>
    __device__ void feed(To& to) {
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
