// SPDX-License-Identifier: MIT
// cvt of single numbers where one has 16 bits or less, and cvt to tf32. Every source is first a double: exact, or odd in
// its last place where an integer of 64 bits has more places, which no rounding to a half can tell from the exact value.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "softgpu/machine/handlers/arithmetic/small_rounding.hpp"
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

} // namespace

handler choose_half_convert(const form& f) {
    if (f.op != opcode::cvt) {
        return nullptr;
    }
    if (f.type[0] == suffix::tf32) {
        return f.type[1] == suffix::f32 && f.operands == 2 ? to_tf32 : nullptr;
    }
    if (const handler packed = choose_packed_convert(f); packed != nullptr || f.operands > 2) {
        return packed;
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
