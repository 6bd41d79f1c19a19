// SPDX-License-Identifier: MIT
// count_at in segmented calls on the host's cores.

#include "tests/library/in_memory.hpp"
#include "tests/library/segmented_reduce/counted_segments.hpp"

TEST(CountedSegments, OnHost) { warpfold::tests::counted_segments<warpfold::tests::in_memory>(warpfold::host{2}); }
