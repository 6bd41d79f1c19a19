// SPDX-License-Identifier: MIT
// cvt where a number of 16 bits or less takes part, and cvt to tf32. Every source is first a double: exact, or odd in
// its last place where an integer of 64 bits has more places, which no rounding to a half can tell from the exact value.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "softgpu/machine/handlers/arithmetic/conversions.hpp"
#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/type_dispatch.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

template <class T>
constexpr bool is_format = requires {
    T::fraction;
};

// Rounded as `how` says, with .sat, .relu and .satfinite.
template <class F>
std::uint32_t rounded_to(double x, std::uint32_t how) {
    if (F::fraction == 10 && F::least == -14 && (how & flushing) != 0 && magnitude_of(x) < 0x1p-14) {
        x = std::copysign(0.0, x);
    }
    std::uint32_t r = narrowed<F>(x);
    const auto mode = static_cast<round_to>(how & round_bits);
    if (mode != round_to::nearest && x == x) {
        const double near = widened<F>(r);
        const bool negative = (r & F::sign) != 0;
        const bool too_high = near > x && (mode == round_to::down || (mode == round_to::zero && !negative));
        const bool too_low = near < x && (mode == round_to::up || (mode == round_to::zero && negative));
        if (too_high || too_low) {
            r = too_high == negative ? r + 1 : r - 1; // away from zero, or towards it
        }
    }
    const bool nan = (r & (F::sign - 1)) > F::infinity || (!F::infinite && x != x);
    if ((how & saturating) != 0) {
        constexpr std::uint32_t one = static_cast<std::uint32_t>(1 - F::least) << F::fraction;
        return nan || (r & F::sign) != 0 ? 0 : r > one ? one : r;
    }
    if (nan) {
        return F::nan;
    }
    if ((how & keeping_finite) != 0 && (r & (F::sign - 1)) >= F::infinity) {
        r -= 1;
    }
    return (how & not_negative) != 0 && (r & F::sign) != 0 ? 0 : r;
}

// A number as a double.
template <class T>
double value_of(T x) {
    if constexpr (sizeof(T) < 8 || std::is_floating_point_v<T>) {
        return static_cast<double>(x);
    } else {
        const bool negative = std::is_signed_v<T> && x < 0;
        const auto m = negative ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
        const double exact = m < (1ull << 53) ? static_cast<double>(m)
                                              : static_cast<double>(m >> 11 | ((m & 2047) != 0 ? 1u : 0u)) * 2048.0;
        return negative ? -exact : exact;
    }
}

// From a half to an integer, a float or a half.
template <class D, class S>
const instruction* from_half(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t how = i->more;
    alignas(64) std::uint16_t in[lanes];
    widen_in(in, w, i->a, i->width[1]);
    if constexpr (is_format<D>) {
        alignas(64) std::uint16_t out[lanes] = {};
        each_lane(w->mask, [&](unsigned l) {
            double x = widened<S>(in[l]);
            x = (how & to_integral) != 0 ? integral(x, how) : x;
            out[l] = static_cast<std::uint16_t>(rounded_to<D>(x, (how & to_integral) != 0 ? how & ~3u : how));
        });
        widen_out(out, frame, w->mask, i->d, i->width[0]);
    } else if constexpr (std::is_floating_point_v<D>) {
        map_lanes(
            w->mask, written<D>(frame, i->d),
            [how](std::uint16_t x) {
                if constexpr (std::is_same_v<S, bf16_format> && sizeof(D) == 4) {
                    const float exact = std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
                    const float kept = (how & flushing) != 0 ? flush(exact) : exact;
                    return (how & saturating) != 0 ? saturate(kept) : kept;
                } else {
                    const D exact = canonical(static_cast<D>(widened<S>(x)));
                    return (how & saturating) != 0 ? saturate(exact) : exact;
                }
            },
            in);
    } else {
        alignas(64) D out[lanes] = {};
        each_lane(w->mask, [&](unsigned l) {
            const auto x = static_cast<float>(widened<S>(in[l]));
            out[l] = bounded<D>(integral((how & flushing) != 0 ? flush(x) : x, how));
        });
        widen_out(out, frame, w->mask, i->d, i->width[0]);
    }
    return i + 1;
}

// From an integer or a float to a half.
template <class D, class S>
const instruction* to_half(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t how = i->more;
    alignas(64) S in[lanes];
    if constexpr (std::is_floating_point_v<S>) {
        std::memcpy(in, read<bits_of<S>>(w, i->a), sizeof(in));
    } else {
        widen_in(in, w, i->a, i->width[1]);
    }
    alignas(64) std::uint16_t out[lanes] = {};
    if (std::is_floating_point_v<S> && how == 0) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            out[l] = static_cast<std::uint16_t>(narrowed<D>(static_cast<double>(in[l])));
        }
    } else {
        each_lane(w->mask,
                  [&](unsigned l) { out[l] = static_cast<std::uint16_t>(rounded_to<D>(value_of(in[l]), how)); });
    }
    widen_out(out, frame, w->mask, i->d, i->width[0]);
    return i + 1;
}

