// SPDX-License-Identifier: MIT
// The calls of the package on the host's cores, with types that are known at run time only. `fold` is the type that is
// folded in: int64, uint64, float32 or float64. An array of `size` elements holds size / length segments of one length,
// one behind the other in row-major order: axes that are reduced come last. Results have an element per segment.
//
// Errors: warpfold::error, std::bad_alloc.
#pragma once

#include <cstdint>
#include <utility>

#include "python/src/array.hpp"

namespace warpfold::python {

enum class operation : int { sum, product, minimum, maximum };

// The operation over each segment; elements whose mask is false are left out. The mask may be null.
void reduce(operation op, element fold, const array& in, std::uint64_t length, const array* mask, const array& out);
// The number of elements that are not zero.
void count_nonzero(const array& in, std::uint64_t length, const array* mask, const array& out);
// The sum of (x - mean)^2; `means` has a contiguous element of the type `fold` (float32, float64) per segment.
void squared_deviations(element fold, const array& in, std::uint64_t length, const array* mask, const array& means,
                        const array& out);
// The index in its segment of the first smallest or largest element, or of the first NaN. Length 1 and more.
void arg_extreme(bool smallest, element fold, const array& in, std::uint64_t length, const array& out);
// Both extremes; in one pass if there is one segment without gaps.
void min_max(element fold, const array& in, std::uint64_t length, const array& smallest, const array& largest);
// Segment s is in[offsets[s] .. offsets[s + 1]), offsets contiguous int64. An empty segment gives the operation's
// identity; for extremes the largest or smallest value of in's type.
void segment_reduce(operation op, element fold, const array& in, const array& offsets, const array& out);

// Inclusive scan of each segment.
void scan(operation op, element fold, const array& in, std::uint64_t length, const array& out);

// float32 or float64, of which all arrays are.
void exact_sum(const array& in, const array& out);
void exact_dot(const array& a, const array& b, const array& out);

// How many samples, or the sum of which weights, is in each bin; `edges` are contiguous, sorted and one more than bins.
// Samples are compared with edges in the edges' type: int64, uint64 or float64. Bin k is [edges[k], edges[k + 1]), the
// last one has its upper edge. `sums` is contiguous int64 (counts, integer weights modulo 2^64) or float64; weights are
// contiguous and of the type of `sums`.
void histogram(const array& samples, const array& edges, const array* weights, const array& sums);
// The same for bin k = {k}; other samples are dropped.
void count_values(const array& samples, const array* weights, const array& sums);

// out[i] = sum over j of in[i - lead + j] * mask[j]; elements outside are left out.
// Contiguous arrays of one floating-point type, a finite mask; `which` is a warpfold::outputs.
void correlate(const array& in, const array& mask, int which, const array& out);
// Any arrays, by n * k products in `fold`: uint64 (modulo 2^64) or float64.
void correlate_products(element fold, const array& in, const array& mask, std::int64_t lead, const array& out);

} // namespace warpfold::python
