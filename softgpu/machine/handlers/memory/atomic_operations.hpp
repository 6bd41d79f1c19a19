// SPDX-License-Identifier: MIT
// What atom and red do to a word, as types with a function of the old value and the operands; and how a word of global memory is
// updated, by the host's own atomics.
#pragma once

#include "softgpu/machine/handlers/arithmetic/floats.hpp"
#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"
#include "softgpu/machine/handlers/lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

struct op_add {
    template <class T>
    T operator()(T old, T b, T) const {
        return static_cast<T>(old + b);
    }
};
struct op_min {
    template <class T>
    T operator()(T old, T b, T) const {
        return b < old ? b : old;
    }
};
struct op_max {
    template <class T>
    T operator()(T old, T b, T) const {
        return b > old ? b : old;
    }
};
struct op_inc {
    template <class T>
    T operator()(T old, T b, T) const {
        return old >= b ? T(0) : static_cast<T>(old + 1);
    }
};
struct op_dec {
    template <class T>
    T operator()(T old, T b, T) const {
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
    }
};
struct op_and {
    template <class T>
    T operator()(T old, T b, T) const {
        return static_cast<T>(old & b);
    }
};
struct op_or {
    template <class T>
    T operator()(T old, T b, T) const {
        return static_cast<T>(old | b);
    }
};
struct op_xor {
    template <class T>
    T operator()(T old, T b, T) const {
        return static_cast<T>(old ^ b);
    }
};
struct op_exchange {
    template <class T>
    T operator()(T, T b, T) const {
        return b;
    }
};
struct op_compare_swap {
    template <class T>
    T operator()(T old, T b, T c) const {
        return old == b ? c : old;
    }
};
// Floats travel as their bits.
template <class F>
struct op_add_float {
    template <class T>
    T operator()(T old, T b, T) const {
        return std::bit_cast<T>(std::bit_cast<F>(old) + std::bit_cast<F>(b));
    }
};

// One half, or two in a word.
template <class One>
struct op_halves {
    template <class T>
    T operator()(T old, T b, T) const {
        if constexpr (sizeof(T) == 2) {
            return static_cast<T>(One{}(old, b));
        } else {
            return One{}(old >> 16, b >> 16) << 16 | One{}(old & 0xFFFF, b & 0xFFFF);
        }
    }
};
template <class Format>
struct added_half {
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
        return narrowed<Format>(widened<Format>(a) + widened<Format>(b));
    }
};
template <class Format, bool Max>
struct extreme_of_halves {
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return extreme<Format, Max>(a, b); }
};

template <class T, class Op>
SOFTGPU_INLINE T global_update(void* at, T b, T c) {
    auto* const p = static_cast<T*>(at);
    T old = __atomic_load_n(p, __ATOMIC_RELAXED);
    for (;;) {
        T fresh = Op{}(old, b, c);
        if (__atomic_compare_exchange_n(p, &old, fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
            return old;
        }
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
