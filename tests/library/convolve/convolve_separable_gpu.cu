// SPDX-License-Identifier: MIT
// Separable convolution on a GPU, and samples and results of different types, against the definition.
#include "tests/library/convolve/convolve_gpu.hpp"

using namespace warpfold;
using namespace warpfold::tests;

namespace {

TEST(convolve_separable, separable) {
    unsigned turn = 0;
    for (const std::uint64_t k : {1u, 3u, 4u, 5u, 7u, 9u, 11u, 13u, 15u, 17u, 21u, 25u, 31u}) {
        for (const border outside : all_borders) {
            for (const outputs which : {outputs::same, all_outputs[1 + turn % 2]}) {
                const std::uint64_t width = 4 * (turn % 5) + 32, height = turn % 5 + k, skip = turn % 2;
                separable_case<float, float>({padded(width, height, turn % 2 * 4, 1 + turn % 2, skip),
                                              k,
                                              k,
                                              {outside, which},
                                              turn % 4,
                                              turn % 3,
                                              turn % 2 == 0},
                                             k < 9 && turn % 3 != 0);
                ++turn;
            }
        }
    }
    separable_case<float, float>({dense(1100, 9), 7, 7, {border::reflect, outputs::same}}, true);
    separable_case<float, float>({dense(301, 20), 3, 3, {border::wrap, outputs::same}}, true);
    separable_case<float, float>({dense(100, 20), 33, 2, {border::clamp, outputs::full}}, false);
    separable_case<float, float>({dense(100, 20), 2, 70, {border::zero, outputs::full}}, false);
    workspace memory(convolve_separable_workspace<float, float>(60, 20, 2, 1000, 5));
    separable_case<float, float>({dense(60, 20, 2), 1000, 5, {border::mirror, outputs::same}}, false, &memory);
    separable_case<float, float>({dense(60, 20, 2), 4, 5, {border::mirror, outputs::same}}, true, &memory);
}

TEST(convolve_separable, other_types) {
    filter_case<bfloat16, bfloat16>({dense(96, 20), 3, 3, {border::clamp, outputs::same}}, false);
    separable_case<std::uint8_t, float>({dense(100, 30), 5, 5, {border::reflect, outputs::same}}, false);
    separable_case<std::uint8_t, float>({dense(101, 30), 6, 5, {border::reflect, outputs::same}}, false);
}

} // namespace
