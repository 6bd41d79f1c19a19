// SPDX-License-Identifier: MIT
// What callers have at hand: operations of <functional>, C arrays, ranges and pointers mixed.
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/interface/standard_cases.hpp"
#include "tests/message_of.hpp"
#include "warpfold/by_key.hpp"
#include "warpfold/chunked.hpp"
#include "warpfold/convolve.hpp"
#include "warpfold/exact_accumulator.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"
#include "warpfold/segmented_reduce.hpp"
#include "warpfold/select.hpp"

namespace warpfold {

namespace {

using tests::in_any_order_v;
using tests::needs_no_initial_v;

static_assert(in_any_order_v<std::plus<>, int> && in_any_order_v<std::plus<int>, int>);
static_assert(in_any_order_v<std::plus<>, float> && in_any_order_v<std::plus<double>, double>);
static_assert(in_any_order_v<std::multiplies<>, float> && in_any_order_v<std::bit_and<>, unsigned char>);
static_assert(in_any_order_v<std::bit_or<long>, long> && in_any_order_v<std::bit_xor<>, bool>);
static_assert(in_any_order_v<std::logical_and<>, bool> && in_any_order_v<std::logical_or<>, float>);
static_assert(in_any_order_v<commutes<std::plus<>>, int>);
static_assert(!in_any_order_v<std::minus<>, int> && !in_any_order_v<std::plus<>, std::string>);
static_assert(!in_any_order_v<std::plus<>, tests::affine> && in_any_order_v<commutes<std::plus<>>, tests::affine>);
static_assert(needs_no_initial_v<std::plus<>, int> && needs_no_initial_v<std::logical_and<>, bool>);
static_assert(!needs_no_initial_v<std::logical_and<>, int> && !needs_no_initial_v<std::minus<>, int>);
// The types in which is folded, and what comes out.
static_assert(std::is_same_v<accumulator_t<std::plus<>, short>, short>);
static_assert(std::is_same_v<accumulator_t<std::plus<long>, int>, long>);
static_assert(std::is_same_v<accumulator_t<commutes<std::plus<double>>, float>, double>);
static_assert(std::is_same_v<decltype(reduce(host{}, std::vector<float>{}, std::plus<double>{})), double>);

template <class T>
class StandardOperations : public testing::Test {};
using Numbers = testing::Types<bool, std::uint16_t, std::int32_t, double>;
TYPED_TEST_SUITE(StandardOperations, Numbers);

// std::vector<bool> has no data().
template <class T>
struct held {
    explicit held(const std::vector<T>& from) : all(new T[from.size() + 1]), n(from.size()) {
        for (std::uint64_t k = 0; k < n; ++k) {
            all[k] = from[k];
        }
    }
    std::unique_ptr<T[]> all;
    std::uint64_t n;
};

TYPED_TEST(StandardOperations, ComeToWhatALoopComesTo) {
    using T = TypeParam;
    for (const std::uint64_t n : {0, 1, 2, 33, 1024, 65537, 200003}) {
        tests::each_standard_operation<T>([n](const auto& op) {
            using Op = std::remove_cvref_t<decltype(op)>;
            std::vector<T> data(n);
            if constexpr (!std::is_same_v<T, bool>) {
                data = tests::numbers_for<T, Op>(n);
            } else {
                for (std::uint64_t k = 0; k < n; ++k) {
                    data[k] = k * 7919 % 5 < 2;
                }
            }
            const held<T> in(data);
            const T* const p = in.all.get();
            for (const T initial : {T(0), T(1), T(3)}) {
                EXPECT_EQ(reduce(host{2}, p, n, op, initial), tests::folded(data, 0, n, op, initial)) << n;
                T sums[3] = {};
                const std::uint64_t bounds[] = {0, n / 3, n / 3, n};
                segmented_reduce(host{2}, p, bounds, 3, sums, op, initial);
                EXPECT_EQ(sums[0], tests::folded(data, 0, n / 3, op, initial));
                EXPECT_EQ(sums[1], initial);
                EXPECT_EQ(sums[2], tests::folded(data, n / 3, n, op, initial));
                const held<T> out(data);
                exclusive_scan(host{2}, p, n, out.all.get(), op, initial);
                for (std::uint64_t k = 0; k < n; k += 1 + n / 7) {
                    EXPECT_EQ(out.all[k], tests::folded(data, 0, k, op, initial)) << k;
                }
            }
            if constexpr (needs_no_initial_v<Op, T>) {
                const T none = detail::resolved_operation_t<Op, T>::template identity<T>();
                EXPECT_EQ(reduce(host{2}, p, n, op), tests::folded(data, 0, n, op, none)) << n;
            }
        });
    }
}

TEST(StandardOperations, OfTheTypeThatTheyName) {
    const std::vector<int> large(1000, std::numeric_limits<int>::max());
    EXPECT_EQ(reduce(host{}, large, std::plus<long>{}), 1000l * std::numeric_limits<int>::max());
    EXPECT_EQ(reduce(host{}, large, std::plus<>{}), -1000); // wraps
    const std::vector<float> f{0.1f, 0.2f, 0.3f};
    EXPECT_EQ(reduce(host{}, f, std::plus<double>{}), 0.0 + 0.1f + 0.2f + 0.3f);
    EXPECT_FALSE(std::signbit(reduce(host{}, std::vector<float>{}, std::plus<>{})));
    const std::vector<double> infinite{1, std::numeric_limits<double>::infinity(), 2};
    EXPECT_EQ(reduce(host{}, infinite, std::plus<>{}), infinite[1]);
    EXPECT_TRUE(std::isnan(reduce(host{}, infinite, std::multiplies<>{}, 0.0)));
    EXPECT_EQ(chunked_reduce(host{}, large, std::plus<long>{}), 1000l * std::numeric_limits<int>::max());
}

TEST(Arguments, OperationsOfOtherTypesStayAsTheyAre) {
    struct word {
        int x;
        word operator+(word other) const { return {x * 10 + other.x}; }
    };
    const std::vector<word> in{{1}, {2}, {3}};
    EXPECT_EQ(reduce(host{}, in, std::plus<>{}, word{0}).x, 123);
}

int larger(int a, int b) { return a < b ? b : a; }
bool is_odd(int x) noexcept { return x % 2 != 0; }
int doubled(int x) { return 2 * x; }

TEST(Arguments, FunctionsByTheirNames) {
    const std::vector<int> in{3, 1, 4, 1, 5};
    const host on{2};
    EXPECT_EQ(reduce(on, in, larger, 0), 5);
    EXPECT_EQ(reduce(on, in, &larger, 0), 5);
    EXPECT_EQ(reduce(on, in, commutes(larger), 0), 5);
    static_assert(in_any_order_v<decltype(commutes(larger)), int>);
    EXPECT_EQ(count_if(on, in, is_odd), 4u);
    EXPECT_EQ(transform_reduce(on, in, doubled), 28);
    EXPECT_EQ(transform_reduce(on, in, doubled, larger, 0), 10);
    std::vector<int> out(5);
    transform_inclusive_scan(on, in, out, doubled, larger);
    EXPECT_EQ(out, (std::vector<int>{6, 6, 8, 8, 10}));
    const int bounds[] = {0, 2, 5};
    segmented_reduce(on, in, bounds, out, larger, 0);
    EXPECT_TRUE(out[0] == 3 && out[1] == 5);
    EXPECT_EQ(histogram(on, in, function_bins(doubled, 7))[2], 2u);
    EXPECT_EQ(chunked_count_if(on, in, is_odd), 4u);
    EXPECT_EQ(chunked_transform_reduce(on, in, doubled, larger, 0), 10);
    chunked_inclusive_scan(on, in, out, larger);
    EXPECT_EQ(out[4], 5);
}

TEST(Arguments, ArraysAndTheirNumber) {
    int a[100];
    for (int k = 0; k < 100; ++k) {
        a[k] = k + 1;
    }
    const int(&c)[100] = a;
    const host on{2};
    EXPECT_EQ(reduce(on, a), 5050);
    EXPECT_EQ(reduce(on, a, 100), 5050);
    EXPECT_EQ(reduce(on, c, 10u, maximum{}), 10);
    EXPECT_EQ(reduce(on, c, std::size_t{4}, std::plus<>{}, 5), 15);
    std::int64_t placed = 0;
    reduce(on, a, 3, &placed);
    EXPECT_EQ(placed, 6);
    EXPECT_EQ(transform_reduce(on, a, 3, [](int x) { return x * x; }), 14);
    EXPECT_EQ(count_if(on, a, 10, [](int x) { return x > 4; }), 6u);
    EXPECT_EQ(arg_max(on, a, 10).index, 9u);
    EXPECT_EQ(arg_min(on, c, 10).value, 1);
    EXPECT_EQ(min_max(on, c, 10).largest, 10);
    int out[100] = {};
    inclusive_scan(on, c, 10, out);
    EXPECT_TRUE(out[9] == 55 && out[10] == 0);
    exclusive_scan(on, c, 10, out, maximum{}, 0, reversed);
    EXPECT_TRUE(out[0] == 10 && out[9] == 0);
    transform_inclusive_scan(on, c, 2, out, [](int x) { return x * 7; });
    transform_exclusive_scan(on, c, 2, out + 2, [](int x) { return x * 7; });
    EXPECT_TRUE(out[1] == 21 && out[3] == 7);

    const float f[4] = {1, 2, 3, 4};
    EXPECT_EQ(exact_sum(on, f, 3), 6);
    EXPECT_EQ(exact_dot(on, f, f, 3), 14);
    EXPECT_EQ(exact_dot(on, f + 0, f, 2), 5);
    exact_accumulator<float> sum;
    sum.add(on, f, 2);
    EXPECT_EQ(sum.value(), 3);
    float three[3] = {};
    convolve(on, f, 3, f, 1, three);
    EXPECT_EQ(three[2], 3);
}

TEST(Arguments, HistogramsOfArraysAndIntoRanges) {
    const int in[6] = {0, 1, 1, 2, 3, 3};
    const float weights[6] = {1, 2, 3, 4, 5, 6};
    const std::vector<int> samples(in, in + 6);
    const std::vector<float> heavy(weights, weights + 6);
    const auto bins = even_bins(0, 4, 2);
    const host on{2};
    std::uint32_t counts[2] = {};
    histogram(on, in, 4, counts, bins);
    EXPECT_TRUE(counts[0] == 3 && counts[1] == 1);
    EXPECT_EQ(histogram(on, in, 3, bins)[0], 3u);
    std::vector<std::uint64_t> wide(2);
    histogram(on, in, 6, wide, bins);
    histogram(on, in + 0, 6, wide, bins, update::add);
    EXPECT_TRUE(wide[0] == 6 && wide[1] == 6);
    float sums[2] = {};
    weighted_histogram(on, in, weights, 2, sums, bins);
    EXPECT_TRUE(sums[0] == 3 && sums[1] == 0);
    weighted_histogram(on, in + 0, weights, 4, sums, bins);
    EXPECT_TRUE(sums[0] == 6 && sums[1] == 4);
    std::vector<double> of_ranges(2);
    weighted_histogram(on, samples, heavy, of_ranges, bins);
    EXPECT_TRUE(of_ranges[0] == 6 && of_ranges[1] == 15);
    const std::array both{bins, bins};
    std::vector<std::uint32_t> four(4);
    histogram_channels<2>(on, samples, four, both);
    EXPECT_EQ(four, (std::vector<std::uint32_t>{2, 1, 1, 2}));
    histogram_channels<2>(on, in, 1, four.data(), both);
    EXPECT_EQ(four, (std::vector<std::uint32_t>{1, 0, 1, 0}));

    std::vector<float> few(5);
    EXPECT_THROW(weighted_histogram(on, samples, few, of_ranges, bins), invalid_argument);
    EXPECT_THROW(weighted_histogram(on, samples, heavy, few, bins), invalid_argument);
    EXPECT_THROW(histogram(on, in, 6, std::vector<unsigned>(3), bins), invalid_argument);
    EXPECT_THROW(histogram_channels<4>(on, samples, four, both), invalid_argument);
    EXPECT_THROW(histogram_channels<2>(on, samples, wide, both), invalid_argument);
}

template <class Call>
std::string refused(const Call& call) {
    return tests::message_of<invalid_argument>(call);
}

TEST(Arguments, NullPointersAreRefusedWhereThereAreElements) {
    const host on{2};
    const int* const none = nullptr;
    const float* const no_floats = nullptr;
    int* const nowhere = nullptr;
    int some[3] = {1, 2, 3};
    std::int64_t sums[3] = {1, 2, 3};
    std::int64_t* const no_sums = nullptr;
    EXPECT_EQ(reduce(on, none, 0), 0);
    EXPECT_EQ(refused([&] { (void)reduce(on, none, 3); }),
              "warpfold: reduce: a null pointer stands for an array of 3 elements");
    EXPECT_EQ(refused([&] { reduce(on, some, 3, no_sums); }),
              "warpfold: reduce: a null pointer stands for an array of 1 element");
    EXPECT_NE(refused([&] { (void)count_if(on, none, 1, is_odd); }).find("count_if: a null"), std::string::npos);
    EXPECT_NE(refused([&] { (void)transform_reduce(on, none, 1, doubled); }).find("transform_reduce: a null"),
              std::string::npos);
    const auto null = [&](const auto& call) { EXPECT_NE(refused(call).find(": a null pointer"), std::string::npos); };
    null([&] { (void)arg_max(on, none, 3); });
    null([&] { (void)min_max(on, none, 3); });
    null([&] { (void)exact_sum(on, no_floats, 3); });
    null([&] { (void)exact_dot(on, no_floats, no_floats, 3); });
    null([&] { exact_accumulator<float>().add(on, no_floats, 3); });
    null([&] { inclusive_scan(on, none, 3, some); });
    null([&] { inclusive_scan(on, some, 3, nowhere); });
    null([&] { inclusive_scan(on, some, 3, some, sum{}, heads(none)); });
    null([&] { inclusive_scan(on, some, 3, some, sum{}, offsets(none, 2)); });
    null([&] { segmented_reduce(on, none, some, 2, sums); });
    null([&] { segmented_reduce(on, some, none, 2, sums); });
    null([&] { segmented_reduce(on, some, some, 2, no_sums); });
    null([&] { (void)histogram(on, none, 3, even_bins(0, 1, 1)); });
    null([&] { histogram(on, some, 3, nowhere, even_bins(0, 1, 1)); });
    null([&] { (void)histogram(on, some, 3, edge_bins(none, 3)); });
    null([&] { weighted_histogram(on, some, no_floats, 3, sums, even_bins(0, 1, 1)); });
    null([&] { weighted_histogram(on, some, some, 3, nowhere, even_bins(0, 1, 1)); });
    const int no_elements[] = {0, 0, 0};
    segmented_reduce(on, none, no_elements, 2, sums);
    EXPECT_TRUE(sums[0] == 0 && sums[1] == 0);
}

TEST(Arguments, NegativeNumbersAreRefused) {
    const host on{2};
    int some[3] = {0, 2, 3};
    std::int64_t sums[3] = {};
    const int minus = -1;
    const std::string reason = "18446744073709551615 elements, more than 2^60: a negative number, perhaps";
    const auto negative = [&](const auto& call) { EXPECT_NE(refused(call).find(reason), std::string::npos); };
    negative([&] { (void)reduce(on, &some[0], minus); });
    negative([&] { (void)arg_min(on, &some[0], minus); });
    negative([&] { inclusive_scan(on, &some[0], minus, &some[0]); });
    negative([&] { (void)histogram(on, &some[0], minus, even_bins(0, 1, 1)); });
    negative([&] { segmented_reduce(on, some, some, minus, sums); });
    const int before[] = {-2, 1, 3};
    EXPECT_EQ(refused([&] { segmented_reduce(on, some, before, sums); }),
              "warpfold: segmented_reduce: the first offset is negative");
    const char* const bytes = reinterpret_cast<const char*>(some);
    const int* const askew = reinterpret_cast<const int*>(bytes + 1);
    EXPECT_NE(refused([&] { (void)reduce(on, askew, 2); }).find("not aligned to the 4 bytes"), std::string::npos);
}

TEST(Arguments, SegmentsAndConvolutionsAndOptions) {
    const host on{2};
    const std::vector<int> ones(6, 1), flags{0, 0, 1, 0, 0, 0}, begins{2, 5};
    const int flag_array[6] = {0, 0, 1, 0, 0, 0};
    std::vector<int> out(6);
    const std::vector<int> by_flags{1, 2, 1, 2, 3, 4}, by_begins{1, 2, 1, 2, 3, 1};
    inclusive_scan(on, ones, out, sum{}, heads(flags));
    EXPECT_EQ(out, by_flags);
    static_assert(std::is_same_v<decltype(heads(flags)), heads<const int*>>); // not copied
    inclusive_scan(on, ones, out, sum{}, heads(flag_array));
    EXPECT_EQ(out, by_flags);
    inclusive_scan(on, ones, out, sum{}, heads(std::vector<bool>{false, false, true, false, false, false}));
    EXPECT_EQ(out, by_flags);
    inclusive_scan(on, ones, out, sum{}, offsets(begins));
    EXPECT_EQ(out, by_begins);
    inclusive_scan(on, ones, out, sum{}, offsets(begins, 1));
    EXPECT_EQ(out, by_flags);
    inclusive_scan(on, ones, out, sum{}, offsets(begins.data(), 2));
    EXPECT_EQ(out, by_begins);

    const std::vector<float> samples{1, 2, 3}, mask{1, 1};
    std::vector<float> results(4);
    convolve(on, samples, mask, results, {.which = outputs::full});
    EXPECT_EQ(results, (std::vector<float>{1, 3, 5, 3}));
    results.resize(3);
    correlate(on, samples, mask, results);
    EXPECT_EQ(results, (std::vector<float>{1, 3, 5}));
    EXPECT_NE(refused([&] { convolve(on, samples, mask, results, {.which = outputs::full}); }).find("room for 3 of 4"),
              std::string::npos);

    chunked_options small;
    small.chunk_bytes = 8;
    EXPECT_EQ(chunked_reduce(on, ones, small), 6);
    EXPECT_EQ(chunked_transform_reduce(on, ones, doubled, small), 12);
    chunked_inclusive_scan(on, ones, out, small);
    EXPECT_EQ(out[5], 6);
    chunked_exclusive_scan(on, ones, out, small);
    EXPECT_EQ(out[5], 5);
}

TEST(Arguments, SegmentsOfRanges) {
    const std::vector<int> in(100, 1);
    const std::vector<std::int32_t> offsets{0, 30, 30, 100};
    const std::array<std::int64_t, 4> longs{0, 30, 30, 100};
    const host on{2};
    std::vector<std::int64_t> sums(3);
    const std::vector<std::int64_t> expected{30, 0, 70};
    segmented_reduce(on, in, offsets, sums);
    EXPECT_EQ(sums, expected);
    segmented_reduce(on, in.data(), longs, sums.data(), std::plus<long>{});
    EXPECT_EQ(sums, expected);
    segmented_reduce(on, in, offsets, 2, sums, sum{}, 5);
    EXPECT_EQ(sums, (std::vector<std::int64_t>{35, 5, 70}));
    const std::span<std::int64_t> place(sums);
    segmented_reduce(on, in.data(), longs.data(), 3, place);
    EXPECT_EQ(sums, expected);
    int elements[4] = {1, 2, 3, 4}, bounds[3] = {0, 1, 4};
    std::int64_t out[2] = {};
    segmented_reduce(on, elements, bounds, out);
    EXPECT_TRUE(out[0] == 1 && out[1] == 9);
    segmented_reduce(on, elements, equal_segments{2}, 2, out);
    EXPECT_TRUE(out[0] == 3 && out[1] == 7);

    EXPECT_THROW(segmented_reduce(on, in, std::vector<int>{}, sums), invalid_argument);
    EXPECT_THROW(segmented_reduce(on, in, std::vector<int>{0, 101}, sums), invalid_argument);
    EXPECT_THROW(segmented_reduce(on, in, std::vector<int>{0, 1, 2, 3, 4}, sums), invalid_argument);
}

// Contiguous iterators are taken as their pointers; those of bits as values.
TEST(Iterators, InputsAndOutputs) {
    const std::vector<float> data = tests::any_numbers<float>(1001, 3);
    const std::uint64_t n = data.size();
    static_assert(std::is_same_v<decltype(detail::decayed(std::declval<const std::vector<float>::const_iterator&>())),
                                 const float*>);
    static_assert(!detail::pointer_like<std::vector<float>::const_reverse_iterator>);
    std::vector<float> out(n), right(n);
    EXPECT_EQ(reduce(host{}, data.begin(), n, maximum{}), reduce(host{}, data, maximum{}));
    inclusive_scan(host{}, data.begin(), n, out.begin(), maximum{});
    inclusive_scan(host{}, data, right, maximum{});
    EXPECT_EQ(out, right);
    std::vector<bool> flags(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        flags[k] = k % 3 == 0;
    }
    EXPECT_EQ(reduce(host{}, flags.begin(), n, std::plus<std::uint64_t>{}), 334u);
    EXPECT_FALSE(reduce(host{}, flags.cbegin(), n, std::logical_and<>{}));
    const std::vector<int> offsets{0, 10, 1001};
    std::vector<float> sums(2), right_sums(2);
    segmented_reduce(host{}, data.begin(), offsets.begin(), 2, sums.begin(), minimum{});
    segmented_reduce(host{}, data, offsets, right_sums, minimum{});
    EXPECT_EQ(sums, right_sums);
    std::vector<std::uint64_t> counts(20);
    const even_bins<float> bins(-10, 10, 20);
    histogram(host{}, data.begin(), n, counts.begin(), bins);
    EXPECT_EQ(counts, histogram(host{}, data, bins));
    exact_accumulator<float> sum_on;
    sum_on.add(host{}, data.begin(), n);
    exact_accumulator<float> of_range;
    of_range.add(host{}, data);
    EXPECT_TRUE(tests::same_bits(sum_on.value(), of_range.value()));
}

// Ranges beside a number of elements or segments that is too large for them.
TEST(arguments, ranges_that_are_too_short) {
    const std::vector<int> x(100, 1), few(10, 1), offsets{0, 5, 10};
    std::vector<int> out(100), keys(100);
    std::vector<std::int64_t> one(1), three(3);
    const int* const all = x.data();
    const auto refused = [](const auto& call, const std::string& what) {
        EXPECT_EQ(tests::message_of<invalid_argument>(call), "warpfold: " + what);
    };
    refused([&] { segmented_reduce(host{}, x, offsets, 2, one); },
            "segmented_reduce: the output has room for 1 of 2 segments");
    refused([&] { segmented_reduce(host{}, x, equal_segments{10}, 2, one); },
            "segmented_reduce: the output has room for 1 of 2 segments");
    refused([&] { segmented_reduce(host{}, x, offsets, 3, three); },
            "segmented_reduce: there are 3 offsets of 3 segments, and they are one more");
    refused([&] { segmented_reduce(host{}, x, equal_segments{50}, 3, three); },
            "segmented_reduce: there are 100 elements of 3 segments of 50");
    refused(
        [&] {
            segmented_reduce(host{}, few, std::vector{0, 11}.data(), 1, three);
        },
        "segmented_reduce: the last offset is 11, and there are 10 elements");
    refused([&] { segmented_reduce(host{}, x, std::vector<int>{}, three); },
            "segmented_reduce: there are no offsets, and they are one more than segments");
    refused([&] { (void)select(host{}, x, out, where(few)); }, "select: there are 10 flags of 100 elements");
    EXPECT_EQ(select(host{}, all, 10, out, where(few)), 10u);
    refused([&] { inclusive_scan(host{}, x, out, sum{}, heads(few)); },
            "inclusive_scan: there are 10 flags of 100 elements");
    const int ten = 10;
    inclusive_scan(host{}, all, count_at(&ten, 100), out.data(), sum{}, heads(few));
    refused([&] { (void)reduce_by_key(host{}, all, 100, few, keys, out); },
            "reduce_by_key: there are 10 values of 100 elements");
    refused([&] { exclusive_scan_by_key(host{}, x, few, out); },
            "exclusive_scan_by_key: there are 10 values of 100 elements");
    const even_bins<int> bins(0, 2, 2);
    std::vector<int> sums(2);
    std::vector<std::uint64_t> counts(4);
    refused([&] { weighted_histogram(host{}, all, few, 100, sums.data(), bins); },
            "weighted_histogram: there are 10 weights of 100 elements");
    refused(
        [&] {
            histogram_nd(host{}, std::tuple{x, few}, 100, counts, std::tuple{bins, bins});
        },
        "histogram_nd: there are 10 coordinates of 100 elements");
    weighted_histogram(host{}, all, few, 10, sums, bins);
    EXPECT_EQ(sums, (std::vector{0, 10}));
    histogram_channels<2>(host{}, all, 50, counts, std::array{bins, bins});
    EXPECT_EQ(counts, (std::vector<std::uint64_t>{0, 50, 0, 50}));
    EXPECT_THROW(histogram_channels<4>(host{}, all, std::uint64_t{1} << 62, counts.data(), std::array{bins, bins}),
                 invalid_argument);
}

} // namespace
} // namespace warpfold
