// SPDX-License-Identifier: MIT
// Arithmetic on integers and floats: add sub mul mad fma div rem min max abs neg sad, carries, and the approximations.
#include <cstdint>
#include <limits>

#include "softgpu/machine/families/choose.hpp"
#include "softgpu/machine/families/families.hpp"
#include "softgpu/machine/families/floats.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

template <class T>
using wide_of = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 2, std::int32_t, std::int64_t>,
                                   std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint64_t>>;

template <class T>
SOFTGPU_INLINE T high_product(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        using big = std::conditional_t<std::is_signed_v<T>, int128, uint128>;
        return static_cast<T>((static_cast<big>(a) * static_cast<big>(b)) >> 64);
    } else {
        return static_cast<T>((static_cast<wide_of<T>>(a) * static_cast<wide_of<T>>(b)) >> (8 * sizeof(T)));
    }
}

// Integers.
struct add_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return static_cast<T>(a + b);
    }
};
struct sub_int {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return static_cast<T>(a - b);
    }
};
struct mul_low {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        using u = std::conditional_t<sizeof(T) == 2, std::uint32_t, T>; // no overflow of a promoted int
        return static_cast<T>(static_cast<u>(a) * static_cast<u>(b));
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
        return static_cast<T>(mul_low{}(a, b) + c);
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

template <class T>
const instruction* mul_wide(const instruction* i, std::byte* frame, warp* w) {
    using wide = wide_of<T>;
    map_lanes(
        w->mask, written<wide>(frame, i->d),
        [](T a, T b) { return static_cast<wide>(static_cast<wide>(a) * static_cast<wide>(b)); },
        read<T>(frame, w, i->a), read<T>(frame, w, i->b));
    return i + 1;
}
template <class T>
const instruction* mad_wide(const instruction* i, std::byte* frame, warp* w) {
    using wide = wide_of<T>;
    using u = std::make_unsigned_t<wide>;
    map_lanes(
        w->mask, written<wide>(frame, i->d),
        [](T a, T b, wide c) {
            return static_cast<wide>(static_cast<u>(static_cast<wide>(a) * static_cast<wide>(b)) + static_cast<u>(c));
        },
        read<T>(frame, w, i->a), read<T>(frame, w, i->b), read<wide>(frame, w, i->c));
    return i + 1;
}

// d = a + b + carry-in for add, a - b - borrow for sub (Sub), the carry or borrow kept where Out.
// The condition code is a carry for both: after sub.cc it holds the complement of the borrow, as in the hardware.
template <class T, bool Sub, bool In, bool Out>
const instruction* carry_chain(const instruction* i, std::byte* frame, warp* w) {
    const T* const a = read<T>(frame, w, i->a);
    const T* const b = read<T>(frame, w, i->b);
    T* const d = written<T>(frame, i->d);
    lane_mask carry = w->carry;
    each_lane(w->mask, [&](unsigned l) {
        const uint128 x = a[l];
        const uint128 y = Sub ? static_cast<T>(~b[l]) : b[l];
        const uint128 in = In ? (w->carry >> l & 1u) : (Sub ? 1u : 0u);
        const uint128 sum = x + y + in;
        d[l] = static_cast<T>(sum);
        if (Out) {
            const auto out = static_cast<lane_mask>(sum >> (8 * sizeof(T))) & 1u;
            carry = (carry & ~(1u << l)) | (out << l);
        }
    });
    if (Out) {
        w->carry = carry;
    }
    return i + 1;
}

template <class T, bool High, bool In, bool Out>
const instruction* mad_carry(const instruction* i, std::byte* frame, warp* w) {
    using u = std::make_unsigned_t<T>;
    const T* const a = read<T>(frame, w, i->a);
    const T* const b = read<T>(frame, w, i->b);
    const u* const c = read<u>(frame, w, i->c);
    u* const d = written<u>(frame, i->d);
    lane_mask carry = w->carry;
    each_lane(w->mask, [&](unsigned l) {
        const u product = static_cast<u>(High ? high_product(a[l], b[l]) : mul_low{}(a[l], b[l]));
        const uint128 sum = static_cast<uint128>(product) + c[l] + (In ? (w->carry >> l & 1u) : 0u);
        d[l] = static_cast<u>(sum);
        if (Out) {
            const auto out = static_cast<lane_mask>(sum >> (8 * sizeof(u))) & 1u;
            carry = (carry & ~(1u << l)) | (out << l);
        }
    });
    if (Out) {
        w->carry = carry;
    }
    return i + 1;
}

template <class A, class B, bool Half>
const instruction* dot_product(const instruction* i, std::byte* frame, warp* w) {
    const auto* const a = read<std::uint32_t>(frame, w, i->a);
    const auto* const b = read<std::uint32_t>(frame, w, i->b);
    const auto* const c = read<std::uint32_t>(frame, w, i->c);
    const bool high = i->more != 0;
    map_active(
        w->mask, written<std::uint32_t>(frame, i->d),
        [high](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
            std::uint32_t sum = z;
            for (unsigned k = 0; k < (Half ? 2u : 4u); ++k) {
                const std::int64_t q = static_cast<B>(y >> (8 * (Half && high ? k + 2 : k)));
                const std::int64_t p =
                    Half ? static_cast<std::int64_t>(
                               static_cast<std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>>(
                                   x >> (16 * k)))
                         : static_cast<std::int64_t>(static_cast<A>(x >> (8 * k)));
                sum += static_cast<std::uint32_t>(p * q);
            }
            return sum;
        },
        a, b, c);
    return i + 1;
}

// Floats.
struct add_float {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return a + b;
    }
};
struct sub_float {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return a - b;
    }
};
struct mul_float {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return a * b;
    }
    SOFTGPU_INLINE float scaled(float a, float b) const { return a * 0x1p64F * b; }
};
struct div_float {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return a / b;
    }
    SOFTGPU_INLINE float scaled(float a, float b) const { return a * 0x1p64F / b; }
};
struct min_float {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return smaller(a, b);
    }
};
struct max_float {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return larger(a, b);
    }
};
template <class Less>
struct keep_nan {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return a != a ? a : b != b ? b : Less{}(a, b);
    }
};
struct fma_float {
    SOFTGPU_INLINE float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
    SOFTGPU_INLINE double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
    SOFTGPU_INLINE float scaled(float a, float b, float c) const { return __builtin_fmaf(a * 0x1p64F, b, c * 0x1p64F); }
};
struct abs_float {
    template <class T>
    SOFTGPU_INLINE T operator()(T a) const {
        return std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) & (~bits_of<T>(0) >> 1));
    }
};
struct neg_float {
    template <class T>
    SOFTGPU_INLINE T operator()(T a) const {
        return std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) ^ ~(~bits_of<T>(0) >> 1));
    }
};
template <class F>
struct flushing {
    SOFTGPU_INLINE float operator()(float a) const { return F{}(flush(a)); }
};
struct sqrt_float {
    SOFTGPU_INLINE float operator()(float a) const { return __builtin_sqrtf(a); }
    SOFTGPU_INLINE double operator()(double a) const { return __builtin_sqrt(a); }
};
struct reciprocal {
    template <class T>
    SOFTGPU_INLINE T operator()(T a) const {
        return T(1) / a;
    }
    SOFTGPU_INLINE float scaled(float a) const { return 0x1p64F / a; }
};
struct reciprocal_root {
    template <class T>
    SOFTGPU_INLINE T operator()(T a) const {
        return static_cast<T>(1.0 / __builtin_sqrt(static_cast<double>(a)));
    }
};
struct sine {
    float operator()(float a) const { return std::sin(a); }
};
struct cosine {
    float operator()(float a) const { return std::cos(a); }
};
struct log_two {
    float operator()(float a) const { return std::log2(a); }
};
struct exp_two {
    float operator()(float a) const { return std::exp2(a); }
};
struct hyperbolic_tangent {
    float operator()(float a) const { return std::tanh(a); }
};

