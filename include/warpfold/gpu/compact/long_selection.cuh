// SPDX-License-Identifier: MIT
// Selections from long arrays on a GPU: one launch. Where most of what is selected fits into shared memory, each warp reads a
// range of the array (selection_range.cuh). Else blocks go from tile to tile (gpu/scan/persistent_block.cuh): each warp counts the
// selected elements of its part of a tile one tile ahead, and writes the part's results when the prefix of the tile is there.
#pragma once

#include <cstdint>

#include "warpfold/block/scan.cuh"
#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/compact/long_selection_plan.cuh"
#include "warpfold/gpu/compact/selection_bits.cuh"
#include "warpfold/gpu/compact/selection_range.cuh"
#include "warpfold/gpu/compact/staged_results.cuh"
#include "warpfold/gpu/compact/warp_elements.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/turns.cuh"
#include "warpfold/gpu/scan/persistent_block.cuh"

namespace warpfold::detail {

// The part of a warp in the tiles of its block.
template <class In, class Out, class Rejected, class Test, class Plan>
class long_selection_part<selection<In, Out, Rejected, Test>, Plan> {
public:
    using Task = selection<In, Out, Rejected, Test>;
    using T = element_t<In>;
    using S = typename Plan::test_type::S;
    using Part = warp_elements<Plan::run, Plan::rows>;
    static constexpr unsigned run = Plan::run, rows = Plan::rows;

    __device__ long_selection_part(const Plan& plan, std::uint64_t n, unsigned tiles, uint4* stages)
        : plan_(plan),
          n_(n),
          tiles_(tiles),
          whole_tiles_(static_cast<unsigned>((n + plan.shift) / Plan::tile)),
          memory_(reinterpret_cast<unsigned char*>(stages) +
                  threadIdx.x / warp::lanes * (Plan::stage_bytes / Plan::warps)) {}

    __device__ void fetch(unsigned stage, unsigned tile) const {
        const Part part = this->part(tile);
        part.fetch(plan_.task.in, elements(stage));
        if constexpr (Plan::test_type::has_stencil) {
            part.fetch(plan_.task.test.stencil, stencil(stage));
        } else if constexpr (Plan::test_type::elements_at != 0) {
            if (threadIdx.x % warp::lanes == 0 && part.missing == 0 && part.begin != 0 && part.behind != 0) {
                fetch_before(part, elements(stage));
            }
        }
    }

    // Counts the selected elements.
    __device__ unsigned fold(unsigned stage, unsigned tile) {
        const Part part = this->part(tile);
        const S* const tested = [&] {
            if constexpr (Plan::test_type::has_stencil) {
                return stencil(stage);
            } else {
                return elements(stage);
            }
        }();
        S items[rows][run];
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            load_items(tested + Part::place(r), items[r]);
        }
        kept& k = kept_[Plan::ahead];
        const bool is_first = part.first_index() == 0 || part.behind == 0; // or there is nothing to test
        const S before = tested[Plan::test_type::elements_at != 0 && !is_first ? -1 : 0];
        if (part.whole) {
            k.bits.template find<true>(plan_.task.test, part, items, before);
        } else {
            k.bits.template find<false>(plan_.task.test, part, items, before);
        }
        k.counts = k.bits.counts();
        return k.total = k.counts.for_each([](unsigned, unsigned) {});
    }
    __device__ void next() {
#pragma unroll
        for (unsigned k = 0; k < Plan::ahead; ++k) {
            kept_[k] = kept_[k + 1];
        }
    }

    __device__ void finish(unsigned stage, unsigned tile, std::uint64_t prefix, bool has_prefix,
                           unsigned warps_before) const {
        const Part part = this->part(tile);
        const kept& k = kept_[0];
        const std::uint64_t front = (has_prefix ? prefix : 0) + (threadIdx.x < warp::lanes ? 0 : warps_before);
        const std::uint64_t begin = part.first_index();
        if (tile + 1 == tiles_ && threadIdx.x == Plan::threads - 1) {
            detail::write_number(plan_.place, front + k.total);
        }
        T items[rows][run];
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            load_items(elements(stage) + Part::place(r), items[r]);
        }
        __syncwarp();
        // What is where it belongs stays: another block may read the last element.
        if (!plan_.grid.ordered || front != begin || k.total != part.size()) {
            const staged_results<Out, element_written_t<Out, T>, true> selected(memory(stage), plan_.task.out, front,
                                                                                k.total);
            k.counts.for_each([&](unsigned r, unsigned through) {
                const unsigned bits = k.bits.row(r);
                selected.put(through - static_cast<unsigned>(__popc(bits)), bits, items[r]);
            });
            __syncwarp();
            selected.write();
        }
        if constexpr (Task::has_rejected) {
            __syncwarp();
            const staged_results<Rejected, element_written_t<Rejected, T>, true> rejected(
                memory(stage), plan_.task.rejected, begin - front, part.size() - k.total);
            k.counts.for_each([&](unsigned r, unsigned through) {
                const unsigned bits = k.bits.row(r), at = Part::place(r);
                const unsigned before = at < part.missing ? 0 : at - part.missing;
                rejected.put(before + static_cast<unsigned>(__popc(bits)) - through, present(part, r) & ~bits,
                             items[r]);
            });
            __syncwarp();
            rejected.write();
        }
    }

