// SPDX-License-Identifier: MIT
// cvt of two or four numbers at a time: halves, and floats of 8 bits and fewer. Source: PTX ISA 9.0, cvt.
#include <cstdint>
#include <type_traits>

#include "softgpu/machine/handlers/arithmetic/small_rounding.hpp"
#include "softgpu/machine/handlers/choosers.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::suffix;

// What holds `Count` numbers of F.
template <class F, unsigned Count>
using packed = std::conditional_t<F::slot * Count <= 16, std::uint16_t, std::uint32_t>;

// out[lane] = make(lane) for the active lanes, then to the register.
template <class Lane, class Make>
SOFTGPU_INLINE const instruction* write_packed(const instruction* i, std::byte* frame, warp* w, Make&& make) {
    alignas(64) Lane out[lanes] = {};
    each_lane(w->mask, [&](unsigned l) { out[l] = static_cast<Lane>(make(l)); });
    widen_out(out, frame, w->mask, i->d, i->width[0]);
    return i + 1;
}

// d = {a, b} rounded to F, a in the upper part.
template <class F>
const instruction* pair_of_floats(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t how = i->more;
    const float* const a = read<float>(w, i->a);
    const float* const b = read<float>(w, i->b);
    return write_packed<packed<F, 2>>(i, frame, w, [&](unsigned l) {
        return rounded_to<F>(static_cast<double>(a[l]), how) << F::slot | rounded_to<F>(static_cast<double>(b[l]), how);
    });
}

// The same with .rs: `Bits` bits of each half of c are those of one number.
template <class F, unsigned Bits>
const instruction* drawn_pair(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t how = i->more;
    const float* const a = read<float>(w, i->a);
    const float* const b = read<float>(w, i->b);
    const auto* const random = read<std::uint32_t>(w, i->c);
    return write_packed<packed<F, 2>>(i, frame, w, [&](unsigned l) {
        const auto one = [how](float x, std::uint32_t r) {
            return rounded_to<F>(drawn<F, Bits>(static_cast<double>(x), r & ((1u << Bits) - 1)), how);
        };
        return one(a[l], random[l] >> 16) << F::slot | one(b[l], random[l]);
    });
}

// d = {a, b, e, f} with .rs, a in the upper part. The upper half of b's random bits is for the first two, the lower half
// for the others; formats of 4 bits take a byte each, the first two the upper bytes of both halves.
template <class F>
const instruction* drawn_four(const instruction* i, std::byte* frame, warp* w) {
    constexpr unsigned bits = F::slot == 4 ? 8 : 16;
    constexpr unsigned shifts[] = {bits == 8 ? 24 : 16, bits == 8 ? 8 : 16, bits == 8 ? 16 : 0, 0};
    const std::uint32_t how = i->more;
    const auto* const random = read<std::uint32_t>(w, i->b);
    return write_packed<packed<F, 4>>(i, frame, w, [&](unsigned l) {
        std::uint32_t all = 0;
        for (unsigned k = 0; k < 4; ++k) {
            const auto x = static_cast<double>(read<float>(w, i->places[k])[l]);
            const std::uint32_t r = random[l] >> shifts[k] & ((1u << bits) - 1);
            all = all << F::slot | rounded_to<F>(drawn<F, bits>(x, r), how);
        }
        return all;
    });
}

// Both numbers of `a`, from S to D.
template <class D, class S>
const instruction* pair_of_halves(const instruction* i, std::byte* frame, warp* w) {
    constexpr std::uint32_t part = (1u << S::slot) - 1;
    const std::uint32_t how = i->more;
    alignas(64) std::uint32_t in[lanes];
    widen_in(in, w, i->a, i->width[1]);
    return write_packed<packed<D, 2>>(i, frame, w, [&](unsigned l) {
        return rounded_to<D>(widened<S>(in[l] >> S::slot & part), how) << D::slot |
               rounded_to<D>(widened<S>(in[l] & part), how);
    });
}

// The magnitude of a float as a power of two, ue8m0: its exponent, 0xFF for NaN and, without .satfinite, what is too large.
SOFTGPU_INLINE std::uint32_t scale_of(std::uint32_t x, std::uint32_t how) {
    const std::uint32_t m = x & 0x7FFFFFFF;
    const bool up = static_cast<round_to>(how & round_bits) == round_to::up;
    const bool between = (m & 0x007FFFFF) != 0 && m > 0x00400000; // 2^-127 has the pattern 0
    const std::uint32_t r = (m >> 23) + (up && between && m < 0x7F800000 ? 1 : 0);
    return (how & keeping_finite) != 0 && m <= 0x7F800000 && r == 0xFF ? 0xFE : r;
}

