// SPDX-License-Identifier: MIT
// Bits: and or xor not cnot lop3, shifts and funnel shifts, bit fields, counts, byte permutation.
#include <bit>
#include <cstdint>

#include "softgpu/machine/handlers/arithmetic/elementwise.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/lanes.hpp"
#include "softgpu/machine/handlers/type_dispatch.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

struct bit_and {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};
struct bit_or {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};
struct bit_xor {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};
struct bit_not {
    template <class T>
    SOFTGPU_INLINE T operator()(T a) const {
        return static_cast<T>(~a);
    }
};
struct is_zero {
    template <class T>
    SOFTGPU_INLINE T operator()(T a) const {
        return a == 0 ? T(1) : T(0);
    }
};
// Shift amounts are 32 bits wide and clamped to the width.
struct shift_left {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, std::uint32_t n) const {
        return n < 8 * sizeof(T) ? static_cast<T>(a << n) : T(0);
    }
};
struct shift_right {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, std::uint32_t n) const {
        constexpr std::uint32_t width = 8 * sizeof(T);
        if constexpr (std::is_signed_v<T>) {
            return static_cast<T>(a >> (n < width ? n : width - 1));
        } else {
            return n < width ? static_cast<T>(a >> n) : T(0);
        }
    }
};
struct extract_field {
    template <class T>
    SOFTGPU_INLINE T operator()(T a, std::uint32_t position, std::uint32_t length) const {
        using u = std::make_unsigned_t<T>;
        constexpr std::uint32_t width = 8 * sizeof(T);
        const std::uint32_t pos = position & 0xFF;
        const std::uint32_t len = length & 0xFF;
        if (len == 0) {
            return 0;
        }
        u field = pos < width ? static_cast<u>(static_cast<u>(a) >> pos) : u(0);
        const bool negative =
            std::is_signed_v<T> && (static_cast<u>(a) >> (pos + len - 1 < width ? pos + len - 1 : width - 1) & 1u) != 0;
        if (len < width) {
            const u inside = static_cast<u>((u(1) << len) - 1);
            field &= inside;
            if (negative) {
                field |= static_cast<u>(~inside);
            }
        }
        if (negative && pos < width && pos + len > width && width - pos < width) {
            field |= static_cast<u>(~u(0) << (width - pos));
        }
        if (negative && pos >= width) {
            field = static_cast<u>(~u(0));
        }
        return static_cast<T>(field);
    }
};
template <class T>
const instruction* insert_field(const instruction* i, std::byte* frame, warp* w) {
    const auto* const position = read<std::uint32_t>(w, i->c);
    const auto* const length = read<std::uint32_t>(w, i->e);
    map_active(
        w->mask, written<T>(frame, i->d),
        [](T a, T b, std::uint32_t p, std::uint32_t n) {
            constexpr std::uint32_t width = 8 * sizeof(T);
            const std::uint32_t pos = p & 0xFF;
            const std::uint32_t len = n & 0xFF;
            if (len == 0 || pos >= width) {
                return b;
            }
            const T ones = len >= width ? static_cast<T>(~T(0)) : static_cast<T>((T(1) << len) - 1);
            const T inside = static_cast<T>(ones << pos);
            return static_cast<T>((b & ~inside) | (static_cast<T>(a << pos) & inside));
        },
        read<T>(w, i->a), read<T>(w, i->b), position, length);
    return i + 1;
}

