// SPDX-License-Identifier: MIT
// Scans, histograms and exact sums of streams on a GPU: exits with 1 where they differ from the host's.
#include "tests/library/chunked_gpu.hpp"
#include "tests/library/chunked_scan_cases.hpp"
#include "warpfold/exact_accumulator.cuh"

using namespace warpfold;

namespace {

void pinned_memory() {
    const auto data = tests::any_numbers<std::int32_t>(9001, 6);
    std::vector<std::int64_t> right(data.size());
    inclusive_scan(host{1}, data, right);
    const tests::pinned_copy<std::int32_t> in(data, 1);
    const tests::pinned_copy<std::int64_t> out(std::vector<std::int64_t>(data.size()), 1);
    chunked_inclusive_scan(gpu{}, in, std::span(out.data(), out.size()), sum{}, tests::chunks_of_bytes(4096));
    HOLDS(std::equal(right.begin(), right.end(), out.data()));
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
    HOLDS(tests::same_bits(sum.value(), exact_sum(host{1}, data)));

    const detail::stream_ordered_memory memory(nullptr, sizeof(detail::exact_limbs<T>));
    detail::exact_on_device<T> few(gpu{}, memory.data(), 3);
    for (unsigned k = 0; k < 6007; k += 500) {
        few.add(there.data() + k, std::min(500u, 6007 - k), "test");
    }
    detail::long_accumulator<T, 1> total;
    few.fetch(total);
    HOLDS(tests::same_bits(total.value(), exact_sum(host{1}, data)));
}

} // namespace

int main() {
    return tests::run_stream_cases([] {
        tests::exact_sums<float>(gpu{});
        tests::exact_sums<double>(gpu{});
        accumulators<float>();
        accumulators<double>();
        tests::running_sums(gpu{});
        tests::running_compositions(gpu{});
        tests::failing_scans(gpu{});
        tests::histograms(gpu{});
        pinned_memory();
    });
}
