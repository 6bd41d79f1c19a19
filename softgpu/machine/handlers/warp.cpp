// SPDX-License-Identifier: MIT
// What lanes of a warp do together: shfl, vote, match, redux, activemask, elect. A split waits until all live lanes of
// the member mask have come to the same instruction.
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/together.hpp"
#include "softgpu/machine/handlers/type_dispatch.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

// The same, group by group: body(lanes, asked), with the lanes that name the same members, and those of them that are
// members.
template <class Body>
SOFTGPU_INLINE const instruction* together_by_group(const instruction* i, std::byte* frame, warp* w, place named_at,
                                                    Body&& body) {
    return together(i, frame, w, named_at, [&](lane_mask active) {
        ++w->counts->votes;
        const auto* const named = read<std::uint32_t>(w, named_at);
        const lane_mask all = w->mask;
        for (lane_mask left = active; left != 0;) {
            const lane_mask group = named[std::countr_zero(left)];
            const lane_mask same = left & naming(group, named);
            w->mask = same; // what is written is written for these
            body(same, (same & group) != 0 ? same & group : same);
            left &= ~same;
        }
        w->mask = all;
    });
}

enum class shuffle_mode { up, down, bfly, idx };

// d|p = a of another lane; b: lane or distance, c: clamp and segment mask. `e` holds the predicate, places[0] the members.
template <shuffle_mode Mode>
const instruction* shuffle(const instruction* i, std::byte* frame, warp* w) {
    return together(i, frame, w, i->places[0], [&](lane_mask active) {
        ++w->counts->shuffles;
        const auto* const a = read<std::uint32_t>(w, i->a);
        const auto* const b = read<std::uint32_t>(w, i->b);
        const auto* const c = read<std::uint32_t>(w, i->c);
        alignas(64) std::uint32_t from[lanes];
        alignas(64) std::uint32_t inside[lanes];
        alignas(64) std::uint32_t value[lanes];
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            const std::int32_t lane = static_cast<std::int32_t>(l);
            const std::int32_t by = static_cast<std::int32_t>(b[l] & 31);
            const std::int32_t clamp = static_cast<std::int32_t>(c[l] & 31);
            const std::int32_t segment = static_cast<std::int32_t>(c[l] >> 8 & 31);
            const std::int32_t most = (lane & segment) | (clamp & ~segment);
            const std::int32_t least = lane & segment;
            std::int32_t j;
            bool ok;
            if (Mode == shuffle_mode::up) {
                j = lane - by;
                ok = j >= most;
            } else if (Mode == shuffle_mode::down) {
                j = lane + by;
                ok = j <= most;
            } else if (Mode == shuffle_mode::bfly) {
                j = lane ^ by;
                ok = j <= most;
            } else {
                j = least | (by & ~segment);
                ok = j <= most;
            }
            from[l] = static_cast<std::uint32_t>(ok ? j : lane) & 31;
            inside[l] = ok ? 1 : 0;
        }
#ifdef __AVX2__
        const __m256i* const source = reinterpret_cast<const __m256i*>(a);
        for (unsigned k = 0; k < 4; ++k) {
            const __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(from) + k);
            const __m256i r01 = _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(_mm256_load_si256(source), index),
                                                   _mm256_permutevar8x32_epi32(_mm256_load_si256(source + 1), index),
                                                   _mm256_srai_epi32(_mm256_slli_epi32(index, 28), 31));
            const __m256i r23 = _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(_mm256_load_si256(source + 2), index),
                                                   _mm256_permutevar8x32_epi32(_mm256_load_si256(source + 3), index),
                                                   _mm256_srai_epi32(_mm256_slli_epi32(index, 28), 31));
            const __m256i r = _mm256_blendv_epi8(r01, r23, _mm256_srai_epi32(_mm256_slli_epi32(index, 27), 31));
            _mm256_store_si256(reinterpret_cast<__m256i*>(value) + k, r);
        }
#else
        for (unsigned l = 0; l < lanes; ++l) {
            value[l] = a[from[l]];
        }
