// SPDX-License-Identifier: MIT
// A tile of a selection on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/compact/kernel.cuh"
#include "warpfold/gpu/compact/staged_results.cuh"
#include "warpfold/gpu/compact/tile_rows.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/scan/elements.cuh"

namespace warpfold::detail {

template <unsigned Run, unsigned Rows>
__device__ unsigned scan_run_totals(unsigned (&runs)[Rows], const add_counts&) {
    return scan_run_counts<Run>(runs);
}

template <class In, class Out, class Rejected, class Test>
struct compact_layout<selection<In, Out, Rejected, Test>> {
    using task_type = selection<In, Out, Rejected, Test>;
    using local_type = unsigned;
    template <class N>
    using total_type = N;
    using T = element_t<In>;
    static constexpr std::size_t read_bytes = sizeof(T);
    static constexpr std::size_t bytes =
        std::max({sizeof(T), sizeof(element_written_t<Out, T>),
                  task_type::has_rejected ? sizeof(element_written_t<Rejected, T>) : 1});
    static constexpr tuning::compact_tiles tiles_of(const tuning::compact_kernels& kernels) {
        return sizeof(T) < 4 ? kernels.narrow : kernels.wide;
    }
    static constexpr bool few_registers = sizeof(T) <= 16;
    static constexpr unsigned staged_arrays = 0;

    static const In& first_input(const task_type& task) { return task.in; }
    __device__ static add_counts sums(const task_type&) { return {}; }
    template <class N>
    __device__ static std::uint64_t count_of(N total) {
        return total;
    }
};

template <class In, class Out, class Rejected, class Test, class Shape>
class compact_tile<selection<In, Out, Rejected, Test>, Shape> {
public:
    using task_type = selection<In, Out, Rejected, Test>;
    using T = element_t<In>;
    using Rows = typename Shape::rows_type;

    struct storage {
        alignas(16) unsigned char results[Shape::tile * Shape::bytes + 16];
    };

    __device__ compact_tile(const task_type& task, const Rows& rows, storage& shared)
        : task_(task), rows_(rows), memory_(shared.results) {
        rows.load(task.in, items_);
        find(task.test);
    }

    [[nodiscard]] __device__ unsigned total(unsigned r) const { return static_cast<unsigned>(__popc(bits_[r])); }

    template <class Total>
    [[nodiscard]] __device__ Total widened(unsigned total) const {
        return total;
    }

    // Barriers.
    __device__ void write(const unsigned (&before)[Rows::rows], std::uint64_t prefix, unsigned total, bool in_place) {
        const std::uint64_t begin = rows_.first_index();
        const unsigned size = rows_.size();
        // What is where it belongs stays: another block may read the last element.
        if (!in_place || prefix != begin || total != size) {
            const staged_results<Out, element_written_t<Out, T>> selected(memory_, task_.out, prefix, total);
#pragma unroll
            for (unsigned r = 0; r < Rows::rows; ++r) {
                selected.put(before[r], bits_[r], items_[r]);
            }
            __syncthreads();
            selected.write();
        }
        if constexpr (task_type::has_rejected) {
            __syncthreads();
            using U = element_written_t<Rejected, T>;
            const staged_results<Rejected, U> rejected(memory_, task_.rejected, begin - prefix, size - total);
#pragma unroll
            for (unsigned r = 0; r < Rows::rows; ++r) {
                const unsigned present = rows_.masked(r, ~0u), missing = rows_.missing_before(r);
                rejected.put(static_cast<unsigned>(rows_.index(r) - begin) + missing - before[r], present & ~bits_[r],
                             items_[r]);
            }
            __syncthreads();
            rejected.write();
        }
    }

private:
    template <class Predicate>
    __device__ void find(const element_test<Predicate>& test) {
        find_by(test.predicate, items_);
    }
    template <class Stencil, class Predicate>
    __device__ void find(const stencil_test<Stencil, Predicate>& test) {
        element_t<Stencil> stencil[Rows::rows][Rows::run];
        rows_.load(test.stencil, stencil);
        find_by(test.predicate, stencil);
    }
    template <class Equal>
    __device__ void find(const run_head_test<Equal>& test) {
        check_operation<Equal, T>();
        detail::find_heads(rows_, rows_.edge(task_.in), items_, test.equal, bits_);
    }
    template <class Predicate, class S>
    __device__ void find_by(const Predicate& predicate, const S (&items)[Rows::rows][Rows::run]) {
        check_map<Predicate, S>();
        const auto test_all = [&](const auto& present) {
#pragma unroll
            for (unsigned r = 0; r < Rows::rows; ++r) {
                const unsigned there = present(r);
                bits_[r] = 0;
#pragma unroll
                for (unsigned j = 0; j < Rows::run; ++j) {
                    if ((there >> j & 1) != 0 && detail::mapped(predicate, items[r][j], rows_.index(r) + j)) {
                        bits_[r] |= 1u << j;
                    }
                }
            }
        };
        if (rows_.inside) {
            test_all([](unsigned) { return Rows::all; });
        } else {
            test_all([&](unsigned r) { return rows_.present(r); });
        }
    }

    const task_type& task_;
    const Rows& rows_;
    unsigned char* memory_;
    T items_[Rows::rows][Rows::run];
    unsigned bits_[Rows::rows]; // the selected ones
};

} // namespace warpfold::detail
