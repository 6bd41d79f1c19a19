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
// The same where the mask is true; other elements of `out` stay as they are.
void copy_where(const gpu& on, const array& in, const array& mask, const array& out);
// out[at[k]] = true. `at` is contiguous int64, `out` contiguous bool; places outside of it are ignored.
void mark(const gpu& on, const array& at, const array& out);

enum class arithmetic : int { sum, product, minimum, maximum, subtract, divide, equal, not_equal };

// out[k] = in[k] op other[k], computed in `fold`; without `other`, in[k] op scalar. `scalar` has the bits of an int64, an
// uint64, or for both floating-point types of a double. `out` may be `in`. Integers are not divided.
void apply(const gpu& on, arithmetic op, element fold, const array& in, const array* other, std::uint64_t scalar,
           const array& out);

void reduce(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array* mask,
            const array& out);
// The mean and the variance of all elements, float32 or float64 without gaps, in one launch. False where they are not computed:
// for other arrays.
bool mean_of_all(const gpu& on, const array& in, const array& out);
bool variance_of_all(const gpu& on, const array& in, const array& out);
void count_nonzero(const gpu& on, const array& in, std::uint64_t length, const array* mask, const array& out);
// The number of all elements that are not zero, of arrays without gaps, in one launch: as int64 if `out` is of it; as bool,
// whether there is one, or with `is_all` whether there is none that is zero. False where it is not computed.
bool nonzero_of_all(const gpu& on, bool is_all, const array& in, const array& out);
// `out` is contiguous, of the type `fold`. `means` are needed with a mask; if they are null, those of the elements are found in
// the same pass.
void squared_deviations(const gpu& on, element fold, const array& in, std::uint64_t length, const array* mask,
                        const array* means, const array& out);
void arg_extreme(const gpu& on, bool smallest, element fold, const array& in, std::uint64_t length, const array& out);
void min_max(const gpu& on, element fold, const array& in, std::uint64_t length, const array& smallest,
             const array& largest);
// Offsets that decrease give unspecified results; those outside `in` are taken as its ends.
void segment_reduce(const gpu& on, operation op, element fold, const array& in, const array& offsets, const array& out);

// The sum of |x|^order over each segment, to the power 1 / order; added in float64. Orders are positive and finite. Squares
// neither overflow nor underflow in between. Results of float32 are float32, others float64.
void norm(const gpu& on, double order, const array& in, std::uint64_t length, const array& out);

void scan(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array* heads,
          const array& out);

// Outputs hold as many elements as there are such; arrays are contiguous.
void select(const gpu& on, const array& in, const array& flags, const array& out, const array* rejected);
// Outputs have room for all elements. *number, which may be page-locked memory of the host, becomes how many there are.
void select_and_count(const gpu& on, const array& in, const array& flags, const array& out, std::uint64_t* number);
void unique(const gpu& on, const array& in, const array& values, std::uint64_t* number);
void run_length_encode(const gpu& on, const array& in, const array& values, const array& lengths,
                       std::uint64_t* number);

void exact_sum(const gpu& on, const array& in, const array& out);
void exact_dot(const gpu& on, const array& a, const array& b, const array& out);
void exact_moment(const gpu& on, moment which, const array& in, const array* imag, std::uint64_t less,
                  const array& out);

// Edges are in host memory. They have the type that samples are compared in: int64, uint64 or float64; for ranks() also float32.
// Sums of float64 weights are added in any order: their last bits may differ from run to run.
void histogram(const gpu& on, const array& samples, const array& edges, const array* weights, const array& sums);
// The same, and the edges as an array of the device: `edges` and `results` have one type. `compared` are the edges in the type of
// comparisons.
void histogram_and_edges(const gpu& on, const array& samples, const array& compared, const array& edges,
                         const array& sums, const array& results);
void count_values(const gpu& on, const array& samples, const array* weights, const array& sums);
void ranks(const gpu& on, const array& samples, const array& edges, bool less, const array& out);
void append_bins(const gpu& on, const array& samples, const array& edges, const array& out);

// Finite values in host memory, or any values in device memory, which are read in the order of the stream. Those of separable masks
// are finite.
struct filter_mask {
    const array& of;
    bool is_on_device;
};
// Masks are of the type of `in`.
void correlate(const gpu& on, const array& in, const filter_mask& mask, int which, const array& out);
void correlate_images(const gpu& on, const array& in, const filter_mask& mask, int which, int outside, extent2 lead,
                      const array& out);
// Both masks are in the same memory.
void correlate_separable(const gpu& on, const array& in, const filter_mask& across, const filter_mask& down, int which,
                         int outside, const array& out);
// Here all arrays are in device memory.
// Images of shape (count, channels, height, width) and masks of (outputs, channels, height, width), float32 or float64: result
// (n, o, y, x) is the sum over c, j, i of in[n, c, y + j, x + i] * masks[o, c, j, i]. Arrays have no gaps and one type.
void correlate_channels(const gpu& on, const array& in, const array& masks, const array& out);
void correlate_products(const gpu& on, element fold, const array& in, const array& mask, std::int64_t lead,
                        const array& out);
void correlate_image_products(const gpu& on, element fold, const array& in, const array& mask, extent2 lead,
                              const array& out);

} // namespace warpfold::python::on_gpu