#endif
        if (active != all_lanes) {
            // The ISA leaves open what an absent lane gives; the hardware gives 0, and programs count on it.
            SOFTGPU_LANES
            for (unsigned l = 0; l < lanes; ++l) {
                value[l] = (active >> from[l] & 1) != 0 ? value[l] : 0;
            }
        }
        map_lanes(
            active, written<std::uint32_t>(frame, i->d), [](std::uint32_t v) { return v; }, value);
        if (i->e != nowhere) {
            write_mask(frame, w, i->e, test_lanes([](std::uint32_t x) { return x != 0; }, inside));
        }
    });
}

enum class vote_mode { all, any, uni, ballot };

template <vote_mode Mode>
const instruction* vote(const instruction* i, std::byte* frame, warp* w) {
    return together_by_group(i, frame, w, i->b, [&](lane_mask active, lane_mask asked) {
        lane_mask p = read_mask(w, i->a);
        if (i->c != nowhere) {
            p = ~p; // !p: c marks it
        }
        const lane_mask yes = p & asked;
        if constexpr (Mode == vote_mode::ballot) {
            alignas(64) std::uint32_t value[lanes];
            for (unsigned l = 0; l < lanes; ++l) {
                value[l] = yes;
            }
            map_lanes(
                active, written<std::uint32_t>(frame, i->d), [](std::uint32_t v) { return v; }, value);
        } else {
            const bool r = Mode == vote_mode::all   ? yes == asked
                           : Mode == vote_mode::any ? yes != 0
                                                    : yes == asked || yes == 0;
            write_mask(frame, w, i->d, r ? all_lanes : 0);
        }
    });
}

template <class T, bool All>
const instruction* match(const instruction* i, std::byte* frame, warp* w) {
    return together_by_group(i, frame, w, i->b, [&](lane_mask active, lane_mask asked) {
        const T* const a = read<T>(w, i->a);
        std::uint32_t value[lanes] = {};
        bool same = true;
        const T first = a[std::countr_zero(asked)];
        each_lane(asked, [&](unsigned l) {
            same = same && a[l] == first;
            each_lane(asked, [&](unsigned k) { value[l] |= (a[k] == a[l] ? 1u : 0u) << k; });
        });
        if (All) {
            each_lane(asked, [&](unsigned l) { value[l] = same ? asked : 0; });
            if (i->e != nowhere) {
                write_mask(frame, w, i->e, same ? all_lanes : 0);
            }
        }
        auto* const d = written<std::uint32_t>(frame, i->d);
        each_lane(active, [&](unsigned l) { d[l] = value[l]; });
    });
}

template <class T, class Op>
const instruction* reduce(const instruction* i, std::byte* frame, warp* w) {
    return together_by_group(i, frame, w, i->b, [&](lane_mask active, lane_mask asked) {
        const T* const a = read<T>(w, i->a);
        T r = a[std::countr_zero(asked)];
        if constexpr (requires { Op::of_itself; }) {
            r = Op{}(r, r); // a lane alone
        }
        each_lane(asked & (asked - 1), [&](unsigned l) { r = Op{}(r, a[l]); });
        T* const d = written<T>(frame, i->d);
        each_lane(active, [&](unsigned l) { d[l] = r; });
    });
}

struct sum {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    }
};
struct least {
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};
struct most {
    template <class T>
    T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};
struct both {
    template <class T>
    T operator()(T a, T b) const {
        return a & b;
    }
};
struct either {
    template <class T>
    T operator()(T a, T b) const {
        return a | b;
    }
};
struct differ {
    template <class T>
    T operator()(T a, T b) const {
        return a ^ b;
    }
};

const instruction* active_mask(const instruction* i, std::byte* frame, warp* w) {
    ++w->counts->votes;
    auto* const d = written<std::uint32_t>(frame, i->d);
    each_lane(w->mask, [&](unsigned l) { d[l] = w->mask; });
    return i + 1;
}