template <class T, class F>
const instruction* shift(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(w, i->a), read<std::uint32_t>(w, i->b));
    return go_on(i + 1, frame, w);
}
template <class T>
const instruction* field(const instruction* i, std::byte* frame, warp* w) {
    map_active(w->mask, written<T>(frame, i->d), extract_field{}, read<T>(w, i->a), read<std::uint32_t>(w, i->b),
               read<std::uint32_t>(w, i->c));
    return go_on(i + 1, frame, w);
}
// A 32-bit result of a value of T.
template <class T, class F>
const instruction* count_bits(const instruction* i, std::byte* frame, warp* w) {
    map_active(w->mask, written<std::uint32_t>(frame, i->d), F{}, read<T>(w, i->a));
    return go_on(i + 1, frame, w);
}
struct population {
    template <class T>
    std::uint32_t operator()(T a) const {
        return static_cast<std::uint32_t>(std::popcount(a));
    }
};
struct leading_zeros {
    template <class T>
    std::uint32_t operator()(T a) const {
        return static_cast<std::uint32_t>(std::countl_zero(a));
    }
};
template <bool Amount>
struct find_leading {
    template <class T>
    std::uint32_t operator()(T a) const {
        using u = std::make_unsigned_t<T>;
        const u x = std::is_signed_v<T> && a < 0 ? static_cast<u>(~static_cast<u>(a)) : static_cast<u>(a);
        if (x == 0) {
            return 0xFFFFFFFFu;
        }
        const auto zeros = static_cast<std::uint32_t>(std::countl_zero(x));
        return Amount ? zeros : static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - zeros;
    }
};
struct reverse_bits {
    template <class T>
    T operator()(T a) const {
        T r = 0;
        for (unsigned k = 0; k < 8 * sizeof(T); ++k) {
            r = static_cast<T>(r << 1 | (a >> k & 1));
        }
        return r;
    }
};
template <class T>
const instruction* reverse(const instruction* i, std::byte* frame, warp* w) {
    map_active(w->mask, written<T>(frame, i->d), reverse_bits{}, read<T>(w, i->a));
    return i + 1;
}

// d by the table of eight bits.
SOFTGPU_INLINE void look_up(const instruction* i, std::byte* frame, warp* w) {
    const auto table = static_cast<std::uint32_t>(i->immediate);
    map_lanes(
        w->mask, written<std::uint32_t>(frame, i->d),
        [table](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
            std::uint32_t r = 0;
            r |= (table & 0x01) != 0 ? ~a & ~b & ~c : 0;
            r |= (table & 0x02) != 0 ? ~a & ~b & c : 0;
            r |= (table & 0x04) != 0 ? ~a & b & ~c : 0;
            r |= (table & 0x08) != 0 ? ~a & b & c : 0;
            r |= (table & 0x10) != 0 ? a & ~b & ~c : 0;
            r |= (table & 0x20) != 0 ? a & ~b & c : 0;
            r |= (table & 0x40) != 0 ? a & b & ~c : 0;
            r |= (table & 0x80) != 0 ? a & b & c : 0;
            return r;
        },
        read<std::uint32_t>(w, i->a), read<std::uint32_t>(w, i->b), read<std::uint32_t>(w, i->c));
}
const instruction* lop3(const instruction* i, std::byte* frame, warp* w) {
    look_up(i, frame, w);
    return go_on(i + 1, frame, w);
}

// d|p: p is whether d has a bit, combined with the predicate places[0] by and (or, where bit 0 of `more` is set).
const instruction* lop3_test(const instruction* i, std::byte* frame, warp* w) {
    lane_mask q = read_mask(w, i->places[0]);
    q = (i->more & 2) != 0 ? ~q : q;
    look_up(i, frame, w);
    const auto* const d = written<std::uint32_t>(frame, i->d);
    const lane_mask some = test_lanes([](std::uint32_t x) { return x != 0; }, d);
    write_mask(frame, w, i->e, (i->more & 1) != 0 ? some | q : some & q);
    return i + 1;
}

template <bool Left, bool Clamp>
struct funnel {
    SOFTGPU_INLINE std::uint32_t operator()(std::uint32_t low, std::uint32_t high, std::uint32_t n) const {
        const std::uint32_t by = Clamp ? (n < 32 ? n : 32) : n & 31;
        const std::uint64_t both = std::uint64_t{high} << 32 | low;
        return static_cast<std::uint32_t>(Left ? (both << by) >> 32 : both >> by);
    }
};
template <class F>
const instruction* funnel_shift(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<std::uint32_t>(frame, i->d), F{}, read<std::uint32_t>(w, i->a),
              read<std::uint32_t>(w, i->b), read<std::uint32_t>(w, i->c));
    return go_on(i + 1, frame, w);
}

