// SPDX-License-Identifier: MIT
// The calls of the package on a GPU: those of ../calls.hpp, on arrays in device memory. A call works on the current device
// and enqueues on `on.stream`; it returns before the work is done. Memory that it needs is allocated and freed in the
// order of the stream.
//
// Layouts: any of up to 16 axes, after neighbouring axes that one stride describes are joined.
//
// Errors: warpfold::invalid_argument, warpfold::cuda_error.
#pragma once

#include <cstdint>

#include "python/src/array.hpp"
#include "python/src/calls.hpp"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::python::on_gpu {

// Elements converted to the type of `out`, which has as many. Integers are taken modulo the size of their type.
void copy(const gpu& on, const array& in, const array& out);

enum class arithmetic : int { sum, product, minimum, maximum, subtract, divide, equal, not_equal };

// out[k] = in[k] op other[k], computed in `fold`; without `other`, in[k] op scalar. `scalar` has the bits of an int64, an
// uint64, or for both floating-point types of a double. `out` may be `in`. Integers are not divided.
void apply(const gpu& on, arithmetic op, element fold, const array& in, const array* other, std::uint64_t scalar,
           const array& out);

void reduce(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array* mask,
            const array& out);
void count_nonzero(const gpu& on, const array& in, std::uint64_t length, const array* mask, const array& out);
// `out` is contiguous, of the type `fold`. `means` are needed with a mask only: without, one pass gives both.
void squared_deviations(const gpu& on, element fold, const array& in, std::uint64_t length, const array* mask,
                        const array* means, const array& out);
void arg_extreme(const gpu& on, bool smallest, element fold, const array& in, std::uint64_t length, const array& out);
void min_max(const gpu& on, element fold, const array& in, std::uint64_t length, const array& smallest,
             const array& largest);
// Offsets that decrease give unspecified results; those outside `in` are taken as its ends.
void segment_reduce(const gpu& on, operation op, element fold, const array& in, const array& offsets, const array& out);

void scan(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array& out);

// Contiguous arrays.
void exact_sum(const gpu& on, const array& in, const array& out);
void exact_dot(const gpu& on, const array& a, const array& b, const array& out);

// Sums of float64 weights are added in any order: their last bits may differ from run to run.
void histogram(const gpu& on, const array& samples, const array& edges, const array* weights, const array& sums);
void count_values(const gpu& on, const array& samples, const array* weights, const array& sums);

// `mask` is in host memory.
void correlate(const gpu& on, const array& in, const array& mask, int which, const array& out);
// `in` and `mask` are in device memory, contiguous, of the type `fold`.
void correlate_products(const gpu& on, element fold, const array& in, const array& mask, std::int64_t lead,
                        const array& out);

} // namespace warpfold::python::on_gpu
