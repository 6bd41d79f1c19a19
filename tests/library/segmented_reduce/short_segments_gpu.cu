// SPDX-License-Identifier: MIT
// Segments of one short length, which a GPU folds from shared memory: every unit that lanes read, teams of all sizes, tiles
// that are not full, arrays that begin anywhere, and operations that keep the order; against the host's.
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/policy/policy_target.hpp"
#include "warpfold/segmented_reduce.cuh"

using namespace warpfold;

namespace {

// Of few elements too.
constexpr tuning::segmented_reduce_policy<> of_all_sizes{.short_teams_max_bytes = 0};
using target = tests::gpu_with<of_all_sizes>;

// The results of call(target, elements, length of a segment, number of segments, results).
template <class A, class T, class Call>
void check(const std::vector<T>& data, const Call& call) {
    for (const std::uint64_t length :
         {2u,  3u,  4u,   6u,   7u,   8u,   12u,  15u,  16u,  17u,  20u,  24u,  31u,  32u,  33u,   48u,  63u,
          64u, 65u, 100u, 127u, 128u, 129u, 200u, 255u, 256u, 300u, 333u, 400u, 511u, 512u, 1000u, 2000u}) {
        for (const std::uint64_t skip : {0u, 1u, 2u, 3u}) {
            const std::vector<T> part(data.begin() + static_cast<std::ptrdiff_t>(skip), data.end());
            const std::uint64_t segments = part.size() / length - skip % 2;
            std::vector<A> expected(segments), here(segments);
            call(host{1}, part.data(), equal_segments{length}, segments, expected.data());
            const tests::on_device<T> there(part, skip);
            const tests::on_device<A> got(segments);
            call(target{}, static_cast<const T*>(there.base + skip), equal_segments{length}, segments, got.base);
            CUDA(cudaMemcpy(here.data(), got.base, segments * sizeof(A), cudaMemcpyDeviceToHost));
            for (std::uint64_t s = 0; s < segments; ++s) {
                ASSERT_TRUE(tests::same_bits(here[s], expected[s]))
                    << "length " << length << ", from element " << skip << ": segment " << s << " of " << segments;
            }
        }
    }
}

struct weighted {
    WARPFOLD_HD std::int64_t operator()(std::int16_t x, std::uint64_t k) const {
        return static_cast<std::int64_t>(k + 1) * x;
    }
};

struct last_but_zero {
    WARPFOLD_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return b != 0 ? b : a; }
};

TEST(short_segments, numbers) {
    const auto sums = [](auto... arguments) { segmented_reduce(arguments...); };
    check<std::uint64_t>(tests::small_numbers<std::uint8_t>(20011, 1), sums);
    check<float>(tests::small_numbers<float>(8009, 2), sums);
    check<double>(tests::small_numbers<double>(6007, 3), sums);
}

TEST(short_segments, indices) {
    check<std::int64_t>(tests::small_numbers<std::int16_t>(12007, 4),
                        [](auto... arguments) { segmented_transform_reduce(arguments..., weighted{}); });
}

struct pair {
    double x, y;
};
struct add_pairs {
    WARPFOLD_HD pair operator()(const pair& a, const pair& b) const { return {a.x + b.x, a.y + b.y}; }
};

// Elements of 16 bytes, at multiples of 8.
TEST(short_segments, half_aligned) {
    const auto numbers = tests::small_numbers<double>(4001, 6);
    const tests::on_device<double> there(numbers);
    std::vector<pair> pairs(2000);
    std::memcpy(pairs.data(), numbers.data() + 1, 2000 * sizeof(pair));
    for (const std::uint64_t length : {2u, 3u, 4u, 8u, 40u, 127u}) {
        const std::uint64_t segments = pairs.size() / length;
        std::vector<pair> expected(segments), here(segments);
        const commutes<add_pairs> op{add_pairs{}};
        segmented_reduce(host{1}, pairs.data(), equal_segments{length}, segments, expected.data(), op, pair{1, 2});
        const tests::on_device<pair> got(segments);
        segmented_reduce(target{}, reinterpret_cast<const pair*>(there.base + 1), equal_segments{length}, segments,
                         got.base, op, pair{1, 2});
        CUDA(cudaMemcpy(here.data(), got.base, segments * sizeof(pair), cudaMemcpyDeviceToHost));
        for (std::uint64_t s = 0; s < segments; ++s) {
            ASSERT_TRUE(tests::same_bits(here[s], expected[s])) << "length " << length << ": segment " << s;
        }
    }
}

TEST(short_segments, in_order) {
    check<std::uint32_t>(tests::small_numbers<std::uint32_t>(8009, 5),
                         [](auto... arguments) { segmented_reduce(arguments..., last_but_zero{}, std::uint32_t{3}); });
    std::vector<tests::affine> maps(5003);
    for (std::uint32_t k = 0; k < maps.size(); ++k) {
        maps[k] = {2 * k + 1, k * k + 1};
    }
    check<tests::affine>(maps, [](auto... arguments) {
        segmented_reduce(arguments..., tests::then{}, tests::affine{3, 4});
    });
}

} // namespace
