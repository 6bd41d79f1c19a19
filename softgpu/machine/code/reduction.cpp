// SPDX-License-Identifier: MIT
#include "softgpu/machine/code/reduction.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace softgpu::machine {

namespace {

using ptx::suffix;

// A 16-bit float as float and back, rounded to nearest even. Sums of two are exact in float up to one rounding.
struct half_bits {
    static float widened(std::uint16_t v) { return static_cast<float>(std::bit_cast<_Float16>(v)); }
    static std::uint16_t narrowed(float v) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(v)); }
    static constexpr std::uint16_t nan = 0x7FFF;
};
struct bfloat_bits {
    static float widened(std::uint16_t v) { return std::bit_cast<float>(std::uint32_t{v} << 16); }
    static std::uint16_t narrowed(float v) {
        const auto bits = std::bit_cast<std::uint32_t>(v);
        return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
    }
    static constexpr std::uint16_t nan = 0x7FFF;
};

struct add {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a + b);
    }
};
struct least {
    template <class T>
    T operator()(T a, T b) const {
        return b < a ? b : a;
    }
};
struct most {
    template <class T>
    T operator()(T a, T b) const {
        return b > a ? b : a;
    }
};
struct increment {
    template <class T>
    T operator()(T a, T b) const {
        return a >= b ? T(0) : static_cast<T>(a + 1);
    }
};
struct decrement {
    template <class T>
    T operator()(T a, T b) const {
        return a == 0 || a > b ? b : static_cast<T>(a - 1);
    }
};
struct bits_and {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};
struct bits_or {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};
struct bits_xor {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};
template <class Float>
struct add_float {
    template <class T>
    T operator()(T a, T b) const {
        return std::bit_cast<T>(std::bit_cast<Float>(a) + std::bit_cast<Float>(b));
    }
};
template <class Format>
struct add_half {
    std::uint16_t operator()(std::uint16_t a, std::uint16_t b) const {
        const float sum = Format::widened(a) + Format::widened(b);
        return std::isnan(sum) ? Format::nan : Format::narrowed(sum);
    }
};
// min and max: a number rather than NaN; -0 is less than +0.
template <class Format, bool Most>
struct choose_half {
    std::uint16_t operator()(std::uint16_t a, std::uint16_t b) const {
        const float x = Format::widened(a);
        const float y = Format::widened(b);
        if (std::isnan(x) || std::isnan(y)) {
            return std::isnan(x) && std::isnan(y) ? Format::nan : std::isnan(x) ? b : a;
        }
        const bool first = x == y ? std::signbit(x) != Most : (x < y) != Most;
        return first ? a : b;
    }
};

template <class T, class Op>
void reduce(std::byte* to, const std::byte* from, std::size_t bytes) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        T b;
        std::memcpy(&b, from + at, sizeof(T));
        auto* const p = reinterpret_cast<T*>(to + at);
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(p, &old, Op{}(old, b), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
    }
}

struct entry {
    suffix op;
    suffix type;
    reduction run;
};

constexpr std::array table{
    entry{suffix::add, suffix::u32, reduce<std::uint32_t, add>},
    entry{suffix::add, suffix::s32, reduce<std::uint32_t, add>},
    entry{suffix::add, suffix::u64, reduce<std::uint64_t, add>},
    entry{suffix::add, suffix::s64, reduce<std::uint64_t, add>},
    entry{suffix::add, suffix::f16, reduce<std::uint16_t, add_half<half_bits>>},
    entry{suffix::add, suffix::bf16, reduce<std::uint16_t, add_half<bfloat_bits>>},
    entry{suffix::add, suffix::f32, reduce<std::uint32_t, add_float<float>>},
    entry{suffix::add, suffix::f64, reduce<std::uint64_t, add_float<double>>},
    entry{suffix::min, suffix::u32, reduce<std::uint32_t, least>},
    entry{suffix::min, suffix::s32, reduce<std::int32_t, least>},
    entry{suffix::min, suffix::u64, reduce<std::uint64_t, least>},
    entry{suffix::min, suffix::s64, reduce<std::int64_t, least>},
    entry{suffix::min, suffix::f16, reduce<std::uint16_t, choose_half<half_bits, false>>},
    entry{suffix::min, suffix::bf16, reduce<std::uint16_t, choose_half<bfloat_bits, false>>},
    entry{suffix::max, suffix::u32, reduce<std::uint32_t, most>},
    entry{suffix::max, suffix::s32, reduce<std::int32_t, most>},
    entry{suffix::max, suffix::u64, reduce<std::uint64_t, most>},
    entry{suffix::max, suffix::s64, reduce<std::int64_t, most>},
    entry{suffix::max, suffix::f16, reduce<std::uint16_t, choose_half<half_bits, true>>},
    entry{suffix::max, suffix::bf16, reduce<std::uint16_t, choose_half<bfloat_bits, true>>},
    entry{suffix::inc, suffix::u32, reduce<std::uint32_t, increment>},
    entry{suffix::dec, suffix::u32, reduce<std::uint32_t, decrement>},
    entry{suffix::and_, suffix::b32, reduce<std::uint32_t, bits_and>},
    entry{suffix::and_, suffix::b64, reduce<std::uint64_t, bits_and>},
    entry{suffix::or_, suffix::b32, reduce<std::uint32_t, bits_or>},
    entry{suffix::or_, suffix::b64, reduce<std::uint64_t, bits_or>},
    entry{suffix::xor_, suffix::b32, reduce<std::uint32_t, bits_xor>},
    entry{suffix::xor_, suffix::b64, reduce<std::uint64_t, bits_xor>},
};

} // namespace

std::uint32_t reduction_number(const form& f, suffix type) {
    for (std::uint32_t k = 0; k < table.size(); ++k) {
        if (f.has(table[k].op) && table[k].type == type) {
            return k + 1;
        }
    }
    return 0;
}

reduction reduction_at(std::uint32_t number) { return table.at(number - 1).run; }

reduction find_reduction(suffix op, suffix type) {
    for (const entry& e : table) {
        if (e.op == op && e.type == type) {
            return e.run;
        }
    }
    return nullptr;
}

suffix reduction_operation(const form& f) {
    for (const entry& e : table) {
        if (f.has(e.op)) {
            return e.op;
        }
    }
    return suffix::none;
}

} // namespace softgpu::machine
