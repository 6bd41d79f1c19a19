// SPDX-License-Identifier: MIT
// Comparison and choice: setp, set, selp, slct, testp, copysign.
#include <bit>
#include <cmath>
#include <cstdint>

#include "softgpu/machine/handlers/arithmetic/floats.hpp"
#include "softgpu/machine/handlers/arithmetic/relation.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/type_dispatch.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

template <relation R>
struct holds {
    static constexpr relation which = R;
    template <class T>
    SOFTGPU_INLINE bool operator()(T a, T b) const {
        return compares(R, a, b);
    }
};
template <relation R>
struct holds_flushed {
    SOFTGPU_INLINE bool operator()(float a, float b) const { return holds<R>{}(flush(a), flush(b)); }
};

#ifdef __AVX2__
// The same on vectors: all bits of an element where the relation holds. A comparison with a NaN is false, but for !=.
template <relation R, class V>
SOFTGPU_INLINE auto holds_in(V a, V b) {
    if constexpr (R == relation::eq) {
        return a == b;
    } else if constexpr (R == relation::ne) {
        return (a < b) | (a > b);
    } else if constexpr (R == relation::lt) {
        return a < b;
    } else if constexpr (R == relation::le) {
        return a <= b;
    } else if constexpr (R == relation::gt) {
        return a > b;
    } else if constexpr (R == relation::ge) {
        return a >= b;
    } else if constexpr (R == relation::equ) {
        return ~((a < b) | (a > b));
    } else if constexpr (R == relation::neu) {
        return a != b;
    } else if constexpr (R == relation::ltu) {
        return ~(a >= b);
    } else if constexpr (R == relation::leu) {
        return ~(a > b);
    } else if constexpr (R == relation::gtu) {
        return ~(a <= b);
    } else if constexpr (R == relation::geu) {
        return ~(a < b);
    } else if constexpr (R == relation::num) {
        return (a == a) & (b == b);
    } else {
        return (a != a) | (b != b);
    }
}

template <class T, relation R>
SOFTGPU_INLINE lane_mask compare_lanes(const T* a, const T* b) {
    using vector [[gnu::vector_size(32), gnu::may_alias]] = T;
    constexpr unsigned each = 32 / sizeof(T);
    lane_mask m = 0;
    for (unsigned k = 0; k < lanes / each; ++k) {
        const auto hit = holds_in<R>(reinterpret_cast<const vector*>(a)[k], reinterpret_cast<const vector*>(b)[k]);
        int bits;
        if constexpr (sizeof(T) == 4) {
            bits = _mm256_movemask_ps(reinterpret_cast<__m256>(hit));
        } else {
            bits = _mm256_movemask_pd(reinterpret_cast<__m256d>(hit));
        }
        m |= static_cast<lane_mask>(bits) << (each * k);
    }
    return m;
}
#endif

template <class T, class F>
SOFTGPU_INLINE lane_mask where_holds(const T* a, const T* b) {
#ifdef __AVX2__
    if constexpr (sizeof(T) >= 4 && requires { F::which; }) {
        if constexpr (std::is_integral_v<T> && F::which == relation::ne) {
            return ~compare_lanes<T, relation::eq>(a, b);
        } else {
            return compare_lanes<T, F::which>(a, b);
        }
    }
#endif
    return test_lanes(F{}, a, b);
}

// setp, and set up to its value.
template <class T, class F>
const instruction* set_predicate(const instruction* i, std::byte* frame, warp* w) {
    const lane_mask result = where_holds<T, F>(read<T>(w, i->a), read<T>(w, i->b));
    if (i->more == 0 && i->e == nowhere) [[likely]] {
        write_mask(frame, w, i->d, result);
        return go_on(i + 1, frame, w);
    }
    const lane_mask with = i->c == nowhere ? 0 : read_mask(w, i->c);
    write_mask(frame, w, i->d, combined(i->more, result, with));
    if (i->e != nowhere) {
        write_mask(frame, w, i->e, combined(i->more, ~result, with));
    }
    return go_on(i + 1, frame, w);
}

template <class T>
const instruction* select(const instruction* i, std::byte* frame, warp* w) {
    const lane_mask p = read_mask(w, i->c);
    const T* const a = read<T>(w, i->a);
    const T* const b = read<T>(w, i->b);
    T* const d = written<T>(frame, i->d);
    const lane_mask m = w->mask;
    if (m == all_lanes) [[likely]] {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            d[l] = (p & (1u << l)) != 0 ? a[l] : b[l];
        }
    } else {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            const T r = (p & (1u << l)) != 0 ? a[l] : b[l];
            d[l] = (m & (1u << l)) != 0 ? r : d[l];
        }
    }
    return go_on(i + 1, frame, w);
}

template <class T, class C, bool Ftz = false>
const instruction* select_by_sign(const instruction* i, std::byte* frame, warp* w) {
    const auto choice = [](T a, T b, C c) {
        if constexpr (Ftz) {
            c = flush(c);
        }
        return c >= C(0) ? a : b;
    };
    map_lanes(w->mask, written<T>(frame, i->d), choice, read<T>(w, i->a), read<T>(w, i->b), read<C>(w, i->c));
    return i + 1;
}

enum class property { finite, infinite, number, notanumber, normal, subnormal };

