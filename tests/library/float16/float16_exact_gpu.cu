// SPDX-License-Identifier: MIT
// Exact sums of 16-bit numbers in segments, along axes, in accumulators and in bins on a GPU, the software one or a real one.
#include "tests/library/device_array.hpp"
#include "tests/library/float16/exact_cases.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/exact_accumulator.cuh"
#include "warpfold/exact_histogram.cuh"
#include "warpfold/exact_sum_along.cuh"
#include "warpfold/segmented_exact_sum.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

TEST(Float16, ExactSegments) {
    tests::short_exact_segments<half, on_device>(gpu{});
    tests::short_exact_segments<bfloat16, on_device>(gpu{});
}
TEST(Float16, ExactAxes) {
    tests::short_exact_axes<half, on_device>(gpu{});
    tests::short_exact_axes<bfloat16, on_device>(gpu{});
}
TEST(Float16, Accumulators) {
    tests::short_accumulators<half, on_device>(gpu{});
    tests::short_accumulators<bfloat16, on_device>(gpu{});
}
TEST(Float16, Weights) {
    tests::short_weights<half, on_device>(gpu{});
    tests::short_weights<bfloat16, on_device>(gpu{});
}

} // namespace
