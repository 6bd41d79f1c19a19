// SPDX-License-Identifier: MIT
// Arithmetic and comparison of f16, bf16 and pairs of them: add sub mul fma neg abs min max ex2 tanh, set and setp.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"
#include "softgpu/machine/handlers/arithmetic/relation.hpp"
#include "softgpu/machine/handlers/choosers.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

// Bits of `more`, set by the decoder.
enum : std::uint32_t { flushing = 1, saturating = 2, not_negative = 4, keeping_nan = 8, signs_apart = 16 };

template <class F>
SOFTGPU_INLINE std::uint32_t flushed(std::uint32_t x, std::uint32_t how) {
    const bool subnormal = (x & (F::sign - 1)) < (1u << F::fraction);
    return (how & flushing) != 0 && subnormal ? x & F::sign : x;
}

// What .ftz, .sat and .relu make of a result.
template <class F>
SOFTGPU_INLINE std::uint32_t finished(std::uint32_t r, std::uint32_t how) {
    r = flushed<F>(r, how);
    constexpr std::uint32_t one = static_cast<std::uint32_t>(1 - F::least) << F::fraction;
    const bool nan = (r & (F::sign - 1)) > F::infinity;
    const bool negative = (r & F::sign) != 0;
    const std::uint32_t clamped = nan || negative ? 0 : r > one ? one : r;
    const std::uint32_t above = negative && !nan ? 0 : r;
    return (how & saturating) != 0 ? clamped : (how & not_negative) != 0 ? above : r;
}

struct add_half {
    SOFTGPU_INLINE double operator()(double a, double b) const { return a + b; }
};
struct sub_half {
    SOFTGPU_INLINE double operator()(double a, double b) const { return a - b; }
};
struct mul_half {
    SOFTGPU_INLINE double operator()(double a, double b) const { return a * b; }
};
struct fma_half {
    SOFTGPU_INLINE double operator()(double a, double b, double c) const { return fused_to_odd(a, b, c); }
};
struct exp_two_half {
    double operator()(double a) const { return std::exp2(a); }
};
struct tanh_half {
    double operator()(double a) const { return std::tanh(a); }
};

// Computed on values, rounded once.
template <class F, class Op>
struct on_values {
    template <class... T>
    SOFTGPU_INLINE std::uint32_t operator()(std::uint32_t how, T... x) const {
        return finished<F>(narrowed<F>(Op{}(widened<F>(flushed<F>(x, how))...)), how);
    }
};

// What tensor copies fill with where asked for NaN, and its negative: fma.oob gives 0 where a factor is one of them.
SOFTGPU_INLINE bool is_out_of_bounds(std::uint32_t x) { return (x & 0x7FFF) == 0x7FF7; }
template <class F>
struct fma_or_zero {
    SOFTGPU_INLINE std::uint32_t operator()(std::uint32_t how, std::uint32_t a, std::uint32_t b,
                                            std::uint32_t c) const {
        const std::uint32_t r = on_values<F, fma_half>{}(how, a, b, c);
        return is_out_of_bounds(a) || is_out_of_bounds(b) ? 0 : r;
    }
};

template <class F, bool Max>
struct extreme_half {
    SOFTGPU_INLINE std::uint32_t operator()(std::uint32_t how, std::uint32_t a, std::uint32_t b) const {
        a = flushed<F>(a, how);
        b = flushed<F>(b, how);
        const bool apart = (how & signs_apart) != 0;
        const std::uint32_t signs = apart ? (a ^ b) & F::sign : 0;
        a &= apart ? F::sign - 1 : 0xFFFFu;
        b &= apart ? F::sign - 1 : 0xFFFFu;
        const bool nan_a = is_nan<F>(a);
        const bool nan_b = is_nan<F>(b);
        const bool nan = (nan_a && nan_b) || ((how & keeping_nan) != 0 && (nan_a || nan_b));
        const std::uint32_t r = nan ? F::nan : extreme<F, Max>(a, b);
        const std::uint32_t above = (how & not_negative) != 0 && !nan && (r & F::sign) != 0 ? 0 : r;
        return above | (nan ? 0 : signs);
    }
};
template <class F>
struct abs_half {
    SOFTGPU_INLINE std::uint32_t operator()(std::uint32_t how, std::uint32_t a) const {
        return flushed<F>(a, how) & (F::sign - 1);
    }
};
template <class F>
struct neg_half {
    SOFTGPU_INLINE std::uint32_t operator()(std::uint32_t how, std::uint32_t a) const {
        return flushed<F>(a, how) ^ F::sign;
    }
};

