// SPDX-License-Identifier: MIT
// Thrust's reduce_by_key and scans by key, and its plain scans.
// GCC takes this for true of CUB's dispatch where it optimises little.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>

#include "tests/runtime/programs/device_array.hpp"

int main(int argc, char** argv) {
    for (const int n : lengths(argc, argv)) {
        std::vector<int> keys(n), data(n), by_key(n), all(n), run_keys;
        std::vector<int> run_sums;
        int sum = 0;
        for (int k = 0; k < n; ++k) {
            keys[k] = static_cast<int>(scrambled(k / 11) % 4);
            data[k] = static_cast<int>(scrambled(k) % 2001) - 1000;
            if (k == 0 || keys[k] != keys[k - 1]) {
                run_keys.push_back(keys[k]);
                run_sums.push_back(0);
            }
            by_key[k] = run_sums.back();
            run_sums.back() += data[k];
            sum += data[k];
            all[k] = sum;
        }
        const thrust::device_vector<int> device_keys = keys, device = data;
        thrust::device_vector<int> out(n), keys_out(n);
        thrust::inclusive_scan(device.begin(), device.end(), out.begin());
        CHECK(out == all);
        thrust::exclusive_scan_by_key(device_keys.begin(), device_keys.end(), device.begin(), out.begin());
        CHECK(out == by_key);
        const auto ends = thrust::reduce_by_key(device_keys.begin(), device_keys.end(), device.begin(),
                                                keys_out.begin(), out.begin());
        CHECK(ends.first - keys_out.begin() == static_cast<std::ptrdiff_t>(run_keys.size()));
        CHECK(ends.second - out.begin() == static_cast<std::ptrdiff_t>(run_keys.size()));
        keys_out.resize(run_keys.size());
        out.resize(run_keys.size());
        CHECK(keys_out == run_keys);
        CHECK(out == run_sums);
    }
    return 0;
}
