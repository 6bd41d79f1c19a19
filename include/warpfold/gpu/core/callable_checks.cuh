// SPDX-License-Identifier: MIT
// What a caller has given, called once more in code that is a device's alone and never reached: there the compiler says
// that a function is the host's, which it does not where functions are for both (WARPFOLD_CALLS_ANY).
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/fold.hpp"

namespace warpfold::detail {

template <class A>
struct value_in {
    using type = A;
};
template <class A>
struct value_in<possible<A>> {
    using type = A;
};

template <class F, class... X>
__device__ void look_at_call(const F* f, const X*... x) {
    static_assert(!std::is_pointer_v<F>,
                  "a kernel cannot call a function by its address on the host: give a lambda with __device__, or an "
                  "object of a class whose operator() has it");
    if (false) {
        (void)(*f)(*x...);
    }
}

// A map of elements of type T.
template <class Map, class T>
__device__ void look_at_map() {
    using F = given_t<Map>;
    const F* const none = nullptr;
    if constexpr (std::is_invocable_v<const F&, const T&, std::uint64_t>) {
        look_at_call(none, static_cast<const T*>(nullptr), static_cast<const std::uint64_t*>(nullptr));
    } else if constexpr (std::is_invocable_v<const F&, const T&>) {
        look_at_call(none, static_cast<const T*>(nullptr));
    }
}

// An operation on values of type A.
template <class Op, class A>
__device__ void look_at_operation() {
    const typename value_in<A>::type* const none = nullptr;
    look_at_call(static_cast<const given_t<Op>*>(nullptr), none, none);
}

} // namespace warpfold::detail
