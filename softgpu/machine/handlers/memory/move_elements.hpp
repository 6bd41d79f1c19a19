// SPDX-License-Identifier: MIT
// Moves elements of 4 or 8 bytes between memory and registers of the same width.
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
    using piece [[gnu::vector_size(32), gnu::aligned(1), gnu::may_alias]] = std::uint64_t;
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

template <class T, unsigned V, verb Verb>
SOFTGPU_INLINE void move(const instruction* i, std::byte* frame, warp* w, lane_mask mask, const located& where) {
    for (unsigned k = 0; k < V; ++k) {
        const place p = element_place<Verb, V>(i, k);
        if (Verb == verb::load && p == nowhere) {
            continue;
        }
        if constexpr (Verb == verb::load) {
            T* const d = written<T>(frame, p);
            if (where.run != nullptr && mask == all_lanes) {
                copy_in<lanes, sizeof(T) * V>(d, where.run + k * sizeof(T));
            } else {
                each_lane(mask, [&](unsigned l) { d[l] = get<T>(where.of(l) + k * sizeof(T)); });
            }
        } else {
            const T* const s = read<T>(w, p);
            if (where.run != nullptr && mask == all_lanes) {
                for (unsigned l = 0; l < lanes; ++l) {
                    put(where.run + (l * V + k) * sizeof(T), s[l]);
                }
            } else {
                each_lane(mask, [&](unsigned l) { put(where.of(l) + k * sizeof(T), s[l]); });
            }
        }
    }
}

// d[l] = the element at from + offset[l], for all lanes.
template <class T>
SOFTGPU_INLINE void gather(T* d, const std::byte* from, const std::uint32_t* offset) {
#ifdef __AVX2__
    for (unsigned k = 0; k < lanes; k += 32 / sizeof(T)) {
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

// The first active lane's bytes are at `origin`, those of the others where the pattern says. Private: no other thread
// accesses the memory at the same time, and there is a warp's width of room on either side of it.
template <class T, unsigned V, verb Verb, bool Private>
SOFTGPU_INLINE void move_pattern(const instruction* i, std::byte* frame, warp* w, lane_mask mask,
                                 const address_pattern& p, std::byte* origin) {
    constexpr unsigned step = sizeof(T) * V;
    constexpr bool whole = Private && V == 1;
    const unsigned first = first_lane(mask);
    for (unsigned k = 0; k < V; ++k) {
        const place at = element_place<Verb, V>(i, k);
        if (Verb == verb::load && at == nowhere) {
            continue;
        }
        std::byte* const here = origin + k * sizeof(T);
        if constexpr (Verb == verb::load) {
            T* const d = written<T>(frame, at);
            switch (p.shape) {
            case pattern_shape::run: load_run<T, step, whole>(mask, d, here - std::size_t{first} * step); break;
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
        } else {
            const T* const s = read<T>(w, at);
            if (p.shape == pattern_shape::run) {
                store_run<T, step, whole>(mask, s, here - std::size_t{first} * step);
            } else if (mask == all_lanes) {
                for (unsigned l = 0; l < lanes; ++l) {
                    put(here + static_cast<std::int32_t>(p.offset[l]), s[l]);
                }
            } else {
                each_lane(mask, [&](unsigned l) { put(here + static_cast<std::int32_t>(p.offset[l]), s[l]); });
            }
        }
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