// `more` holds the mode: 0 index, then f4e b4e rc8 ecl ecr rc16.
const instruction* permute(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t mode = i->more;
    map_active(
        w->mask, written<std::uint32_t>(frame, i->d),
        [mode](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
            const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
            const auto byte = [bytes](std::uint32_t n) {
                return static_cast<std::uint32_t>(bytes >> (8 * (n & 7)) & 0xFF);
            };
            const std::uint32_t s = c & 3;
            std::uint32_t r = 0;
            for (std::uint32_t k = 0; k < 4; ++k) {
                std::uint32_t v = 0;
                switch (mode) {
                case 0: {
                    const std::uint32_t pick = c >> (4 * k) & 0xF;
                    v = byte(pick);
                    if ((pick & 8) != 0) {
                        v = (v & 0x80) != 0 ? 0xFF : 0;
                    }
                    break;
                }
                case 1: v = byte(s + k); break;                  // f4e
                case 2: v = byte(s - k); break;                  // b4e
                case 3: v = byte(s); break;                      // rc8
                case 4: v = byte(k < s ? s : k); break;          // ecl
                case 5: v = byte(k < s ? k : s); break;          // ecr
                default: v = byte((s & 1) * 2 + (k & 1)); break; // rc16
                }
                r |= v << (8 * k);
            }
            return r;
        },
        read<std::uint32_t>(w, i->a), read<std::uint32_t>(w, i->b), read<std::uint32_t>(w, i->c));
    return i + 1;
}

template <bool Clamp>
const instruction* mask_bits(const instruction* i, std::byte* frame, warp* w) {
    map_active(
        w->mask, written<std::uint32_t>(frame, i->d),
        [](std::uint32_t position, std::uint32_t length) {
            const std::uint32_t p = Clamp ? position : position & 31;
            const std::uint32_t n = Clamp ? length : length & 31;
            if (p >= 32) {
                return 0u;
            }
            const std::uint32_t ones = n >= 32 ? 0xFFFFFFFFu : (1u << n) - 1;
            return ones << p;
        },
        read<std::uint32_t>(w, i->a), read<std::uint32_t>(w, i->b));
    return i + 1;
}

template <bool Signed, bool Clamp>
const instruction* extend_from(const instruction* i, std::byte* frame, warp* w) {
    map_active(
        w->mask, written<std::uint32_t>(frame, i->d),
        [](std::uint32_t a, std::uint32_t n) {
            const std::uint32_t by = Clamp ? n : n & 31;
            if (by >= 32) {
                return a;
            }
            const std::uint32_t low = a & ((1u << by) - 1);
            const bool negative = Signed && by != 0 && (a >> (by - 1) & 1) != 0;
            return negative ? low | ~((1u << by) - 1) : low;
        },
        read<std::uint32_t>(w, i->a), read<std::uint32_t>(w, i->b));
    return i + 1;
}

// The position of the nth set bit of a, from bit `base` upwards (n > 0) or downwards (n < 0).
const instruction* find_nth_set(const instruction* i, std::byte* frame, warp* w) {
    map_active(
        w->mask, written<std::uint32_t>(frame, i->d),
        [](std::uint32_t a, std::uint32_t base, std::int32_t n) {
            if (n == 0) {
                return (a >> (base & 31) & 1) != 0 && base < 32 ? base : 0xFFFFFFFFu;
            }
            const int step = n > 0 ? 1 : -1;
            int left = n > 0 ? n : -n;
            for (auto bit = static_cast<std::int64_t>(base); bit >= 0 && bit < 32; bit += step) {
                if ((a >> bit & 1) != 0 && --left == 0) {
                    return static_cast<std::uint32_t>(bit);
                }
            }
            return 0xFFFFFFFFu;
        },
        read<std::uint32_t>(w, i->a), read<std::uint32_t>(w, i->b), read<std::int32_t>(w, i->c));
    return i + 1;
}

