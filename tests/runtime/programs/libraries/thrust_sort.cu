// SPDX-License-Identifier: MIT
// Thrust's sorts: of plain keys (a radix sort), by a comparison (a merge sort), stable, and of keys with values.
#include <algorithm>
#include <numeric>

#include <thrust/device_vector.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include "tests/runtime/programs/device_array.hpp"

struct by_last_digit {
    __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; }
};

int main(int argc, char** argv) {
    for (const int n : lengths(argc, argv)) {
        std::vector<int> data(n), places(n);
        std::iota(places.begin(), places.end(), 0);
        for (int k = 0; k < n; ++k) {
            data[k] = static_cast<int>(scrambled(k) % 100000);
        }
        std::vector<int> sorted = data, by_digit = data;
        std::sort(sorted.begin(), sorted.end());
        std::stable_sort(by_digit.begin(), by_digit.end(), by_last_digit());
        std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return data[a] < data[b]; });

        thrust::device_vector<int> device = data;
        thrust::sort(device.begin(), device.end());
        CHECK(device == sorted);
        device = data;
        thrust::stable_sort(device.begin(), device.end(), by_last_digit());
        CHECK(device == by_digit);
        device = data;
        thrust::device_vector<int> values(n);
        thrust::sequence(values.begin(), values.end());
        thrust::stable_sort_by_key(device.begin(), device.end(), values.begin());
        CHECK(device == sorted);
        CHECK(values == places);
    }
    return 0;
}
