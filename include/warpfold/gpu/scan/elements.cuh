// SPDX-License-Identifier: MIT
// The elements of a scan on a GPU: how its kernels read, fold, scan and write them.
//
// Elements move in runs: as many consecutive ones as 16 bytes hold of the larger of input and output. Positions count in
// the order of the scan, from the last address before `out` that is aligned to a run (in reversed order, from the first
// such address behind its end). So the first `shift` positions hold no element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/thread_items.cuh"
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

// Elements of so many bytes in a run.
constexpr unsigned scan_run_of(std::size_t bytes) {
    return bytes >= 16 || 16 % bytes != 0 ? 1 : static_cast<unsigned>(16 / bytes);
}

template <class In, class Out, class Map, class Op, class Options>
struct scan_elements {
    using T = element_t<In>;
    using A = typename Options::value;
    using options_type = Options;
    using U = std::conditional_t<std::is_void_v<written_t<Out>>, A, written_t<Out>>;
    static constexpr std::size_t bytes = scan_bytes<T, Out>(); // of the larger element
    static constexpr unsigned run = scan_run_of(bytes);

    static constexpr bool reads_array = std::is_pointer_v<In>;
    static constexpr bool has_map = !std::is_same_v<Map, identity_map>;
    // Whether the map is told where an element is. It may load others then, and neighbouring lanes best those of
    // neighbouring elements.
    static constexpr bool map_takes_index = std::is_invocable_v<const Map&, const T&, std::uint64_t>;

    In in;
    Out out;
    Map map;
    Op op;
    Options options;
    std::uint64_t n;
    unsigned shift = 0;
    bool in_runs = false, out_runs = false; // whole runs of in and out are aligned

    scan_elements(const In& in_, const Out& out_, const Map& map_, const Op& op_, const Options& options_,
                  std::uint64_t n_)
        : in(in_), out(out_), map(map_), op(op_), options(options_) {
        set_count(n_);
    }

    // The number of elements, from which the alignment of a reversed scan follows.
    __host__ __device__ void set_count(std::uint64_t n_) {
        n = n_;
        if constexpr (std::is_pointer_v<Out>) {
            shift = shift_of(out + (Options::reverse ? n : 0));
            out_runs = aligned(out + (Options::reverse ? n : 0), shift);
        } else if constexpr (std::is_pointer_v<In>) {
            shift = shift_of(in + (Options::reverse ? n : 0));
        }
        if constexpr (std::is_pointer_v<In>) {
            in_runs = aligned(in + (Options::reverse ? n : 0), shift);
        }
    }

    // --- where -------------------------------------------------------------------------------------------------------

    // The index of the element at position v.
    [[nodiscard]] __device__ std::uint64_t place(std::uint64_t v) const { return Options::reverse ? n - 1 - v : v; }
    // The same; the nearest element's where position v has none.
    [[nodiscard]] __device__ std::uint64_t some_place(std::uint64_t v) const {
        return place(v < n ? v : (v >> 63 != 0 ? 0 : n - 1));
    }
    // The index at which the run at position v begins.
    [[nodiscard]] __device__ std::uint64_t run_place(std::uint64_t v) const {
        return Options::reverse ? n - v - run : v;
    }
    // Whether all positions of the run at v hold elements.
    [[nodiscard]] __device__ bool whole(std::uint64_t v) const { return v < n && n - v >= run; }

    // --- memory ------------------------------------------------------------------------------------------------------
    // `inside`: all runs of the tile are whole. `vectors`: they are aligned besides, so that each is one access.

    // Calls f(vectors) once, for what is read and for what is written; `vectors` is std::true_type or std::false_type.
    template <class F>
    __device__ void reading(bool inside, const F& f) const {
        by_vectors<std::is_pointer_v<In>>(inside && in_runs, f);
    }
    template <class F>
    __device__ void writing(bool inside, const F& f) const {
        by_vectors<std::is_pointer_v<Out>>(inside && out_runs, f);
    }

    // Asks the L2 cache for the line of the run at position v of the calling lane. This is a hint, on which no result
    // depends, so that it may come before the preceding kernel in the stream has ended.
    __device__ void prefetch([[maybe_unused]] std::uint64_t v) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if constexpr (std::is_pointer_v<In>) {
            if (threadIdx.x % warp::lanes * (run * sizeof(T)) % 128 < run * sizeof(T)) { // the first of a line
                asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(in + some_place(v))));
            }
        }
