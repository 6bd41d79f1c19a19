// SPDX-License-Identifier: MIT
// CUB's DeviceRadixSort of keys with values: equal keys keep their order, and keys may be sorted by some bits only.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include <cub/device/device_radix_sort.cuh>

#include "tests/runtime/programs/device_array.hpp"

// By the bits from `begin` to `end`, the values being where each pair was.
static void sort(int n, int begin, int end) {
    std::vector<std::uint32_t> keys(n), places(n);
    std::iota(places.begin(), places.end(), 0u);
    for (int k = 0; k < n; ++k) {
        keys[k] = static_cast<std::uint32_t>(scrambled(k) % 5000 * 65537);
    }
    device_array<std::uint32_t> keys_in(keys), places_in(places), keys_out(n), places_out(n);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys_in.data(), keys_out.data(), places_in.data(),
                                               places_out.data(), n, begin, end);
    });
    const std::uint32_t mask = static_cast<std::uint32_t>((1ull << end) - (1ull << begin));
    std::stable_sort(places.begin(), places.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return (keys[a] & mask) < (keys[b] & mask); });
    const std::vector<std::uint32_t> got_places = places_out.host(), got_keys = keys_out.host();
    CHECK(got_places == places);
    for (int k = 0; k < n; ++k) {
        CHECK(got_keys[k] == keys[places[k]]);
    }
}

// Between two pairs of buffers, whichever holds the answer in the end, downwards.
static void sort_in_place(int n) {
    std::vector<std::uint32_t> keys(n), places(n);
    std::iota(places.begin(), places.end(), 0u);
    for (int k = 0; k < n; ++k) {
        keys[k] = static_cast<std::uint32_t>(scrambled(k) >> 7);
    }
    device_array<std::uint32_t> keys_a(keys), keys_b(n), places_a(places), places_b(n);
    cub::DoubleBuffer<std::uint32_t> both_keys(keys_a.data(), keys_b.data());
    cub::DoubleBuffer<std::uint32_t> both_places(places_a.data(), places_b.data());
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairsDescending(scratch, bytes, both_keys, both_places, n);
    });
    std::stable_sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
    CHECK((both_places.Current() == places_a.data() ? places_a : places_b).host() == places);
}

int main(int argc, char** argv) {
    for (const int n : lengths(argc, argv)) {
        sort(n, 0, 32);
        sort(n, 3, 14);
        sort_in_place(n);
    }
    return 0;
}
