// SPDX-License-Identifier: MIT
// Moves elements between memory and registers: of 4 or 8 bytes in registers of the same width, or of 8 bytes and fewer in
// registers of any width.
#pragma once

#include "softgpu/machine/handlers/memory/address_pattern.hpp"
#include "softgpu/machine/handlers/memory/lane_addresses.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

template <verb Verb, unsigned V>
SOFTGPU_INLINE place element_place(const instruction* i, unsigned k) {
    return V == 1 ? (Verb == verb::load ? i->d : i->b) : i->places[k];
}

template <class T>
SOFTGPU_INLINE T get(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}
template <class T>
SOFTGPU_INLINE void put(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof(T));
}

// Copies in pieces as wide as the handlers read registers: a register written in halves is slow to read .
template <std::size_t Bytes>
SOFTGPU_INLINE void copy_wide(void* to, const void* from) {
    using piece[[ gnu::vector_size(Bytes < 32 ? Bytes : 32), gnu::aligned(1), gnu::may_alias ]] = std::uint64_t;
    static_assert(Bytes % sizeof(piece) == 0);
    for (std::size_t k = 0; k < Bytes / sizeof(piece); ++k) {
        static_cast<piece*>(to)[k] = static_cast<const piece*>(from)[k];
    }
}

// The same value in eight elements.
template <class T>
SOFTGPU_INLINE void fill_eight(T* to, T value) {
    using eight [[gnu::vector_size(8 * sizeof(T)), gnu::may_alias]] = T;
    *reinterpret_cast<eight*>(to) = eight{} + value;
}

// to[l] = the element at from + l * Step.
template <unsigned Lanes, unsigned Step, class T>
SOFTGPU_INLINE void copy_in(T* to, const std::byte* from) {
    if constexpr (Step == sizeof(T)) {
        copy_wide<Lanes * sizeof(T)>(to, from);
    } else {
        for (unsigned l = 0; l < Lanes; ++l) {
            to[l] = get<T>(from + l * Step);
        }
    }
}

// Element k of each lane's vector, V elements long.
template <class T, unsigned V>
SOFTGPU_INLINE void load_element(lane_mask mask, T* d, const located& where, unsigned k) {
    if (where.run != nullptr && mask == all_lanes) {
        copy_in<lanes, sizeof(T) * V>(d, where.run + k * sizeof(T));
    } else {
        each_lane(mask, [&](unsigned l) { d[l] = get<T>(where.of(l) + k * sizeof(T)); });
    }
}
template <class T, unsigned V>
SOFTGPU_INLINE void store_element(lane_mask mask, const T* s, const located& where, unsigned k) {
    if (where.run != nullptr && mask == all_lanes) {
        for (unsigned l = 0; l < lanes; ++l) {
            put(where.run + (l * V + k) * sizeof(T), s[l]);
        }
    } else {
        each_lane(mask, [&](unsigned l) { put(where.of(l) + k * sizeof(T), s[l]); });
    }
}

// d[l] = the element at from + offset[l], for all lanes.
template <class T>
SOFTGPU_INLINE void gather(T* d, const std::byte* from, const std::uint32_t* offset) {
#ifdef __AVX2__
    if constexpr (sizeof(T) < 4) {
        for (unsigned l = 0; l < lanes; ++l) {
            d[l] = get<T>(from + static_cast<std::int32_t>(offset[l]));
        }
        return;
    }
    for (unsigned k = 0; k < lanes && sizeof(T) >= 4; k += 32 / sizeof(T)) {
        if constexpr (sizeof(T) == 4) {
            const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(offset + k));
            _mm256_store_si256(reinterpret_cast<__m256i*>(d + k),
                               _mm256_i32gather_epi32(reinterpret_cast<const int*>(from), at, 1));
        } else {
            const __m128i at = _mm_load_si128(reinterpret_cast<const __m128i*>(offset + k));
            _mm256_store_si256(reinterpret_cast<__m256i*>(d + k),
                               _mm256_i32gather_epi64(reinterpret_cast<const long long*>(from), at, 1));
        }
    }
#else
    for (unsigned l = 0; l < lanes; ++l) {
        d[l] = get<T>(from + static_cast<std::int32_t>(offset[l]));
    }
#endif
}

// Lane l's element is at from + l * Step. Whole: bytes of inactive lanes may be read as well.
template <class T, unsigned Step, bool Whole>
SOFTGPU_INLINE void load_run(lane_mask mask, T* d, const std::byte* from) {
    if (mask == all_lanes) [[likely]] {
        copy_in<lanes, Step>(d, from);
    } else if constexpr (Whole) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            const T value = get<T>(from + l * Step);
            d[l] = (mask & (1u << l)) != 0 ? value : d[l];
        }
    } else {
        each_lane(mask, [&](unsigned l) { d[l] = get<T>(from + l * Step); });
    }
}

template <class T, unsigned Step, bool Whole>
SOFTGPU_INLINE void store_run(lane_mask mask, const T* s, std::byte* to) {
    if (mask == all_lanes) [[likely]] {
        if constexpr (Step == sizeof(T)) {
            copy_wide<lanes * sizeof(T)>(to, s);
        } else {
            for (unsigned l = 0; l < lanes; ++l) {
                put(to + l * Step, s[l]);
            }
        }
    } else if (Whole && (mask & (mask - 1)) != 0) {
        auto* const here = reinterpret_cast<T*>(to);
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            here[l] = (mask & (1u << l)) != 0 ? s[l] : here[l];
        }
    } else {
        each_lane(mask, [&](unsigned l) { put(to + l * Step, s[l]); });
    }
}

