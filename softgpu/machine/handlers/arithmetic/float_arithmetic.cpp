// SPDX-License-Identifier: MIT
// Arithmetic on floats and doubles: add sub mul mad fma div min max abs neg, roots, reciprocals and the approximations.
// What each does to one lane stands in float_operations.hpp.
#include <cstdint>

#include "softgpu/machine/handlers/arithmetic/elementwise.hpp"
#include "softgpu/machine/handlers/arithmetic/float_operations.hpp"
#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/type_dispatch.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

// use(a, ...) with the lanes of the operands.
template <class T, unsigned Operands, class Use>
SOFTGPU_INLINE void with_operands(const instruction* i, const warp* w, Use&& use) {
    if constexpr (Operands == 1) {
        use(read<T>(w, i->a));
    } else if constexpr (Operands == 2) {
        use(read<T>(w, i->a), read<T>(w, i->b));
    } else {
        use(read<T>(w, i->a), read<T>(w, i->b), read<T>(w, i->c));
    }
}

// Directed rounding. The mode stands in `more`, set by the decoder from the suffix.
template <class T, class F, unsigned Operands>
const instruction* directed(const instruction* i, std::byte* frame, warp* w) {
    T* const d = written<T>(frame, i->d);
    rounded(static_cast<int>(i->more),
            [&] { with_operands<T, Operands>(i, w, [&](const auto*... s) { map_lanes(w->mask, d, F{}, s...); }); });
    return go_on(i + 1, frame, w);
}

// d = F(s...) for both floats of each active lane.
template <class F, class... S>
SOFTGPU_INLINE void map_pairs(lane_mask mask, float* d, F&& f, const S*... s) {
    if (mask == all_lanes) [[likely]] {
        SOFTGPU_LANES
        for (unsigned k = 0; k < 2 * lanes; ++k) {
            d[k] = f(s[k]...);
        }
    } else {
        each_lane(mask, [&](unsigned l) {
            for (const unsigned k : {2 * l, 2 * l + 1}) {
                d[k] = f(s[k]...);
            }
        });
    }
}

// .f32x2: a register of 64 bits holds two floats, and the registers of a warp 64 in a row.
template <class F, unsigned Operands, bool Directed>
const instruction* pairs(const instruction* i, std::byte* frame, warp* w) {
    float* const d = written<float>(frame, i->d);
    const auto compute = [&] {
        with_operands<float, Operands>(i, w, [&](const auto*... s) { map_pairs(w->mask, d, F{}, s...); });
    };
    if constexpr (Directed) {
        rounded(static_cast<int>(i->more), compute);
    } else {
        compute();
    }
    return go_on(i + 1, frame, w);
}

template <class F, unsigned Operands>
handler pairs_of(const form& f) {
    if (f.has(suffix::sat)) {
        return nullptr;
    }
    const bool to_mode = directed_mode(f) >= 0;
    if (f.has(suffix::ftz)) {
        return to_mode ? pairs<with<F, true, false>, Operands, true> : pairs<with<F, true, false>, Operands, false>;
    }
    return to_mode ? pairs<with<F, false, false>, Operands, true> : pairs<with<F, false, false>, Operands, false>;
}

// The values of the halves of all lanes; exact.
template <class Half>
SOFTGPU_INLINE void widen_halves(float* out, const std::uint16_t* in) {
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        out[l] = static_cast<float>(widened<Half>(in[l]));
    }
}

// Mixed precision: all operands but the last are halves. They are widened before the rounding mode changes.
template <class Half, class F, unsigned Operands>
const instruction* mixed(const instruction* i, std::byte* frame, warp* w) {
    float* const d = written<float>(frame, i->d);
    alignas(64) float a[lanes];
    widen_halves<Half>(a, read<std::uint16_t>(w, i->a));
    if constexpr (Operands == 2) {
        rounded(static_cast<int>(i->more), [&] { map_lanes(w->mask, d, F{}, a, read<float>(w, i->b)); });
    } else {
        alignas(64) float b[lanes];
        widen_halves<Half>(b, read<std::uint16_t>(w, i->b));
        rounded(static_cast<int>(i->more), [&] { map_lanes(w->mask, d, F{}, a, b, read<float>(w, i->c)); });
    }
    return go_on(i + 1, frame, w);
}

template <class F, unsigned Operands>
handler mixed_of(const form& f) {
    if (f.type[0] != suffix::f32 || f.has(suffix::ftz)) {
        return nullptr;
    }
    const auto of = [&]<class Half>(Half) -> handler {
        return f.has(suffix::sat) ? mixed<Half, with<F, false, true>, Operands>
                                  : mixed<Half, with<F, false, false>, Operands>;
    };
    return f.type[1] == suffix::f16 ? of(f16_format{}) : f.type[1] == suffix::bf16 ? of(bf16_format{}) : nullptr;
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

// Three operands, as the newest architectures take them.
template <class F>
struct of_three {
    SOFTGPU_INLINE float operator()(float a, float b, float c) const { return F{}(F{}(a, b), c); }
};
template <class F>
struct of_three_magnitudes {
    SOFTGPU_INLINE float operator()(float a, float b, float c) const {
        return F{}(F{}(abs_float{}(a), abs_float{}(b)), abs_float{}(c));
    }
};
template <class F>
handler min_max_of_three(const form& f) {
    if (f.type[0] != suffix::f32 || f.has(suffix::xorsign)) {
        return nullptr;
    }
    return f.has(suffix::abs) ? float_of<float, of_three_magnitudes<F>, 3>(f) : float_of<float, of_three<F>, 3>(f);
}

template <class F>
handler min_max(const form& f) {
    if (f.operands == 4) {
        return f.has(suffix::NaN) ? min_max_of_three<keep_nan<F>>(f) : min_max_of_three<F>(f);
    }
    if (f.has(suffix::xorsign)) {
        return f.type[0] != suffix::f32 ? nullptr
               : f.has(suffix::NaN)     ? float_of<float, of_magnitudes<keep_nan<F>>, 2>(f)
                                        : float_of<float, of_magnitudes<F>, 2>(f);
    }
    return f.has(suffix::NaN) ? floats<keep_nan<F>, 2>(f) : floats<F, 2>(f);
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

handler choose_float_arithmetic(const form& f) {
    if (f.type[1] != suffix::none) {
        switch (f.op) {
        case opcode::add: return mixed_of<add_float, 2>(f);
        case opcode::sub: return mixed_of<sub_float, 2>(f);
        case opcode::fma: return mixed_of<fma_float, 3>(f);
        default: return nullptr;
        }
    }
    if (f.type[0] == suffix::f32x2) {
        switch (f.op) {
        case opcode::add: return pairs_of<add_float, 2>(f);
        case opcode::sub: return pairs_of<sub_float, 2>(f);
        case opcode::mul: return pairs_of<mul_float, 2>(f);
        case opcode::fma: return pairs_of<fma_float, 3>(f);
        default: return nullptr;
        }
    }
    switch (f.op) {
    case opcode::add: return floats<add_float, 2>(f);
    case opcode::sub: return floats<sub_float, 2>(f);
    case opcode::mul: return floats<mul_float, 2>(f);
    case opcode::mad:
    case opcode::fma: return floats<fma_float, 3>(f);
    case opcode::div: return floats<div_float, 2>(f);
    case opcode::abs: return signs<abs_float>(f);
    case opcode::neg: return signs<neg_float>(f);
    case opcode::min: return min_max<min_float>(f);
    case opcode::max: return min_max<max_float>(f);
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
