// SPDX-License-Identifier: MIT
// Scans on a GPU: which of the kernels a call takes. Each is one launch and one pass over memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/scan/scan_elements.cuh"
#include "warpfold/gpu/scan/scan_once.cuh"
#include "warpfold/gpu/scan/scan_stream.cuh"
#include "warpfold/gpu/scan/scan_tiles.cuh"

namespace warpfold::detail {

template <class Elements>
inline constexpr bool scan_streams_v = !Elements::how_type::segmented && sizeof(typename Elements::T) <= 16 &&
                                       sizeof(typename Elements::U) <= 16 && sizeof(typename Elements::A) <= 16;

template <>
struct scan_engine<gpu> {
    template <class In, class Out, class Map, class Op, class How>
    static void run(const gpu& on, const In& in, std::uint64_t n, const Out& out, const Map& map, const Op& op,
                    const How& how, const char* call) {
        using Elements = scan_elements<In, Out, Map, Op, How>;
        const Elements elements(in, out, map, op, how, n);
        if constexpr (scan_streams_v<Elements>) {
            // Where less is read than written a tile in registers has less under way, and pays only up to fewer tiles.
            constexpr unsigned most =
                tuning::scan_once_default.many_tiles * sizeof(typename Elements::T) / Elements::bytes;
            const scan_once_shape once(n + elements.shift, Elements::run, most);
            if (once.tiles != 0) {
                launch_scan_once(on, elements, once, call);
            } else {
                launch_scan_stream(on, elements, call);
            }
        } else {
            launch_scan_tiles(on, elements, call);
        }
    }
};

// Bytes that are enough for any scan of up to n elements of T into U, folded in A.
template <class T, class U, class A>
std::size_t scan_box_bytes(std::uint64_t n) {
    using layout = scan_layout<std::max(sizeof(T), sizeof(U))>;
    std::size_t bytes = lookback<A, false>::bytes(layout::most_tiles(n));
    using Elements = scan_elements<const T*, U*, as_it_is, sum, scan_how<A, A, no_segments, false, false>>;
    if constexpr (scan_streams_v<Elements>) {
        const std::uint64_t most = n + Elements::run;
        bytes = std::max(bytes, scan_once_shape::bytes(most, Elements::run, sizeof(mailbox<A>)));
        using Work = scan_stream_work<Elements>;
        const unsigned blocks = Work::how.blocks_per_multiprocessor * device_attribute(cudaDevAttrMultiProcessorCount);
        bytes = std::max(bytes, tile_ring<A>::bytes(scan_stream_shape<Elements>(most).slots(blocks)));
    }
    return bytes;
}

} // namespace warpfold::detail
