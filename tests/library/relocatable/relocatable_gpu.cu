// SPDX-License-Identifier: MIT
// Every family of calls in relocatable device code (nvcc -rdc=true), where a kernel with a limit of registers cannot call a
// function of external linkage that takes more: ptxas refuses it. The results are the host's.
#include "every_header.cuh"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/relocatable/other_unit.hpp"

// No unnamed namespace: nvcc gives it a name in relocatable code, and the host compiler warns of its visibility.
namespace warpfold::tests::relocatable {

constexpr std::uint64_t n = 3000;

template <class T>
std::vector<T> small_numbers() {
    std::vector<T> numbers(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        numbers[k] = T(static_cast<float>(k * 7 % 11 + 1));
    }
    return numbers;
}

struct larger {
    template <class T>
    __host__ __device__ T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};
struct above_five {
    template <class T>
    __host__ __device__ bool operator()(T x) const {
        return T(5) < x;
    }
};

template <class T>
bool equal(T a, T b) {
    return a == b;
}
template <class T>
bool equal(const located<T>& a, const located<T>& b) {
    return a.value == b.value && a.index == b.index;
}
template <class T>
bool equal(const extremes<T>& a, const extremes<T>& b) {
    return a.smallest == b.smallest && a.largest == b.largest;
}

// call(on, in, out) writes `results` results of the numbers; on a GPU the same as on the host.
template <class T, class R = T>
struct compared {
    template <class Call>
    void operator()(std::uint64_t results, const Call& call) const {
        const std::vector<T> data = small_numbers<T>();
        std::vector<R> right(results);
        call(host{1}, data.data(), right.data());
        const on_device<T> in(data);
        const on_device<R> out(results);
        call(gpu{}, static_cast<const T*>(in.data()), out.data());
        const std::vector<R> got = out.read();
        for (std::uint64_t k = 0; k < results; ++k) {
            ASSERT_TRUE(equal(got[k], right[k])) << k;
        }
    }
};

template <class T>
class Relocatable : public testing::Test {};
using types = testing::Types<float, double>;
TYPED_TEST_SUITE(Relocatable, types);

TYPED_TEST(Relocatable, Reductions) {
    using T = TypeParam;
    const compared<T> same;
    same(1, [](const auto& on, const T* in, T* out) { reduce(on, in, n, out); });
    same(1, [](const auto& on, const T* in, T* out) { reduce(on, in, n, out, larger{}, T(0)); });
    compared<T, located<T>>{}(1, [](const auto& on, const T* in, auto* out) { arg_max(on, in, n, out); });
    compared<T, extremes<T>>{}(1, [](const auto& on, const T* in, auto* out) { min_max(on, in, n, out); });
    compared<T, std::uint64_t>{}(
        1, [](const auto& on, const T* in, auto* out) { count_if(on, in, n, out, above_five{}); });
    same(1000, [](const auto& on, const T* in, T* out) {
        reduce_along(on, strided_view<const T>(in, {1000, 3}), axes{1}, out);
    });
    same(3, [](const auto& on, const T* in, T* out) {
        reduce_along(on, strided_view<const T>(in, {1000, 3}), axes{0}, out, larger{}, T(0));
    });
}

TYPED_TEST(Relocatable, SegmentedReductions) {
    using T = TypeParam;
    const std::vector<std::uint32_t> bounds{0, 1, 1, 40, 2000, 2001, 3000};
    const on_device<std::uint32_t> there(bounds);
    const auto offsets = [&](const auto& on) {
        return std::is_same_v<std::decay_t<decltype(on)>, host> ? bounds.data() : there.data();
    };
    const compared<T> same;
    same(6, [&](const auto& on, const T* in, T* out) { segmented_reduce(on, in, offsets(on), 6, out); });
    same(6,
         [&](const auto& on, const T* in, T* out) { segmented_reduce(on, in, offsets(on), 6, out, larger{}, T(0)); });
    same(30, [](const auto& on, const T* in, T* out) { segmented_reduce(on, in, equal_segments{100}, 30, out); });
    compared<T, located<T>>{}(
        30, [](const auto& on, const T* in, auto* out) { segmented_arg_min(on, in, equal_segments{100}, 30, out); });
    compared<T, extremes<T>>{}(
        2, [&](const auto& on, const T* in, auto* out) { segmented_min_max(on, in, offsets(on) + 3, 2, out); });
}

TYPED_TEST(Relocatable, ScansAndCompactions) {
    using T = TypeParam;
    const compared<T> same;
    same(n, [](const auto& on, const T* in, T* out) { inclusive_scan(on, in, n, out); });
    same(n, [](const auto& on, const T* in, T* out) { exclusive_scan(on, in, n, out, larger{}, T(0), reversed); });
    same(n, [](const auto& on, const T* in, T* out) {
        inclusive_scan_along(on, strided_view<const T>(in, {1000, 3}), 0, strided_view<T>(out, {1000, 3}));
    });
    same(n, [](const auto& on, const T* in, T* out) { inclusive_scan_by_key(on, in, n, in, out); });
    const std::vector<T> data = small_numbers<T>();
    const auto kept = static_cast<std::uint64_t>(std::count_if(data.begin(), data.end(), above_five{}));
    same(kept, [&](const auto& on, const T* in, T* out) { EXPECT_EQ(select(on, in, n, out, above_five{}), kept); });
    same(n, [](const auto& on, const T* in, T* out) { EXPECT_EQ(unique(on, in, n, out), n); });
    same(n, [](const auto& on, const T* in, T* out) { EXPECT_EQ(reduce_by_key(on, in, n, in, out, out), n); });
}

TYPED_TEST(Relocatable, HistogramsAndConvolutions) {
    using T = TypeParam;
    compared<T, std::uint32_t>{}(
        12, [](const auto& on, const T* in, auto* out) { histogram(on, in, n, out, even_bins<T>(T(0), T(12), 12)); });
    compared<T, std::uint32_t>{}(144, [](const auto& on, const T* in, auto* out) {
        histogram_nd(on, std::tuple{in, in}, n, out, std::tuple{even_bins(0, 12, 12), even_bins(0, 12, 12)});
    });
    compared<T, double>{}(12, [](const auto& on, const T* in, auto* out) {
        weighted_histogram(on, in, in, n, out, even_bins<T>(T(0), T(12), 12));
    });
    if constexpr (std::is_floating_point_v<T>) {
        const compared<T> same;
        same(n, [](const auto& on, const T* in, T* out) { convolve(on, in, n, in, 9, out); });
        same(30 * 100, [](const auto& on, const T* in, T* out) {
            convolve_separable(on, image<const T>{in, 100, 30}, in, 5, in, 3, image<T>{out, 100, 30});
        });
    }
}

TYPED_TEST(Relocatable, ExactSums) {
    using T = TypeParam;
    if constexpr (std::is_floating_point_v<T>) {
        const compared<T> same;
        same(1, [](const auto& on, const T* in, T* out) { exact_sum(on, in, n, out); });
        same(1, [](const auto& on, const T* in, T* out) { exact_dot(on, in, in, n, out); });
        same(1,
             [](const auto& on, const T* in, T* out) { exact_dot(on, in, in + 1, n - 1, out); }); // not aligned alike
        same(1, [](const auto& on, const T* in, T* out) { exact_mean(on, in, n, out); });
        same(1, [](const auto& on, const T* in, T* out) { exact_variance(on, in, n, out); });
        same(1, [](const auto& on, const T* in, T* out) { exact_norm(on, in, n, out); });
        same(30,
             [](const auto& on, const T* in, T* out) { segmented_exact_sum(on, in, equal_segments{100}, 30, out); });
        same(3, [](const auto& on, const T* in, T* out) {
            exact_sum_along(on, strided_view<const T>(in, {1000, 3}), axes{0}, out);
        });
        same(12, [](const auto& on, const T* in, T* out) {
            exact_weighted_histogram(on, in, in, n, out, even_bins<T>(T(0), T(12), 12));
        });
        const std::vector<T> data = small_numbers<T>();
        EXPECT_EQ(chunked_exact_sum(gpu{}, data), exact_sum(host{1}, data));
        EXPECT_EQ(chunked_reduce(gpu{}, data), reduce(host{1}, data));
        const std::vector<std::complex<T>> pairs(100, {T(1), T(2)});
        const on_device<std::complex<T>> there(pairs);
        EXPECT_EQ(exact_sum(gpu{}, there.data(), 100), exact_sum(host{1}, pairs));
        EXPECT_EQ(exact_dot(gpu{}, there.data(), there.data(), 100), exact_dot(host{1}, pairs, pairs));
        exact_accumulator<T> all;
        const on_device<T> in(data);
        all.add(gpu{}, in.data(), n);
        EXPECT_EQ(all.value(), exact_sum(host{1}, data));
    }
}

TEST(RelocatableHalves, SumsAndScans) {
    const std::vector<warpfold::half> data = small_numbers<warpfold::half>();
    const on_device<warpfold::half> in(data);
    EXPECT_EQ(reduce(gpu{}, in.data(), n), reduce(host{1}, data));
    EXPECT_EQ(float(exact_sum(gpu{}, in.data(), n)), float(exact_sum(host{1}, data)));
    const on_device<float> sums(30);
    segmented_reduce(gpu{}, in.data(), equal_segments{100}, 30, sums.data());
    EXPECT_EQ(sums.read()[0], reduce(host{1}, data.data(), 100));
}

// Two units have the same kernels.
TEST(RelocatableUnits, AreLinked) {
    const std::vector<float> data = small_numbers<float>();
    const on_device<float> in(data);
    EXPECT_EQ(tests::exact_sum_in_other_unit(in.data(), n), exact_sum(host{1}, data));
    EXPECT_EQ(exact_sum(gpu{}, in.data(), n), exact_sum(host{1}, data));
}

} // namespace warpfold::tests::relocatable