// One or two halves a lane.
template <class Op, class Lane>
struct by_lane {
    std::uint32_t how;
    template <class... T>
    SOFTGPU_INLINE Lane operator()(T... x) const {
        if constexpr (sizeof(Lane) == 2) {
            return static_cast<Lane>(Op{}(how, std::uint32_t{x}...));
        } else {
            return Op{}(how, (x >> 16)...) << 16 | Op{}(how, (x & 0xFFFF)...);
        }
    }
};

template <class Op, class Lane, unsigned Operands, bool Library>
const instruction* compute(const instruction* i, std::byte* frame, warp* w) {
    const by_lane<Op, Lane> f{i->more};
    Lane* const d = written<Lane>(frame, i->d);
    const Lane* const a = read<Lane>(w, i->a);
    if constexpr (Library) {
        map_active(w->mask, d, f, a);
    } else if constexpr (Operands == 1) {
        map_lanes(w->mask, d, f, a);
    } else if constexpr (Operands == 2) {
        map_lanes(w->mask, d, f, a, read<Lane>(w, i->b));
    } else {
        map_lanes(w->mask, d, f, a, read<Lane>(w, i->b), read<Lane>(w, i->c));
    }
    return go_on(i + 1, frame, w);
}

// choice(Format{}, Lane{}) for the type.
template <class Choice>
handler by_type(suffix t, Choice&& choice) {
    switch (t) {
    case suffix::f16: return choice(f16_format{}, std::uint16_t{});
    case suffix::f16x2: return choice(f16_format{}, std::uint32_t{});
    case suffix::bf16: return choice(bf16_format{}, std::uint16_t{});
    case suffix::bf16x2: return choice(bf16_format{}, std::uint32_t{});
    default: return nullptr;
    }
}

template <class Op, unsigned Operands, bool Library = false>
handler computed(const form& f) {
    return by_type(f.type[0], []<class F, class Lane>(F, Lane) -> handler {
        return compute<on_values<F, Op>, Lane, Operands, Library>;
    });
}

// How a comparison is kept in `more`: bits 0 to 2 as every setp (how it combines with a predicate), then .ftz and the
// relation.
enum : std::uint32_t { compare_flushing = 8, relation_shift = 4 };

// Which lanes' half number `half` compares so.
template <class F, class Lane>
lane_mask compared(const instruction* i, warp* w, unsigned half) {
    const Lane* const a = read<Lane>(w, i->a);
    const Lane* const b = read<Lane>(w, i->b);
    const auto r = static_cast<relation>(i->more >> relation_shift & 15);
    const std::uint32_t how = (i->more & compare_flushing) != 0 ? std::uint32_t{flushing} : 0u;
    lane_mask yes = 0;
    each_lane(w->mask, [&](unsigned l) {
        const std::uint32_t x = flushed<F>(a[l] >> (16 * half) & 0xFFFFu, how);
        const std::uint32_t y = flushed<F>(b[l] >> (16 * half) & 0xFFFFu, how);
        yes |= static_cast<lane_mask>(compares(r, widened<F>(x), widened<F>(y))) << l;
    });
    return yes;
}

