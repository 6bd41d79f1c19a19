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
// Whether one element of each segment, or all of them, are not zero, as bool.
void test_nonzero(bool is_all, const array& in, std::uint64_t length, const array& out);
// The same of all elements. A few elements often decide that.
[[nodiscard]] bool is_nonzero_any_or_all(bool is_all, const array& in);
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

// The sum of the absolute values. False if it is not computed: float32 and float64 only, into the same type, along at most
// 8 axes, aligned.
bool sum_magnitudes(const array& in, const array& out);

// Inclusive scan of each segment. `heads`, contiguous bool and `length` of them, are true where parts of each segment
// begin that are scanned by themselves. It may be null.
void scan(operation op, element fold, const array& in, std::uint64_t length, const array* heads, const array& out);

// float32 or float64, of which all arrays are. The axes that `in` has behind those of `out` are summed.
void exact_sum(const array& in, const array& out);
void exact_dot(const array& a, const array& b, const array& out);
// Of the axes that `in` has behind those of `out`. `imag`: the imaginary parts of complex numbers, in the shape of `in`; null
// for real numbers, and for means. `less`: what the variance's divisor is less than the number of elements.
enum class moment : int { mean, variance, norm };
void exact_moment(moment which, const array& in, const array* imag, std::uint64_t less, const array& out);

// How many samples, or the sum of which weights, is in each bin; `edges` are contiguous, sorted and one more than bins.
// Samples are compared with edges in the edges' type: int64, uint64 or float64. Bin k is [edges[k], edges[k + 1]), the
// last one has its upper edge. `sums` is contiguous int64 (counts, integer weights modulo 2^64) or float64; weights are
// contiguous and of the type of `sums`.
void histogram(const array& samples, const array& edges, const array* weights, const array& sums);
// The same for bin k = {k}; other samples are dropped.
void count_values(const array& samples, const array* weights, const array& sums);
// The number of edges, sorted and contiguous, that are less than each sample, or, unless `less`, less or equal. Compared as in
// histogram(); NaN is greater than all numbers. `out` is int64.
void ranks(const array& samples, const array& edges, bool less, const array& out);
// out[k] becomes out[k] * bins + the bin of sample k, or -1 if it was that or the sample has no bin; as for histogram().
void append_bins(const array& samples, const array& edges, const array& out);

// Elements whose flag, a contiguous bool, is true go to `out`, in order; the others to `rejected` unless that is null. All
// arrays are contiguous; outputs have as many elements as they get.
void select(const array& in, const array& flags, const array& out, const array* rejected);
// The number of runs of equal neighbours of a contiguous array.
std::uint64_t count_runs(const array& in);
// The first element and the length of each run. Contiguous arrays of as many elements as there are runs; returns their number.
// `lengths` is int64.
std::uint64_t run_length_encode(const array& in, const array& values, const array& lengths);
// Without lengths.
std::uint64_t unique(const array& in, const array& values);

// out[i] = sum over j of in[i - lead + j] * mask[j]; elements outside are left out.
// Contiguous arrays of one floating-point type, a finite mask; `which` is a warpfold::outputs.
void correlate(const array& in, const array& mask, int which, const array& out);
// Any arrays, by n * k products in `fold`: uint64 (modulo 2^64) or float64.
void correlate_products(element fold, const array& in, const array& mask, std::int64_t lead, const array& out);

// The last two axes are rows and columns, axes before them images. Numbers come as {rows, columns}.
using extent2 = std::pair<std::int64_t, std::int64_t>;
// The same in two dimensions; `outside` is a warpfold::border.
void correlate_images(const array& in, const array& mask, int which, int outside, extent2 lead, const array& out);
void correlate_image_products(element fold, const array& in, const array& mask, extent2 lead, const array& out);
// out[n][o] is the sum over c of the correlation of in[n][c] with masks[o][c], where masks touch elements only. Contiguous
// arrays of four axes, float32 or float64.
void correlate_channels(const array& in, const array& masks, const array& out);
// With the mask down[y] * across[x].
void correlate_separable(const array& in, const array& across, const array& down, int which, int outside,
                         const array& out);

} // namespace warpfold::python