// The smaller or larger magnitude, with the exclusive or of the signs.
template <class F>
struct of_magnitudes {
    SOFTGPU_INLINE float operator()(float a, float b) const {
        const std::uint32_t signs = (std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)) & 0x80000000u;
        const float r = F{}(abs_float{}(a), abs_float{}(b));
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(r) | signs);
    }
};
// Computed in the upper halves of doubles only; the lower half of the result is 0.
template <class F>
struct upper_half {
    SOFTGPU_INLINE double operator()(double a) const {
        constexpr std::uint64_t upper = 0xFFFFFFFF00000000u;
        const double r = F{}(std::bit_cast<double>(std::bit_cast<std::uint64_t>(flush(a)) & upper));
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(flush(r)) & upper);
    }
};

// Wraps an operation with .ftz and .sat, and its NaN. An operation whose small results are not exact has scaled().
template <class F, bool Ftz, bool Sat>
struct with {
    template <class... T>
    SOFTGPU_INLINE auto operator()(T... x) const {
        const auto r = result(x...);
        return Sat ? saturate(r) : canonical(r);
    }

private:
    template <class... T>
    SOFTGPU_INLINE auto result(T... x) const {
        if constexpr (!Ftz) {
            return F{}(x...);
        } else if constexpr (requires { F{}.scaled(flush(x)...); }) {
            return flush_rounded(F{}(flush(x)...), F{}.scaled(flush(x)...));
        } else {
            return flush(F{}(flush(x)...));
        }
    }
};

