// SPDX-License-Identifier: MIT
// The peer that ships with CUDA: cub::DeviceScan::InclusiveSum, its temporary storage allocated beforehand.
#include <cub/device/device_scan.cuh>

#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

std::size_t scratch_bytes(std::uint64_t n) {
    std::size_t bytes = 0;
    WARPFOLD_CUDA_CHECK(
        cub::DeviceScan::InclusiveSum(nullptr, bytes, static_cast<const int*>(nullptr), static_cast<int*>(nullptr), n));
    return bytes;
}

void run(const engine::stage& on) {
    std::size_t bytes = on.scratch_bytes;
    WARPFOLD_CUDA_CHECK(
        cub::DeviceScan::InclusiveSum(on.scratch, bytes, on.input<int>(), on.output<int>(), on.n, on.stream));
}

} // namespace

engine::step_definition peer_cub() {
    return {.about = {"cub", "cub::DeviceScan", "ladder/scan/peers/peer_cub.cu",
                      "InclusiveSum of the peer that ships with CUDA", "", true},
            .data = inclusive,
            .run = run,
            .scratch_bytes = scratch_bytes,
            .least_bytes = engine::read_and_written};
}

} // namespace warpfold::ladder::scan
