// SPDX-License-Identifier: MIT
// The scan kernel with one tile a block: load the tile, scan it, publish its total, get its prefix, store the results.
// A plan (short.cuh, general.cuh) says where elements wait between the two passes over them, and which tile prefix is
// used.
//
// A tile stands in rows (block/load.cuh): a row is a run of consecutive elements in each lane of a warp, read and
// written by one access and scanned by five shuffles. The first pass folds each run, which is all that is needed to
// publish the tile's total; the second one goes through the elements again, when their prefix is known.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/block/load.cuh"
#include "warpfold/block/scan.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/turns.cuh"
#include "warpfold/gpu/scan/elements.cuh"
#include "warpfold/gpu/scan/segment_heads.cuh"
#include "warpfold/gpu/scan/tile_prefix.cuh"

namespace warpfold::detail {

// Where the elements of a tile wait for the second pass.
enum class tile_memory {
    registers,
    shared,
    none, // they are read again
};

// A tile, as one of its threads sees it. A plan has
//   elements            of the scan, a scan_elements
//   memory              where elements wait
//   rows, row_count()   of a warp: at most, and as it is
//   warp_count()        of the block
//   prefetches(tiles)   whether a grid of so many tiles asks the L2 cache for its input beforehand
//   turns               of the blocks (gpu/core/turns.cuh); may be missing
template <class Plan>
class scan_tile {
public:
    using Elements = typename Plan::elements_type;
    using Options = typename Elements::options_type;
    using T = typename Elements::T;
    using A = typename Elements::A;
    using U = typename Elements::U;
    using total_type = tile_total<A, Options::segmented>;
    static constexpr unsigned run = Elements::run, rows = Plan::rows, row = run * warp::lanes; // elements
    // Registers hold what the map makes of elements, unless that is larger: it is called once then.
    static constexpr bool holds_values =
        Plan::memory == tile_memory::registers && Elements::has_map && sizeof(A) <= sizeof(T);
    using held_type = std::conditional_t<holds_values, A, T>;

    struct storage {
        alignas(16) unsigned char staged[Plan::memory == tile_memory::shared ? Plan::tile * sizeof(T) : 16];
    };

    __device__ scan_tile(const Plan& plan, storage& shared)
        : plan_(plan),
          elements_(plan.elements),
          slots_(reinterpret_cast<T*>(shared.staged) + threadIdx.x * run),
          size_(row * plan.row_count() * plan.warp_count()),
          begin_(std::uint64_t{blockIdx.x} * size_ - elements_.shift),
          first_(begin_ + block::place_in_rows<run>(plan.row_count())),
          inside_((blockIdx.x != 0 || elements_.shift == 0) && begin_ + size_ <= elements_.n) {}

    // Waits for the preceding launch and loads the tile.
    __device__ void load() {
        if (Plan::prefetches(gridDim.x)) {
            each_row([&](unsigned r) { elements_.prefetch(position(r)); });
        }
        pdl_wait();
        if constexpr (requires { plan_.turns; }) {
            plan_.turns.await();
        }
        elements_.reading(inside_, [&](auto vectors) {
            if constexpr (Plan::memory == tile_memory::registers) {
                // The last tile of an array loads the last element once, beforehand: its rows do not wait for each other.
                // Other tiles must not load it: in place, another block writes it.
                constexpr bool once = !decltype(vectors)::value && Elements::reads_array;
                T end{};
                if (once && begin_ + size_ > elements_.n) {
                    end = elements_.last();
                }
                each_row([&](unsigned r) {
                    const auto read = [&](T(&items)[run]) {
                        elements_.read(
                            position(r), decltype(vectors)::value, inside_,
                            [&] { return once ? end : elements_.last(); }, items);
                    };
                    if constexpr (holds_values) {
                        T items[run];
                        read(items);
#pragma unroll
                        for (unsigned j = 0; j < run; ++j) {
                            items_[r][j] = elements_.value(items[j], position(r) + j);
                        }
                    } else {
                        read(items_[r]);
                    }
                });
            } else if constexpr (Plan::memory == tile_memory::shared) {
                each_row([&](unsigned r) { elements_.fetch(position(r), decltype(vectors)::value, inside_, slot(r)); });
            }
        });
        heads_.find(elements_, begin_, size_, first_, plan_.row_count(), inside_);
        if constexpr (Plan::memory == tile_memory::shared) {
            wait_all_copies();
        }
    }

    // The first pass: finds what precedes each run in its warp. Returns the warp's total, in all its lanes.
    template <class Op>
    __device__ total_type scan_warp(const Op& op) {
        each_row([&](unsigned r) {
            held_type items[run];
            take<false>(r, items);
            A sum{};
            scan_run(r, items, sum, true, [](unsigned, const A&) {});
            before_[r] = total_of<total_type>(sum, heads_.any(r));
        });
        constexpr bool side_by_side = Plan::memory == tile_memory::registers;
        if constexpr (side_by_side) {
            warp::inclusive_scan_each(before_, op);
        }
        total_type through{};
        each_row([&](unsigned r) {
            unsigned heads = 0; // of the row: lanes in which a segment begins
            A sum = value_of(before_[r]);
            if constexpr (Options::segmented) {
                sum = warp::inclusive_scan(sum, elements_.op, opened(before_[r]), heads);
            } else if constexpr (!side_by_side) {
                sum = warp::inclusive_scan(sum, op);
            }
            const unsigned lane = threadIdx.x % warp::lanes;
            const auto all = total_of<total_type>(warp::shuffle(sum, warp::lanes - 1), heads != 0);
            const auto in_row = total_of<total_type>(warp::shuffle_up(sum, 1), (heads & ((1u << lane) - 1)) != 0);
            before_[r] = r == 0 ? in_row : (lane == 0 ? through : op(through, in_row));
            through = r == 0 ? all : op(through, all);
        });
        return through;
    }

