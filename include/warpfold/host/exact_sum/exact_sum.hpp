// SPDX-License-Identifier: MIT
// Exact sums on the host: each piece of the input has a long accumulator of its own, and these are added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/block_input.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/exact_sum/bounded.hpp"
#include "warpfold/host/exact_sum/chunk.hpp"
#include "warpfold/host/exact_sum/products.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t exact_piece = std::uint64_t{1} << 16; // elements that a thread processes at a time

// Elements of each array that are added at a time: they and the next two chunks, which are prefetched, fit an L1 cache (32 KiB),
// but for products of doubles, whose arithmetic takes longer than memory.
template <class T, std::size_t Arrays>
inline constexpr unsigned exact_step = sizeof(T) * Arrays == sizeof(float) ? exact_chunk : exact_chunk / 2;

// Elements [begin, begin + n), contiguous and followed by zeros up to `rounded_up`; copied to `buffer` unless they are
// so in memory.
template <class T, class In>
const T* chunk_of(const In& in, std::uint64_t begin, unsigned n, unsigned rounded_up, T* buffer) {
    if constexpr (std::is_pointer_v<In>) {
        if (n == rounded_up) {
            return in + begin;
        }
    }
    if constexpr (reads_blocks<In> && std::is_same_v<element_t<In>, T>) {
        in.read(begin, n, buffer);
    } else {
        for (unsigned k = 0; k < n; ++k) {
            buffer[k] = in[begin + k];
        }
    }
    std::fill(buffer + n, buffer + rounded_up, T(0));
    return buffer;
}

template <class T, class... Ins>
void add_on_host(const host& on, std::uint64_t n, long_accumulator<T, sizeof...(Ins)>& total, const Ins&... ins) {
    using accumulator = long_accumulator<T, sizeof...(Ins)>;
    constexpr unsigned step = exact_step<T, sizeof...(Ins)>;
    std::mutex guard;
    const auto add = [&](std::uint64_t piece) {
        accumulator mine;
        std::conditional_t<std::is_same_v<T, float> && sizeof...(Ins) == 1, float_bins, no_bins> bins;
        const std::uint64_t end = std::min(n, (piece + 1) * exact_piece);
        for (std::uint64_t begin = piece * exact_piece; begin < end; begin += step) {
            const auto count = static_cast<unsigned>(std::min<std::uint64_t>(step, end - begin));
            const unsigned rounded_up = (count + exact_lanes - 1) / exact_lanes * exact_lanes;
            T buffer[sizeof...(Ins)][step];
            T* room = buffer[0];
            const auto next_room = [&] {
                T* const here = room;
                room += step;
                return here;
            };
            struct {
                const T* at[sizeof...(Ins)];
            } const chunks{{chunk_of<T>(ins, begin, count, rounded_up, next_room())...}};
            if constexpr (sizeof...(Ins) == 1) {
                add_numbers(mine, bins, rounded_up, chunks.at[0]);
            } else {
                add_products(mine, rounded_up, chunks.at[0], chunks.at[1]);
            }
        }
        bins.add_to(mine);
        const std::lock_guard lock(guard);
        total.add(mine);
    };
    parallel_for(on.threads, (n + exact_piece - 1) / exact_piece, add, pieces_together);
}

// The sum of terms of type T, rounded to R.
template <class T, class R = T, class... Ins>
R exact_on_host(const host& on, std::uint64_t n, const Ins&... ins) {
    if (const auto found = bounded_on_host<T>(on, n, finish_sum<R>{}, ins...)) {
        return *found;
    }
    long_accumulator<T, sizeof...(Ins)> total;
    add_on_host<T>(on, n, total, ins...);
    return total.template value<R>();
}

template <>
struct exact_engine<host> {
    template <class T, class... Ins>
    static T value(const host& on, std::uint64_t n, const char* call, const Ins&... ins) {
        (detail::check_array(ins, n, call), ...);
        return exact_on_host<T>(on, n, ins...);
    }
    template <class T, class Out, class... Ins>
    static void into(const host& on, std::uint64_t n, const Out& out, const char* call, const Ins&... ins) {
        (detail::check_array(ins, n, call), ...);
        detail::check_array(out, 1, call);
        *out = exact_on_host<T>(on, n, ins...);
    }
};

template <>
struct exact_add_engine<host> {
    template <class T, class In>
    static void add(const host& on, long_accumulator<T, 1>& to, const In& in, std::uint64_t n, const char* call) {
        detail::check_array(in, n, call);
        add_on_host<T>(on, n, to, in);
    }
};

} // namespace warpfold::detail
