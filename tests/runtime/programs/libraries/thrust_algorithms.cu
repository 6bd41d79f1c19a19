// SPDX-License-Identifier: MIT
// Thrust: unique, copy_if, gather, minmax_element, and inner_product over iterators that compute.
#include <algorithm>

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/sequence.h>
#include <thrust/unique.h>

#include "tests/runtime/programs/device_array.hpp"

struct is_odd {
    __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

struct halved {
    __host__ __device__ int operator()(int x) const { return x / 2; }
};

// With a second argument nothing is done in place.
int main(int argc, char** argv) {
    const bool in_place = argc < 3;
    for (const int n : lengths(argc, argv)) {
        std::vector<int> data(n), odd, backwards(n);
        long long product = 0;
        for (int k = 0; k < n; ++k) {
            data[k] = static_cast<int>(scrambled(k / 2) % 1000);
            if (is_odd()(data[k])) {
                odd.push_back(data[k]);
            }
            product += static_cast<long long>(data[k]) * (k / 2);
        }
        std::reverse_copy(data.begin(), data.end(), backwards.begin());
        std::vector<int> unique = data;
        unique.erase(std::unique(unique.begin(), unique.end()), unique.end());

        const thrust::device_vector<int> device = data;
        thrust::device_vector<int> out(n), map(n);
        out.resize(thrust::copy_if(device.begin(), device.end(), out.begin(), is_odd()) - out.begin());
        CHECK(out == odd);
        if (in_place) {
            out = device;
            out.erase(thrust::unique(out.begin(), out.end()), out.end());
        } else {
            out.resize(n);
            out.erase(thrust::unique_copy(device.begin(), device.end(), out.begin()), out.end());
        }
        CHECK(out == unique);
        thrust::sequence(map.rbegin(), map.rend());
        out.resize(n);
        thrust::gather(map.begin(), map.end(), device.begin(), out.begin());
        CHECK(out == backwards);
        const auto both = thrust::minmax_element(device.begin(), device.end());
        const auto expected = std::minmax_element(data.begin(), data.end());
        CHECK(*both.first == *expected.first && *both.second == *expected.second);
        CHECK(both.first - device.begin() == std::min_element(data.begin(), data.end()) - data.begin());
        const auto halves = thrust::make_transform_iterator(thrust::make_counting_iterator(0), halved());
        CHECK(thrust::inner_product(device.begin(), device.end(), halves, 0LL) == product);
    }
    return 0;
}
