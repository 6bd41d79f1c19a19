// SPDX-License-Identifier: MIT
// Selections from long arrays on a GPU: one launch, one pass over memory. Blocks go from tile to tile
// (gpu/scan/persistent_block.cuh). Each warp counts the selected elements of its part of a tile one tile ahead, and writes
// the part's results when the prefix of the tile is there.
#pragma once

#include <cstdint>

#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/compact/long_selection_plan.cuh"
#include "warpfold/gpu/compact/staged_results.cuh"
#include "warpfold/gpu/compact/tile_rows.cuh"
#include "warpfold/gpu/compact/warp_elements.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
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
        kept& k = kept_[Plan::ahead];
        if (part.whole) {
            find<true>(plan_.task.test, part, stage, k.bits);
        } else {
            find<false>(plan_.task.test, part, stage, k.bits);
        }
        k.counts = counts_type::through([&](unsigned r) { return __popc(row_bits(k.bits, r)); });
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
                const unsigned bits = row_bits(k.bits, r);
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
                const unsigned bits = row_bits(k.bits, r), at = Part::place(r);
                const unsigned before = at < part.missing ? 0 : at - part.missing;
                rejected.put(before + static_cast<unsigned>(__popc(bits)) - through, present(part, r) & ~bits,
                             items[r]);
            });
            __syncwarp();
            rejected.write();
        }
    }

private:
    using counts_type = row_counts<run, rows>;
    static constexpr unsigned in_word = 32 / run, words = (rows + in_word - 1) / in_word; // rows in a word of bits

    struct kept {
        unsigned bits[words]; // the selected elements
        counts_type counts;   // of the selected elements
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
    // The bits of a run.
    [[nodiscard]] __device__ static unsigned row_bits(const unsigned (&bits)[words], unsigned r) {
        return bits[r / in_word] >> r % in_word * run & ((1u << run) - 1);
    }
    // Those of positions that hold elements.
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

    template <bool Whole, class Predicate>
    __device__ void find(const element_test<Predicate>& test, const Part& part, unsigned stage,
                         unsigned (&bits)[words]) const {
        find_by<Whole>(test.predicate, part, elements(stage), bits);
    }
    template <bool Whole, class Stencil, class Predicate>
    __device__ void find(const stencil_test<Stencil, Predicate>& test, const Part& part, unsigned stage,
                         unsigned (&bits)[words]) const {
        find_by<Whole>(test.predicate, part, stencil(stage), bits);
    }
    template <bool Whole, class Predicate>
    __device__ void find_by(const Predicate& predicate, const Part& part, const S* tested,
                            unsigned (&bits)[words]) const {
        check_map<Predicate, S>();
#pragma unroll
        for (unsigned& word : bits) {
            word = 0;
        }
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            S items[run];
            load_items(tested + Part::place(r), items);
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                const unsigned at = Part::place(r) + j;
                if ((Whole || part.has(at)) && detail::mapped(predicate, items[j], part.begin + at)) {
                    bits[r / in_word] |= 1u << (r % in_word * run + j);
                }
            }
        }
    }
    template <bool Whole, class Equal>
    __device__ void find(const run_head_test<Equal>& test, const Part& part, unsigned stage,
                         unsigned (&bits)[words]) const {
        check_operation<Equal, T>();
#pragma unroll
        for (unsigned& word : bits) {
            word = 0;
        }
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            const T* const from = elements(stage) + Part::place(r);
            T items[run];
            load_items(from, items);
            T before = from[part.first_index() == 0 && Part::place(r) == 0 ? 0 : -1];
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                if ((Whole || part.has(Part::place(r) + j)) && !detail::equal_by(test.equal, before, items[j])) {
                    bits[r / in_word] |= 1u << (r % in_word * run + j);
                }
                before = items[j];
            }
        }
        if (part.first_index() == 0 && threadIdx.x == 0) { // element 0 begins a run
            bits[0] |= 1u << part.missing;
        }
    }

    const Plan& plan_;
    std::uint64_t n_;
    unsigned tiles_, whole_tiles_;
    unsigned char* memory_;
    kept kept_[Plan::ahead + 1] = {};
};

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
