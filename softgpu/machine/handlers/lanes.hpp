// SPDX-License-Identifier: MIT
// Loops over the 32 lanes of a warp that the compiler vectorises. Only handlers include this. They are compiled once per
// instruction set of the host; SOFTGPU_TARGET names the namespace.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "softgpu/machine/state/launch_state.hpp"

#if defined(__clang__)
#define SOFTGPU_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define SOFTGPU_LANES _Pragma("GCC ivdep")
#endif
#define SOFTGPU_INLINE inline __attribute__((always_inline))

namespace softgpu::machine::SOFTGPU_TARGET {

template <class T>
SOFTGPU_INLINE T* written(std::byte* frame, place p) {
    return reinterpret_cast<T*>(__builtin_assume_aligned(frame + p, 64));
}

// The base of a place, without a branch: the warp has its frame and the constants side by side.
SOFTGPU_INLINE std::byte* base_of(const warp* w, place p) {
    static_assert(offsetof(warp, constants) == offsetof(warp, frame) + sizeof(std::byte*) && in_constants == 1u << 31);
    std::byte* base;
    std::memcpy(&base, reinterpret_cast<const std::byte*>(w) + offsetof(warp, frame) + (p >> 31) * sizeof(base),
                sizeof(base));
    return base;
}

template <class T>
SOFTGPU_INLINE const T* read(const warp* w, place p) {
    std::byte* const base = base_of(w, p);
    return reinterpret_cast<const T*>(__builtin_assume_aligned(base + (p & ~in_constants), 64));
}

SOFTGPU_INLINE lane_mask read_mask(const warp* w, place p) {
    const std::byte* const base = base_of(w, p);
    lane_mask m;
    std::memcpy(&m, base + (p & ~in_constants), 4);
    return m;
}

SOFTGPU_INLINE void write_mask(std::byte* frame, const warp* w, place p, lane_mask m) {
    lane_mask old;
    std::memcpy(&old, frame + p, 4);
    m = (m & w->mask) | (old & ~w->mask);
    std::memcpy(frame + p, &m, 4);
}

// Executes the next instruction, by a jump in optimised builds. For handlers that go on to the next instruction; a
// backward branch returns instead, which bounds the stack in builds without tail calls.
SOFTGPU_INLINE const instruction* go_on(const instruction* i, [[maybe_unused]] std::byte* frame,
                                        [[maybe_unused]] warp* w) {
#ifdef SOFTGPU_THREADED
    return i->run(i, frame, w);
#else
    return i;
#endif
}

// Of a mask that is not empty.
SOFTGPU_INLINE unsigned first_lane(lane_mask mask) { return static_cast<unsigned>(std::countr_zero(mask)) & 31; }
SOFTGPU_INLINE unsigned last_lane(lane_mask mask) { return (static_cast<unsigned>(std::countl_zero(mask)) & 31) ^ 31; }

// d[lane] = f(s[lane]...) for the active lanes. f runs for all lanes and must be defined for every bit pattern.
template <class D, class F, class... S>
SOFTGPU_INLINE void map_lanes(lane_mask mask, D* d, F&& f, const S*... s) {
    if (mask == all_lanes) [[likely]] {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            d[l] = f(s[l]...);
        }
    } else {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            const D r = f(s[l]...);
            d[l] = (mask & (1u << l)) != 0 ? r : d[l];
        }
    }
}

// The same for an f that must not run for inactive lanes (divisions, library functions).
template <class D, class F, class... S>
SOFTGPU_INLINE void map_active(lane_mask mask, D* d, F&& f, const S*... s) {
    each_lane(mask, [&](unsigned l) { d[l] = f(s[l]...); });
}

// Bit l of the result: test(s[l]...).
template <class F, class... S>
SOFTGPU_INLINE lane_mask test_lanes(F&& test, const S*... s) {
    alignas(64) std::int32_t hit[lanes];
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        hit[l] = test(s[l]...) ? -1 : 0;
    }
#ifdef __AVX2__
    lane_mask m = 0;
    for (unsigned k = 0; k < 4; ++k) {
        const __m256 v = _mm256_load_ps(reinterpret_cast<const float*>(hit + 8 * k));
        m |= static_cast<lane_mask>(static_cast<unsigned>(_mm256_movemask_ps(v))) << (8 * k);
    }
    return m;
#else
    lane_mask m = 0;
    for (unsigned l = 0; l < lanes; ++l) {
        m |= static_cast<lane_mask>(hit[l] & 1) << l;
    }
    return m;
#endif
}

// Reads a register of `width` bytes a lane as Ts: its low bits where T is narrower, extended by T's sign where wider.
template <class T>
SOFTGPU_INLINE void widen_in(T* out, const warp* w, place p, unsigned width) {
    if (width == sizeof(T)) [[likely]] {
        std::memcpy(out, read<T>(w, p), sizeof(T) * lanes);
    } else if (width == 2) {
        const auto* s = read<std::uint16_t>(w, p);
        for (unsigned l = 0; l < lanes; ++l) {
            out[l] = static_cast<T>(s[l]);
        }
    } else if (width == 4) {
        const auto* s = read<std::uint32_t>(w, p);
        for (unsigned l = 0; l < lanes; ++l) {
            out[l] = static_cast<T>(s[l]);
        }
    } else {
        const auto* s = read<std::uint64_t>(w, p);
        for (unsigned l = 0; l < lanes; ++l) {
            out[l] = static_cast<T>(s[l]);
        }
    }
}

// Writes Ts to a register of `width` bytes a lane, extended by T's sign where it is wider.
template <class T>
SOFTGPU_INLINE void widen_out(const T* in, std::byte* frame, lane_mask mask, place p, unsigned width) {
    const auto put = [&]<class R>(R* d) {
        map_lanes(
            mask, d, [](T v) { return static_cast<R>(v); }, in);
    };
    if (width == 4) [[likely]] {
        put(written<std::uint32_t>(frame, p));
    } else if (width == 8) {
        put(written<std::uint64_t>(frame, p));
    } else {
        put(written<std::uint16_t>(frame, p));
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
