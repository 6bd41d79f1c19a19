// SPDX-License-Identifier: MIT
// count_at in convolutions on a GPU, the software one or a real one.
#include "tests/library/convolve/convolve_gpu.hpp"
#include "tests/library/convolve/counted_cases.hpp"
#include "tests/library/device_array.hpp"

using namespace warpfold;
using tests::on_device;

namespace {

TEST(convolve_counted, lines) { tests::counted_lines<on_device>(gpu{}); }
TEST(convolve_counted, images) { tests::counted_images<on_device>(tests::gpu_without_few{}); }
TEST(convolve_counted, small_images) {
    tests::counted_image<float, on_device>(gpu{}, tests::padded(40, 21, 1, 2, 1), 3, 3, {});
    tests::counted_image<float, on_device>(gpu{}, tests::dense(17, 12), 4, 5, {border::wrap, outputs::full});
}

} // namespace
