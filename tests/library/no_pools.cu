// SPDX-License-Identifier: MIT
// Calls without a workspace on a device that has no memory pools, as some virtual ones have none: cudaMallocAsync is
// not supported there.
#include <cstdint>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
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

TEST(no_pools, calls_allocate_without_pools) {
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
    EXPECT_EQ(total, expected);
    EXPECT_EQ(last, static_cast<std::uint32_t>(expected));
    EXPECT_GE(refused, 2u); // both calls asked for memory from a pool first
}
