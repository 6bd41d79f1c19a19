// SPDX-License-Identifier: MIT
// Masks in device memory: the same bits as of masks of the host, without a wait, and no infinity times an element outside.
#include <cmath>
#include <limits>

#include "tests/library/captured_calls.hpp"
#include "tests/library/convolve/convolve_gpu.hpp"

using namespace warpfold;
using namespace warpfold::tests;

namespace {

template <class T>
struct line_or_image {
    line_or_image(const layout& in, std::uint64_t kx, std::uint64_t ky, const convolve_options& how)
        : samples(tests::samples<T>(in.elements(), false, static_cast<unsigned>(in.width + kx))),
          out(dense(convolve_outputs(in.width, kx, how.which), convolve_outputs(in.height, ky, how.which), in.count)),
          there(samples),
          here(poisoned<T>(out.elements())),
          by_host(here),
          by_device(here),
          task_by_host(
              detail::task_of(in.of(static_cast<const T*>(there.data())), out.of(by_host.data()), kx, ky, how, "test")),
          task_by_device(task_by_host) {
        task_by_device.out = by_device.data();
    }

    std::vector<T> samples;
    layout out;
    on_device<T> there;
    std::vector<T> here;
    on_device<T> by_host, by_device;
    detail::convolve_task<T, T> task_by_host, task_by_device;
};

template <class On, class T, class A>
void same_bits(const layout& in, std::uint64_t kx, std::uint64_t ky, const convolve_options& how, bool turned) {
    const line_or_image<T> one(in, kx, ky, how);
    if (!detail::has_results(one.task_by_host)) {
        return;
    }
    const std::vector<A> mask = samples<A>(kx * ky, false, 5);
    const std::vector<A> in_order = turned ? std::vector<A>(mask.rbegin(), mask.rend()) : mask;
    const on_device<A> mask_there(mask);
    const auto width = static_cast<std::int64_t>(kx), height = static_cast<std::int64_t>(ky);
    detail::convolve_engine<On>::template direct<A>(On{}, one.task_by_host, in_order.data(), width, height, "test");
    const detail::mask_in_memory<A, A> by = turned
                                                ? detail::mask_in_memory<A, A>{mask_there.data() + mask.size() - 1, -1}
                                                : detail::mask_in_memory<A, A>{mask_there.data()};
    const captured_calls captured([&](cudaStream_t stream) {
        detail::convolve_engine<On>::template direct<A>(On{stream}, one.task_by_device, by, width, height, "test");
    });
    captured.run();
    const auto wanted = one.by_host.read(), got = one.by_device.read();
    EXPECT_EQ(std::memcmp(wanted.data(), got.data(), wanted.size() * sizeof(T)), 0)
        << "samples " << in.width << " x " << in.height << ", mask " << kx << " x " << ky << ", border "
        << static_cast<int>(how.outside) << ", outputs " << static_cast<int>(how.which);
}

// Each kernel: lines of 3, 5, 7, 9 and 17 values and of others, small images, strips, strips in parts, tiles.
TEST(convolve_masks, same_bits_of_lines) {
    unsigned turn = 0;
    for (const std::uint64_t k : {1u, 2u, 3u, 5u, 7u, 9u, 17u, 33u, 130u, 1500u}) {
        for (const outputs which : all_outputs) {
            const convolve_options how{all_borders[turn % 5], which};
            same_bits<gpu, float, float>(padded(turn % 7 * 137 + 1, 1, 0, 1, turn % 4), k, 1, how, turn % 2 == 0);
            same_bits<gpu, double, double>(dense(turn % 5 * 91 + 3, 1), k, 1, how, turn % 2 != 0);
            same_bits<gpu, std::uint8_t, float>(dense(turn % 3 * 391 + 30, 1), k, 1, how, turn % 2 == 0);
            ++turn;
        }
    }
}
TEST(convolve_masks, same_bits_of_images) {
    unsigned turn = 0;
    for (const std::uint64_t kx : {1u, 3u, 5u, 7u, 9u, 11u, 13u, 15u, 21u, 31u}) {
        for (const std::uint64_t ky : {kx, std::uint64_t{2}, std::uint64_t{12}}) {
            const convolve_options how{all_borders[turn % 5], all_outputs[turn % 3]};
            const layout in = padded(4 * (turn % 5) + 36, turn % 11 + 33, turn % 2 * 4, 1 + turn % 2, turn % 3);
            same_bits<gpu_without_few, float, float>(in, kx, ky, how, turn % 2 == 0);
            same_bits<gpu, float, float>(in, kx, ky, how, turn % 2 != 0);
            if (turn % 4 == 0) {
                same_bits<gpu_without_few, double, double>(in, kx, ky, how, turn % 8 == 0);
            }
            ++turn;
        }
    }
}

TEST(convolve_masks, same_bits_of_separable_masks) {
    unsigned turn = 0;
    for (const std::uint64_t kx : {1u, 3u, 9u, 15u, 31u}) {
        for (const std::uint64_t ky : {kx, std::uint64_t{4}}) {
            const convolve_options how{all_borders[turn % 5], all_outputs[turn % 2]};
            const auto compare = [&](auto on) {
                using On = decltype(on);
                const line_or_image<float> one(padded(48, 41, 4, 2, 1), kx, ky, how);
                const auto across = samples<float>(kx, false, 5), down = samples<float>(ky, false, 6);
                const std::vector<float> turned(across.rbegin(), across.rend());
                const on_device<float> across_there(across), down_there(down);
                const auto width = static_cast<std::int64_t>(kx), height = static_cast<std::int64_t>(ky);
                using engine = detail::convolve_engine<On>;
                engine::template separable<float>(On{}, one.task_by_host, turned.data(), width, down.data(), height,
                                                  "test");
                CUDA(cudaDeviceSynchronize());
                using mask = detail::mask_in_memory<float, float>;
                const captured_calls captured([&](cudaStream_t stream) {
                    engine::template separable<float>(On{stream}, one.task_by_device,
                                                      mask{across_there.data() + kx - 1, -1}, width,
                                                      mask{down_there.data()}, height, "test");
                });
                captured.run();
                const auto wanted = one.by_host.read(), got = one.by_device.read();
                EXPECT_EQ(std::memcmp(wanted.data(), got.data(), wanted.size() * sizeof(float)), 0)
                    << kx << " x " << ky;
            };
            compare(gpu{});
            compare(gpu_without_few{});
            ++turn;
        }
    }
}

// Against the definition without the elements outside.
template <class On>
void without_ghosts(const layout& in, std::uint64_t kx, std::uint64_t ky, outputs which) {
    const line_or_image<float> one(in, kx, ky, {border::zero, which});
    auto mask = samples<float>(kx * ky, true, 5);
    mask[0] = std::numeric_limits<float>::infinity();
    const on_device<float> there(mask);
    detail::convolve_engine<On>::template direct<float>(
        On{}, one.task_by_device, detail::mask_in_memory<float, float>{there.data()}, static_cast<std::int64_t>(kx),
        static_cast<std::int64_t>(ky), "test");
    CUDA(cudaDeviceSynchronize());
    const auto got = one.by_device.read();
    const auto& task = one.task_by_device;
    std::uint64_t finite = 0;
    for (std::int64_t y = 0; y < task.out_height; ++y) {
        for (std::int64_t x = 0; x < task.out_width; ++x) {
            double sum = 0;
            for (std::uint64_t j = 0; j < ky; ++j) {
                for (std::uint64_t i = 0; i < kx; ++i) {
                    const auto row = y - task.lead_y + static_cast<std::int64_t>(j),
                               column = x - task.lead_x + static_cast<std::int64_t>(i);
                    if (row >= 0 && row < task.height && column >= 0 && column < task.width) {
                        sum += static_cast<double>(one.samples[in.at(0, static_cast<std::uint64_t>(row),
                                                                     static_cast<std::uint64_t>(column))]) *
                               static_cast<double>(mask[j * kx + i]);
                    }
                }
            }
            const float result = got[one.out.at(0, static_cast<std::uint64_t>(y), static_cast<std::uint64_t>(x))];
            finite += std::isfinite(sum) ? 1 : 0;
            ASSERT_TRUE(std::isnan(sum) ? std::isnan(result) : result == static_cast<float>(sum))
                << kx << " x " << ky << ": result (" << x << ", " << y << ") is " << result << ", and should be "
                << sum;
        }
    }
    EXPECT_TRUE(which == outputs::valid || finite != 0);
}

TEST(convolve_masks, infinity_meets_no_element_outside) {
    for (const outputs which : all_outputs) {
        for (const std::uint64_t k : {2u, 3u, 9u, 33u}) {
            without_ghosts<gpu>(dense(100, 1), k, 1, which);
        }
        for (const auto& [kx, ky] : {std::pair{3u, 3u}, {4u, 2u}, {21u, 9u}}) {
            without_ghosts<gpu>(dense(40, 33), kx, ky, which);
            without_ghosts<gpu_without_few>(dense(40, 33), kx, ky, which);
        }
    }
}

} // namespace
