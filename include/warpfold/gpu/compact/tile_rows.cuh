// SPDX-License-Identifier: MIT
// Where the elements of a tile are that a thread has, in rows (block/load.cuh): `Rows` runs of `Run` consecutive elements.
// Runs longer than a vector come by way of shared memory: a warp reads neighbouring vectors, and a thread takes its own.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/block/load.cuh"
#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/core/thread_items.cuh"
#include "warpfold/warp/scan.cuh"

namespace warpfold::detail {

// Tiles begin where the input is aligned to a vector, so the first `shift` positions of tile 0 hold no element; their index
// wraps. Nor do positions from n on. A run has a power of two of vectors.
template <unsigned Run, unsigned Rows, unsigned Vector = Run>
struct tile_rows {
    static constexpr unsigned run = Run, rows = Rows, row = Run * warp::lanes;
    static constexpr unsigned all = ~0u >> (32 - Run); // the positions of a run, as bits
    static constexpr bool staged = Run != Vector;
    // Shared memory of a block through which elements of so many bytes come.
    static constexpr std::size_t staging_bytes(std::size_t element, unsigned threads) {
        return staged ? threads * Rows * Run * element : 0;
    }

    __device__ tile_rows(unsigned shift, std::uint64_t n_)
        : n(n_),
          begin(std::uint64_t{blockIdx.x} * (blockDim.x * Run * Rows) - shift),
          first(begin + block::place_in_rows<Run>(Rows)),
          inside((blockIdx.x != 0 || shift == 0) && begin + blockDim.x * Run * Rows <= n_) {}

    // Of the run in row r.
    [[nodiscard]] __device__ std::uint64_t index(unsigned r) const { return first + r * row; }
    [[nodiscard]] __device__ bool has(unsigned r, unsigned j) const { return inside || index(r) + j < n; }
    // Of the positions of the run, those that hold elements, as bits.
    [[nodiscard]] __device__ unsigned present(unsigned r) const {
        const auto below = [](std::uint64_t k) { return k >= Run ? all : (1u << k) - 1; };
        const unsigned missing = missing_before(r);
        return index(r) < n || missing != 0 ? below(n - index(r)) & ~below(missing) : 0;
    }
    // The run's `bits`, without those of positions that hold no element.
    [[nodiscard]] __device__ unsigned masked(unsigned r, unsigned bits) const {
        return inside ? bits : bits & present(r);
    }
    // How many positions of the run lie before element 0.
    [[nodiscard]] __device__ unsigned missing_before(unsigned r) const {
        const std::uint64_t to_first = 0 - index(r);
        return to_first < Run ? static_cast<unsigned>(to_first) : 0;
    }
    // The index of the nearest element.
    [[nodiscard]] __device__ std::uint64_t nearest(std::uint64_t k) const {
        return k < n ? k : (k >> 63 != 0 ? 0 : n - 1);
    }
    // The index of the first element of the tile, and the number of its elements.
    [[nodiscard]] __device__ std::uint64_t first_index() const { return blockIdx.x == 0 ? 0 : begin; }
    [[nodiscard]] __device__ unsigned size() const {
        const std::uint64_t end = begin + blockDim.x * Run * Rows;
        return static_cast<unsigned>((end < n ? end : n) - first_index());
    }

    // Asks the L2 cache for the tile `tiles` after this one.
    template <class In>
    __device__ void prefetch([[maybe_unused]] const In& in, [[maybe_unused]] unsigned tiles) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if constexpr (std::is_pointer_v<In>) {
            constexpr unsigned line = sizeof(*in) >= 128 ? 1 : 128 / sizeof(*in); // elements
            const unsigned tile = blockDim.x * Run * Rows;
            const std::uint64_t then = begin + std::uint64_t{tiles} * tile;
            for (unsigned k = threadIdx.x * line; k < tile; k += blockDim.x * line) {
                if (then + k < n) {
                    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(in + (then + k))));
                }
            }
        }
