// SPDX-License-Identifier: MIT
// Video instructions: arithmetic on parts of words, one part (vadd, vset, ...), two halves (vadd2, ...) or four bytes
// (vabsdiff4, ...), with a second operation or a merge behind it. The intrinsics of CUDA C++ use few of them.
#include <cstdint>

#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

// Bits of `more`, set by the decoder. `immediate` is the relation of vset: eq ne lt le gt ge.
enum : std::uint32_t {
    signed_d = 1,
    signed_a = 2,
    signed_b = 4,
    saturating = 8,
    then_add = 16,
    then_min = 32,
    then_max = 64,
    clamped_shift = 128,
    shifted_7 = 256,
    shifted_15 = 512,
    plus_one = 1024,
};

enum class video { add, sub, absdiff, min, max, shl, shr, average, set };

std::int64_t extended(std::uint64_t x, unsigned bits, bool is_signed) {
    const std::uint64_t low = x & ((1ull << bits) - 1);
    return is_signed && (low >> (bits - 1) & 1) != 0 ? static_cast<std::int64_t>(low) - (std::int64_t{1} << bits)
                                                     : static_cast<std::int64_t>(low);
}
std::int64_t clamped(std::int64_t x, unsigned bits, bool is_signed) {
    const std::int64_t most = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    const std::int64_t least = is_signed ? -most - 1 : 0;
    return x > most ? most : x < least ? least : x;
}
bool relates(std::int64_t a, std::int64_t b, std::int64_t relation) {
    switch (relation) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return a < b;
    case 3: return a <= b;
    case 4: return a > b;
    default: return a >= b;
    }
}

template <video Op>
std::int64_t operate(const instruction* i, std::int64_t a, std::int64_t b) {
    switch (Op) {
    case video::add: return a + b;
    case video::sub: return a - b;
    case video::absdiff: return a > b ? a - b : b - a;
    case video::min: return a < b ? a : b;
    case video::max: return a > b ? a : b;
    case video::average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case video::set: return relates(a, b, i->immediate) ? 1 : 0;
    case video::shl:
    case video::shr: {
        const std::int64_t by = (i->more & clamped_shift) == 0 ? b & 31 : b > 32 ? 32 : b;
        return Op == video::shl ? static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << by) : a >> by;
    }
    }
    return 0;
}

// A selector of one part: 0 the whole word, 256 a half, 512 a byte, plus its number.
unsigned bits_of_part(std::uint32_t selector) { return selector == 0 ? 32 : (selector & 256) != 0 ? 16 : 8; }
std::int64_t part_of(std::uint32_t x, std::uint32_t selector, bool is_signed) {
    const unsigned bits = bits_of_part(selector);
    return extended(x >> (selector == 0 ? 0 : bits * (selector & 3)), bits, is_signed);
}

template <video Op>
const instruction* one_part(const instruction* i, std::byte* frame, warp* w) {
    const auto* const a = read<std::uint32_t>(w, i->a);
    const auto* const b = read<std::uint32_t>(w, i->b);
    const auto* const c = i->c == nowhere ? a : read<std::uint32_t>(w, i->c);
    auto* const d = written<std::uint32_t>(frame, i->d);
    const std::uint32_t into = i->places[0];
    const bool is_signed = (i->more & signed_d) != 0;
    each_lane(w->mask, [&](unsigned l) {
        std::int64_t t = operate<Op>(i, part_of(a[l], i->places[1], (i->more & signed_a) != 0),
                                     part_of(b[l], i->places[2], (i->more & signed_b) != 0));
        if ((i->more & saturating) != 0) {
            t = clamped(t, bits_of_part(into), is_signed);
        }
        const auto r = static_cast<std::uint32_t>(t);
        const std::int64_t x = extended(r, 32, is_signed);
        const std::int64_t y = extended(c[l], 32, is_signed);
        if ((i->more & then_add) != 0) {
            d[l] = r + c[l];
        } else if ((i->more & then_min) != 0) {
            d[l] = static_cast<std::uint32_t>(x < y ? x : y);
        } else if ((i->more & then_max) != 0) {
            d[l] = static_cast<std::uint32_t>(x > y ? x : y);
        } else if (into == 0) {
            d[l] = r;
        } else {
            const unsigned bits = bits_of_part(into);
            const std::uint32_t inside = ((1u << bits) - 1) << (bits * (into & 3));
            d[l] = (r << (bits * (into & 3)) & inside) | (c[l] & ~inside);
        }
    });
    return i + 1;
}

