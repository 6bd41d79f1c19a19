// SPDX-License-Identifier: MIT
// Scans on the host of elements so large that a block of them does not fit a stack.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "warpfold/scan.hpp"

namespace warpfold {
namespace {

// x -> factor * x + term modulo 2^64; both stand at both ends.
template <std::size_t Bytes>
struct large_map {
    std::uint64_t factor, term;
    std::array<std::uint64_t, Bytes / 8 - 4> between;
    std::uint64_t factor_again, term_again;

    static large_map of(std::uint64_t factor, std::uint64_t term) { return {factor, term, {}, factor, term}; }
    bool operator==(const large_map& other) const {
        return factor == other.factor && term == other.term && factor_again == other.factor_again &&
               term_again == other.term_again;
    }
};
struct composed {
    template <class M>
    M operator()(const M& first, const M& then) const {
        return M::of(then.factor_again * first.factor, then.factor * first.term_again + then.term);
    }
};

template <class M>
class LargeScanOnHost : public testing::Test {};
using Sizes = testing::Types<large_map<264>, large_map<1000>, large_map<8000>, large_map<16504>, large_map<200000>>;
TYPED_TEST_SUITE(LargeScanOnHost, Sizes);

template <class M>
std::vector<M> maps(std::uint64_t n) {
    std::mt19937_64 random(n);
    std::vector<M> made;
    made.reserve(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        made.push_back(M::of(random() | 1, random()));
    }
    return made;
}

// The scan of segments that begin where `flags` say.
template <class M>
std::vector<M> one_by_one(const std::vector<M>& in, bool inclusive, bool backwards, const M* first,
                          const std::vector<std::uint8_t>& flags) {
    const std::uint64_t n = in.size();
    std::vector<M> out(n);
    M total{};
    bool there = false;
    for (std::uint64_t v = 0; v < n; ++v) {
        const std::uint64_t k = backwards ? n - 1 - v : v;
        if (v == 0 || flags[backwards ? k + 1 : k] != 0) {
            there = first != nullptr;
            total = there ? *first : M{};
        }
        const M next = there ? composed{}(total, in[k]) : in[k];
        out[k] = inclusive ? next : total;
        total = next;
        there = true;
    }
    return out;
}

std::vector<std::uint64_t> lengths(std::size_t bytes) {
    return bytes > 100000 ? std::vector<std::uint64_t>{3, 65, 130}
                          : std::vector<std::uint64_t>{1, 3, 63, 64, 65, 128, 200, 700};
}

TYPED_TEST(LargeScanOnHost, Plain) {
    using M = TypeParam;
    const M first = M::of(3, 5);
    for (const std::uint64_t n : lengths(sizeof(M))) {
        const std::vector<M> in = maps<M>(n);
        const std::vector<std::uint8_t> none(n + 1);
        std::vector<M> out(n);
        inclusive_scan(host{1}, in, out, composed{});
        EXPECT_EQ(out, one_by_one(in, true, false, static_cast<const M*>(nullptr), none)) << n;
        exclusive_scan(host{3}, in, out, composed{}, first, reversed);
        EXPECT_EQ(out, one_by_one(in, false, true, &first, none)) << n;
    }
}

TYPED_TEST(LargeScanOnHost, InPlace) {
    using M = TypeParam;
    const M first = M::of(3, 5);
    for (const std::uint64_t n : lengths(sizeof(M))) {
        const std::vector<M> in = maps<M>(n);
        const std::vector<std::uint8_t> none(n + 1);
        std::vector<M> out = in;
        exclusive_scan(host{2}, out, out, composed{}, first);
        EXPECT_EQ(out, one_by_one(in, false, false, &first, none)) << n;
    }
}

TYPED_TEST(LargeScanOnHost, Segments) {
    using M = TypeParam;
    const M first = M::of(7, 9);
    for (const std::uint64_t n : lengths(sizeof(M))) {
        const std::vector<M> in = maps<M>(n);
        std::vector<std::uint8_t> flags(n + 1);
        std::vector<std::uint64_t> begins;
        for (std::uint64_t k = 0; k < n; k += 1 + k * k % 90) {
            flags[k] = 1;
            begins.push_back(k);
        }
        std::vector<M> out(n);
        inclusive_scan(host{1}, in, out, composed{}, heads(flags.data()));
        EXPECT_EQ(out, one_by_one(in, true, false, static_cast<const M*>(nullptr), flags)) << n;
        exclusive_scan(host{3}, in, out, composed{}, first, reversed, offsets(begins));
        EXPECT_EQ(out, one_by_one(in, false, true, &first, flags)) << n;
    }
}

// Results of another size than the elements.
struct large_number {
    large_number() = default;
    explicit large_number(float x) : value(x) {}

    float value = 0;
    std::array<float, 5000> rest{};
};

TEST(LargeScanOnHost, LargeResultsOfSmallElements) {
    std::vector<float> in(5000);
    for (std::uint64_t k = 0; k < in.size(); ++k) {
        in[k] = static_cast<float>(k % 700);
    }
    std::vector<large_number> out(5000);
    inclusive_scan(host{2}, in, out, [](float a, float b) { return a < b ? b : a; });
    for (std::uint64_t k = 0; k < in.size(); ++k) {
        ASSERT_EQ(out[k].value, static_cast<float>(k < 700 ? k : 699));
    }
}

} // namespace
} // namespace warpfold