#endif
    }

    // In lane 0 the element before the warp's, in the others the one behind them; the nearest where there is none.
    template <class In>
    __device__ auto edge(const In& in) const {
        const unsigned lane = threadIdx.x % warp::lanes;
        return static_cast<element_t<In>>(in[nearest(lane == 0 ? first - 1 : first - lane * Run + Rows * row)]);
    }
    // Starts to bring the warp's elements into `shared`, aligned to 16, for take(); if runs are not staged, take() loads them.
    template <class In>
    __device__ void start([[maybe_unused]] const In& in, [[maybe_unused]] unsigned char* shared) const {
        if constexpr (staged) {
            using T = element_t<In>;
            const std::uint64_t warp_first = first - threadIdx.x % warp::lanes * Run;
#pragma unroll
            for (unsigned r = 0; r < Rows; ++r) {
                const vectors<T> to(row_memory<T>(shared, r));
                const std::uint64_t from = warp_first + r * row;
                if constexpr (std::is_pointer_v<In>) {
                    if (inside && reinterpret_cast<std::uintptr_t>(in + from) % items_alignment_v<T, Vector> == 0) {
                        block::start_copy(in + from, to);
                        continue;
                    }
                }
#pragma unroll
                for (unsigned c = 0; c < Run / Vector; ++c) {
#pragma unroll
                    for (unsigned j = 0; j < Vector; ++j) {
                        to.in_row(c)[j] =
                            in[nearest(from + (c * warp::lanes + threadIdx.x % warp::lanes) * Vector + j)];
                    }
                }
                commit_copies();
            }
        }
    }
    // items[r][j] = in[index(r) + j]; where there is no element, another one of the tile. `Pending`: arrays that have been started
    // since.
    template <unsigned Pending = 0, class In, class T>
    __device__ void take(const In& in, [[maybe_unused]] unsigned char* shared, T (&items)[Rows][Run]) const {
        if constexpr (staged) {
            block::await_copies<Pending * Rows>();
#pragma unroll
            for (unsigned r = 0; r < Rows; ++r) {
                const vectors<T> from(row_memory<T>(shared, r));
#pragma unroll
                for (unsigned c = 0; c < Run / Vector; ++c) {
                    T vector[Vector];
                    load_items(from.blocked(c), vector);
#pragma unroll
                    for (unsigned j = 0; j < Vector; ++j) {
                        items[r][c * Vector + j] = vector[j];
                    }
                }
            }
        } else {
            load(in, items);
        }
    }

    // The same without shared memory.
    template <class In, class T>
    __device__ void load(const In& in, T (&items)[Rows][Run]) const {
        if constexpr (std::is_pointer_v<In>) {
            if (inside && reinterpret_cast<std::uintptr_t>(in + first) % items_alignment_v<T, Run> == 0) {
#pragma unroll
                for (unsigned r = 0; r < Rows; ++r) {
                    load_items(in + index(r), items[r]);
                }
                return;
            }
        }
        if constexpr (std::is_pointer_v<In>) {
            // The tile's first whole run, also read where another is not whole, so that no load waits for a branch.
            const std::uint64_t some = begin >> 63 != 0 ? begin + Run : begin;
            if (some + Run <= n && reinterpret_cast<std::uintptr_t>(in + some) % items_alignment_v<T, Run> == 0) {
#pragma unroll
                for (unsigned r = 0; r < Rows; ++r) {
                    load_items(in + (present(r) == all ? index(r) : some), items[r]);
                }
#pragma unroll
                for (unsigned r = 0; r < Rows; ++r) {
                    const unsigned there = present(r);
                    if (there != all && there != 0) { // at an end of the array
#pragma unroll
                        for (unsigned j = 0; j < Run; ++j) {
                            if ((there >> j & 1) != 0) {
                                items[r][j] = in[index(r) + j];
                            }
                        }
                    }
                }
                return;
            }
        }
#pragma unroll
        for (unsigned r = 0; r < Rows; ++r) {
#pragma unroll
            for (unsigned j = 0; j < Run; ++j) {
                items[r][j] = in[nearest(index(r) + j)];
            }
        }
    }

    std::uint64_t n, begin, first;
    bool inside; // all positions hold elements

private:
    template <class T>
    using vectors = block::warp_runs<T, Vector, Run / Vector>;

    template <class T>
    [[nodiscard]] __device__ static unsigned char* row_memory(unsigned char* shared, unsigned r) {
        return shared + (threadIdx.x / warp::lanes * Rows + r) * (row * sizeof(T));
    }
};

