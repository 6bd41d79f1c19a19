// SPDX-License-Identifier: MIT
// Calls of 16-bit numbers on a GPU, the software one or a real one.
#include "tests/library/device_array.hpp"
#include "tests/library/float16/folds.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/along_axis.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

TEST(Float16, Reductions) {
    tests::short_reductions<half, on_device>(gpu{});
    tests::short_reductions<bfloat16, on_device>(gpu{});
}
TEST(Float16, Segments) {
    tests::short_segments<half, on_device>(gpu{});
    tests::short_segments<bfloat16, on_device>(gpu{});
}
TEST(Float16, Scans) {
    tests::short_scans<half, on_device>(gpu{});
    tests::short_scans<bfloat16, on_device>(gpu{});
}

} // namespace
