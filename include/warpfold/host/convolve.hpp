// SPDX-License-Identifier: MIT
// Convolution on the host's cores.
#pragma once

#include "warpfold/detail/convolve.hpp"
#include "warpfold/host/target.hpp"

namespace warpfold::detail {

template <>
struct convolve_engine<host> {
    template <class A, class T, class O>
    static void direct(const host& on, const convolve_task<T, O>& task, const A* mask, std::int64_t kx, std::int64_t ky,
                       const char*) {
        share_out(on, static_cast<std::uint64_t>(task.out_height * task.count), [&](std::uint64_t row) {
            const auto image = static_cast<std::int64_t>(row) / task.out_height, y = static_cast<std::int64_t>(row) % task.out_height;
            for (std::int64_t x = 0; x < task.out_width; ++x) {
                A sum = 0;
                for (std::int64_t j = 0; j < ky; ++j) {
                    const std::int64_t sy = source_index(y + j - task.lead_y, task.height, task.outside);
                    for (std::int64_t i = 0; i < kx; ++i) {
                        const std::int64_t sx = source_index(x + i - task.lead_x, task.width, task.outside);
                        sum += mask[j * kx + i] *
                               (sx < 0 || sy < 0 ? A(0) : number_of<A>(task.in[image * task.distance + sy * task.pitch + sx]));
                    }
                }
                task.out[image * task.out_distance + y * task.out_pitch + x] = sample_of<O>(sum);
            }
        });
    }
    template <class A, class T, class O>
    static void separable(const host& on, const convolve_task<T, O>& task, const A* across, std::int64_t kx, const A* down,
                          std::int64_t ky, const char* call) {
        std::vector<A> both(static_cast<std::size_t>(kx * ky));
        for (std::int64_t j = 0; j < ky; ++j) {
            for (std::int64_t i = 0; i < kx; ++i) {
                both[j * kx + i] = across[i] * down[j];
            }
        }
        direct<A>(on, task, both.data(), kx, ky, call);
    }
};

} // namespace warpfold::detail
