// SPDX-License-Identifier: MIT
// CUB's DeviceSegmentedSort: segments of a few elements, of hundreds and of thousands take different ways.
#include <algorithm>

#include <cub/device/device_segmented_sort.cuh>

#include "tests/runtime/programs/device_array.hpp"

int main(int argc, char** argv) {
    for (const int n : lengths(argc, argv)) {
        std::vector<int> keys(n), begins{0};
        for (unsigned long long k = 0; begins.back() < n; ++k) {
            const unsigned long long most = scrambled(k) % 9 == 0 ? 30000 : scrambled(k) % 3 == 0 ? 900 : 20;
            begins.push_back(
                static_cast<int>(std::min<unsigned long long>(n, begins.back() + scrambled(k + 3) % most)));
        }
        for (int k = 0; k < n; ++k) {
            keys[k] = static_cast<int>(scrambled(k));
        }
        const int segments = static_cast<int>(begins.size()) - 1;
        device_array<int> in(keys), out(n), bounds(begins);
        with_scratch([&](void* scratch, std::size_t& bytes) {
            return cub::DeviceSegmentedSort::SortKeys(scratch, bytes, in.data(), out.data(), n, segments, bounds.data(),
                                                      bounds.data() + 1);
        });
        for (int s = 0; s < segments; ++s) {
            std::sort(keys.begin() + begins[s], keys.begin() + begins[s + 1]);
        }
        CHECK(out.host() == keys);
    }
    return 0;
}
