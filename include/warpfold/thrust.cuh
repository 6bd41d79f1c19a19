// SPDX-License-Identifier: MIT
// Arguments of Thrust.
//
// Operations: thrust::plus<T>, maximum<T> and so on are those of libcu++ (cuda_std.cuh).
//
// Iterators: thrust::device_ptr, iterators of thrust::device_vector and thrust::host_vector, and other contiguous ones are
// taken as their pointers, as inputs and as outputs; vectors are ranges. Others (counting_iterator, transform_iterator,
// zip_iterator, permutation_iterator, ...) are inputs with in[k]; they need no header. Whether memory is the target's is
// not checked.
//
//      thrust::device_vector<float> data(n), out(n);
//      warpfold::inclusive_scan(warpfold::gpu{stream}, data, out.begin(), thrust::plus<>{});
//
// Include this header before such calls. It needs the CUDA toolkit's headers (CCCL 3).
#pragma once

#include <thrust/device_ptr.h>
#include <thrust/functional.h>
#include <thrust/type_traits/unwrap_contiguous_iterator.h>

#include <concepts>
#include <iterator>
#include <type_traits>

#include "warpfold/cuda_std.cuh"
#include "warpfold/detail/arrays.hpp"

namespace warpfold::detail {

template <class It>
requires(std::is_class_v<It> && !std::contiguous_iterator<It> &&
         thrust::is_contiguous_iterator_v<It>) struct pointer_of<It> {
    static auto of(const It& it) { return thrust::unwrap_contiguous_iterator(it); }
};

} // namespace warpfold::detail
