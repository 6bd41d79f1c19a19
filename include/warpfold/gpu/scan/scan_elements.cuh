// SPDX-License-Identifier: MIT
// The elements of a scan on a GPU, as its kernels see them: what is read, what is written, where, and how.
//
// Elements are moved in runs of consecutive ones, as many as 16 bytes hold of the larger of what is read and what is
// written. Positions count, in the order in which elements are visited, from the address before `out` that is aligned
// to a run (or from behind it, in reversed order); the elements that are not there, `shift` of them, are left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_how.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/run.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

template <class T, class Out>
constexpr std::size_t scan_bytes() {
    if constexpr (std::is_pointer_v<Out>) {
        return std::max(sizeof(T), sizeof(std::remove_pointer_t<Out>));
    } else {
        return sizeof(T);
    }
}

template <class In, class Out, class Map, class Op, class How>
struct scan_elements {
    using T = element_t<In>;
    using A = typename How::value;
    using how_type = How;
    using U = std::conditional_t<std::is_void_v<written_t<Out>>, A, written_t<Out>>;
    static constexpr std::size_t bytes = scan_bytes<T, Out>(); // of the larger element
    static constexpr unsigned run = bytes >= 16 || 16 % bytes != 0 ? 1 : 16 / bytes;
    static constexpr bool in_memory = std::is_pointer_v<In> && std::is_pointer_v<Out>;

    In in;
    Out out;
    Map map;
    Op op;
    How how;
    std::uint64_t n;
    unsigned shift = 0;
    bool in_runs = false, out_runs = false; // whole runs of in and out are aligned

    scan_elements(const In& in_, const Out& out_, const Map& map_, const Op& op_, const How& how_, std::uint64_t n_)
        : in(in_), out(out_), map(map_), op(op_), how(how_), n(n_) {
        if constexpr (std::is_pointer_v<Out>) {
            shift = shift_of(out + (How::reverse ? n : 0));
            out_runs = aligned(out + (How::reverse ? n : 0), shift);
        } else if constexpr (std::is_pointer_v<In>) {
            shift = shift_of(in + (How::reverse ? n : 0));
        }
        if constexpr (std::is_pointer_v<In>) {
            in_runs = aligned(in + (How::reverse ? n : 0), shift);
        }
    }

    // Where the element at position v stands.
    [[nodiscard]] __device__ std::uint64_t place(std::uint64_t v) const { return How::reverse ? n - 1 - v : v; }
    // The same; of a position where nothing is, where an element next to it stands.
    [[nodiscard]] __device__ std::uint64_t some_place(std::uint64_t v) const {
        return place(v < n ? v : (v >> 63 != 0 ? 0 : n - 1));
    }
    // Where the run at position v begins.
    [[nodiscard]] __device__ std::uint64_t run_place(std::uint64_t v) const { return How::reverse ? n - v - run : v; }
    // Whether all of the run at position v is there.
    [[nodiscard]] __device__ bool whole(std::uint64_t v) const { return v < n && n - v >= run; }

    // What is folded of the element x at position v.
    [[nodiscard]] __device__ A value(const T& x, std::uint64_t v) const {
        look_at_map<Map, T>();
        return static_cast<A>(detail::mapped(map, x, some_place(v)));
    }

    // The run at position v in the order in which it is visited. `inside`: all of it is there; else what is not there
    // is a copy of an element that is.
    __device__ void read(std::uint64_t v, bool inside, T (&items)[run]) const {
        if constexpr (std::is_pointer_v<In>) {
            if (in_runs && (inside || whole(v))) {
                load_run(in + run_place(v), items);
                if constexpr (How::reverse) {
                    reverse_run(items);
                }
                return;
            }
        }
        if (v >> 63 == 0 && v >= n) {
            const T last = in[place(n - 1)];
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                items[j] = last;
            }
        } else {
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                items[j] = in[some_place(v + j)];
            }
        }
    }

    // Asks the L2 cache for the line in which the run at position v of the calling lane stands. Nothing depends on it,
    // so that it may be asked before what stands before the kernel has ended.
    __device__ void expect([[maybe_unused]] std::uint64_t v) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if constexpr (std::is_pointer_v<In>) {
            if (threadIdx.x % warp::lanes * (run * sizeof(T)) % 128 < run * sizeof(T)) { // a line's first
                asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(in + some_place(v))));
            }
        }
