// SPDX-License-Identifier: MIT
// A sum that is exact.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "tool/arrays/calls_over.hpp"
#include "tool/arrays/family.hpp"
#include "tool/arrays/value_text.hpp"
#include "warpfold/chunked.hpp"

namespace warpfold::calls {

// An integer of 128 bits, two's complement.
struct long_integer {
    std::uint64_t low, high;
};

struct add_long {
    static constexpr bool commutative = true;
    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return {0, 0};
    }
    WARPFOLD_HD constexpr long_integer operator()(const long_integer& a, const long_integer& b) const {
        const std::uint64_t low = a.low + b.low;
        return {low, a.high + b.high + (low < a.low ? 1 : 0)};
    }
};

struct as_long {
    template <class T>
    WARPFOLD_HD constexpr long_integer operator()(const T& x) const {
        const bool negative = std::is_signed_v<T> && x < T{};
        return {static_cast<std::uint64_t>(x), negative ? ~std::uint64_t{0} : 0};
    }
};

inline std::string text_of(long_integer x) {
    const bool negative = (x.high >> 63) != 0;
    if (negative) {
        x = add_long{}({~x.low, ~x.high}, {1, 0});
    }
    std::string digits;
    do { // by 10, in pieces of 32 bits
        std::uint64_t rest = 0;
        std::array<std::uint64_t, 4> piece{x.high >> 32, x.high & 0xffffffffu, x.low >> 32, x.low & 0xffffffffu};
        for (std::uint64_t& one : piece) {
            one += rest << 32;
            rest = one % 10;
            one /= 10;
        }
        digits += static_cast<char>('0' + rest);
        x = {piece[2] << 32 | piece[3], piece[0] << 32 | piece[1]};
    } while ((x.low | x.high) != 0);
    digits += negative ? "-" : "";
    std::reverse(digits.begin(), digits.end());
    return digits;
}

template <class Memory>
std::string run_sum(const memory_over<Memory>& memory, const sum_request& q) {
    return memory.together("sum", q.in.type(), q.in.size(), 0, [&] {
        return with_source(part_source(q.in, memory.comm()), [&](const auto& source) {
            using A = typename std::remove_cvref_t<decltype(source)>::element;
            const chunked_options options = memory.options(q.how);
            if constexpr (std::is_floating_point_v<A>) {
                return value_text(chunked_exact_sum(memory.on(), source, options));
            } else {
                return text_of(chunked_transform_reduce(memory.on(), source, as_long{}, add_long{}, options));
            }
        });
    });
}

} // namespace warpfold::calls
