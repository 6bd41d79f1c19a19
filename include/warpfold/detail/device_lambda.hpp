// SPDX-License-Identifier: MIT
// What a call may ask of a function that only a device can call, as lambdas with __device__ alone are (nvcc
// --extended-lambda). Where the host compiles the call the lambda is an object without code: it can be passed on to a
// kernel, but not called, not even to ask for its parameters; and what it returns is known only if it says so itself,
// as [] __device__ (float x) -> double {...} does.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace warpfold::detail {

// How a call keeps what it calls: a function as a pointer to it.
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

// In front of a function for host and device that calls one of these: it is for the device only then.
#if defined(__CUDACC__)
#define WARPFOLD_CALLS_ANY _Pragma("nv_exec_check_disable")
#else
#define WARPFOLD_CALLS_ANY
#endif

// The caller's function behind one of ours that calls it.
template <class F>
struct user_callable {
    using type = F;
};
template <class F>
using user_callable_t = typename user_callable<F>::type;

// The result of a device lambda that does not say it.
struct unknown_result {};

// What map(x, index) or map(x) returns, as mapped() chooses between them.
template <class Map, class T>
struct map_result {};
template <class Map, class T>
    requires(!is_device_lambda_v<Map> && std::is_invocable_v<const Map&, const T&, std::uint64_t>)
struct map_result<Map, T> {
    using type = std::remove_cvref_t<std::invoke_result_t<const Map&, const T&, std::uint64_t>>;
};
template <class Map, class T>
    requires(!is_device_lambda_v<Map> && !std::is_invocable_v<const Map&, const T&, std::uint64_t> &&
             std::is_invocable_v<const Map&, const T&>)
struct map_result<Map, T> {
    using type = std::remove_cvref_t<std::invoke_result_t<const Map&, const T&>>;
};
template <class Map, class T>
    requires(is_device_lambda_v<Map> && !declares_result_v<Map>)
struct map_result<Map, T> {
    using type = unknown_result;
};
// To the host's compiler it takes any arguments, and is not const.
template <class Map, class T>
    requires(is_device_lambda_v<Map> && declares_result_v<Map> && std::is_invocable_v<Map&, const T&, std::uint64_t>)
struct map_result<Map, T> {
    using type = std::remove_cvref_t<std::invoke_result_t<Map&, const T&, std::uint64_t>>;
};
template <class Map, class T>
    requires(is_device_lambda_v<Map> && declares_result_v<Map> && !std::is_invocable_v<Map&, const T&, std::uint64_t> &&
             std::is_invocable_v<Map&, const T&>)
struct map_result<Map, T> {
    using type = std::remove_cvref_t<std::invoke_result_t<Map&, const T&>>;
};

} // namespace warpfold::detail
