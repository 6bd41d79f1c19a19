// SPDX-License-Identifier: MIT
// What the chains through memory share: where each place points to, and the clock.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "measure/device.hpp"

namespace warpfold::ladder::occupancy {

constexpr std::uint64_t line_bytes = 128; // of a cache; a place of a chain has one to itself
constexpr unsigned hops_of_a_step = 64;
constexpr unsigned hops_at_once = 8; // written out in the loop

// Line i points to line 1,664,525 i + 1,013,904,223 of `lines`, a power of two: one cycle through all of them.
__host__ __device__ inline std::uint64_t next_line(std::uint64_t i, std::uint64_t lines) {
    return (1664525 * i + 1013904223) & (lines - 1);
}

// Runs what leaves its cycles, three times; cycles of the fastest for each hop.
class stopwatch_in_cycles {
public:
    template <class Launch>
    double each(unsigned rounds, Launch launch) {
        std::int64_t best = 0;
        for (int sample = 0; sample < 3; ++sample) {
            launch(on_.handle(), static_cast<std::int32_t*>(out_.data()), static_cast<std::int64_t*>(cycles_.data()));
            WARPFOLD_CUDA_CHECK(cudaGetLastError());
            on_.synchronize();
            std::int64_t taken = 0;
            WARPFOLD_CUDA_CHECK(cudaMemcpy(&taken, cycles_.data(), sizeof taken, cudaMemcpyDeviceToHost));
            best = best == 0 ? taken : std::min(best, taken);
        }
        return static_cast<double>(best) / (static_cast<double>(rounds) * hops_at_once);
    }
    [[nodiscard]] const measure::stream& stream() const { return on_; }

private:
    measure::stream on_;
    measure::device_memory out_{1024}, cycles_{sizeof(std::int64_t)};
};

} // namespace warpfold::ladder::occupancy