private:
    struct kept {
        selection_bits<Part> bits;                         // the selected elements
        typename selection_bits<Part>::counts_type counts; // of these
        unsigned total;
    };

    [[nodiscard]] __device__ Part part(unsigned tile) const {
        return {plan_.shift, n_, std::uint64_t{tile} * Plan::warps + threadIdx.x / warp::lanes,
                tile < whole_tiles_ && (tile != 0 || plan_.shift == 0)};
    }
    [[nodiscard]] __device__ unsigned char* memory(unsigned stage) const { return memory_ + stage * Plan::stage_bytes; }
    [[nodiscard]] __device__ T* elements(unsigned stage) const {
        return reinterpret_cast<T*>(memory(stage) + Plan::test_type::elements_at);
    }
    [[nodiscard]] __device__ S* stencil(unsigned stage) const {
        return reinterpret_cast<S*>(memory(stage) + Plan::stencil_at);
    }
    // Those of a run's positions that hold elements.
    [[nodiscard]] __device__ static unsigned present(const Part& part, unsigned r) {
        if (part.whole) {
            return (1u << run) - 1;
        }
        unsigned bits = 0;
#pragma unroll
        for (unsigned j = 0; j < run; ++j) {
            bits |= part.has(Part::place(r) + j) ? 1u << j : 0;
        }
        return bits;
    }
    // The element before the part.
    __device__ void fetch_before(const Part& part, T* shared) const {
        const T* const from = plan_.task.in + (part.begin - 1);
        if constexpr (sizeof(T) >= 4) {
            copy_items_async<T, 1>(from, shared - 1);
        } else if (plan_.grid.ordered) {
            shared[-1] = *from; // no other element may be read
        } else {
            copy_items_async<T, run>(from - (run - 1), shared - run);
        }
    }

    const Plan& plan_;
    std::uint64_t n_;
    unsigned tiles_, whole_tiles_;
    unsigned char* memory_;
    kept kept_[Plan::ahead + 1] = {};
};

// Blocks in ranges (selection_range.cuh), in the place of tiles.
template <class Plan>
__device__ void select_in_ranges(const Plan& plan, std::uint64_t n, unsigned char* memory) {
    using Range = selection_range<Plan, Plan::range_rows>;
    using Prefix = typename Plan::prefix_type;
    __shared__ typename Prefix::storage prefix_storage;
    __shared__ block::scan_storage<unsigned, Plan::warps> totals;
    const auto blocks = static_cast<unsigned>(min((Range::parts_of(plan, n) + Plan::warps - 1) / Plan::warps,
                                                  std::uint64_t{min(gridDim.x, Prefix::most_tiles)}));
    if (blockIdx.x >= blocks) {
        return;
    }
    const unsigned warp = threadIdx.x / warp::lanes;
    Range range(plan, n, blockIdx.x * Plan::warps + warp, blocks * Plan::warps);
    block::store_warp_total(totals, range.read(memory + warp * plan.kept_bytes, plan.kept_bytes), 0);
    __syncthreads();
    const auto warps = block::scan_warp_totals(totals, add_counts{}, Plan::warps);
    const unsigned of_block = warps.total(Plan::warps);
    unsigned before = 0;
    Prefix prefix(plan.grid.workspace, false, prefix_storage, blocks);
    if (blocks != 1) {
        prefix.publish(of_block);
        const unsigned found = prefix.before(of_block, no_initial{}, add_counts{});
        before = blockIdx.x == 0 ? 0 : found;
    }
    if (blockIdx.x + 1 == blocks && threadIdx.x == 0) {
        detail::write_number(plan.place, before + of_block);
    }
    range.write(before + (warp == 0 ? 0 : warps.before()));
    if (blocks != 1) {
        prefix.release();
    }
}

// Whether most of what is selected fits into the blocks' shared memory, in long arrays by a sample: a part of each of a few ranges.
// The same in all blocks. All take as long, by a warp that waits: tiles take up to 12 % more time if blocks begin in another order.
template <class Plan>
__device__ bool is_kept(const Plan& plan, std::uint64_t n) {
    constexpr unsigned samplers = Plan::warps == 1 ? 1 : Plan::warps - 1;
    constexpr unsigned cycles = 1800; // two trips to DRAM
    __shared__ unsigned selected;
    if (n <= plan.most_kept || plan.most_sampled == 0) {
        return n <= plan.most_kept;
    }
    if (threadIdx.x == 0) {
        selected = 0;
    }
    __syncthreads();
    using Range = selection_range<Plan, 1>;
    const unsigned warp = threadIdx.x / warp::lanes;
    const unsigned of_warp = warp < samplers ? Range::sample(plan, n, warp, samplers) : 0;
    if (threadIdx.x % warp::lanes == 0) {
        if (warp < samplers) {
            atomicAdd(&selected, of_warp);
        } else {
            detail::wait_cycles(cycles);
        }
    }
    __syncthreads();
    return selected * n / (samplers * Range::Part::of_warp) <= plan.most_sampled;
}

template <class Plan>
__global__ void __launch_bounds__(Plan::threads, Plan::resident_blocks) long_selection_kernel(const Plan plan) {
    extern __shared__ uint4 stage_memory[];
    __shared__ typename persistent_block<Plan>::storage storage;
    pdl_trigger();
    pdl_wait();
    const std::uint64_t n = plan.count.value();
    if (n == 0) {
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            detail::write_number(plan.place, 0);
        }
        return;
    }
    if constexpr (Plan::has_ranges) {
        if (detail::is_kept(plan, n)) {
            detail::select_in_ranges(plan, n, reinterpret_cast<unsigned char*>(stage_memory));
            return;
        }
    }
    const auto tiles = static_cast<unsigned>((n + plan.shift + Plan::tile - 1) / Plan::tile);
    typename Plan::part_type part(plan, n, tiles, stage_memory);
    persistent_block<Plan> block(plan, tiles, part, storage);
    block.begin();
    while (block.has_tile()) {
        block.publish_ahead();
        block.finish_tile();
        block.advance();
    }
    block.end();
}

} // namespace warpfold::detail
