// SPDX-License-Identifier: MIT
// Calls by key of 16-bit values on a GPU, the software one or a real one.
#include "tests/library/device_array.hpp"
#include "tests/library/float16/folds.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/by_key.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

TEST(Float16, ByKeyHalves) { tests::short_by_key<half, on_device>(gpu{}); }
TEST(Float16, ByKeyBfloats) { tests::short_by_key<bfloat16, on_device>(gpu{}); }

} // namespace