// setp: of a pair, the first predicate is that of the lower half.
template <class F, class Lane>
const instruction* set_predicates(const instruction* i, std::byte* frame, warp* w) {
    const lane_mask with = i->c == nowhere ? 0 : read_mask(w, i->c);
    const lane_mask low = compared<F, Lane>(i, w, 0);
    const lane_mask high = sizeof(Lane) == 2 ? ~low : compared<F, Lane>(i, w, 1);
    write_mask(frame, w, i->d, combined(i->more, low, with));
    if (i->e != nowhere) {
        write_mask(frame, w, i->e, combined(i->more, high, with));
    }
    return i + 1;
}

// set: d = `immediate` where the comparison holds, else 0, for each half by itself.
template <class F, class Lane>
const instruction* set_values(const instruction* i, std::byte* frame, warp* w) {
    const lane_mask with = i->c == nowhere ? 0 : read_mask(w, i->c);
    const lane_mask low = combined(i->more, compared<F, Lane>(i, w, 0), with);
    const auto value = static_cast<std::uint32_t>(i->immediate);
    if constexpr (sizeof(Lane) == 4) {
        const lane_mask high = combined(i->more, compared<F, Lane>(i, w, 1), with);
        auto* const d = written<std::uint32_t>(frame, i->d);
        each_lane(w->mask, [&](unsigned l) {
            d[l] = ((low >> l & 1) != 0 ? value & 0xFFFF : 0) | ((high >> l & 1) != 0 ? value & 0xFFFF0000 : 0);
        });
    } else if (i->width[0] == 2) {
        auto* const d = written<std::uint16_t>(frame, i->d);
        each_lane(w->mask, [&](unsigned l) { d[l] = static_cast<std::uint16_t>((low >> l & 1) != 0 ? value : 0); });
    } else {
        auto* const d = written<std::uint32_t>(frame, i->d);
        each_lane(w->mask, [&](unsigned l) { d[l] = (low >> l & 1) != 0 ? value : 0; });
    }
    return i + 1;
}

} // namespace

handler choose_half_arithmetic(const form& f) {
    if (f.type[1] != suffix::none || f.has(suffix::rz) || f.has(suffix::rm) || f.has(suffix::rp)) {
        return nullptr;
    }
    if (f.has(suffix::oob)) {
        return f.op != opcode::fma ? nullptr : by_type(f.type[0], []<class F, class Lane>(F, Lane) -> handler {
            return compute<fma_or_zero<F>, Lane, 3, false>;
        });
    }
    switch (f.op) {
    case opcode::add: return computed<add_half, 2>(f);
    case opcode::sub: return computed<sub_half, 2>(f);
    case opcode::mul: return computed<mul_half, 2>(f);
    case opcode::fma: return computed<fma_half, 3>(f);
    case opcode::ex2: return computed<exp_two_half, 1, true>(f);
    case opcode::tanh: return computed<tanh_half, 1, true>(f);
    case opcode::abs:
        return by_type(f.type[0],
                       []<class F, class Lane>(F, Lane) -> handler { return compute<abs_half<F>, Lane, 1, false>; });
    case opcode::neg:
        return by_type(f.type[0],
                       []<class F, class Lane>(F, Lane) -> handler { return compute<neg_half<F>, Lane, 1, false>; });
    case opcode::min:
        return by_type(f.type[0], []<class F, class Lane>(F, Lane) -> handler {
            return compute<extreme_half<F, false>, Lane, 2, false>;
        });
    case opcode::max:
        return by_type(f.type[0], []<class F, class Lane>(F, Lane) -> handler {
            return compute<extreme_half<F, true>, Lane, 2, false>;
        });
    default: return nullptr;
    }
}

handler choose_half_compare(const form& f) {
    const bool sets = f.op == opcode::set;
    if (f.op != opcode::setp && !sets) {
        return nullptr;
    }
    return by_type(f.type[sets ? 1 : 0], [sets]<class F, class Lane>(F, Lane) -> handler {
        return sets ? set_values<F, Lane> : set_predicates<F, Lane>;
    });
}

} // namespace softgpu::machine::SOFTGPU_TARGET
