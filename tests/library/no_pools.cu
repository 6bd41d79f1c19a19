// SPDX-License-Identifier: MIT
// Calls without a workspace on a device that has no memory pools, as some virtual ones have none: cudaMallocAsync is
// not supported there. Exits with 1 where a result is wrong, or where pools were used.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/library/device_array.hpp"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"

namespace {

unsigned refused = 0;

} // namespace

// In the place of the runtime's own.
extern "C" cudaError_t CUDARTAPI cudaMallocAsync(void**, size_t, cudaStream_t) {
    ++refused;
    return cudaErrorNotSupported;
}

int main() {
    using namespace warpfold;
    const std::uint64_t n = 100003;
    std::vector<std::uint32_t> data(n);
    std::int64_t expected = 0;
    for (std::uint64_t k = 0; k < n; ++k) {
        data[k] = static_cast<std::uint32_t>(k * 2654435761u);
        expected += data[k] % 1000;
    }
    for (std::uint32_t& x : data) {
        x %= 1000;
    }
    const tests::on_device<std::uint32_t> in(data), out(n);
    const auto total = static_cast<std::int64_t>(reduce(gpu{}, in.data(), n));
    inclusive_scan(gpu{}, in.data(), n, out.data());
    const std::uint32_t last = out.read().back();
    if (total != expected || last != static_cast<std::uint32_t>(expected) || refused < 2) {
        std::fprintf(stderr, "sum %lld, end of the scan %u, expected %lld; %u calls were refused\n",
                     static_cast<long long>(total), last, static_cast<long long>(expected), refused);
        return 1;
    }
    return 0;
}
