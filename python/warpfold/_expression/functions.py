# SPDX-License-Identifier: MIT
"""NumPy's functions of elements in C++, on the host and in kernels. Types are those of NumPy's loops."""
from __future__ import annotations

from typing import Any

import numpy as np

# Kinds of inputs, and the result of {0}, {1}, which have the types of the loop. It is converted to the loop's result type.
FUNCTIONS: dict[Any, tuple[str, str]] = {
    np.add: ("biuf", "{0} + {1}"), np.subtract: ("iuf", "{0} - {1}"), np.multiply: ("biuf", "{0} * {1}"),
    np.true_divide: ("f", "{0} / {1}"), np.floor_divide: ("iu", "wf_quotient({0}, {1})"),
    np.remainder: ("iu", "wf_remainder({0}, {1})"), np.negative: ("iuf", "-{0}"), np.positive: ("iuf", "{0}"),
    np.square: ("iuf", "{0} * {0}"), np.absolute: ("biuf", "wf_magnitude({0})"), np.sign: ("iuf", "wf_sign({0})"),
    np.minimum: ("biuf", "wf_smaller({0}, {1})"), np.maximum: ("biuf", "wf_larger({0}, {1})"),
    np.power: ("f", "pow({0}, {1})"), np.arctan2: ("f", "atan2({0}, {1})"), np.hypot: ("f", "hypot({0}, {1})"),
    np.copysign: ("f", "copysign({0}, {1})"),
    np.bitwise_and: ("biu", "{0} & {1}"), np.bitwise_or: ("biu", "{0} | {1}"), np.bitwise_xor: ("biu", "{0} ^ {1}"),
    np.invert: ("biu", "wf_inverse({0})"), np.left_shift: ("iu", "wf_left({0}, {1})"), np.right_shift: ("iu", "wf_right({0}, {1})"),
    np.logical_and: ("biuf", "{0} != 0 && {1} != 0"), np.logical_or: ("biuf", "{0} != 0 || {1} != 0"),
    np.logical_xor: ("biuf", "({0} != 0) != ({1} != 0)"), np.logical_not: ("biuf", "{0} == 0"),
    np.isnan: ("f", "{0} != {0}"), np.isfinite: ("f", "{0} - {0} == 0"), np.isinf: ("f", "{0} == {0} && {0} - {0} != 0"),
    np.rint: ("f", "rint({0})"),
}
COMPARISONS: dict[Any, str] = {np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=", np.equal: "==",
                               np.not_equal: "!="}
FUNCTIONS |= {comparison: ("biuf", "{0} " + sign + " {1}") for comparison, sign in COMPARISONS.items()}
FUNCTIONS |= {function: ("f", name + "({0})") for function, name in (
    (np.sqrt, "sqrt"), (np.cbrt, "cbrt"), (np.exp, "exp"), (np.exp2, "exp2"), (np.expm1, "expm1"), (np.log, "log"), (np.log2, "log2"),
    (np.log10, "log10"), (np.log1p, "log1p"), (np.sin, "sin"), (np.cos, "cos"), (np.tan, "tan"), (np.sinh, "sinh"),
    (np.cosh, "cosh"), (np.tanh, "tanh"), (np.arcsin, "asin"), (np.arccos, "acos"), (np.arctan, "atan"), (np.floor, "floor"),
    (np.ceil, "ceil"), (np.trunc, "trunc"))}

# Integers wrap; division by 0 gives 0, as NumPy's; a shift by the width or more gives what bits are left.
HELPERS = """
template <class T> WF_INLINE T wf_smaller(T a, T b) { return a != a ? a : b != b ? b : b < a ? b : a; }
template <class T> WF_INLINE T wf_larger(T a, T b) { return a != a ? a : b != b ? b : a < b ? b : a; }
template <class T> WF_INLINE T wf_magnitude(T a) { return a < T(0) ? T(-a) : a == T(0) ? T(0) : a; }
template <class T> WF_INLINE T wf_sign(T a) { return a != a ? a : a < T(0) ? T(-1) : a > T(0) ? T(1) : T(0); }
template <class T> WF_INLINE T wf_quotient(T a, T b) {
    if (b == T(0)) return T(0);
    if (T(-1) < T(0) && b == T(-1)) return T(-a);
    const T q = T(a / b);
    return T(q * b) != a && (a < T(0)) != (b < T(0)) ? T(q - 1) : q;
}
template <class T> WF_INLINE T wf_remainder(T a, T b) {
    if (b == T(0) || (T(-1) < T(0) && b == T(-1))) return T(0);
    const T r = T(a % b);
    return r != T(0) && (r < T(0)) != (b < T(0)) ? T(r + b) : r;
}
template <class T> WF_INLINE T wf_inverse(T a) { return T(~a); }
template <> WF_INLINE bool wf_inverse<bool>(bool a) { return !a; }
template <class T> WF_INLINE T wf_left(T a, T b) { return b >= T(0) && b < T(8 * sizeof(T)) ? T(a << b) : T(0); }
template <class T> WF_INLINE T wf_right(T a, T b) {
    return b >= T(0) && b < T(8 * sizeof(T)) ? T(a >> b) : a < T(0) ? T(-1) : T(0);
}
"""

# float16 is computed in float and rounded after each function, as by NumPy. wf_half rounds, to nearest even; wf_from_half and
# wf_to_half convert the bits, the latter of a value that is rounded.
HOST_HALF = """
static inline double wf_bits_half(unsigned long long bits) { double x; __builtin_memcpy(&x, &bits, 8); return x; }
static inline float wf_half(double x) {
    const double a = fabs(x);
    if (!(a < 65520.0)) return (float)(x != x ? x : x > 0 ? wf_inf : -wf_inf);
    double near;
    if (a < 0x1p-14) {
        near = (a + 0x1p28) - 0x1p28;
    } else {
        unsigned long long bits;
        __builtin_memcpy(&bits, &a, 8);
        bits += 0x1ffffffffffull + ((bits >> 42) & 1);
        near = wf_bits_half(bits & ~0x3ffffffffffull);
    }
    return (float)copysign(near, x);
}
static inline float wf_from_half(unsigned short h) {
    const int exponent = (h >> 10) & 31, rest = h & 1023;
    const double a = exponent == 31 ? (rest ? wf_nan : wf_inf) : exponent == 0 ? rest * 0x1p-24 : ldexp(1024 + rest, exponent - 25);
    return (float)(h & 0x8000 ? -a : a);
}
static inline unsigned short wf_to_half(float x) {
    const int sign = signbit(x) ? 0x8000 : 0;
    const double a = fabs((double)x);
    if (x != x) return 0x7e00;
    if (a > 65504.0) return (unsigned short)(sign | 0x7c00);
    if (a < 0x1p-14) return (unsigned short)(sign | (int)(a * 0x1p24));
    int exponent;
    const double fraction = frexp(a, &exponent);
    return (unsigned short)(sign | ((exponent + 14) << 10) | ((int)(fraction * 2048.0) - 1024));
}
"""
GPU_HALF = """
WF_INLINE float wf_from_half(unsigned short h) { float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h)); return x; }
WF_INLINE unsigned short wf_to_half(float x) { unsigned short h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }
WF_INLINE float wf_half(float x) { return wf_from_half(wf_to_half(x)); }
WF_INLINE float wf_half(double x) { unsigned short h; asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(x)); return wf_from_half(h); }
template <class T> WF_INLINE float wf_half(T x) { return wf_half((float)x); }
"""
