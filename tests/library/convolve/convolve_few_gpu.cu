// SPDX-License-Identifier: MIT
// Convolution of small images on a GPU against the definition.
#include "tests/library/convolve/convolve_gpu.hpp"

using namespace warpfold;
using namespace warpfold::tests;

namespace {

TEST(convolve_few, masks_borders_and_outputs) {
    unsigned turn = 0;
    for (const std::uint64_t kx : {1u, 3u, 5u, 7u, 16u}) {
        for (const std::uint64_t ky : {1u, 3u, 5u, 7u, 15u}) {
            for (const border outside : all_borders) {
                const test_case one{padded(turn % 70 + 1, turn % 37 + 2, turn % 3, 1 + turn % 2, turn % 4),
                                    kx,
                                    ky,
                                    {outside, all_outputs[turn % 3]},
                                    turn % 2,
                                    turn % 3,
                                    turn % 2 == 0};
                filter_case<float, float, float, gpu>(one, turn % 3 != 0);
                separable_case<float, float, float, gpu>(one, false);
                if (turn % 5 == 0) {
                    filter_case<std::uint8_t, std::uint8_t, float, gpu>(one, false);
                    separable_case<std::uint8_t, std::uint8_t, float, gpu>(one, false);
                }
                ++turn;
            }
        }
    }
}

TEST(convolve_few, limits_of_the_kernel) {
    separable_case<float, float, float, gpu>({dense(256, 40), 31, 33, {border::mirror, outputs::same}}, false);
    // So many results at most; the first mask is too large as well.
    filter_case<float, float, float, gpu>({dense(100, 50), 17, 16, {border::zero, outputs::same}}, true);
    filter_case<float, float, float, gpu>({dense(256, 513), 3, 2, {border::zero, outputs::same}}, true);
    filter_case<float, float, float, gpu>({dense(256, 512), 3, 2, {border::zero, outputs::same}}, true);
}

} // namespace
