// SPDX-License-Identifier: MIT
// Thrust's and libcu++'s operations, iterators and complex numbers as arguments.
#include "warpfold/thrust.cuh"

#include <thrust/complex.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include <cuda/std/complex>

#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/exact_sum/exact_complex.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/by_key.cuh"
#include "warpfold/convolve.cuh"
#include "warpfold/exact_accumulator.cuh"
#include "warpfold/exact_moments.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/exact_sum_along.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_exact_sum.cuh"
#include "warpfold/segmented_reduce.cuh"
#include "warpfold/select.cuh"

using namespace warpfold;

namespace {

// An operation that stands for one of the library's is that type in the kernels.
template <class Op, class A, class Library>
constexpr bool stands_for = std::is_same_v<detail::resolved_operation_t<Op, A>, Library>&&
    detail::is_commutative_v<Library>&& detail::has_identity<Library, A>;
static_assert(stands_for<thrust::plus<>, int, sum> && stands_for<thrust::plus<float>, float, sum>);
static_assert(stands_for<cuda::std::plus<>, double, sum> && stands_for<cuda::std::multiplies<>, int, product>);
static_assert(stands_for<thrust::maximum<>, int, maximum> && stands_for<cuda::maximum<float>, float, maximum>);
static_assert(stands_for<thrust::minimum<int>, int, minimum> && stands_for<cuda::minimum<>, double, minimum>);
static_assert(stands_for<cuda::std::bit_and<>, unsigned, detail::and_bits> &&
              stands_for<cuda::std::bit_or<>, unsigned, detail::or_bits> &&
              stands_for<thrust::bit_xor<>, unsigned, detail::xor_bits>);
static_assert(stands_for<thrust::logical_and<>, bool, detail::both> &&
              stands_for<cuda::std::logical_or<bool>, bool, detail::either> &&
              stands_for<cuda::maximum<>, bool, detail::either>);
static_assert(std::is_same_v<accumulator_t<thrust::plus<long long>, int>, long long> &&
              std::is_same_v<accumulator_t<thrust::plus<>, int>, int>);
// Others are not.
static_assert(std::is_same_v<detail::resolved_operation_t<cuda::std::minus<>, int>, cuda::std::minus<>>);

// Contiguous iterators are pointers, others are not.
template <class It>
constexpr bool is_pointer = detail::pointer_like<It>;
static_assert(is_pointer<thrust::device_ptr<int>> && is_pointer<thrust::device_ptr<const int>>);
static_assert(is_pointer<thrust::device_vector<float>::iterator> &&
              is_pointer<thrust::device_vector<float>::const_iterator> &&
              is_pointer<thrust::host_vector<float>::iterator> && is_pointer<std::vector<float>::iterator>);
static_assert(!is_pointer<thrust::counting_iterator<int>> && !is_pointer<thrust::zip_iterator<thrust::tuple<int*>>> &&
              !is_pointer<thrust::transform_iterator<thrust::negate<int>, thrust::device_ptr<int>>> &&
              !is_pointer<std::reverse_iterator<int*>> &&
              !is_pointer<thrust::permutation_iterator<thrust::device_ptr<int>, thrust::device_ptr<int>>>);
static_assert(std::is_same_v<decltype(detail::decayed(std::declval<const thrust::device_ptr<int>&>())), int*>);

const std::vector<std::uint64_t> sizes{0, 1, 2, 31, 1023, 1024, 1025, 40009};

template <class T>
thrust::device_vector<T> on_gpu(const std::vector<T>& all) {
    return thrust::device_vector<T>(all.begin(), all.end());
}

TEST(thrust, operations) {
    for (const std::uint64_t n : sizes) {
        const auto ints = tests::small_numbers<std::int32_t>(n, 3);
        const auto floats = tests::any_numbers<float>(n, 4);
        const tests::on_device<std::int32_t> in(ints);
        const tests::on_device<float> of(floats);
        EXPECT_EQ(reduce(gpu{}, in.data(), n, thrust::plus<>{}), reduce(host{}, ints, std::plus<>{}));
        EXPECT_EQ(reduce(gpu{}, in.data(), n, cuda::std::bit_xor<>{}), reduce(host{}, ints, std::bit_xor<>{}));
        EXPECT_EQ(reduce(gpu{}, in.data(), n, thrust::maximum<int>{}), reduce(host{}, ints, maximum{}));
        EXPECT_EQ(reduce(gpu{}, in.data(), n, cuda::minimum<>{}), reduce(host{}, ints, minimum{}));
        // The same kernel: the same bits as the library's own operation.
        EXPECT_TRUE(tests::same_bits(reduce(gpu{}, of.data(), n, cuda::std::plus<>{}), reduce(gpu{}, of.data(), n)));
        EXPECT_EQ(reduce(host{}, ints, thrust::plus<std::int64_t>{}), reduce(host{}, ints));
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const tests::on_device<float> some(std::vector<float>{1, nan, 2}), zeros(std::vector<float>{0.0f, -0.0f});
    EXPECT_TRUE(std::isnan(reduce(gpu{}, some.data(), 3, thrust::maximum<float>{})));
    EXPECT_TRUE(std::signbit(reduce(gpu{}, zeros.data(), 2, cuda::minimum<>{})));
}

struct is_even {
    __host__ __device__ bool operator()(std::int32_t x) const { return x % 2 == 0; }
};
struct doubled {
    __host__ __device__ std::int64_t operator()(std::int32_t x) const { return std::int64_t{2} * x; }
};

// Vectors, their iterators and device_ptr give what pointers give.
TEST(thrust, contiguous_iterators) {
    for (const std::uint64_t n : sizes) {
        SCOPED_TRACE(n);
        const auto ints = tests::small_numbers<std::int32_t>(n, 5);
        const auto floats = tests::any_numbers<float>(n, 6);
        const auto in = on_gpu(ints);
        const auto values = on_gpu(floats);
        const thrust::device_ptr<const float> at = values.data();
        thrust::device_vector<std::int32_t> out(n, 77), more(n, 77);
        thrust::device_vector<std::int64_t> total(1);
        thrust::device_vector<std::uint64_t> count(1);
        const auto read = [](const auto& vector) {
            std::vector<typename std::remove_cvref_t<decltype(vector)>::value_type> all(vector.size());
            thrust::copy(vector.begin(), vector.end(), all.begin());
            return all;
        };
        EXPECT_EQ(reduce(gpu{}, in), reduce(host{}, ints));
        EXPECT_EQ(reduce(gpu{}, in.begin(), n), reduce(host{}, ints));
        EXPECT_EQ(reduce(gpu{}, in.data(), n, thrust::plus<>{}, 5), reduce(host{}, ints, std::plus<>{}, 5));
        reduce(gpu{}, in.cbegin(), n, total.data());
        EXPECT_EQ(total[0], reduce(host{}, ints));
        EXPECT_EQ(transform_reduce(gpu{}, in, doubled{}), 2 * reduce(host{}, ints));
        EXPECT_EQ(count_if(gpu{}, in.begin(), n, is_even{}), count_if(host{}, ints, is_even{}));
        EXPECT_TRUE(tests::same_bits(exact_sum(gpu{}, at, n), exact_sum(host{}, floats)));
        EXPECT_TRUE(tests::same_bits(exact_dot(gpu{}, at, values.begin(), n), exact_dot(host{}, floats, floats)));
        EXPECT_TRUE(tests::same_bits(exact_norm(gpu{}, values), exact_norm(host{}, floats)));
        exact_accumulator<float> sum_on;
        sum_on.add(gpu{}, values.begin(), n);
        EXPECT_TRUE(tests::same_bits(sum_on.value(), exact_sum(host{}, floats)));
        std::vector<std::int32_t> right(n), rest(n);
        inclusive_scan(gpu{}, in, out);
        inclusive_scan(host{}, ints, right);
        EXPECT_EQ(read(out), right);
        exclusive_scan(gpu{}, in.begin(), n, out.begin(), cuda::maximum<>{}, 3);
        exclusive_scan(host{}, ints, right, maximum{}, 3);
        EXPECT_EQ(read(out), right);
        const std::uint64_t kept = select(gpu{}, in.data(), n, out.begin(), is_even{});
        EXPECT_EQ(kept, select(host{}, ints, right, is_even{}));
        partition(gpu{}, in.begin(), n, out.data(), more.begin(), count.data(), is_even{});
        EXPECT_EQ(count[0], partition(host{}, ints, right, rest, is_even{}));
        out.resize(kept);
        right.resize(kept);
        EXPECT_EQ(read(out), right);
        out.resize(n);
        right.resize(n);
        if (n != 0) {
            EXPECT_EQ(arg_max(gpu{}, in.begin(), n).index, arg_max(host{}, ints).index);
            const even_bins<std::int32_t> bins(-100, 100, 20);
            EXPECT_EQ(histogram(gpu{}, in.begin(), n, bins), histogram(host{}, ints, bins));
            thrust::device_vector<std::uint64_t> counts(20);
            histogram(gpu{}, in, counts, bins);
            EXPECT_EQ(read(counts), histogram(host{}, ints, bins));
            histogram(gpu{}, in.data(), n, counts.begin(), bins, update::add);
            EXPECT_EQ(counts[10], 2 * histogram(host{}, ints, bins)[10]);
        }
        thrust::device_vector<std::uint32_t> lengths(n);
        EXPECT_EQ(run_length_encode(gpu{}, in.begin(), n, out.begin(), lengths.begin()), unique(host{}, ints, right));
        EXPECT_EQ(reduce_by_key(gpu{}, in.begin(), n, in.data(), out.data(), more.begin()),
                  unique(host{}, ints, right));
        inclusive_scan_by_key(gpu{}, in.data(), n, in.begin(), out.begin());
        inclusive_scan_by_key(host{}, ints, ints, right);
        EXPECT_EQ(read(out), right);
        if (n > 2) {
            const std::vector<std::uint64_t> bounds{0, n / 3, n};
            const auto offsets = on_gpu(bounds);
            thrust::device_vector<std::int64_t> sums(2);
            segmented_reduce(gpu{}, in.begin(), offsets.begin(), 2, sums.begin());
            std::vector<std::int64_t> right_sums(2);
            segmented_reduce(host{}, ints, bounds, right_sums);
            EXPECT_EQ(read(sums), right_sums);
            segmented_reduce(gpu{}, in, offsets, sums, cuda::maximum<>{});
            segmented_reduce(host{}, ints, bounds, right_sums, maximum{});
            EXPECT_EQ(read(sums), right_sums);
            thrust::device_vector<float> exact(2);
            segmented_exact_sum(gpu{}, values, offsets, exact);
            EXPECT_TRUE(tests::same_bits<float>(exact[1], exact_sum(host{}, floats.data() + n / 3, n - n / 3)));
            const std::vector<float> mask{1, 2, 1};
            thrust::device_vector<float> filtered(n), again(n);
            convolve(gpu{}, values, mask, filtered, {.which = outputs::same});
            convolve(gpu{}, thrust::raw_pointer_cast(values.data()), n, mask.data(), 3,
                     thrust::raw_pointer_cast(again.data()), {.which = outputs::same});
            EXPECT_EQ(std::memcmp(read(filtered).data(), read(again).data(), n * sizeof(float)), 0);
        }
    }
}

struct product_of_pair {
    __host__ __device__ std::int64_t operator()(const thrust::tuple<std::int32_t, std::int32_t>& x) const {
        return std::int64_t{thrust::get<0>(x)} * thrust::get<1>(x);
    }
};
struct square {
    __host__ __device__ std::int64_t operator()(std::int64_t k) const { return k * k; }
};

struct from_behind {
    __host__ __device__ std::int64_t operator()(std::int64_t k) const { return n - 1 - k; }
    std::int64_t n;
};

TEST(thrust, other_iterators) {
    for (const std::uint64_t n : sizes) {
        SCOPED_TRACE(n);
        const auto ints = tests::small_numbers<std::int32_t>(n, 7);
        const auto in = on_gpu(ints);
        std::int64_t dot = 0, squares = 0, backwards = 0;
        for (std::uint64_t k = 0; k < n; ++k) {
            dot += std::int64_t{ints[k]} * ints[n - 1 - k];
            squares += static_cast<std::int64_t>(k * k);
            backwards += ints[k] * std::int64_t{ints[k]};
        }
        const thrust::counting_iterator<std::int64_t> counting(0);
        EXPECT_EQ(reduce(gpu{}, counting, n), static_cast<std::int64_t>(n * (n - 1) / 2));
        EXPECT_EQ(reduce(gpu{}, thrust::make_transform_iterator(counting, square{}), n), squares);
        EXPECT_EQ(reduce(gpu{}, thrust::make_constant_iterator(3), n), static_cast<std::int64_t>(3 * n));
        EXPECT_EQ(reduce(gpu{}, thrust::make_transform_iterator(in.begin(), doubled{}), n), 2 * reduce(host{}, ints));
        const auto pairs = thrust::make_zip_iterator(in.begin(), thrust::make_reverse_iterator(in.end()));
        EXPECT_EQ(transform_reduce(gpu{}, pairs, n, product_of_pair{}), dot);
        const auto twice = thrust::make_zip_iterator(thrust::raw_pointer_cast(in.data()), in.begin());
        EXPECT_EQ(transform_reduce(gpu{}, twice, n, product_of_pair{}, thrust::plus<>{}), backwards);
        const auto reversed_places =
            thrust::make_transform_iterator(counting, from_behind{static_cast<std::int64_t>(n)});
        const auto permuted = thrust::make_permutation_iterator(in.begin(), reversed_places);
        thrust::device_vector<std::int32_t> out(n);
        inclusive_scan(gpu{}, permuted, n, out.begin());
        std::int32_t total = 0;
        const thrust::host_vector<std::int32_t> scanned = out;
        for (std::uint64_t k = 0; k < n; ++k) {
            total += ints[n - 1 - k];
            ASSERT_EQ(scanned[k], total) << k;
        }
        EXPECT_EQ(
            select(gpu{}, in.begin(), n, out.begin(), where(thrust::make_transform_iterator(in.begin(), is_even{}))),
            count_if(host{}, ints, is_even{}));
    }
}

TEST(thrust, on_the_host) {
    thrust::host_vector<float> values(1001, 1.5f), out(1001);
    EXPECT_EQ(reduce(host{}, values, thrust::plus<>{}), 1501.5f);
    inclusive_scan(host{}, values.begin(), 1001u, out.begin(), cuda::maximum<>{});
    EXPECT_EQ(out[1000], 1.5f);
    const std::vector<bool> flags(100, true);
    EXPECT_TRUE(reduce(host{}, flags.begin(), 100u, std::logical_and<>{}));
    EXPECT_EQ(reduce(host{}, thrust::counting_iterator<int>(1), 100u), 5050);
}

template <class C>
using there = tests::on_device<C>;

TEST(thrust, complex_numbers) {
    tests::complex_special_values<thrust::complex<float>, there>(gpu{});
    tests::complex_special_values<cuda::std::complex<double>, there>(gpu{});
    tests::complex_segments_and_axes<cuda::std::complex<double>, there>(gpu{});
    const thrust::device_vector<thrust::complex<float>> all(1000, thrust::complex<float>(1, -2));
    thrust::device_vector<thrust::complex<float>> out(1);
    exact_sum(gpu{}, all, out.begin());
    EXPECT_EQ(thrust::complex<float>(out[0]), thrust::complex<float>(1000, -2000));
    EXPECT_EQ(exact_vdot(gpu{}, all, all), thrust::complex<float>(5000, 0));
}

} // namespace