#endif
    }

    // The last element of the scan.
    [[nodiscard]] __device__ T last() const { return in[place(n - 1)]; }

    // The run at position v in the order of the scan. A position before the first element gets a copy of that, a run
    // behind the last element copies of at_end(), which is that.
    template <class Last>
    __device__ void read(std::uint64_t v, bool vectors, bool inside, const Last& at_end, T (&items)[run]) const {
        if constexpr (std::is_pointer_v<In>) {
            if (vectors || (in_runs && (inside || whole(v)))) {
                load_items(in + run_place(v), items);
                in_order(items);
                return;
            }
        }
        if (v >> 63 == 0 && v >= n) {
            const T x = at_end();
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                items[j] = x;
            }
        } else {
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                items[j] = in[some_place(v + j)];
            }
        }
    }

    // Starts to copy the run at position v into `slot` in shared memory; it is there after wait_all_copies(), for take().
    __device__ void fetch(std::uint64_t v, bool vectors, bool inside, T* slot) const {
        if constexpr (std::is_pointer_v<In>) {
            if (vectors || (in_runs && (inside || whole(v)))) {
                copy_items_async<T, run>(in + run_place(v), slot);
                return;
            }
            if constexpr ((sizeof(T) == 4 || sizeof(T) == 8) && alignof(T) == sizeof(T)) {
                if (inside || whole(v)) {
#pragma unroll
                    for (unsigned j = 0; j < run; ++j) {
                        copy_items_async<T, 1>(in + run_place(v) + j, slot + j);
                    }
                    return;
                }
            }
        }
        T items[run];
        read(
            v, false, inside, [&] { return last(); }, items);
        in_order(items);
        store_items(slot, items);
    }
    // The run in `slot`, in the order of the scan, and such a run back into it.
    template <class X>
    __device__ static void take(const X* slot, X (&items)[run]) {
        load_items(slot, items);
        in_order(items);
    }
    template <class X>
    __device__ static void put(X* slot, X (&items)[run]) {
        in_order(items);
        store_items(slot, items);
    }

    // Writes the results of the run at position v, which are in the order of the scan. `Unsplit`: by an instruction that
    // nvcc leaves whole, where it would split the run into elements because another branch stores elements.
    template <bool Unsplit>
    __device__ void store(std::uint64_t v, bool vectors, bool inside, U (&results)[run]) const {
        if constexpr (std::is_pointer_v<Out>) {
            if (vectors || (out_runs && (inside || whole(v)))) {
                in_order(results);
                if constexpr (Unsplit && sizeof(results) == 16) {
                    store_whole_vector(out + run_place(v), results);
                } else {
                    store_items(out + run_place(v), results);
                }
                return;
            }
        }
#pragma unroll
        for (unsigned j = 0; j < run; ++j) {
            if (v + j < n) {
                out[place(v + j)] = results[j];
            }
        }
    }

    // --- arithmetic on one run ---------------------------------------------------------------------------------------
    // `skip`: so many of the run's positions hold no element. `opens(j)`: a segment begins at the j-th.

    // What is folded of the element x at position v.
    [[nodiscard]] __device__ A value(const T& x, std::uint64_t v) const {
        check_map<Map, T>();
        return static_cast<A>(detail::mapped(map, x, some_place(v)));
    }

    // The same of what stands for the element: itself, or, where it is `Held`, what the map has made of it.
    template <bool Held, class X>
    [[nodiscard]] __device__ A value_of_item(const X& x, std::uint64_t v) const {
        if constexpr (Held) {
            return x;
        } else {
            return value(x, v);
        }
    }

    // Folds value(0), value(1), ... into `sum`, the run's prefix, which becomes that of the next run; where it is `fresh`,
    // nothing precedes the run. Calls result(j, value) with each element's result.
    template <class Value, class Opens, class Result>
    __device__ void scan_run(A& sum, bool fresh, unsigned skip, const Value& value, const Opens& opens,
                             const Result& result) const {
#pragma unroll
        for (unsigned j = 0; j < run; ++j) {
            const A x = value(j);
            const bool begins = Options::segmented && opens(j);
            if constexpr (!Options::inclusive) {
                result(j, begins ? static_cast<A>(options.first) : sum);
            }
            if (begins) {
                sum = opening(x);
            } else if (j <= skip && (fresh || j < skip)) {
                sum = fresh ? x : sum;
            } else {
                sum = op(sum, x);
            }
            if constexpr (Options::inclusive) {
                result(j, sum);
            }
        }
    }

private:
    template <bool Possible, class F>
    __device__ static void by_vectors(bool vectors, const F& f) {
        if constexpr (Possible) {
            if (vectors) {
                f(std::true_type{});
                return;
            }
        }
        f(std::false_type{});
    }
    // What an element at the beginning of a segment is folded to.
    [[nodiscard]] __device__ A opening(const A& x) const {
        if constexpr (Options::has_first) {
            return static_cast<A>(op(static_cast<A>(options.first), x));
        } else {
            return x;
        }
    }
    // From the order in memory to that of the scan, and back.
    template <class X>
    __device__ static void in_order(X (&items)[run]) {
        if constexpr (Options::reverse) {
            reverse_items(items);
        }
    }
    // How many elements before `from` (behind it, in reversed order) an address is aligned to a run; 0 where none is.
    template <class X>
    __host__ __device__ static unsigned shift_of(const X* from) {
        const auto address = reinterpret_cast<std::uintptr_t>(from);
        if (address % sizeof(X) != 0) {
            return 0;
        }
        const auto elements = static_cast<unsigned>(address / sizeof(X) % run);
        return Options::reverse ? (run - elements) % run : elements;
    }
    template <class X>
    __host__ __device__ static bool aligned(const X* from, unsigned shift) {
        const auto address = reinterpret_cast<std::uintptr_t>(from);
        const std::uintptr_t moved = Options::reverse ? address + shift * sizeof(X) : address - shift * sizeof(X);
        return moved % access_width(run * sizeof(X)) == 0;
    }
};

// Whether the scan takes place. An initial value that a kernel before this one makes has is_there(): false, and nothing is
// read or written.
template <class Plan>
__device__ bool takes_place(const Plan& plan) {
    if constexpr (requires { plan.elements.options.first.is_there(); }) {
        pdl_wait();
        return plan.elements.options.first.is_there();
    } else {
        return true;
    }
}

} // namespace warpfold::detail
