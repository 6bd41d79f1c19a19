// SPDX-License-Identifier: MIT
// The peer that ships with CUDA: cub::DeviceHistogram::HistogramEven of bytes, its temporary storage allocated beforehand.
#include <cub/device/device_histogram.cuh>

#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

cudaError_t call(void* scratch, std::size_t& bytes, const unsigned char* in, int* out, std::uint64_t n,
                 cudaStream_t s) {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, in, out, static_cast<int>(byte_bins + 1), 0,
                                               static_cast<int>(byte_bins), static_cast<int>(n), s);
}

std::size_t scratch_bytes(std::uint64_t n) {
    std::size_t bytes = 0;
    WARPFOLD_CUDA_CHECK(call(nullptr, bytes, nullptr, nullptr, n, nullptr));
    return std::max<std::size_t>(bytes, 1);
}

void run(const engine::stage& on) {
    std::size_t bytes = on.scratch_bytes;
    WARPFOLD_CUDA_CHECK(call(on.scratch, bytes, on.input<unsigned char>(), on.output<int>(), on.n, on.stream));
}

} // namespace

engine::step_definition peer_cub() {
    return {.about = {"cub", "cub::DeviceHistogram", "ladder/histogram/peer_cub.cu", "HistogramEven of bytes, 256 bins",
                      "", true},
            .data = uniform_bytes,
            .run = run,
            .scratch_bytes = scratch_bytes,
            .least_bytes = [](std::uint64_t n) { return n; }};
}

} // namespace warpfold::ladder::histogram