// Predicates are masks of lanes.
template <class F>
const instruction* two_masks(const instruction* i, std::byte* frame, warp* w) {
    write_mask(frame, w, i->d, F{}(read_mask(w, i->a), read_mask(w, i->b)));
    return i + 1;
}
const instruction* not_mask(const instruction* i, std::byte* frame, warp* w) {
    write_mask(frame, w, i->d, ~read_mask(w, i->a));
    return i + 1;
}

template <class F>
handler bits_or_masks(const form& f) {
    if (f.type[0] == suffix::pred) {
        return two_masks<F>;
    }
    return choose_bits(ptx::bytes_of(f.type[0]), []<class T>(T) -> handler { return two<T, F>; });
}

} // namespace

handler choose_logic(const form& f) {
    const suffix t = f.type[0];
    const unsigned bytes = ptx::bytes_of(t);
    const bool clamp = f.has(suffix::clamp);
    switch (f.op) {
    case opcode::and_: return bits_or_masks<bit_and>(f);
    case opcode::or_: return bits_or_masks<bit_or>(f);
    case opcode::xor_: return bits_or_masks<bit_xor>(f);
    case opcode::not_:
        return t == suffix::pred ? not_mask : choose_bits(bytes, []<class T>(T) -> handler { return one<T, bit_not>; });
    case opcode::cnot: return choose_bits(bytes, []<class T>(T) -> handler { return one<T, is_zero>; });
    case opcode::shl: return choose_bits(bytes, []<class T>(T) -> handler { return shift<T, shift_left>; });
    case opcode::shr: return choose_int(t, []<class T>(T) -> handler { return shift<T, shift_right>; });
    case opcode::bfe:
        return choose_int(t, []<class T>(T) -> handler {
            if constexpr (sizeof(T) >= 4) {
                return field<T>;
            } else {
                return nullptr;
            }
        });
    case opcode::bfi:
        return bytes == 4 ? insert_field<std::uint32_t> : bytes == 8 ? insert_field<std::uint64_t> : nullptr;
    case opcode::popc:
        return bytes == 8 ? count_bits<std::uint64_t, population> : count_bits<std::uint32_t, population>;
    case opcode::clz:
        return bytes == 8 ? count_bits<std::uint64_t, leading_zeros> : count_bits<std::uint32_t, leading_zeros>;
    case opcode::bfind: {
        const bool amount = f.has(suffix::shiftamt);
        return choose_int(t, [amount]<class T>(T) -> handler {
            if constexpr (sizeof(T) >= 4) {
                return amount ? count_bits<T, find_leading<true>> : count_bits<T, find_leading<false>>;
            } else {
                return nullptr;
            }
        });
    }
    case opcode::brev: return bytes == 8 ? reverse<std::uint64_t> : reverse<std::uint32_t>;
    case opcode::bmsk: return clamp ? mask_bits<true> : mask_bits<false>;
    case opcode::szext:
        return t == suffix::s32 ? (clamp ? extend_from<true, true> : extend_from<true, false>)
                                : (clamp ? extend_from<false, true> : extend_from<false, false>);
    case opcode::fns: return find_nth_set;
    case opcode::lop3: return bytes != 4 ? nullptr : f.pair ? lop3_test : f.operands == 5 ? lop3 : nullptr;
    case opcode::prmt: return permute;
    case opcode::shf:
        return f.has(suffix::l) ? (clamp ? funnel_shift<funnel<true, true>> : funnel_shift<funnel<true, false>>)
                                : (clamp ? funnel_shift<funnel<false, true>> : funnel_shift<funnel<false, false>>);
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