const instruction* scales_of_floats(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t how = i->more;
    const auto* const a = read<std::uint32_t>(w, i->a);
    const auto* const b = read<std::uint32_t>(w, i->b);
    return write_packed<std::uint16_t>(i, frame, w,
                                       [&](unsigned l) { return scale_of(a[l], how) << 8 | scale_of(b[l], how); });
}

const instruction* scales_of_halves(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t how = i->more;
    const auto* const a = read<std::uint32_t>(w, i->a);
    return write_packed<std::uint16_t>(
        i, frame, w, [&](unsigned l) { return scale_of(a[l] & 0xFFFF0000, how) << 8 | scale_of(a[l] << 16, how); });
}

const instruction* halves_of_scales(const instruction* i, std::byte* frame, warp* w) {
    const auto value = [](std::uint32_t x) -> std::uint32_t {
        return x == 0 ? 0x0040 : x == 0xFF ? bf16_format::nan : x << 7;
    };
    alignas(64) std::uint32_t in[lanes];
    widen_in(in, w, i->a, i->width[1]);
    return write_packed<std::uint32_t>(
        i, frame, w, [&](unsigned l) { return value(in[l] >> 8 & 0xFF) << 16 | value(in[l] & 0xFF); });
}

// choice(Format{}) for the packed type; nullptr for any other.
template <class Choice>
handler by_format(suffix t, Choice&& choice) {
    switch (t) {
    case suffix::f16x2: return choice(f16_format{});
    case suffix::bf16x2: return choice(bf16_format{});
    case suffix::e4m3x2:
    case suffix::e4m3x4: return choice(e4m3_format{});
    case suffix::e5m2x2:
    case suffix::e5m2x4: return choice(e5m2_format{});
    case suffix::e3m2x2:
    case suffix::e3m2x4: return choice(e3m2_format{});
    case suffix::e2m3x2:
    case suffix::e2m3x4: return choice(e2m3_format{});
    case suffix::e2m1x2:
    case suffix::e2m1x4: return choice(e2m1_format{});
    default: return nullptr;
    }
}

bool is_of_four(suffix t) {
    return t == suffix::e4m3x4 || t == suffix::e5m2x4 || t == suffix::e3m2x4 || t == suffix::e2m3x4 ||
           t == suffix::e2m1x4;
}

handler choose_drawn(const form& f) {
    const suffix to = f.type[0];
    if (f.type[1] != suffix::f32) {
        return nullptr;
    }
    if (is_of_four(to)) {
        return f.operands != 3 ? nullptr : by_format(to, []<class F>(F) -> handler { return drawn_four<F>; });
    }
    return f.operands != 4        ? nullptr
           : to == suffix::f16x2  ? drawn_pair<f16_format, 13>
           : to == suffix::bf16x2 ? drawn_pair<bf16_format, 16>
                                  : nullptr;
}

handler choose_scales(const form& f) {
    if (f.type[1] == suffix::ue8m0x2) {
        return f.operands == 2 && f.type[0] == suffix::bf16x2 ? halves_of_scales : nullptr;
    }
    return f.operands == 3 && f.type[1] == suffix::f32      ? scales_of_floats
           : f.operands == 2 && f.type[1] == suffix::bf16x2 ? scales_of_halves
                                                            : nullptr;
}

} // namespace

handler choose_packed_convert(const form& f) {
    const suffix to = f.type[0];
    const suffix from = f.type[1];
    if (f.has(suffix::rs)) {
        return choose_drawn(f);
    }
    if (is_of_four(to)) {
        return nullptr;
    }
    if (to == suffix::ue8m0x2 || from == suffix::ue8m0x2) {
        return choose_scales(f);
    }
    if (f.operands == 3) {
        return from == suffix::f32 ? by_format(to, []<class F>(F) -> handler { return pair_of_floats<F>; }) : nullptr;
    }
    if (to == suffix::f16x2) {
        return ptx::bytes_of(from) > 2
                   ? nullptr
                   : by_format(from, []<class F>(F) -> handler { return pair_of_halves<f16_format, F>; });
    }
    return from == suffix::f16x2 && to != suffix::bf16x2
               ? by_format(to, []<class F>(F) -> handler { return pair_of_halves<F, f16_format>; })
               : nullptr;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
