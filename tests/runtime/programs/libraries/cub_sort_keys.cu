// SPDX-License-Identifier: MIT
// CUB's DeviceRadixSort of keys alone: of 1, 4 and 8 bytes, floats downwards, some bits only; one tile and many.
#include <algorithm>
#include <cstdint>
#include <functional>

#include <cub/device/device_radix_sort.cuh>

#include "tests/runtime/programs/device_array.hpp"

template <class T>
static T key(unsigned k) {
    return static_cast<T>(scrambled(k));
}

template <>
float key<float>(unsigned k) {
    return static_cast<float>(static_cast<int>(scrambled(k) % 2000001) - 1000000) / 16;
}

template <class T>
static void upwards(int n) {
    std::vector<T> keys(n);
    for (int k = 0; k < n; ++k) {
        keys[k] = key<T>(k);
    }
    device_array<T> in(keys), out(n);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, in.data(), out.data(), n);
    });
    std::sort(keys.begin(), keys.end());
    CHECK(out.host() == keys);
}

static void downwards(int n) {
    std::vector<float> keys(n);
    for (int k = 0; k < n; ++k) {
        keys[k] = key<float>(k);
    }
    device_array<float> in(keys), out(n);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortKeysDescending(scratch, bytes, in.data(), out.data(), n);
    });
    std::sort(keys.begin(), keys.end(), std::greater<float>());
    CHECK(out.host() == keys);
}

int main(int argc, char** argv) {
    for (const int n : lengths(argc, argv)) {
        upwards<std::uint8_t>(n);
        upwards<std::int32_t>(n);
        upwards<std::uint64_t>(n);
        downwards(n);
    }
    return 0;
}