#endif
    }

    // Puts the run at position v into `slot` in shared memory, to be taken from there after await_runs().
    __device__ void fetch(std::uint64_t v, bool inside, T* slot) const {
        if constexpr (std::is_pointer_v<In>) {
            if (in_runs && (inside || whole(v))) {
                fetch_run<T, run>(in + run_place(v), slot);
                return;
            }
            if constexpr ((sizeof(T) == 4 || sizeof(T) == 8) && alignof(T) == sizeof(T)) {
                if (inside || whole(v)) {
#pragma unroll
                    for (unsigned j = 0; j < run; ++j) {
                        fetch_run<T, 1>(in + run_place(v) + j, slot + j);
                    }
                    return;
                }
            }
        }
        T items[run];
        read(v, inside, items);
        if constexpr (How::reverse) {
            reverse_run(items);
        }
        store_run(slot, items);
    }
    // The same where all runs are there and aligned.
    __device__ void fetch_whole(std::uint64_t v, T* slot) const {
        if constexpr (std::is_pointer_v<In>) {
            fetch_run<T, run>(in + run_place(v), slot);
        }
    }
    // The run from its slot, in the order in which it is visited.
    __device__ static void take(const T* slot, T (&items)[run]) {
        load_run(slot, items);
        if constexpr (How::reverse) {
            reverse_run(items);
        }
    }

    __device__ void store(std::uint64_t v, bool inside, U (&items)[run]) const {
        if constexpr (std::is_pointer_v<Out>) {
            if (out_runs && (inside || whole(v))) {
                if constexpr (How::reverse) {
                    reverse_run(items);
                }
                store_run(out + run_place(v), items);
                return;
            }
        }
#pragma unroll
        for (unsigned j = 0; j < run; ++j) {
            if (v + j < n) {
                out[place(v + j)] = items[j];
            }
        }
    }

    // The same where all runs are there and aligned.
    __device__ void store_whole(std::uint64_t v, U (&items)[run]) const {
        if constexpr (std::is_pointer_v<Out>) {
            if constexpr (How::reverse) {
                reverse_run(items);
            }
            store_run(out + run_place(v), items);
        }
    }
    __device__ void read_whole(std::uint64_t v, T (&items)[run]) const {
        if constexpr (std::is_pointer_v<In>) {
            load_run(in + run_place(v), items);
            if constexpr (How::reverse) {
                reverse_run(items);
            }
        }
    }

    // What an element at the beginning of a segment is folded to.
    [[nodiscard]] __device__ A opening(const A& x) const {
        if constexpr (How::has_first) {
            return static_cast<A>(op(how.first, x));
        } else {
            return x;
        }
    }

    // The results of one run, whose values are value(0), value(1), ... `sum` stands before it and goes on; where it is
    // `fresh` nothing stands there. The first `skip` elements are not there. `opens`: whether a segment begins at the
    // j-th.
    template <class Value, class Opens>
    __device__ void scan_run(A& sum, bool fresh, unsigned skip, const Value& value, const Opens& opens,
                             U (&results)[run]) const {
#pragma unroll
        for (unsigned j = 0; j < run; ++j) {
            const A x = value(j);
            const bool begins = How::segmented && opens(j);
            if constexpr (!How::inclusive) {
                results[j] = static_cast<U>(begins ? static_cast<A>(how.first) : sum);
            }
            if (begins) {
                sum = opening(x);
            } else if (j <= skip && (fresh || j < skip)) {
                sum = fresh ? x : sum;
            } else {
                sum = op(sum, x);
            }
            if constexpr (How::inclusive) {
                results[j] = static_cast<U>(sum);
            }
        }
    }

private:
    // How many elements before `from` (behind it, in reversed order) there is an address aligned to a run; 0 where
    // there is none.
    template <class X>
    static unsigned shift_of(const X* from) {
        const auto address = reinterpret_cast<std::uintptr_t>(from);
        if (address % sizeof(X) != 0) {
            return 0;
        }
        const auto elements = static_cast<unsigned>(address / sizeof(X) % run);
        return How::reverse ? (run - elements) % run : elements;
    }
    template <class X>
    static bool aligned(const X* from, unsigned shift) {
        const auto address = reinterpret_cast<std::uintptr_t>(from);
        const std::uintptr_t moved = How::reverse ? address + shift * sizeof(X) : address - shift * sizeof(X);
        return moved % access_bytes(run * sizeof(X)) == 0;
    }
};

} // namespace warpfold::detail
