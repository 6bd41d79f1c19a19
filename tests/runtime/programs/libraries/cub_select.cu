// SPDX-License-Identifier: MIT
// CUB's DeviceSelect (If, Flagged, Unique) and DevicePartition: what is kept, in order, and how many.
#include <algorithm>

#include <cub/device/device_partition.cuh>
#include <cub/device/device_select.cuh>

#include "tests/runtime/programs/device_array.hpp"

struct wanted {
    __host__ __device__ bool operator()(int x) const { return x % 3 != 0; }
};

// Runs `select(scratch, bytes, out, count)` and gives the elements that it counted, or all `n`.
template <class Select>
static std::vector<int> selected(int n, bool all, Select select) {
    device_array<int> out(n), count(1);
    with_scratch([&](void* scratch, std::size_t& bytes) { return select(scratch, bytes, out.data(), count.data()); });
    const int kept = count.host()[0];
    CHECK(kept >= 0 && kept <= n);
    std::vector<int> host = out.first(all ? n : kept);
    host.push_back(kept);
    return host;
}

int main(int argc, char** argv) {
    for (const int n : lengths(argc, argv)) {
        std::vector<int> data(n), kept, flagged, unique, rest;
        std::vector<unsigned char> flags(n);
        for (int k = 0; k < n; ++k) {
            data[k] = static_cast<int>(scrambled(k / 3) % 97);
            flags[k] = scrambled(k) % 5 == 0;
            (wanted()(data[k]) ? kept : rest).push_back(data[k]);
            if (flags[k]) {
                flagged.push_back(data[k]);
            }
            if (k == 0 || data[k] != data[k - 1]) {
                unique.push_back(data[k]);
            }
        }
        std::vector<int> parted = kept;
        parted.insert(parted.end(), rest.rbegin(), rest.rend());
        parted.push_back(static_cast<int>(kept.size()));
        for (std::vector<int>* each : {&kept, &flagged, &unique}) {
            each->push_back(static_cast<int>(each->size()));
        }
        device_array<int> in(data);
        device_array<unsigned char> flags_in(flags);
        CHECK(selected(n, false, [&](void* scratch, std::size_t& bytes, int* out, int* count) {
                  return cub::DeviceSelect::If(scratch, bytes, in.data(), out, count, n, wanted());
              }) == kept);
        CHECK(selected(n, false, [&](void* scratch, std::size_t& bytes, int* out, int* count) {
                  return cub::DeviceSelect::Flagged(scratch, bytes, in.data(), flags_in.data(), out, count, n);
              }) == flagged);
        CHECK(selected(n, false, [&](void* scratch, std::size_t& bytes, int* out, int* count) {
                  return cub::DeviceSelect::Unique(scratch, bytes, in.data(), out, count, n);
              }) == unique);
        CHECK(selected(n, true, [&](void* scratch, std::size_t& bytes, int* out, int* count) {
                  return cub::DevicePartition::If(scratch, bytes, in.data(), out, count, n, wanted());
              }) == parted);
    }
    return 0;
}
