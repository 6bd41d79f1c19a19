// SPDX-License-Identifier: MIT
// Calls of 16-bit numbers on the host.
#include "tests/library/float16/exact_cases.hpp"
#include "tests/library/float16/folds.hpp"
#include "tests/library/in_memory.hpp"

using namespace warpfold;

namespace {

using tests::in_memory;

TEST(Float16OnHost, Reductions) {
    tests::short_reductions<half, in_memory>(host{2});
    tests::short_reductions<bfloat16, in_memory>(host{2});
}
TEST(Float16OnHost, Segments) {
    tests::short_segments<half, in_memory>(host{2});
    tests::short_segments<bfloat16, in_memory>(host{2});
}
TEST(Float16OnHost, AlongAxes) {
    tests::short_axes<half, in_memory>(host{2});
    tests::short_axes<bfloat16, in_memory>(host{2});
}
TEST(Float16OnHost, Scans) {
    tests::short_scans<half, in_memory>(host{2});
    tests::short_scans<bfloat16, in_memory>(host{2});
}
TEST(Float16OnHost, ByKey) {
    tests::short_by_key<half, in_memory>(host{2});
    tests::short_by_key<bfloat16, in_memory>(host{2});
}
TEST(Float16OnHost, ExactSegments) {
    tests::short_exact_segments<half, in_memory>(host{2});
    tests::short_exact_segments<bfloat16, in_memory>(host{2});
}
TEST(Float16OnHost, ExactAxes) {
    tests::short_exact_axes<half, in_memory>(host{2});
    tests::short_exact_axes<bfloat16, in_memory>(host{2});
}
TEST(Float16OnHost, Accumulators) {
    tests::short_accumulators<half, in_memory>(host{2});
    tests::short_accumulators<bfloat16, in_memory>(host{2});
}
TEST(Float16OnHost, Weights) {
    tests::short_weights<half, in_memory>(host{2});
    tests::short_weights<bfloat16, in_memory>(host{2});
}

} // namespace