    // The second pass: scans each run and stores its results. `front` precedes the warp, unless it is not there.
    __device__ void store(const total_type& front, bool has_front) {
        each_row([&](unsigned r) {
            held_type items[run];
            take<true>(r, items);
            A sum = value_of(front);
            bool fresh = false; // nothing precedes the run
            if (r != 0 || threadIdx.x % warp::lanes != 0) {
                const A in_warp = value_of(before_[r]);
                sum = has_front && !opened(before_[r]) ? static_cast<A>(elements_.op(sum, in_warp)) : in_warp;
            } else {
                fresh = !has_front;
            }
            U results[run];
            scan_run(r, items, sum, fresh, [&](unsigned j, const A& result) { results[j] = static_cast<U>(result); });
            elements_.writing(inside_, [&](auto vectors) {
                elements_.template store<true>(position(r), decltype(vectors)::value, inside_, results);
            });
        });
    }

private:
    template <class F>
    __device__ void each_row(const F& f) const {
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            if (r >= plan_.row_count()) {
                break;
            }
            f(r);
        }
    }
    [[nodiscard]] __device__ std::uint64_t position(unsigned r) const { return first_ + r * row; }
    [[nodiscard]] __device__ T* slot(unsigned r) const { return slots_ + r * (Plan::warp_count() * row); }
    // So many positions of the run hold no element.
    [[nodiscard]] __device__ unsigned skip(unsigned r) const {
        return r == 0 && blockIdx.x == 0 && threadIdx.x == 0 ? elements_.shift : 0;
    }
    template <class Result>
    __device__ void scan_run(unsigned r, const held_type (&items)[run], A& sum, bool fresh,
                             const Result& result) const {
        elements_.scan_run(
            sum, fresh, skip(r),
            [&](unsigned j) { return elements_.template value_of_item<holds_values>(items[j], position(r) + j); },
            [&](unsigned j) { return heads_.at(r, j); }, result);
    }
    // The elements of row r. `Again`: when other warps may have written results over elements that are not this row's.
    template <bool Again>
    __device__ void take(unsigned r, held_type (&items)[run]) const {
        if constexpr (Plan::memory == tile_memory::registers) {
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                items[j] = items_[r][j];
            }
        } else if constexpr (Plan::memory == tile_memory::shared) {
            Elements::take(slot(r), items);
        } else {
            static_assert(run == 1);
            if (!Again || position(r) < elements_.n) {
                items[0] = elements_.in[elements_.some_place(position(r))];
            }
        }
    }

    const Plan& plan_;
    const Elements& elements_;
    T* slots_;
    unsigned size_;
    std::uint64_t begin_, first_; // positions of the tile and of the thread; they may wrap in tile 0: then not inside
    bool inside_;
    std::conditional_t<Plan::memory == tile_memory::registers, held_type[rows][run], char> items_;
    segment_heads<Elements, rows, Plan::tile> heads_;
    total_type before_[rows]; // each run's prefix in its warp; not defined for the first run of all
};

// By each of the first `tiles` blocks of the grid.
template <class Plan>
__device__ void scan_one_tile(const Plan& plan, unsigned tiles) {
    using Tile = scan_tile<Plan>;
    using Prefix = typename Plan::prefix_type;
    using Options = typename Tile::Options;
    using Total = typename Tile::total_type;
    __shared__ typename Tile::storage tile_storage;
    __shared__ typename Prefix::storage prefix_storage;
    __shared__ block::scan_storage<Total, Plan::most_warps> storage;
    const joined_by op{plan.elements.op};

    Tile tile(plan, tile_storage);
    tile.load();
    block::store_warp_total(storage, tile.scan_warp(op), 0);
    __syncthreads();
    const block::warp_totals<Total> warps = block::scan_warp_totals(storage, op, plan.warp_count());
    const Total in_tile = warps.before();

    Total prefix{};
    const auto first = [&] {
        if constexpr (Options::has_first) {
            return total_of<Total>(static_cast<typename Tile::A>(plan.elements.options.first), false);
        } else {
            return no_initial{};
        }
    }();
    Prefix tile_prefix = plan.tile_prefix(prefix_storage);
    if (tiles != 1) {
        const Total total = warps.total(plan.warp_count());
        tile_prefix.publish(total);
        prefix = tile_prefix.before(total, first, op);
    } else if constexpr (Options::has_first) {
        prefix = first;
    }
    // What precedes the warp: the tile's prefix and the warps before. Conditions, not variables that branches set: nvcc
    // would compile store() twice.
    const bool has_prefix = Options::has_first || blockIdx.x != 0, has_warps = threadIdx.x >= warp::lanes;
    const Total front = !has_prefix ? in_tile : (has_warps ? op(prefix, in_tile) : prefix);
    tile.store(front, has_prefix || has_warps);
    if (tiles != 1) {
        tile_prefix.release();
    }
}

template <class Plan>
__global__ void __launch_bounds__(Plan::most_warps* warp::lanes, Plan::least_blocks) one_tile_kernel(const Plan plan) {
    pdl_trigger();
    if (detail::takes_place(plan)) {
        scan_one_tile(plan, gridDim.x);
    }
}

} // namespace warpfold::detail
