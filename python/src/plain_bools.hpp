// SPDX-License-Identifier: MIT
// bool on the fast paths, which read the bytes 0 and 1. NumPy takes every byte but 0 for true: a mask of 0 and 255 that is
// viewed as bool has others.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "python/src/elements.hpp"
#include "python/src/segments.hpp"

namespace warpfold::python {

// work(first, count) for parts of the elements, on all cores.
template <class Work>
void for_parts(std::uint64_t size, const Work& work) {
    for_groups((size + part_size - 1) / part_size, part_size, [&](std::uint64_t part) {
        const std::uint64_t first = part * part_size;
        detail::with_widest_vectors([&] {
            work(first, std::min(part_size, size - first));
            return 0;
        });
    });
}

inline bool has_only_0_and_1(const array& in) {
    std::atomic<std::uint8_t> all = 0;
    for_parts(in.size(), [&](std::uint64_t first, std::uint64_t count) {
        std::uint8_t room[1024], bits = 0;
        for (std::uint64_t k = 0; k < count; k += sizeof(room)) {
            const std::uint64_t number = std::min<std::uint64_t>(sizeof(room), count - k);
            read_elements<std::uint8_t>(in, first + k, number, room);
            bits = std::accumulate(room, room + number, bits, std::bit_or<std::uint8_t>{});
        }
        all |= bits;
    });
    return all <= 1;
}

// work(array) with the same elements. Those of bool are bytes 0 and 1: in a copy, if some are not.
template <class Work>
auto with_plain_bools(const array& in, const Work& work) {
    if (in.type != element::boolean || has_only_0_and_1(in)) {
        return work(in);
    }
    std::vector<std::uint8_t> bytes(in.size());
    for_parts(in.size(),
              [&](std::uint64_t first, std::uint64_t count) { read_elements<bool>(in, first, count, &bytes[first]); });
    return work(array(reinterpret_cast<char*>(bytes.data()), in.type, in.shape, row_major(in.shape, 1)));
}

} // namespace warpfold::python
