// SPDX-License-Identifier: MIT
// Scans, histograms and exact sums of streams on a GPU.
#include "tests/library/chunked/chunked_gpu.hpp"
#include "tests/library/chunked/chunked_scan_cases.hpp"
#include "warpfold/exact_accumulator.cuh"

using namespace warpfold;

namespace {

TEST(chunked_scan, pinned_memory) {
    const auto data = tests::any_numbers<std::int32_t>(9001, 6);
    std::vector<std::int64_t> right(data.size());
    inclusive_scan(host{1}, data, right);
    const tests::pinned_copy<std::int32_t> in(data, 1);
    const tests::pinned_copy<std::int64_t> out(std::vector<std::int64_t>(data.size()), 1);
    chunked_inclusive_scan(gpu{}, in, std::span(out.data(), out.size()), sum{}, tests::chunks_of_bytes(4096));
    EXPECT_TRUE(std::equal(right.begin(), right.end(), out.data()));
}

// An accumulator on the device that is evened out behind every few launches.
template <class T>
void accumulators() {
    auto data = tests::any_numbers<T>(6007, 5);
    for (T& x : data) {
        x = std::isfinite(x) ? x : T(1);
    }
    const tests::pinned_copy<T> there(data);
    exact_accumulator<T> sum;
    sum.add(gpu{}, there.data(), 4001);
    sum.add(host{1}, there.data() + 4001, 2006);
    EXPECT_TRUE(tests::same_bits(sum.value(), exact_sum(host{1}, data)));

    const detail::stream_ordered_memory memory(nullptr, sizeof(detail::exact_limbs<T>));
    detail::exact_on_device<T> few(gpu{}, memory.data(), 3);
    for (unsigned k = 0; k < 6007; k += 500) {
        few.add(there.data() + k, std::min(500u, 6007 - k), "test");
    }
    detail::long_accumulator<T, 1> total;
    few.fetch(total);
    EXPECT_TRUE(tests::same_bits(total.value(), exact_sum(host{1}, data)));
}

TEST(chunked_scan, exact_sums_of_float) { tests::exact_sums<float>(gpu{}); }
TEST(chunked_scan, exact_sums_of_double) { tests::exact_sums<double>(gpu{}); }
TEST(chunked_scan, accumulators_of_float) { accumulators<float>(); }
TEST(chunked_scan, accumulators_of_double) { accumulators<double>(); }
TEST(chunked_scan, running_sums) { tests::running_sums(gpu{}); }
TEST(chunked_scan, running_compositions) { tests::running_compositions(gpu{}); }
TEST(chunked_scan, failing_scans) { tests::failing_scans(gpu{}); }
TEST(chunked_scan, one_file_as_source_and_sink) { tests::one_file(gpu{}); }
TEST(chunked_scan, one_range_as_source_and_sink) { tests::one_range(gpu{}); }
TEST(chunked_scan, histograms) { tests::histograms(gpu{}); }

} // namespace
