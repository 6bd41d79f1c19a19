// SPDX-License-Identifier: MIT
// count_at in segmented calls on a GPU, the software one or a real one.
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/segmented_reduce/counted_segments.hpp"
#include "warpfold/segmented_exact_sum.cuh"
#include "warpfold/segmented_reduce.cuh"

TEST(CountedSegments, OnAGpu) { warpfold::tests::counted_segments<warpfold::tests::on_device>(warpfold::gpu{}); }
