// SPDX-License-Identifier: MIT
// The data that the ladder reduces where none is given, and the right result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ladder/engine/definition/report.hpp"

namespace warpfold::ladder::reduce {

// Writes n elements from the seed, the same on every machine. Integers are random bits (odd ones for a product, which would be
// 0 else), floats uniform in [-1, 1). For a sum of floats they are odd multiples of 1/16, so that it is exact in any
// order (see sums_exactly) and every lost element shows; for a product random signs with up to twelve 2s and twelve
// halves among them.
void fill_data(std::byte* to, element_type type, operation op, std::uint64_t n, std::uint64_t seed);

// Whether a right sum of made data equals the reference to the last bit, in every order: partial sums are random walks of
// sixteenths, of standard deviation 9.2 sqrt(n), and float32 holds 2^24 of them. A partial sum outside that range would
// make a right result count as wrong, never the other way round.
[[nodiscard]] bool sums_exactly(element_type type, operation op, std::uint64_t n);

// The exact result, or its best approximation with the magnitude that bounds rounding errors.
struct reference {
    scalar expected;
    bool exact = true;    // any right result is equal to it
    double magnitude = 0; // sum of |x|, or |product|; infinite where some order of the operations may overflow
};

// Integers modulo 2^64, truncated; float sums compensated (Neumaier, 1974), products in long double. Takes one pass
// over the data with all threads of the host.
[[nodiscard]] reference reference_of(element_type type, operation op, const void* data, std::uint64_t n);

// Largest absolute error of a result whose every element went through at most `height` roundings to `type`, or to
// double: h u / (1 - h u) times the magnitude (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition,
// sections 3.1 and 4.2), with one more rounding to `type`. 0 where the result must be exact.
[[nodiscard]] double tolerance_of(const reference& right, std::uint64_t height, bool in_double);

// Whether the result is within the tolerance; NaN agrees with NaN only.
[[nodiscard]] bool agrees(const reference& right, const scalar& result, double tolerance);

// The scalar at `value`.
[[nodiscard]] scalar read_scalar(element_type type, const void* value);

// Folds `count` values on the host into the operation's identity, floats in the widest type there is.
[[nodiscard]] scalar fold_on_host(element_type type, operation op, const void* values, std::uint64_t count);

} // namespace warpfold::ladder::reduce