// The same where the first active lane's element is at `here`, those of the others where the pattern says. Private: no
// other thread accesses the memory at the same time, and there is a warp's width of room on either side of it.
template <class T, unsigned V, bool Private>
SOFTGPU_INLINE void load_pattern(lane_mask mask, T* d, const address_pattern& p, const std::byte* here) {
    constexpr unsigned step = sizeof(T) * V;
    switch (p.shape) {
    case pattern_shape::run:
        load_run<T, step, Private && V == 1>(mask, d, here - std::size_t{first_lane(mask)} * step);
        break;
    case pattern_shape::uniform: {
        const T value = get<T>(here);
        map_lanes(
            mask, d, [value](T) { return value; }, d);
        break;
    }
    case pattern_shape::quarter_runs:
        for (unsigned q = 0; q < lanes; q += 8) {
            copy_in<8, step>(d + q, here + static_cast<std::int32_t>(p.offset[q]));
        }
        break;
    case pattern_shape::quarter_uniforms:
        for (unsigned q = 0; q < lanes; q += 8) {
            fill_eight(d + q, get<T>(here + static_cast<std::int32_t>(p.offset[q])));
        }
        break;
    case pattern_shape::scattered:
        if (mask == all_lanes) {
            gather(d, here, p.offset);
        } else {
            each_lane(mask, [&](unsigned l) { d[l] = get<T>(here + static_cast<std::int32_t>(p.offset[l])); });
        }
        break;
    }
}

template <class T, unsigned V, bool Private>
SOFTGPU_INLINE void store_pattern(lane_mask mask, const T* s, const address_pattern& p, std::byte* here) {
    constexpr unsigned step = sizeof(T) * V;
    if (p.shape == pattern_shape::run) {
        store_run<T, step, Private && V == 1>(mask, s, here - std::size_t{first_lane(mask)} * step);
    } else if (mask == all_lanes) {
        for (unsigned l = 0; l < lanes; ++l) {
            put(here + static_cast<std::int32_t>(p.offset[l]), s[l]);
        }
    } else {
        each_lane(mask, [&](unsigned l) { put(here + static_cast<std::int32_t>(p.offset[l]), s[l]); });
    }
}

// Vectors of V elements of type T, in registers as wide as T.
template <class T, unsigned V>
struct whole_elements {
    static constexpr unsigned bytes = sizeof(T) * V;

    // load(d, k) gives all lanes' elements k, store(s, k) takes them.
    template <verb Verb, class Load, class Store>
    static SOFTGPU_INLINE void each(const instruction* i, std::byte* frame, warp* w, Load&& load, Store&& store) {
        for (unsigned k = 0; k < V; ++k) {
            const place p = element_place<Verb, V>(i, k);
            if constexpr (Verb == verb::store) {
                store(read<T>(w, p), k);
            } else if (p != nowhere) {
                load(written<T>(frame, p), k);
            }
        }
    }
    template <verb Verb>
    static SOFTGPU_INLINE void move(const instruction* i, std::byte* frame, warp* w, lane_mask mask,
                                    const located& where) {
        each<Verb>(
            i, frame, w, [&](T* d, unsigned k) { load_element<T, V>(mask, d, where, k); },
            [&](const T* s, unsigned k) { store_element<T, V>(mask, s, where, k); });
    }
    template <verb Verb, bool Private>
    static SOFTGPU_INLINE void move_pattern(const instruction* i, std::byte* frame, warp* w, lane_mask mask,
                                            const address_pattern& p, std::byte* origin) {
        each<Verb>(
            i, frame, w, [&](T* d, unsigned k) { load_pattern<T, V, Private>(mask, d, p, origin + k * sizeof(T)); },
            [&](const T* s, unsigned k) { store_pattern<T, V, Private>(mask, s, p, origin + k * sizeof(T)); });
    }
};

// From T to registers of 2, 4 or 8 bytes a lane, and back. The elements of a vector stand in T one above the other. In
// load_store.cpp.
template <class T>
void spread_lanes(const instruction* i, std::byte* frame, lane_mask mask, const T* in);
template <class T>
void collect_lanes(const instruction* i, const warp* w, T* out);

// A T in memory, of 8 bytes or fewer, that is an element, or a vector of elements, of registers of other widths.
template <class T>
struct narrow_elements {
    static constexpr unsigned bytes = sizeof(T);

    template <verb Verb>
    static SOFTGPU_INLINE void move(const instruction* i, std::byte* frame, warp* w, lane_mask mask,
                                    const located& where) {
        alignas(64) T value[lanes];
        if constexpr (Verb == verb::load) {
            load_element<T, 1>(mask, value, where, 0);
            spread_lanes(i, frame, mask, value);
        } else {
            collect_lanes(i, w, value);
            store_element<T, 1>(mask, value, where, 0);
        }
    }
    template <verb Verb, bool Private>
    static SOFTGPU_INLINE void move_pattern(const instruction* i, std::byte* frame, warp* w, lane_mask mask,
                                            const address_pattern& p, std::byte* origin) {
        alignas(64) T value[lanes];
        if constexpr (Verb == verb::load) {
            load_pattern<T, 1, Private>(mask, value, p, origin);
            spread_lanes(i, frame, mask, value);
        } else {
            collect_lanes(i, w, value);
            store_pattern<T, 1, Private>(mask, value, p, origin);
        }
    }
};

} // namespace softgpu::machine::SOFTGPU_TARGET
