// SPDX-License-Identifier: MIT
// Operations of libcu++: cuda::std::plus, multiplies, bit_and, bit_or, bit_xor, logical_and, logical_or, cuda::maximum and
// cuda::minimum, of a type or <>, are recognised as those of std are (operation.hpp). maximum and minimum are then
// those of the library: a NaN in the input gives NaN, and -0 is smaller than +0.
//
// Include this header before calls with such operations. It needs the CUDA toolkit's headers (CCCL 3).
#pragma once

#include <cuda/functional>
#include <cuda/std/functional>

#include "warpfold/operation.hpp"

namespace warpfold::detail {

template <class V>
struct standard_operation<cuda::std::plus<V>> : stands_for<V, sum, either> {};
template <class V>
struct standard_operation<cuda::std::multiplies<V>> : stands_for<V, product, both> {};
template <class V>
struct standard_operation<cuda::std::bit_and<V>> : stands_for<V, and_bits, both> {};
template <class V>
struct standard_operation<cuda::std::bit_or<V>> : stands_for<V, or_bits, either> {};
template <class V>
struct standard_operation<cuda::std::bit_xor<V>> : stands_for<V, xor_bits, xor_bits> {};
template <class V>
struct standard_operation<cuda::std::logical_and<V>> : stands_for<V, both, both> {};
template <class V>
struct standard_operation<cuda::std::logical_or<V>> : stands_for<V, either, either> {};
template <class V>
struct standard_operation<cuda::minimum<V>> : stands_for<V, minimum, both> {};
template <class V>
struct standard_operation<cuda::maximum<V>> : stands_for<V, maximum, either> {};

} // namespace warpfold::detail
