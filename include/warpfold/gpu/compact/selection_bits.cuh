// SPDX-License-Identifier: MIT
// Which elements of a warp's part of an array are selected, as bits: what the kernels of selections from long arrays have of a
// part between reading it and writing its results (long_selection.cuh, selection_range.cuh).
#pragma once

#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/compact/tile_rows.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// Of a lane's elements. `Part` is warp_elements.
template <class Part>
class selection_bits {
public:
    static constexpr unsigned run = Part::run, rows = Part::rows;
    using counts_type = row_counts<run, rows>;

    // Of a part whose elements, or those of the stencil, are `items`; where Whole is false, some may be none of the array.
    template <bool Whole, class Predicate, class S>
    __device__ void find(const element_test<Predicate>& test, const Part& part, const S (&items)[rows][run],
                         const S& /*before*/) {
        find_by<Whole>(test.predicate, part, items);
    }
    template <bool Whole, class Stencil, class Predicate, class S>
    __device__ void find(const stencil_test<Stencil, Predicate>& test, const Part& part, const S (&items)[rows][run],
                         const S& /*before*/) {
        find_by<Whole>(test.predicate, part, items);
    }
    // `before`: in lane 0 the element before the part.
    template <bool Whole, class Equal, class T>
    __device__ void find(const run_head_test<Equal>& test, const Part& part, const T (&items)[rows][run],
                         const T& before) {
        check_operation<Equal, T>();
        clear();
        T row_before = before;
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            T left = warp::shuffle_up(items[r][run - 1], 1);
            left = threadIdx.x % warp::lanes == 0 ? row_before : left;
            row_before = warp::shuffle(items[r][run - 1], warp::lanes - 1);
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                if ((Whole || part.has(Part::place(r) + j)) && !detail::equal_by(test.equal, left, items[r][j])) {
                    set(r, j);
                }
                left = items[r][j];
            }
        }
        if (part.first_index() == 0 && part.size() != 0 && threadIdx.x % warp::lanes == part.missing / run) {
            set(0, part.missing % run); // element 0 begins a run
        }
    }

    // Those of a run.
    [[nodiscard]] __device__ unsigned row(unsigned r) const {
        return word_[r / in_word] >> r % in_word * run & ((1u << run) - 1);
    }
    [[nodiscard]] __device__ unsigned count() const {
        unsigned all = 0;
#pragma unroll
        for (const unsigned word : word_) {
            all += static_cast<unsigned>(__popc(word));
        }
        return all;
    }
    // The counts through each run. By whole warps.
    [[nodiscard]] __device__ counts_type counts() const {
        return counts_type::through([&](unsigned r) { return static_cast<unsigned>(__popc(row(r))); });
    }

private:
    static constexpr unsigned in_word = 32 / run, words = (rows + in_word - 1) / in_word; // rows in a word

    __device__ void clear() {
#pragma unroll
        for (unsigned& word : word_) {
            word = 0;
        }
    }
    __device__ void set(unsigned r, unsigned j) { word_[r / in_word] |= 1u << (r % in_word * run + j); }
    template <bool Whole, class Predicate, class S>
    __device__ void find_by(const Predicate& predicate, const Part& part, const S (&items)[rows][run]) {
        check_map<Predicate, S>();
        clear();
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                const unsigned at = Part::place(r) + j;
                if ((Whole || part.has(at)) && detail::mapped(predicate, items[r][j], part.begin + at)) {
                    set(r, j);
                }
            }
        }
    }

    unsigned word_[words];
};

} // namespace warpfold::detail
