// SPDX-License-Identifier: MIT
// What a call with a workspace asks of the runtime, once kernels are known: the device, and a launch.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "tests/library/runtime_calls/counted_calls.hpp"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"

namespace warpfold {

namespace {

using tests::counted;

template <class Call>
void asks_for_the_device_and_a_launch(const Call& call) {
    call(); // the runtime tells what is kept of the device and of the kernel
    counted = {};
    call();
    EXPECT_EQ(counted.devices, 1u);
    EXPECT_EQ(counted.launches, 1u);
    EXPECT_EQ(counted.others, 0u);
}

} // namespace

TEST(runtime_calls, of_reductions_and_scans) {
    for (const std::uint64_t n : {std::uint64_t{1000}, std::uint64_t{300000}}) { // one block, and several
        const tests::on_device<std::uint32_t> in(std::vector<std::uint32_t>(n, 1)), out(n), sum(1);
        workspace memory(std::size_t{1} << 20);
        const gpu on{nullptr, &memory};
        asks_for_the_device_and_a_launch([&] { reduce(on, in.data(), n, sum.data()); });
        asks_for_the_device_and_a_launch([&] { inclusive_scan(on, in.data(), n, out.data()); });
        EXPECT_EQ(sum.read()[0], n);
        EXPECT_EQ(out.read().back(), n);
    }
}

// A call asks anew, whatever surrounds it.
TEST(runtime_calls, the_device_is_kept_for_one_call_only) {
    const detail::call_device outer;
    counted = {};
    EXPECT_EQ(detail::current_device(), 0);
    EXPECT_EQ(counted.devices, 0u);
    {
        const detail::call_device inner;
        EXPECT_EQ(detail::current_device(), 0);
    }
    EXPECT_EQ(counted.devices, 1u);
    EXPECT_EQ(detail::current_device(), 0);
    EXPECT_EQ(counted.devices, 1u);
}

} // namespace warpfold