template <class T, class F>
const instruction* one(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a));
    return i + 1;
}
template <class T, class F>
const instruction* two(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a), read<T>(frame, w, i->b));
    return i + 1;
}
template <class T, class F>
const instruction* three(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a), read<T>(frame, w, i->b),
              read<T>(frame, w, i->c));
    return i + 1;
}
template <class T, class F>
const instruction* one_by_one(const instruction* i, std::byte* frame, warp* w) {
    map_active(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a));
    return i + 1;
}
template <class T, class F>
const instruction* two_by_one(const instruction* i, std::byte* frame, warp* w) {
    map_active(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a), read<T>(frame, w, i->b));
    return i + 1;
}

// Directed rounding: slow and exact. The mode stands in `more`, set by the decoder from the suffix.
template <class T, class F, unsigned Operands>
const instruction* directed(const instruction* i, std::byte* frame, warp* w) {
    const T* const a = read<T>(frame, w, i->a);
    const T* const b = Operands > 1 ? read<T>(frame, w, i->b) : a;
    const T* const c = Operands > 2 ? read<T>(frame, w, i->c) : a;
    T* const d = written<T>(frame, i->d);
    return rounded(static_cast<int>(i->more), [&] {
        each_lane(w->mask, [&](unsigned l) {
            volatile T x = a[l];
            volatile T y = b[l];
            volatile T z = c[l];
            volatile T r;
            if constexpr (Operands == 1) {
                r = F{}(static_cast<T>(x));
            } else if constexpr (Operands == 2) {
                r = F{}(static_cast<T>(x), static_cast<T>(y));
            } else {
                r = F{}(static_cast<T>(x), static_cast<T>(y), static_cast<T>(z));
            }
            d[l] = r;
        });
        return i + 1;
    });
}

template <class T, class F, unsigned Operands>
handler nearest_of() {
    if constexpr (Operands == 1) {
        return one<T, F>;
    } else if constexpr (Operands == 2) {
        return two<T, F>;
    } else {
        return three<T, F>;
    }
}

template <class T, class F, unsigned Operands>
handler float_of(const form& f) {
    const bool sat = f.has(suffix::sat);
    const bool to_mode = directed_mode(f) >= 0;
    if constexpr (sizeof(T) == 4) {
        if (f.has(suffix::ftz)) {
            if (to_mode) {
                return sat ? directed<T, with<F, true, true>, Operands> : directed<T, with<F, true, false>, Operands>;
            }
            return sat ? nearest_of<T, with<F, true, true>, Operands>()
                       : nearest_of<T, with<F, true, false>, Operands>();
        }
        if (sat) {
            return to_mode ? handler{directed<T, with<F, false, true>, Operands>}
                           : nearest_of<T, with<F, false, true>, Operands>();
        }
    }
    using computed = with<F, false, false>;
    return to_mode ? handler{directed<T, computed, Operands>} : nearest_of<T, computed, Operands>();
}

// abs and neg only touch the sign, of a NaN too.
template <class F>
handler signs(const form& f) {
    switch (f.type[0]) {
    case suffix::f32: return f.has(suffix::ftz) ? one<float, flushing<F>> : one<float, F>;
    case suffix::f64: return one<double, F>;
    default: return nullptr;
    }
}

template <class F, unsigned Operands>
handler floats(const form& f) {
    switch (f.type[0]) {
    case suffix::f32: return float_of<float, F, Operands>(f);
    case suffix::f64: return float_of<double, F, Operands>(f);
    default: return nullptr;
    }
}

template <class F>
handler approximation(const form& f) {
    if (f.type[0] != suffix::f32) {
        return nullptr;
    }
    return f.has(suffix::ftz) ? one_by_one<float, with<F, true, false>> : one_by_one<float, with<F, false, false>>;
}

template <bool Sub, bool In>
handler chain_of(const form& f) {
    const bool out = f.has(suffix::cc);
    if (ptx::bytes_of(f.type[0]) == 8) {
        return out ? carry_chain<std::uint64_t, Sub, In, true> : carry_chain<std::uint64_t, Sub, In, false>;
    }
    return out ? carry_chain<std::uint32_t, Sub, In, true> : carry_chain<std::uint32_t, Sub, In, false>;
}