// Bits: at which elements of the runs, of which `edge` is rows.edge(), a run of equal neighbours begins. By whole warps.
template <class Rows, class T, class Equal>
__device__ void find_heads(const Rows& rows, const T& edge, const T (&items)[Rows::rows][Rows::run], const Equal& equal,
                           unsigned (&bits)[Rows::rows]) {
    const unsigned lane = threadIdx.x % warp::lanes;
    T row_before = edge;
#pragma unroll
    for (unsigned r = 0; r < Rows::rows; ++r) {
        T before = warp::shuffle_up(items[r][Rows::run - 1], 1);
        if (lane == 0) {
            before = row_before;
        }
        row_before = warp::shuffle(items[r][Rows::run - 1], warp::lanes - 1);
        bits[r] = 0;
#pragma unroll
        for (unsigned j = 0; j < Rows::run; ++j) {
            const T& left = j == 0 ? before : items[r][j == 0 ? 0 : j - 1];
            bits[r] |= detail::equal_by(equal, left, items[r][j]) ? 0u : 1u << j;
        }
        if (const std::uint64_t to_first = 0 - rows.index(r); to_first < Rows::run) {
            bits[r] |= 1u << static_cast<unsigned>(to_first);
        }
        bits[r] = rows.masked(r, bits[r]);
    }
}

// Bits: at which elements a run ends, from those where one begins.
template <class Rows, class T, class Equal>
__device__ void find_tails(const Rows& rows, const T& edge, const T (&items)[Rows::rows][Rows::run], const Equal& equal,
                           const unsigned (&heads)[Rows::rows], unsigned (&bits)[Rows::rows]) {
    const unsigned lane = threadIdx.x % warp::lanes;
    constexpr unsigned last = Rows::rows - 1;
    const std::uint64_t behind = rows.index(last) + Rows::run;
    bool row_behind = false; // a run begins behind the last row
    if (lane == warp::lanes - 1 && behind < rows.n) {
        row_behind = !detail::equal_by(equal, items[last][Rows::run - 1], edge);
    }
#pragma unroll
    for (unsigned r = Rows::rows; r-- > 0;) {
        unsigned next = __shfl_down_sync(warp::all_lanes, heads[r] & 1, 1);
        if (lane == warp::lanes - 1) {
            next = row_behind ? 1 : 0;
        }
        row_behind = (__shfl_sync(warp::all_lanes, heads[r], 0) & 1) != 0;
        bits[r] = heads[r] >> 1 | next << (Rows::run - 1);
        if (!rows.inside) {
            const std::uint64_t to_end = rows.n - 1 - rows.index(r);
            bits[r] |= to_end < Rows::run ? 1u << static_cast<unsigned>(to_end) : 0;
            bits[r] &= rows.present(r);
        } else if (rows.index(r) + Rows::run == rows.n) {
            bits[r] |= 1u << (Rows::run - 1);
        }
    }
}

struct add_counts {
    template <class A>
    __device__ A operator()(A left, A right) const {
        return left + right;
    }
};

// The warp's counts in several rows, of at most `Run` in each run, summed through the lanes by one scan: a row has as many
// bits of a word as its sum takes.
template <unsigned Run, unsigned Rows>
struct row_counts {
    static constexpr unsigned bits = Run * warp::lanes < 256 ? 8 : 16, mask = (1u << bits) - 1;
    static constexpr unsigned in_word = 32 / bits, words = (Rows + in_word - 1) / in_word;
    static_assert(Run * warp::lanes <= mask);

    // count(r): of the thread's run in row r.
    template <class Count>
    __device__ static row_counts through(const Count& count) {
        row_counts sums{};
#pragma unroll
        for (unsigned r = 0; r < Rows; ++r) {
            sums.word[r / in_word] |= count(r) << r % in_word * bits;
        }
        warp::inclusive_scan_each(sums.word, add_counts{});
        return sums;
    }
    // Calls each(r, sum) with the sum through the thread's run of each row, in order; returns that of all rows.
    template <class Each>
    __device__ unsigned for_each(const Each& each) const {
        unsigned rows_before = 0, last[words];
#pragma unroll
        for (unsigned w = 0; w < words; ++w) {
            last[w] = warp::shuffle(word[w], warp::lanes - 1);
        }
#pragma unroll
        for (unsigned r = 0; r < Rows; ++r) {
            const unsigned shift = r % in_word * bits;
            each(r, rows_before + (word[r / in_word] >> shift & mask));
            rows_before += last[r / in_word] >> shift & mask;
        }
        return rows_before;
    }

    unsigned word[words];
};

// The sum of the warp's counts before each run, from counts of at most `Run`; returns the sum of all, in all lanes.
template <unsigned Run, unsigned Rows>
__device__ unsigned scan_run_counts(unsigned (&counts)[Rows]) {
    const auto sums = row_counts<Run, Rows>::through([&](unsigned r) { return counts[r]; });
    return sums.for_each([&](unsigned r, unsigned through) { counts[r] = through - counts[r]; });
}

} // namespace warpfold::detail
