// SPDX-License-Identifier: MIT
// Reductions by an operation that is chosen when the program runs. `Memory` is where a target's arrays are: see
// host_memory.hpp and gpu/memory.cuh.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "tool/arrays/calls_over.hpp"
#include "tool/arrays/family.hpp"
#include "tool/arrays/value_text.hpp"
#include "warpfold/chunked.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::calls {

// Integers wrap in their own type. min and max ignore NaN. largest_magnitude is the element of largest magnitude with its
// sign, the positive one of two that tie; it ignores NaN, and takes the magnitude of the most negative integer unsigned, so that
// it is exact.
template <class T>
struct reduction {
    static constexpr bool commutative = true;

    WARPFOLD_HD static constexpr auto magnitude(T a) {
        if constexpr (std::is_integral_v<T>) {
            using bits = std::make_unsigned_t<T>;
            return a < 0 ? static_cast<bits>(bits{0} - static_cast<bits>(a)) : static_cast<bits>(a);
        } else {
            return a < T{0} ? -a : a;
        }
    }
    WARPFOLD_HD static constexpr T larger(T a, T b) {
        const auto size_a = magnitude(a);
        const auto size_b = magnitude(b);
        return (size_b > size_a) | ((size_b == size_a) & (b > a)) | (a != a) ? b : a;
    }
    WARPFOLD_HD T operator()(const T& a, const T& b) const {
        switch (op) {
        case operation::product: return product{}(a, b);
        case operation::minimum: return (b < a) | (a != a) ? b : a;
        case operation::maximum: return (b > a) | (a != a) ? b : a;
        case operation::largest_magnitude: return larger(a, b);
        default: return warpfold::sum{}(a, b);
        }
    }
    [[nodiscard]] T identity_of() const {
        switch (op) {
        case operation::product: return T{1};
        case operation::minimum: return minimum::identity<T>();
        case operation::maximum: return maximum::identity<T>();
        default: return T{0};
        }
    }

    operation op;
};

template <class Memory>
std::string run_reduce(const memory_over<Memory>& memory, const reduce_request& q) {
    return memory.together("reduce", q.in.type(), q.in.size(), static_cast<std::uint64_t>(q.op), [&] {
        return with_source(part_source(q.in, memory.comm()), [&](const auto& source) -> std::string {
            using A = typename std::remove_cvref_t<decltype(source)>::element;
            if constexpr (std::is_unsigned_v<A>) {
                throw std::logic_error("an element type that reduce does not take");
            } else {
                const reduction<A> by{q.op};
                const A value = chunked_reduce(memory.on(), source, by, by.identity_of(), memory.options(q.how));
                // Of int32 what is left modulo 2^32.
                return q.in.type() == array_type::int32 ? value_text(static_cast<std::int32_t>(value))
                                                        : value_text(value);
            }
        });
    });
}

} // namespace warpfold::calls
