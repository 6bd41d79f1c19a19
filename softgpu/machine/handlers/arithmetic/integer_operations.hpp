// SPDX-License-Identifier: MIT
// Integer arithmetic of one lane, for integer_arithmetic.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "softgpu/machine/handlers/lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

__extension__ using int128 = __int128;

template <class T>
using wide_of = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 2, std::int32_t, std::int64_t>,
                                   std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint64_t>>;

// Arithmetic that wraps: signed 32 and 64 bits as unsigned ones; 16 bits promote to an int that holds them.
template <class T>
using wrapping = std::conditional_t<sizeof(T) == 2, std::uint32_t, std::make_unsigned_t<T>>;

template <class T>
SOFTGPU_INLINE T high_product(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        using big = std::conditional_t<std::is_signed_v<T>, int128, uint128>;
        return static_cast<T>((static_cast<big>(a) * static_cast<big>(b)) >> 64);
    } else {
        return static_cast<T>((static_cast<wide_of<T>>(a) * static_cast<wide_of<T>>(b)) >> (8 * sizeof(T)));
    }
}

struct add_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return static_cast<T>(static_cast<wrapping<T>>(a) + static_cast<wrapping<T>>(b));
    }
};
struct sub_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return static_cast<T>(static_cast<wrapping<T>>(a) - static_cast<wrapping<T>>(b));
    }
};
struct mul_low {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return static_cast<T>(static_cast<wrapping<T>>(a) * static_cast<wrapping<T>>(b));
    }
};
struct mul_high {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return high_product(a, b);
    }
};
struct min_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};
struct max_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};
struct mad_low {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b, T c) const {
        return add_int{}(mul_low{}(a, b), c);
    }
};
struct mad_high {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b, T c) const {
        using u = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<u>(high_product(a, b)) + static_cast<u>(c));
    }
};
struct absolute_difference {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b, T c) const {
        using u = std::make_unsigned_t<T>;
        const u difference = a < b ? static_cast<u>(static_cast<u>(b) - static_cast<u>(a))
                                   : static_cast<u>(static_cast<u>(a) - static_cast<u>(b));
        return static_cast<T>(static_cast<u>(c) + difference);
    }
};
struct mad_high_saturated {
    SOFTGPU_INLINE std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
        const std::int64_t r = std::int64_t{high_product(a, b)} + c;
        return r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : static_cast<std::int32_t>(r);
    }
};
// .relu: nothing below 0.
template <class F>
struct not_negative {
    SOFTGPU_INLINE std::int32_t operator()(std::int32_t a, std::int32_t b) const { return max_int{}(F{}(a, b), 0); }
};
struct abs_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a) const {
        using u = std::make_unsigned_t<T>;
        return a < 0 ? static_cast<T>(static_cast<u>(0) - static_cast<u>(a)) : a;
    }
};
struct neg_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a) const {
        using u = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<u>(0) - static_cast<u>(a));
    }
};
// Quotients of 32-bit values by way of doubles, which hold them exactly; the loops over lanes become vector code.
SOFTGPU_INLINE double exactly(std::uint32_t x) { return std::bit_cast<double>(0x4330000000000000ull | x) - 0x1p52; }
SOFTGPU_INLINE std::uint32_t quotient(std::uint32_t a, std::uint32_t b) {
    const double q = __builtin_trunc(exactly(a) / exactly(b | (b == 0 ? 1u : 0u)));
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(q + 0x1p52));
}
SOFTGPU_INLINE std::uint32_t magnitude(std::int32_t a) {
    return a < 0 ? 0u - static_cast<std::uint32_t>(a) : static_cast<std::uint32_t>(a);
}

// Division by zero: PTX leaves the result open; the hardware gives all ones, and the dividend as remainder.
struct div_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        if constexpr (std::is_same_v<T, std::uint32_t>) {
            return b == 0 ? ~0u : quotient(a, b);
        } else if constexpr (std::is_same_v<T, std::int32_t>) {
            const std::uint32_t q = quotient(magnitude(a), magnitude(b));
            const auto r = static_cast<std::int32_t>((a ^ b) < 0 ? 0u - q : q);
            return b == 0 ? -1 : r;
        } else {
            if (b == 0) {
                return static_cast<T>(~T(0));
            }
            if constexpr (std::is_signed_v<T>) {
                if (b == T(-1)) {
                    return neg_int{}(a);
                }
            }
            return static_cast<T>(a / b);
        }
    }
};
struct rem_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        if constexpr (sizeof(T) == 4) {
            const auto q = static_cast<std::uint32_t>(div_int{}(a, b));
            const auto r = static_cast<T>(static_cast<std::uint32_t>(a) - q * static_cast<std::uint32_t>(b));
            return b == 0 ? a : r;
        } else {
            if (b == 0) {
                return a;
            }
            if constexpr (std::is_signed_v<T>) {
                if (b == T(-1)) {
                    return 0;
                }
            }
            return static_cast<T>(a % b);
        }
    }
};
struct add_saturated {
    SOFTGPU_INLINE std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        const std::int64_t r = std::int64_t{a} + b;
        return r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : static_cast<std::int32_t>(r);
    }
};
struct sub_saturated {
    SOFTGPU_INLINE std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        const std::int64_t r = std::int64_t{a} - b;
        return r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : static_cast<std::int32_t>(r);
    }
};
template <bool High>
struct mul24 {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        using wide = wide_of<T>;
        const auto low24 = [](T v) {
            return static_cast<wide>(static_cast<T>(static_cast<std::make_unsigned_t<T>>(v) << 8) >> 8);
        };
        const wide p = low24(a) * low24(b);
        return static_cast<T>(High ? p >> 16 : p);
    }
};
template <bool High>
struct mad24 {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b, T c) const {
        using u = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<u>(mul24<High>{}(a, b)) + static_cast<u>(c));
    }
};

struct mad24_high_saturated {
    SOFTGPU_INLINE std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
        const std::int64_t r = std::int64_t{mul24<true>{}(a, b)} + c;
        return r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : static_cast<std::int32_t>(r);
    }
};
// Two 16-bit Ts in a word, each half by itself.
template <class T, class F, bool Relu>
struct by_halves {
    SOFTGPU_INLINE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
        const auto half = [](std::uint32_t x, std::uint32_t y) {
            const T r = F{}(static_cast<T>(x), static_cast<T>(y));
            return std::uint32_t{static_cast<std::uint16_t>(Relu && r < 0 ? T(0) : r)};
        };
        return half(a >> 16, b >> 16) << 16 | half(a, b);
    }
};

} // namespace softgpu::machine::SOFTGPU_TARGET
