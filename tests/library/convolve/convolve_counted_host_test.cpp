// SPDX-License-Identifier: MIT
// count_at in convolutions on the host's cores.
#include "tests/library/convolve/counted_cases.hpp"
#include "tests/library/in_memory.hpp"

TEST(ConvolveCounted, LinesOnHost) { warpfold::tests::counted_lines<warpfold::tests::in_memory>(warpfold::host{2}); }
TEST(ConvolveCounted, ImagesOnHost) { warpfold::tests::counted_images<warpfold::tests::in_memory>(warpfold::host{2}); }
