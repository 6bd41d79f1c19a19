// SPDX-License-Identifier: MIT
// Calls of 16-bit numbers along axes on a GPU, the software one or a real one.
#include "tests/library/device_array.hpp"
#include "tests/library/float16/folds.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/along_axis.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

TEST(Float16, AlongAxesHalves) { tests::short_axes<half, on_device>(gpu{}); }
TEST(Float16, AlongAxesBfloats) { tests::short_axes<bfloat16, on_device>(gpu{}); }

} // namespace