// Parts of {b, a}, chosen by four bits each.
template <video Op, unsigned Parts>
const instruction* all_parts(const instruction* i, std::byte* frame, warp* w) {
    constexpr unsigned bits = 32 / Parts;
    const auto* const a = read<std::uint32_t>(w, i->a);
    const auto* const b = read<std::uint32_t>(w, i->b);
    const auto* const c = i->c == nowhere ? a : read<std::uint32_t>(w, i->c);
    auto* const d = written<std::uint32_t>(frame, i->d);
    const bool is_signed = (i->more & signed_d) != 0;
    const bool sums = (i->more & then_add) != 0;
    each_lane(w->mask, [&](unsigned l) {
        const std::uint64_t both = std::uint64_t{b[l]} << 32 | a[l];
        std::uint32_t r = i->c == nowhere ? 0 : c[l];
        for (unsigned k = 0; k < Parts; ++k) {
            if ((i->places[0] >> k & 1) == 0) {
                continue;
            }
            const auto chosen = [&](std::uint32_t selector, bool negative) {
                return extended(both >> (bits * (selector >> (4 * k) & 7)), bits, negative);
            };
            std::int64_t t = operate<Op>(i, chosen(i->places[1], (i->more & signed_a) != 0),
                                         chosen(i->places[2], (i->more & signed_b) != 0));
            if ((i->more & saturating) != 0) {
                t = clamped(t, bits, is_signed);
            }
            if (sums) {
                r += static_cast<std::uint32_t>(t);
            } else {
                const std::uint32_t inside = ((1u << bits) - 1) << (bits * k);
                r = (r & ~inside) | (static_cast<std::uint32_t>(t) << (bits * k) & inside);
            }
        }
        d[l] = r;
    });
    return i + 1;
}

const instruction* multiply_add(const instruction* i, std::byte* frame, warp* w) {
    __extension__ using wide = __int128;
    const auto* const a = read<std::uint32_t>(w, i->a);
    const auto* const b = read<std::uint32_t>(w, i->b);
    const auto* const c = read<std::uint32_t>(w, i->c);
    auto* const d = written<std::uint32_t>(frame, i->d);
    const bool is_signed = (i->more & (signed_a | signed_b)) != 0;
    each_lane(w->mask, [&](unsigned l) {
        wide t = static_cast<wide>(part_of(a[l], i->places[1], (i->more & signed_a) != 0)) *
                     part_of(b[l], i->places[2], (i->more & signed_b) != 0) +
                 extended(c[l], 32, is_signed) + ((i->more & plus_one) != 0 ? 1 : 0);
        t >>= (i->more & shifted_7) != 0 ? 7 : (i->more & shifted_15) != 0 ? 15 : 0;
        if ((i->more & saturating) != 0) {
            const wide most = is_signed ? wide{INT32_MAX} : wide{UINT32_MAX};
            const wide least = is_signed ? wide{INT32_MIN} : wide{0};
            t = t > most ? most : t < least ? least : t;
        }
        d[l] = static_cast<std::uint32_t>(t);
    });
    return i + 1;
}

} // namespace

handler choose_video(const form& f) {
    switch (f.op) {
    case opcode::vadd: return one_part<video::add>;
    case opcode::vsub: return one_part<video::sub>;
    case opcode::vabsdiff: return one_part<video::absdiff>;
    case opcode::vmin: return one_part<video::min>;
    case opcode::vmax: return one_part<video::max>;
    case opcode::vshl: return one_part<video::shl>;
    case opcode::vshr: return one_part<video::shr>;
    case opcode::vset: return one_part<video::set>;
    case opcode::vmad: return f.operands == 4 ? multiply_add : nullptr;
    case opcode::vadd2: return all_parts<video::add, 2>;
    case opcode::vsub2: return all_parts<video::sub, 2>;
    case opcode::vavrg2: return all_parts<video::average, 2>;
    case opcode::vabsdiff2: return all_parts<video::absdiff, 2>;
    case opcode::vmin2: return all_parts<video::min, 2>;
    case opcode::vmax2: return all_parts<video::max, 2>;
    case opcode::vset2: return all_parts<video::set, 2>;
    case opcode::vadd4: return all_parts<video::add, 4>;
    case opcode::vsub4: return all_parts<video::sub, 4>;
    case opcode::vavrg4: return all_parts<video::average, 4>;
    case opcode::vabsdiff4: return all_parts<video::absdiff, 4>;
    case opcode::vmin4: return all_parts<video::min, 4>;
    case opcode::vmax4: return all_parts<video::max, 4>;
    case opcode::vset4: return all_parts<video::set, 4>;
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
