// SPDX-License-Identifier: MIT
// Runs a convolution on a GPU and holds every result against the definition, and every place that is none against what
// stood there before.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/library/convolve/convolve_cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/policy/policy_target.hpp"
#include "warpfold/convolve.cuh"

namespace warpfold::tests {

// No image is a small one, and strips may be short.
inline constexpr tuning::convolve_policy<> no_small_image{.slide_strip_min_rows = 2, .few_max_results = 0};
using gpu_without_few = gpu_with<no_small_image>;

template <class O>
std::vector<O> poisoned(std::uint64_t n) {
    std::vector<O> data(n);
    std::memset(static_cast<void*>(data.data()), 0xa5, n * sizeof(O));
    return data;
}

struct test_case {
    layout in;
    std::uint64_t kx, ky;
    convolve_options how;
    std::uint64_t out_more = 0, out_skip = 0; // of the results' rows
    bool turned = true;
};

template <class T, class O, class M, class Call>
void run_case(const test_case& c, bool whole, const std::vector<M>& mask, const Call& call) {
    const auto in = samples<T>(c.in.elements(), whole, static_cast<unsigned>(c.in.width * 31 + c.kx));
    const std::uint64_t width = convolve_outputs(c.in.width, c.kx, c.how.which);
    const std::uint64_t height = convolve_outputs(c.in.height, c.ky, c.how.which);
    const layout out = padded(width, height, c.out_more, c.in.count, c.out_skip);
    const auto before = poisoned<O>(out.elements());
    const on_device<T> in_there(in);
    const on_device<O> out_there(before);
    call(c.in.of(static_cast<const T*>(in_there.data())), out.of(out_there.data()));
    CUDA(cudaDeviceSynchronize());
    const std::vector<O> got = out_there.read();
    std::vector<bool> written(got.size());
    for (std::uint64_t k = 0; k < out.count; ++k) {
        for (std::uint64_t y = 0; y < height; ++y) {
            for (std::uint64_t x = 0; x < width; ++x) {
                const std::uint64_t at = out.at(k, y, x);
                const exact_sum_of exact =
                    expected(in, c.in, k, mask, static_cast<std::int64_t>(c.kx), static_cast<std::int64_t>(c.ky),
                             static_cast<std::int64_t>(x), static_cast<std::int64_t>(y), c.how, c.turned);
                written[at] = true;
                const bool right = whole && !std::is_integral_v<O>
                                       ? exact_value(got[at]) == exact.value
                                       : within_bound<T, O>(got[at], exact, static_cast<std::int64_t>(c.kx * c.ky));
                ASSERT_TRUE(right) << "samples " << c.in.width << " x " << c.in.height << " (pitch " << c.in.pitch
                                   << ", skip " << c.in.skip << "), mask " << c.kx << " x " << c.ky << ", border "
                                   << static_cast<int>(c.how.outside) << ", outputs " << static_cast<int>(c.how.which)
                                   << ", turned " << c.turned << ", image " << k << ": result (" << x << ", " << y
                                   << ") is " << exact_value(got[at]) << ", and should be " << exact.value;
            }
        }
    }
    for (std::uint64_t at = 0; at < got.size(); ++at) {
        ASSERT_TRUE(written[at] || std::memcmp(&got[at], &before[at], sizeof(O)) == 0);
    }
}

template <class T, class O, class M = float, class On = gpu_without_few>
void filter_case(const test_case& c, bool whole, workspace* memory = nullptr) {
    const std::vector<M> mask = samples<M>(c.kx * c.ky, whole, 7);
    run_case<T, O>(c, whole, mask, [&](const image<const T>& in, const image<O>& out) {
        const On on{nullptr, memory};
        if (c.turned) {
            convolve(on, in, image{mask.data(), c.kx, c.ky}, out, c.how);
        } else {
            correlate(on, in, image{mask.data(), c.kx, c.ky}, out, c.how);
        }
    });
}

template <class T, class O, class M = float, class On = gpu_without_few>
void separable_case(const test_case& c, bool whole, workspace* memory = nullptr) {
    const std::vector<M> across = samples<M>(c.kx, whole, 8), down = samples<M>(c.ky, whole, 9);
    std::vector<double> mask;
    for (const M& y : down) {
        for (const M& x : across) {
            mask.push_back(static_cast<double>(exact_value(x) * exact_value(y)));
        }
    }
    run_case<T, O>(c, whole, mask, [&](const image<const T>& in, const image<O>& out) {
        const On on{nullptr, memory};
        if (c.turned) {
            convolve_separable(on, in, across.data(), c.kx, down.data(), c.ky, out, c.how);
        } else {
            correlate_separable(on, in, across.data(), c.kx, down.data(), c.ky, out, c.how);
        }
    });
}

} // namespace warpfold::tests
