// SPDX-License-Identifier: MIT
// Lambdas with __device__ alone (nvcc --extended-lambda). In host code such a lambda is an object without code: it can
// be passed to a kernel, but not called, and its parameters are unknown. Its return type is known only if it declares
// one: [] __device__ (float x) -> double {...}.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/standard.hpp"

namespace warpfold::detail {

// The type in which a call stores a callable: a function as a pointer to it.
template <class F>
using stored_callable_t = std::conditional_t<std::is_function_v<F>, std::add_pointer_t<F>, F>;

#if defined(__CUDACC_EXTENDED_LAMBDA__)
template <class F>
inline constexpr bool is_device_lambda_v = __nv_is_extended_device_lambda_closure_type(F);
template <class F>
inline constexpr bool declares_result_v =
    !__nv_is_extended_device_lambda_closure_type(F) || __nv_is_extended_device_lambda_with_preserved_return_type(F);
#else
template <class F>
inline constexpr bool is_device_lambda_v = false;
template <class F>
inline constexpr bool declares_result_v = true;
#endif

// Before a __host__ __device__ function that calls a user's callable, which may exist on one side only.
#if defined(__CUDACC__)
#define WARPFOLD_CALLS_ANY _Pragma("nv_exec_check_disable")
#else
#define WARPFOLD_CALLS_ANY
#endif

// The user's callable inside one of the library's wrappers.
template <class F>
struct user_callable {
    using type = F;
};
template <class F>
using user_callable_t = typename user_callable<F>::type;

// The return type of a device lambda that declares none.
struct unknown_result {};

// The return type of map(x, index) or map(x), as mapped() chooses between them.
template <class Map, class T>
struct map_result {};
template <class Map, class T>
requires(!is_device_lambda_v<Map> &&
         std::is_invocable_v<const Map&, const T&, std::uint64_t>) struct map_result<Map, T> {
    using type = std::remove_cvref_t<std::invoke_result_t<const Map&, const T&, std::uint64_t>>;
};
template <class Map, class T>
requires(!is_device_lambda_v<Map> && !std::is_invocable_v<const Map&, const T&, std::uint64_t> &&
         std::is_invocable_v<const Map&, const T&>) struct map_result<Map, T> {
    using type = std::remove_cvref_t<std::invoke_result_t<const Map&, const T&>>;
};
template <class Map, class T>
requires(is_device_lambda_v<Map> && !declares_result_v<Map>) struct map_result<Map, T> {
    using type = unknown_result;
};
// In host code a device lambda accepts any arguments and is not const.
template <class Map, class T>
requires(is_device_lambda_v<Map>&& declares_result_v<Map>&&
             std::is_invocable_v<Map&, const T&, std::uint64_t>) struct map_result<Map, T> {
    using type = std::remove_cvref_t<std::invoke_result_t<Map&, const T&, std::uint64_t>>;
};
template <class Map, class T>
requires(is_device_lambda_v<Map>&& declares_result_v<Map> && !std::is_invocable_v<Map&, const T&, std::uint64_t> &&
         std::is_invocable_v<Map&, const T&>) struct map_result<Map, T> {
    using type = std::remove_cvref_t<std::invoke_result_t<Map&, const T&>>;
};

} // namespace warpfold::detail
