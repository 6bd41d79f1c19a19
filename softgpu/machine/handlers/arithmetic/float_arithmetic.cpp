// SPDX-License-Identifier: MIT
// Arithmetic on floats and doubles: add sub mul mad fma div min max abs neg, roots, reciprocals and the approximations.
// What each does to one lane stands in float_operations.hpp.
#include <cstdint>

#include "softgpu/machine/handlers/arithmetic/elementwise.hpp"
#include "softgpu/machine/handlers/arithmetic/float_operations.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/type_dispatch.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

// Directed rounding. The mode stands in `more`, set by the decoder from the suffix.
template <class T, class F, unsigned Operands>
const instruction* directed(const instruction* i, std::byte* frame, warp* w) {
    T* const d = written<T>(frame, i->d);
    rounded(static_cast<int>(i->more), [&] {
        if constexpr (Operands == 1) {
            map_lanes(w->mask, d, F{}, read<T>(w, i->a));
        } else if constexpr (Operands == 2) {
            map_lanes(w->mask, d, F{}, read<T>(w, i->a), read<T>(w, i->b));
        } else {
            map_lanes(w->mask, d, F{}, read<T>(w, i->a), read<T>(w, i->b), read<T>(w, i->c));
        }
    });
    return go_on(i + 1, frame, w);
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
        return nullptr; // operands of mixed precision
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