template <bool In>
handler mad_carry_of(const form& f) {
    const bool high = f.has(suffix::hi);
    const bool out = f.has(suffix::cc);
    return choose_int(f.type[0], [&]<class T>(T) -> handler {
        if constexpr (sizeof(T) >= 4) {
            return high ? (out ? mad_carry<T, true, In, true> : mad_carry<T, true, In, false>)
                        : (out ? mad_carry<T, false, In, true> : mad_carry<T, false, In, false>);
        } else {
            return nullptr;
        }
    });
}

template <class Low, class High>
handler product(const form& f, handler (*wide)(suffix)) {
    if (f.has(suffix::wide)) {
        return wide(f.type[0]);
    }
    const bool high = f.has(suffix::hi);
    return choose_int(f.type[0], [&]<class T>(T) -> handler {
        if constexpr (std::is_invocable_v<Low, T, T>) {
            return high ? two<T, High> : two<T, Low>;
        } else {
            return high ? three<T, High> : three<T, Low>;
        }
    });
}

handler mul_wide_of(suffix t) {
    switch (t) {
    case suffix::u16: return mul_wide<std::uint16_t>;
    case suffix::s16: return mul_wide<std::int16_t>;
    case suffix::u32: return mul_wide<std::uint32_t>;
    case suffix::s32: return mul_wide<std::int32_t>;
    default: return nullptr;
    }
}
handler mad_wide_of(suffix t) {
    switch (t) {
    case suffix::u16: return mad_wide<std::uint16_t>;
    case suffix::s16: return mad_wide<std::int16_t>;
    case suffix::u32: return mad_wide<std::uint32_t>;
    case suffix::s32: return mad_wide<std::int32_t>;
    default: return nullptr;
    }
}

// 16-bit lanes go one by one: GCC 12 and 13 cannot vectorise their minimum under a mask for AVX-512 (internal error).
template <class F>
handler two_ints(const form& f) {
    return choose_int(f.type[0], []<class T>(T) -> handler {
        if constexpr (sizeof(T) == 2) {
            return two_by_one<T, F>;
        } else {
            return two<T, F>;
        }
    });
}
template <class F>
handler divided(const form& f) {
    return choose_int(f.type[0], []<class T>(T) -> handler {
        if constexpr (sizeof(T) == 4) {
            return two<T, F>;
        } else {
            return two_by_one<T, F>;
        }
    });
}
template <class F>
handler one_int(const form& f) {
    return choose_int(f.type[0], []<class T>(T) -> handler {
        if constexpr (std::is_signed_v<T>) {
            return one<T, F>;
        } else {
            return nullptr;
        }
    });
}
template <template <bool> class F, unsigned Operands>
handler ints24(const form& f) {
    const bool high = f.has(suffix::hi);
    const auto of = [&]<class T>(T) -> handler {
        if constexpr (Operands == 2) {
            return high ? two<T, F<true>> : two<T, F<false>>;
        } else {
            return high ? three<T, F<true>> : three<T, F<false>>;
        }
    };
    return f.type[0] == suffix::s32 ? of(std::int32_t{}) : f.type[0] == suffix::u32 ? of(std::uint32_t{}) : nullptr;
}

template <bool Half>
handler dot_of(const form& f) {
    const bool a = f.type[0] == suffix::s32;
    const bool b = f.type[1] == suffix::s32;
    return a ? (b ? dot_product<std::int8_t, std::int8_t, Half> : dot_product<std::int8_t, std::uint8_t, Half>)
             : (b ? dot_product<std::uint8_t, std::int8_t, Half> : dot_product<std::uint8_t, std::uint8_t, Half>);
}

// Half-word pairs; nullptr for any other type.
template <class F>
handler halves(const form& f) {
    const bool relu = f.has(suffix::relu);
    switch (f.type[0]) {
    case suffix::u16x2: return two<std::uint32_t, by_halves<std::uint16_t, F, false>>;
    case suffix::s16x2:
        return relu ? two<std::uint32_t, by_halves<std::int16_t, F, true>>
                    : two<std::uint32_t, by_halves<std::int16_t, F, false>>;
    default: return nullptr;
    }
}

