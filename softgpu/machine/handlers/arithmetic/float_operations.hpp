// SPDX-License-Identifier: MIT
// Floating-point arithmetic of one lane, for float_arithmetic.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "softgpu/machine/handlers/arithmetic/floats.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

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

} // namespace softgpu::machine::SOFTGPU_TARGET