template <class T, property P>
const instruction* test_property(const instruction* i, std::byte* frame, warp* w) {
    const T* const a = read<T>(w, i->a);
    lane_mask r = 0;
    each_lane(w->mask, [&](unsigned l) {
        const int c = std::fpclassify(a[l]);
        bool hit = false;
        switch (P) {
        case property::finite: hit = c != FP_NAN && c != FP_INFINITE; break;
        case property::infinite: hit = c == FP_INFINITE; break;
        case property::number: hit = c != FP_NAN; break;
        case property::notanumber: hit = c == FP_NAN; break;
        case property::normal: hit = c == FP_NORMAL || c == FP_ZERO; break; // zeros count as normal
        case property::subnormal: hit = c == FP_SUBNORMAL; break;
        }
        r |= static_cast<lane_mask>(hit) << l;
    });
    write_mask(frame, w, i->d, r);
    return i + 1;
}

// The sign of a with the rest of b.
template <class U>
const instruction* copy_sign(const instruction* i, std::byte* frame, warp* w) {
    constexpr U sign = ~(~U(0) >> 1);
    map_lanes(
        w->mask, written<U>(frame, i->d), [](U a, U b) { return static_cast<U>((a & sign) | (b & ~sign)); },
        read<U>(w, i->a), read<U>(w, i->b));
    return i + 1;
}

template <class T, relation R, bool Ftz = false>
handler comparison() {
    return set_predicate<T, std::conditional_t<Ftz, holds_flushed<R>, holds<R>>>;
}

template <class T, bool Ftz = false>
handler by_relation(const form& f) {
    using r = relation;
    if constexpr (std::is_unsigned_v<T> || std::is_floating_point_v<T>) {
        if (f.has(suffix::eq)) {
            return comparison<T, r::eq, Ftz>();
        }
        if (f.has(suffix::ne)) {
            return comparison<T, r::ne, Ftz>();
        }
    } else {
        if (f.has(suffix::eq)) {
            return comparison<std::make_unsigned_t<T>, r::eq>();
        }
        if (f.has(suffix::ne)) {
            return comparison<std::make_unsigned_t<T>, r::ne>();
        }
    }
    if (f.has(suffix::lt) || f.has(suffix::lo)) {
        return comparison<T, r::lt, Ftz>();
    }
    if (f.has(suffix::le) || f.has(suffix::ls)) {
        return comparison<T, r::le, Ftz>();
    }
    if (f.has(suffix::gt) || f.has(suffix::hi)) {
        return comparison<T, r::gt, Ftz>();
    }
    if (f.has(suffix::ge) || f.has(suffix::hs)) {
        return comparison<T, r::ge, Ftz>();
    }
    if constexpr (std::is_floating_point_v<T>) {
        if (f.has(suffix::equ)) {
            return comparison<T, r::equ, Ftz>();
        }
        if (f.has(suffix::neu)) {
            return comparison<T, r::neu, Ftz>();
        }
        if (f.has(suffix::ltu)) {
            return comparison<T, r::ltu, Ftz>();
        }
        if (f.has(suffix::leu)) {
            return comparison<T, r::leu, Ftz>();
        }
        if (f.has(suffix::gtu)) {
            return comparison<T, r::gtu, Ftz>();
        }
        if (f.has(suffix::geu)) {
            return comparison<T, r::geu, Ftz>();
        }
        if (f.has(suffix::num)) {
            return comparison<T, r::num, Ftz>();
        }
        if (f.has(suffix::nan)) {
            return comparison<T, r::nan, Ftz>();
        }
    }
    return nullptr;
}

handler compare_as(suffix t, const form& f) {
    if (t == suffix::f32) {
        return f.has(suffix::ftz) ? by_relation<float, true>(f) : by_relation<float>(f);
    }
    if (t == suffix::f64) {
        return by_relation<double>(f);
    }
    return choose_int(t, [&]<class T>(T) -> handler { return by_relation<T>(f); });
}

template <class T>
handler property_of(const form& f) {
    using p = property;
    return f.has(suffix::finite)       ? test_property<T, p::finite>
           : f.has(suffix::infinite)   ? test_property<T, p::infinite>
           : f.has(suffix::number)     ? test_property<T, p::number>
           : f.has(suffix::notanumber) ? test_property<T, p::notanumber>
           : f.has(suffix::normal)     ? test_property<T, p::normal>
           : f.has(suffix::subnormal)  ? test_property<T, p::subnormal>
                                       : nullptr;
}

} // namespace

handler choose_compare(const form& f) {
    const unsigned bytes = ptx::bytes_of(f.type[0]);
    if (is_half(f.op == opcode::set ? f.type[1] : f.type[0]) && (f.op == opcode::set || f.op == opcode::setp)) {
        return choose_half_compare(f);
    }
    switch (f.op) {
    case opcode::setp: return compare_as(f.type[0], f);
    case opcode::set: return bytes == 4 || bytes == 2 ? compare_as(f.type[1], f) : nullptr;
    case opcode::selp: return choose_bits(bytes, []<class T>(T) -> handler { return select<T>; });
    case opcode::slct:
        return choose_bits(bytes, [&]<class T>(T) -> handler {
            return f.type[1] == suffix::f32
                       ? (f.has(suffix::ftz) ? select_by_sign<T, float, true> : select_by_sign<T, float>)
                   : f.type[1] == suffix::s32 ? select_by_sign<T, std::int32_t>
                                              : nullptr;
        });
    case opcode::testp:
        return f.type[0] == suffix::f32   ? property_of<float>(f)
               : f.type[0] == suffix::f64 ? property_of<double>(f)
                                          : nullptr;
    case opcode::copysign:
        return bytes == 4 ? copy_sign<std::uint32_t> : bytes == 8 ? copy_sign<std::uint64_t> : nullptr;
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