template <class Int, class Float>
handler min_max(const form& f) {
    if (f.operands != 3) {
        return nullptr; // the newest architectures take three
    }
    if (!is_float(f.type[0])) {
        if (f.type[0] == suffix::s32 && f.has(suffix::relu)) {
            return two<std::int32_t, not_negative<Int>>;
        }
        const handler packed = halves<Int>(f);
        return packed != nullptr ? packed : two_ints<Int>(f);
    }
    if (f.has(suffix::xorsign)) {
        return f.type[0] != suffix::f32 ? nullptr
               : f.has(suffix::NaN)     ? float_of<float, of_magnitudes<keep_nan<Float>>, 2>(f)
                                        : float_of<float, of_magnitudes<Float>, 2>(f);
    }
    return f.has(suffix::NaN) ? floats<keep_nan<Float>, 2>(f) : floats<Float, 2>(f);
}

// .approx.ftz.f64 is coarse, all others are exact.
template <class F>
handler reciprocals(const form& f) {
    if (f.type[0] == suffix::f64 && f.has(suffix::approx) && f.has(suffix::ftz)) {
        return one<double, upper_half<F>>;
    }
    return floats<F, 1>(f);
}

} // namespace

handler choose_arithmetic(const form& f) {
    const bool real = is_float(f.type[0]);
    if (real && f.type[1] != suffix::none) {
        return nullptr; // operands of mixed precision
    }
    switch (f.op) {
    case opcode::add:
        if (real) {
            return floats<add_float, 2>(f);
        }
        if (f.has(suffix::cc)) {
            return chain_of<false, false>(f);
        }
        if (f.has(suffix::sat)) {
            return f.type[0] == suffix::s32 ? handler{two<std::int32_t, add_saturated>} : nullptr;
        }
        return halves<add_int>(f) != nullptr ? halves<add_int>(f) : two_ints<add_int>(f);
    case opcode::sub:
        if (real) {
            return floats<sub_float, 2>(f);
        }
        if (f.has(suffix::cc)) {
            return chain_of<true, false>(f);
        }
        if (f.has(suffix::sat)) {
            return f.type[0] == suffix::s32 ? handler{two<std::int32_t, sub_saturated>} : nullptr;
        }
        return two_ints<sub_int>(f);
    case opcode::addc: return chain_of<false, true>(f);
    case opcode::subc: return chain_of<true, true>(f);
    case opcode::mul: return real ? floats<mul_float, 2>(f) : product<mul_low, mul_high>(f, mul_wide_of);
    case opcode::mad:
        if (real) {
            return floats<fma_float, 3>(f);
        }
        if (f.has(suffix::sat)) {
            return f.has(suffix::hi) && f.type[0] == suffix::s32 ? handler{three<std::int32_t, mad_high_saturated>}
                                                                 : nullptr;
        }
        return f.has(suffix::cc) ? mad_carry_of<false>(f) : product<mad_low, mad_high>(f, mad_wide_of);
    case opcode::madc: return mad_carry_of<true>(f);
    case opcode::mul24: return ints24<mul24, 2>(f);
    case opcode::mad24:
        if (f.has(suffix::sat)) {
            return f.has(suffix::hi) && f.type[0] == suffix::s32 ? handler{three<std::int32_t, mad24_high_saturated>}
                                                                 : nullptr;
        }
        return ints24<mad24, 3>(f);
    case opcode::fma: return floats<fma_float, 3>(f);
    case opcode::div: return real ? floats<div_float, 2>(f) : divided<div_int>(f);
    case opcode::rem: return divided<rem_int>(f);
    case opcode::abs: return real ? signs<abs_float>(f) : one_int<abs_int>(f);
    case opcode::neg: return real ? signs<neg_float>(f) : one_int<neg_int>(f);
    case opcode::min: return min_max<min_int, min_float>(f);
    case opcode::max: return min_max<max_int, max_float>(f);
    case opcode::sad: return choose_int(f.type[0], []<class T>(T) -> handler { return three<T, absolute_difference>; });
    case opcode::dp4a: return dot_of<false>(f);
    case opcode::dp2a: return dot_of<true>(f);
    case opcode::rcp: return reciprocals<reciprocal>(f);
    case opcode::sqrt: return floats<sqrt_float, 1>(f);
    case opcode::rsqrt: return reciprocals<reciprocal_root>(f);
    case opcode::sin: return approximation<sine>(f);
    case opcode::cos: return approximation<cosine>(f);
    case opcode::lg2: return approximation<log_two>(f);
    case opcode::ex2: return approximation<exp_two>(f);
    case opcode::tanh: return approximation<hyperbolic_tangent>(f);
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
