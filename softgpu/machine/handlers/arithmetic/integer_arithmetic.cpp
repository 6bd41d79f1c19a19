// SPDX-License-Identifier: MIT
// Arithmetic on integers: add sub mul mad div rem min max abs neg sad, carries, and dot products. What each does to one
// lane stands in integer_operations.hpp.
#include <bit>
#include <cstdint>
#include <limits>

#include "softgpu/machine/handlers/arithmetic/elementwise.hpp"
#include "softgpu/machine/handlers/arithmetic/integer_operations.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/type_dispatch.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

template <class T>
const instruction* mul_wide(const instruction* i, std::byte* frame, warp* w) {
    using wide = wide_of<T>;
    map_lanes(
        w->mask, written<wide>(frame, i->d),
        [](T a, T b) { return static_cast<wide>(static_cast<wide>(a) * static_cast<wide>(b)); }, read<T>(w, i->a),
        read<T>(w, i->b));
    return go_on(i + 1, frame, w);
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
        read<T>(w, i->a), read<T>(w, i->b), read<wide>(w, i->c));
    return go_on(i + 1, frame, w);
}

// d[l] = the low bits of the sum. Returns the carries, with lane l's where Out.
template <bool Out, class U>
SOFTGPU_INLINE lane_mask keep_sum(U* d, unsigned l, uint128 sum, lane_mask carry) {
    d[l] = static_cast<U>(sum);
    const auto out = static_cast<lane_mask>(sum >> (8 * sizeof(U))) & 1u;
    return Out ? (carry & ~(1u << l)) | (out << l) : carry;
}

// d = a + b + carry-in for add, a - b - borrow for sub (Sub), the carry or borrow kept where Out.
// The condition code is a carry for both: after sub.cc it holds the complement of the borrow, as in the hardware.
template <class T, bool Sub, bool In, bool Out>
const instruction* carry_chain(const instruction* i, std::byte* frame, warp* w) {
    const T* const a = read<T>(w, i->a);
    const T* const b = read<T>(w, i->b);
    T* const d = written<T>(frame, i->d);
    lane_mask carry = w->carry;
    each_lane(w->mask, [&](unsigned l) {
        const uint128 x = a[l];
        const uint128 y = Sub ? static_cast<T>(~b[l]) : b[l];
        const uint128 in = In ? (w->carry >> l & 1u) : (Sub ? 1u : 0u);
        const uint128 sum = x + y + in;
        carry = keep_sum<Out>(d, l, sum, carry);
    });
    if (Out) {
        w->carry = carry;
    }
    return i + 1;
}

template <class T, bool High, bool In, bool Out>
const instruction* mad_carry(const instruction* i, std::byte* frame, warp* w) {
    using u = std::make_unsigned_t<T>;
    const T* const a = read<T>(w, i->a);
    const T* const b = read<T>(w, i->b);
    const u* const c = read<u>(w, i->c);
    u* const d = written<u>(frame, i->d);
    lane_mask carry = w->carry;
    each_lane(w->mask, [&](unsigned l) {
        const u product = static_cast<u>(High ? high_product(a[l], b[l]) : mul_low{}(a[l], b[l]));
        const uint128 sum = static_cast<uint128>(product) + c[l] + (In ? (w->carry >> l & 1u) : 0u);
        carry = keep_sum<Out>(d, l, sum, carry);
    });
    if (Out) {
        w->carry = carry;
    }
    return i + 1;
}

template <class A, class B, bool Half>
const instruction* dot_product(const instruction* i, std::byte* frame, warp* w) {
    const auto* const a = read<std::uint32_t>(w, i->a);
    const auto* const b = read<std::uint32_t>(w, i->b);
    const auto* const c = read<std::uint32_t>(w, i->c);
    const bool high = i->more != 0;
    map_active(
        w->mask, written<std::uint32_t>(frame, i->d),
        [high](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
            std::uint32_t sum = z;
            for (unsigned k = 0; k < (Half ? 2u : 4u); ++k) {
                // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign extends
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
// Unsigned division, with a short way for one power of two in all lanes.
template <bool Remainder>
const instruction* divide_words(const instruction* i, std::byte* frame, warp* w) {
    const auto* const a = read<std::uint32_t>(w, i->a);
    const auto* const b = read<std::uint32_t>(w, i->b);
    auto* const d = written<std::uint32_t>(frame, i->d);
    const std::uint32_t divisor = b[0];
    std::uint32_t different = 0;
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        different |= b[l] ^ divisor;
    }
    if (different == 0 && std::has_single_bit(divisor)) {
        const auto shift = static_cast<unsigned>(std::countr_zero(divisor));
        map_lanes(
            w->mask, d, [=](std::uint32_t x) { return Remainder ? x & (divisor - 1) : x >> shift; }, a);
    } else if constexpr (Remainder) {
        map_lanes(w->mask, d, rem_int{}, a, b);
    } else {
        map_lanes(w->mask, d, div_int{}, a, b);
    }
    return i + 1;
}

template <class F>
handler divided(const form& f) {
    return choose_int(f.type[0], []<class T>(T) -> handler {
        if constexpr (std::is_same_v<T, std::uint32_t>) {
            return divide_words<std::is_same_v<F, rem_int>>;
        } else if constexpr (sizeof(T) == 4) {
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

template <class F>
handler min_max(const form& f) {
    if (f.operands == 4) {
        return nullptr;
    }
    if (f.type[0] == suffix::s32 && f.has(suffix::relu)) {
        return two<std::int32_t, not_negative<F>>;
    }
    const handler packed = halves<F>(f);
    return packed != nullptr ? packed : two_ints<F>(f);
}

} // namespace

handler choose_arithmetic(const form& f) {
    if (is_half(f.type[0])) {
        return choose_half_arithmetic(f);
    }
    if (is_float(f.type[0]) || f.type[0] == suffix::f32x2) {
        return choose_float_arithmetic(f);
    }
    switch (f.op) {
    case opcode::add:
        if (f.has(suffix::cc)) {
            return chain_of<false, false>(f);
        }
        if (f.has(suffix::sat)) {
            return f.type[0] == suffix::s32 ? handler{two<std::int32_t, add_saturated>} : nullptr;
        }
        return halves<add_int>(f) != nullptr ? halves<add_int>(f) : two_ints<add_int>(f);
    case opcode::sub:
        if (f.has(suffix::cc)) {
            return chain_of<true, false>(f);
        }
        if (f.has(suffix::sat)) {
            return f.type[0] == suffix::s32 ? handler{two<std::int32_t, sub_saturated>} : nullptr;
        }
        return two_ints<sub_int>(f);
    case opcode::addc: return chain_of<false, true>(f);
    case opcode::subc: return chain_of<true, true>(f);
    case opcode::mul: return product<mul_low, mul_high>(f, mul_wide_of);
    case opcode::mad:
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
    case opcode::div: return divided<div_int>(f);
    case opcode::rem: return divided<rem_int>(f);
    case opcode::abs: return one_int<abs_int>(f);
    case opcode::neg: return one_int<neg_int>(f);
    case opcode::min: return min_max<min_int>(f);
    case opcode::max: return min_max<max_int>(f);
    case opcode::sad: return choose_int(f.type[0], []<class T>(T) -> handler { return three<T, absolute_difference>; });
    case opcode::dp4a: return dot_of<false>(f);
    case opcode::dp2a: return dot_of<true>(f);
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
