// SPDX-License-Identifier: MIT
// Host-only callables are rejected at compile time.
//
// Functions marked WARPFOLD_CALLS_ANY call a user's callable from host and device code alike, and the compiler reports
// nothing there. Kernels therefore call it once more in device-only code that is never reached.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/fold.hpp"

namespace warpfold::detail {

// A of an optional_value<A>, else A itself.
template <class A>
struct present_value {
    using type = A;
};
template <class A>
struct present_value<optional_value<A>> {
    using type = A;
};

template <class F, class... X>
__device__ void check_call(const F* f, const X*... x) {
    static_assert(!std::is_pointer_v<F>,
                  "a kernel cannot call a function by its address on the host: give a lambda with __device__, or an "
                  "object of a class whose operator() has it");
    if (false) {
        (void)(*f)(*x...);
    }
}

// Of a map, or a predicate, of elements of type T.
template <class Map, class T>
__device__ void check_map() {
    using F = user_callable_t<Map>;
    const F* const none = nullptr;
    if constexpr (std::is_invocable_v<const F&, const T&, std::uint64_t>) {
        check_call(none, static_cast<const T*>(nullptr), static_cast<const std::uint64_t*>(nullptr));
    } else if constexpr (std::is_invocable_v<const F&, const T&>) {
        check_call(none, static_cast<const T*>(nullptr));
    }
}

// Of an operation on values of type A.
template <class Op, class A>
__device__ void check_operation() {
    const typename present_value<A>::type* const none = nullptr;
    check_call(static_cast<const user_callable_t<Op>*>(nullptr), none, none);
}

} // namespace warpfold::detail