// d|p: the lowest lane of the members, and whether this is it.
const instruction* elect(const instruction* i, std::byte* frame, warp* w) {
    return together_by_group(i, frame, w, i->a, [&](lane_mask active, lane_mask asked) {
        const auto leader = static_cast<unsigned>(std::countr_zero(asked));
        if (i->d != nowhere) {
            auto* const d = written<std::uint32_t>(frame, i->d);
            each_lane(active, [&](unsigned l) { d[l] = leader; });
        }
        write_mask(frame, w, i->e, 1u << leader);
    });
}

// Of floats, by their bits: NaN loses, or wins (Nan); of magnitudes (Abs).
template <bool Max, bool Nan, bool Abs>
struct extreme {
    static constexpr bool of_itself = true;
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
        a &= Abs ? 0x7FFFFFFFu : 0xFFFFFFFFu;
        b &= Abs ? 0x7FFFFFFFu : 0xFFFFFFFFu;
        const bool nan_a = (a & 0x7FFFFFFF) > 0x7F800000;
        const bool nan_b = (b & 0x7FFFFFFF) > 0x7F800000;
        if (nan_a || nan_b) {
            return Nan || (nan_a && nan_b) ? 0x7FFFFFFFu : nan_a ? b : a;
        }
        const auto rank = [](std::uint32_t x) { return (x >> 31) != 0 ? ~x : x | 0x80000000u; };
        return (rank(a) < rank(b)) != Max ? a : b;
    }
};
template <bool Max>
handler extreme_of(const form& f) {
    const bool nan = f.has(suffix::NaN);
    return f.has(suffix::abs) ? (nan ? reduce<std::uint32_t, extreme<Max, true, true>>
                                     : reduce<std::uint32_t, extreme<Max, false, true>>)
                              : (nan ? reduce<std::uint32_t, extreme<Max, true, false>>
                                     : reduce<std::uint32_t, extreme<Max, false, false>>);
}

template <class Op>
handler reduce_of(const form& f) {
    return f.type[0] == suffix::s32 ? handler{reduce<std::int32_t, Op>} : handler{reduce<std::uint32_t, Op>};
}

} // namespace

handler choose_warp(const form& f) {
    switch (f.op) {
    case opcode::shfl:
        if (!f.has(suffix::sync)) {
            return nullptr;
        }
        return f.has(suffix::up)     ? shuffle<shuffle_mode::up>
               : f.has(suffix::down) ? shuffle<shuffle_mode::down>
               : f.has(suffix::bfly) ? shuffle<shuffle_mode::bfly>
                                     : shuffle<shuffle_mode::idx>;
    case opcode::vote:
        if (!f.has(suffix::sync)) {
            return nullptr;
        }
        return f.has(suffix::all)   ? vote<vote_mode::all>
               : f.has(suffix::any) ? vote<vote_mode::any>
               : f.has(suffix::uni) ? vote<vote_mode::uni>
                                    : vote<vote_mode::ballot>;
    case opcode::match: {
        const bool wide = ptx::bytes_of(f.type[0]) == 8;
        return f.has(suffix::all) ? (wide ? match<std::uint64_t, true> : match<std::uint32_t, true>)
                                  : (wide ? match<std::uint64_t, false> : match<std::uint32_t, false>);
    }
    case opcode::redux:
        if (f.type[0] == suffix::f32) {
            return f.has(suffix::min) ? extreme_of<false>(f) : f.has(suffix::max) ? extreme_of<true>(f) : nullptr;
        }
        return f.has(suffix::add)    ? reduce_of<sum>(f)
               : f.has(suffix::min)  ? reduce_of<least>(f)
               : f.has(suffix::max)  ? reduce_of<most>(f)
               : f.has(suffix::and_) ? reduce_of<both>(f)
               : f.has(suffix::or_)  ? reduce_of<either>(f)
               : f.has(suffix::xor_) ? reduce_of<differ>(f)
                                     : nullptr;
    case opcode::activemask: return active_mask;
    case opcode::elect: return elect;
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
