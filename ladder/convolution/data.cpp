// SPDX-License-Identifier: MIT
// Data and references of the convolutions, and the order of the ladder.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ladder/convolution/steps.hpp"
#include "ladder/engine/definition/data.hpp"

namespace warpfold::ladder::convolution {

namespace {

std::vector<float> convolved(const std::vector<float>& in, const std::vector<float>& mask) {
    const auto n = static_cast<std::int64_t>(in.size());
    std::vector<float> out(in.size());
    for (std::int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < mask.size(); ++k) {
            const std::int64_t j = i - static_cast<std::int64_t>(mask.size() / 2) + static_cast<std::int64_t>(k);
            sum += j >= 0 && j < n ? static_cast<double>(in[static_cast<std::size_t>(j)]) * mask[k] : 0;
        }
        out[static_cast<std::size_t>(i)] = static_cast<float>(sum);
    }
    return out;
}

std::vector<float> convolved(const std::vector<float>& in, extent e, const std::vector<float>& mask) {
    std::vector<float> out(in.size());
    for (int y = 0; y < e.height; ++y) {
        for (int x = 0; x < e.width; ++x) {
            double sum = 0;
            for (int dy = 0; dy < side; ++dy) {
                for (int dx = 0; dx < side; ++dx) {
                    const int yy = y - half_side + dy;
                    const int xx = x - half_side + dx;
                    if (yy >= 0 && yy < e.height && xx >= 0 && xx < e.width) {
                        sum += static_cast<double>(in[static_cast<std::size_t>(yy) * static_cast<std::size_t>(e.width) +
                                                      static_cast<std::size_t>(xx)]) *
                               mask[static_cast<std::size_t>(dy * side + dx)];
                    }
                }
            }
            out[static_cast<std::size_t>(y) * static_cast<std::size_t>(e.width) + static_cast<std::size_t>(x)] =
                static_cast<float>(sum);
        }
    }
    return out;
}

// Of `n` places, how many have an element at distance -reach ... reach, summed over the distances.
std::uint64_t pairs_in(std::uint64_t n, int reach) {
    std::uint64_t pairs = 0;
    for (int d = -reach; d <= reach; ++d) {
        const auto off = static_cast<std::uint64_t>(std::abs(d));
        pairs += n > off ? n - off : 0;
    }
    return pairs;
}

} // namespace

// 2, 4, 5, ...: whole numbers, no two neighbours alike.
std::vector<float> mask_of(int width) {
    std::vector<float> mask(static_cast<std::size_t>(width));
    for (int k = 0; k < width; ++k) {
        mask[static_cast<std::size_t>(k)] = static_cast<float>(3 + std::min(k, width - 1 - k) - (k == 0 ? 1 : 0));
    }
    return mask;
}

engine::sample line(std::uint64_t n, std::uint64_t seed) { return line_with(n, seed, mask_of(mask_width)); }

engine::sample line_with(std::uint64_t n, std::uint64_t seed, const std::vector<float>& mask) {
    const auto in = engine::numbers<float>(n, seed, 7);
    return {n,
            {engine::bytes_of(in), engine::bytes_of(mask)},
            engine::bytes_of(convolved(in, mask)),
            engine::value_type::float32};
}

engine::sample line_with_ghosts(std::uint64_t n, std::uint64_t seed) {
    engine::sample all = line(n, seed);
    engine::bytes& in = all.in[0];
    in.insert(in.begin(), half * sizeof(float), std::byte{0});
    in.insert(in.end(), half * sizeof(float), std::byte{0});
    return all;
}

extent image_of(std::uint64_t n) {
    const auto width = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
    return width == 0 ? extent{} : extent{static_cast<int>(width), static_cast<int>(n / width)};
}

engine::sample image(std::uint64_t n, std::uint64_t seed) {
    const extent e = image_of(n);
    const auto in = engine::numbers<float>(pixels(n), seed, 7);
    const auto row = mask_of(side);
    std::vector<float> mask;
    for (const float a : row) {
        for (const float b : row) {
            mask.push_back(a * b);
        }
    }
    return {pixels(n),
            {engine::bytes_of(in), engine::bytes_of(mask), engine::bytes_of(row)},
            engine::bytes_of(convolved(in, e, mask)),
            engine::value_type::float32};
}

std::uint64_t pairs_of_line(std::uint64_t n) { return pairs_in(n, half); }

std::uint64_t pairs_of_image(std::uint64_t n) {
    const extent e = image_of(n);
    return pairs_in(static_cast<std::uint64_t>(e.width), half_side) *
           pairs_in(static_cast<std::uint64_t>(e.height), half_side);
}

engine::step_definition peer_cpu() {
    return {
        .about = {"cpu", "two loops, one dimension", "ladder/convolution/data.cpp", "one core of the host", "", true},
        .data = line,
        .on_host =
            [](const engine::stage& on) {
                const engine::sample& s = *on.data;
                const auto in = engine::view<float>(s.in[0]);
                const auto mask = engine::view<float>(s.in[1]);
                std::vector<float> out(in.size());
                const auto n = static_cast<std::int64_t>(in.size());
                for (std::int64_t i = 0; i < n; ++i) {
                    float sum = 0;
                    for (std::int64_t j = std::max<std::int64_t>(0, i - half); j <= std::min(n - 1, i + half); ++j) {
                        sum += in[static_cast<std::size_t>(j)] * mask[static_cast<std::size_t>(j - i + half)];
                    }
                    out[static_cast<std::size_t>(i)] = sum;
                }
                return engine::bytes_of(out);
            },
        .least_bytes = engine::read_and_written};
}

const engine::ladder_definition& ladder() {
    static const engine::ladder_definition all{
        .name = "convolution",
        .data = "floats, each replaced by the weighted sum of its neighbours: 9 in a line, 25 in an image",
        .n_counted = 1u << 16,
        .n_timed = 1u << 24,
        .most = 1u << 28,
        .steps = {basic(), ghost_elements(), constant_mask(), even_mask(), tiled_with_halo(), tiled_with_cache(),
                  basic_2d(), constant_2d(), tiled_2d(), separable(), library(), library_2d(), peer_cpu()}};
    return all;
}

} // namespace warpfold::ladder::convolution

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::convolution::ladder();
}
