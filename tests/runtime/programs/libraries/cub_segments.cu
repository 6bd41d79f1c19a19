// SPDX-License-Identifier: MIT
// CUB's DeviceSegmentedReduce and DeviceRunLengthEncode: sums of pieces of every length, and the runs of equal elements.
#include <algorithm>

#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "tests/runtime/programs/device_array.hpp"

static void reduce_segments(int n) {
    std::vector<int> data(n), begins{0};
    std::vector<long long> sums;
    std::vector<int> most;
    // Lengths of 0, a few, and now and then thousands.
    for (unsigned long long k = 0; begins.back() < n; ++k) {
        const unsigned long long length = scrambled(k) % 8 == 0 ? scrambled(k + 7) % 9000 : scrambled(k) % 50;
        begins.push_back(static_cast<int>(std::min<unsigned long long>(n, begins.back() + length)));
    }
    for (int k = 0; k < n; ++k) {
        data[k] = static_cast<int>(scrambled(k) % 20001) - 10000;
    }
    const int segments = static_cast<int>(begins.size()) - 1;
    for (int s = 0; s < segments; ++s) {
        long long sum = 0;
        int largest = std::numeric_limits<int>::lowest();
        for (int k = begins[s]; k < begins[s + 1]; ++k) {
            sum += data[k];
            largest = std::max(largest, data[k]);
        }
        sums.push_back(sum);
        most.push_back(largest);
    }
    device_array<int> in(data), bounds(begins), largest_out(segments);
    device_array<long long> sums_out(segments);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSegmentedReduce::Sum(scratch, bytes, in.data(), sums_out.data(), segments, bounds.data(),
                                               bounds.data() + 1);
    });
    CHECK(sums_out.host() == sums);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSegmentedReduce::Max(scratch, bytes, in.data(), largest_out.data(), segments, bounds.data(),
                                               bounds.data() + 1);
    });
    CHECK(largest_out.host() == most);
}

static void encode_runs(int n) {
    std::vector<int> data(n), values, counts, long_begins, long_counts;
    for (int k = 0; k < n; ++k) {
        data[k] = static_cast<int>(scrambled(k / 5) % 3);
        if (k == 0 || data[k] != data[k - 1]) {
            values.push_back(data[k]);
            counts.push_back(0);
        }
        ++counts.back();
    }
    for (std::size_t run = 0, begin = 0; run < counts.size(); begin += counts[run++]) {
        if (counts[run] > 1) {
            long_begins.push_back(static_cast<int>(begin));
            long_counts.push_back(counts[run]);
        }
    }
    device_array<int> in(data), first(n), second(n), count(1);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRunLengthEncode::Encode(scratch, bytes, in.data(), first.data(), second.data(), count.data(),
                                                  n);
    });
    CHECK(count.host()[0] == static_cast<int>(counts.size()));
    CHECK(first.first(counts.size()) == values && second.first(counts.size()) == counts);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRunLengthEncode::NonTrivialRuns(scratch, bytes, in.data(), first.data(), second.data(),
                                                          count.data(), n);
    });
    CHECK(count.host()[0] == static_cast<int>(long_counts.size()));
    CHECK(first.first(long_begins.size()) == long_begins && second.first(long_counts.size()) == long_counts);
}

int main(int argc, char** argv) {
    for (const int n : lengths(argc, argv)) {
        reduce_segments(n);
        encode_runs(n);
    }
    return 0;
}