// d = {a, b} rounded to F, a in the upper part.
template <class F>
const instruction* pair_of_floats(const instruction* i, std::byte* frame, warp* w) {
    constexpr unsigned shift = 8 * sizeof(typename F::bits);
    using Lane = std::conditional_t<shift == 16, std::uint32_t, std::uint16_t>;
    const std::uint32_t how = i->more;
    alignas(64) Lane out[lanes] = {};
    const float* const a = read<float>(w, i->a);
    const float* const b = read<float>(w, i->b);
    each_lane(w->mask, [&](unsigned l) {
        out[l] = static_cast<Lane>(rounded_to<F>(static_cast<double>(a[l]), how) << shift |
                                   rounded_to<F>(static_cast<double>(b[l]), how));
    });
    widen_out(out, frame, w->mask, i->d, i->width[0]);
    return i + 1;
}

// Both halves of `a`, from S to D.
template <class D, class S>
const instruction* pair_of_halves(const instruction* i, std::byte* frame, warp* w) {
    constexpr unsigned to = 8 * sizeof(typename D::bits);
    constexpr unsigned from = 8 * sizeof(typename S::bits);
    using Lane = std::conditional_t<to == 16, std::uint32_t, std::uint16_t>;
    const std::uint32_t how = i->more;
    alignas(64) std::uint32_t in[lanes];
    alignas(64) Lane out[lanes] = {};
    widen_in(in, w, i->a, i->width[1]);
    each_lane(w->mask, [&](unsigned l) {
        const std::uint32_t low = in[l] & ((1u << from) - 1);
        const std::uint32_t high = in[l] >> from & ((1u << from) - 1);
        out[l] = static_cast<Lane>(rounded_to<D>(widened<S>(high), how) << to | rounded_to<D>(widened<S>(low), how));
    });
    widen_out(out, frame, w->mask, i->d, i->width[0]);
    return i + 1;
}

const instruction* to_tf32(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t how = i->more;
    const auto* const a = read<float>(w, i->a);
    auto* const d = written<std::uint32_t>(frame, i->d);
    each_lane(w->mask, [&](unsigned l) {
        const float x = a[l];
        const auto all = std::bit_cast<std::uint32_t>(x);
        const std::uint32_t m = all & 0x7FFFFFFF;
        std::uint32_t r = 0;
        if ((how & ties_away) == 0) {
            r = rounded_to<tf32_format>(static_cast<double>(x), how) << 13;
        } else if (m <= 0x7F800000) {
            r = m == 0x7F800000 ? m : (m + 0x1000) & ~0x1FFFu;
            r = (how & keeping_finite) != 0 && r == 0x7F800000 ? r - 0x2000 : r;
            r |= all & 0x80000000;
        }
        d[l] = m > 0x7F800000 ? 0x7FFFFFFF : r;
    });
    return i + 1;
}

template <class Choice>
handler choose_scalar_half(suffix t, Choice&& choice) {
    return t == suffix::f16 ? choice(f16_format{}) : t == suffix::bf16 ? choice(bf16_format{}) : nullptr;
}

handler choose_pair(const form& f) {
    const bool two = f.operands == 3;
    if (two && f.type[1] == suffix::f32) {
        switch (f.type[0]) {
        case suffix::f16x2: return pair_of_floats<f16_format>;
        case suffix::bf16x2: return pair_of_floats<bf16_format>;
        case suffix::e4m3x2: return pair_of_floats<e4m3_format>;
        case suffix::e5m2x2: return pair_of_floats<e5m2_format>;
        default: return nullptr;
        }
    }
    if (two) {
        return nullptr;
    }
    switch (f.type[1]) {
    case suffix::f16x2:
        return f.type[0] == suffix::e4m3x2   ? pair_of_halves<e4m3_format, f16_format>
               : f.type[0] == suffix::e5m2x2 ? pair_of_halves<e5m2_format, f16_format>
                                             : nullptr;
    case suffix::e4m3x2: return f.type[0] == suffix::f16x2 ? pair_of_halves<f16_format, e4m3_format> : nullptr;
    case suffix::e5m2x2: return f.type[0] == suffix::f16x2 ? pair_of_halves<f16_format, e5m2_format> : nullptr;
    default: return nullptr;
    }
}

} // namespace

handler choose_half_convert(const form& f) {
    if (f.op != opcode::cvt || f.has(suffix::rs)) {
        return nullptr;
    }
    if (f.type[0] == suffix::tf32) {
        return f.type[1] == suffix::f32 && f.operands == 2 ? to_tf32 : nullptr;
    }
    if (const handler pair = choose_pair(f); pair != nullptr || f.operands > 2) {
        return pair;
    }
    const handler from = choose_scalar_half(f.type[1], [&]<class S>(S) -> handler {
        const handler plain = choose_number(f.type[0], []<class D>(D) -> handler { return from_half<D, S>; });
        return plain != nullptr ? plain
                                : choose_scalar_half(f.type[0], []<class D>(D) -> handler { return from_half<D, S>; });
    });
    return from != nullptr ? from : choose_scalar_half(f.type[0], [&]<class D>(D) -> handler {
        return choose_number(f.type[1], []<class S>(S) -> handler { return to_half<D, S>; });
    });
}

} // namespace softgpu::machine::SOFTGPU_TARGET
