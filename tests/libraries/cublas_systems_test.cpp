// SPDX-License-Identifier: MIT
// cuBLAS's plane rotations, and batches of systems of equations, against sums in long double.
#include <utility>

#include "tests/libraries/cublas_fixture.hpp"

namespace softgpu::runtime {
namespace {

template <class T>
class cublas_systems : public cublas_test {};
TYPED_TEST_SUITE(cublas_systems, all_types);

// rotg's coefficients turn (a, b) into (r, 0), and rot does what they say.
TYPED_TEST(cublas_systems, rotations) {
    using T = TypeParam;
    using R = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, cuComplex>, float, double>;
    for (const auto& [p, q] :
         {std::pair(number<T>(3, 1), number<T>(-4, 2)), std::pair(number<T>(-2, 0.5), number<T>(1, 1)),
          std::pair(number<T>(0, 0), number<T>(2, 1)), std::pair(number<T>(2, 1), number<T>(0, 0)),
          std::pair(number<T>(0, 0), number<T>(0, 0))}) {
        T a = p, b = q, s{};
        R c = 0;
        ASSERT_EQ(FOR_TYPE(rotg, this->handle, &a, &b, &c, &s), CUBLAS_STATUS_SUCCESS);
        const auto cosine = static_cast<long double>(c);
        EXPECT_LE(std::abs(cosine * cosine + std::norm(widened(s)) - 1), unit<T> * 8);
        EXPECT_LE(std::abs(cosine * widened(p) + widened(s) * widened(q) - widened(a)), unit<T> * 32);
        EXPECT_LE(std::abs(cosine * widened(q) - conjugate(widened(s)) * widened(p)), unit<T> * 32);
        const auto x = this->template random_matrix<T>(1, 9, 1);
        const auto y = this->template random_matrix<T>(1, 9, 0);
        ASSERT_EQ(FOR_TYPE(rot, this->handle, 9, x.at, 2, y.at, -1, &c, &s), CUBLAS_STATUS_SUCCESS);
        this->expect_matrix(x, 1, [&](int, int i) { return cosine * x(0, i) + widened(s) * y(0, 8 - i); });
        this->expect_matrix(y, 1, [&](int, int i) { return cosine * y(0, i) - conjugate(widened(s)) * x(0, 8 - i); });
    }
}

TYPED_TEST(cublas_systems, batches_of_systems) {
    using T = TypeParam;
    constexpr int n = 6, nrhs = 2, count = 3;
    std::vector<test_matrix<T>> a, b;
    std::vector<T*> of_a, of_b, of_c;
    for (int i = 0; i < count; ++i) {
        a.push_back(this->template random_matrix<T>(n, n));
        b.push_back(this->template random_matrix<T>(n, nrhs));
        of_a.push_back(a.back().at);
        of_b.push_back(b.back().at);
        of_c.push_back(this->template random_matrix<T>(n, n).at);
    }
    T* const* const at_a = this->on_device(of_a);
    T* const* const at_b = this->on_device(of_b);
    T* const* const at_c = this->on_device(of_c);
    int* const pivots = this->on_device(std::vector<int>(n * count));
    int* const info = this->on_device(std::vector<int>(count, -1));
    int wrong = -1;
    const int ld = a[0].ld;
    ASSERT_EQ(FOR_TYPE(getrfBatched, this->handle, n, at_a, ld, pivots, info, count), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(FOR_TYPE(getriBatched, this->handle, n, at_a, ld, pivots, at_c, ld, info, count), CUBLAS_STATUS_SUCCESS);
    for (const cublasOperation_t op : all_operations) {
        for (int i = 0; i < count; ++i) {
            ASSERT_EQ(cudaMemcpy(b[static_cast<std::size_t>(i)].at, b[static_cast<std::size_t>(i)].values.data(),
                                 b[static_cast<std::size_t>(i)].values.size() * sizeof(T), copy_kind::automatic),
                      error::success);
        }
        ASSERT_EQ(FOR_TYPE(getrsBatched, this->handle, op, n, nrhs, at_a, ld, pivots, at_b, b[0].ld, &wrong, count),
                  CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(wrong, 0);
        EXPECT_EQ(this->read(info, count), std::vector<int>(count, 0));
        for (std::size_t i = 0; i < count; ++i) {
            const auto x = this->read(b[i].at, b[i].values.size());
            for (int row = 0; row < n; ++row) {
                for (int column = 0; column < nrhs; ++column) {
                    exact<T> sum{};
                    long double size = 1;
                    for (int j = 0; j < n; ++j) {
                        const exact<T> term =
                            a[i].element(op, row, j) * widened(x[static_cast<std::size_t>(j + column * b[i].ld)]);
                        sum += term;
                        size += std::abs(term);
                    }
                    ASSERT_LE(std::abs(sum - b[i](row, column)), unit<T> * size * 16 * n);
                }
            }
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto inverse = this->read(of_c[i], static_cast<std::size_t>(ld * n));
        for (int row = 0; row < n; ++row) {
            for (int column = 0; column < n; ++column) {
                exact<T> sum{};
                long double size = 1;
                for (int j = 0; j < n; ++j) {
                    const exact<T> term = a[i](row, j) * widened(inverse[static_cast<std::size_t>(j + column * ld)]);
                    sum += term;
                    size += std::abs(term);
                }
                ASSERT_LE(std::abs(sum - exact<T>(row == column ? 1 : 0)), unit<T> * size * 16 * n);
            }
        }
    }
    // A matrix without an inverse: the first pivot that is 0.
    T* const zeros = this->on_device(std::vector<T>(n * n, number<T>(0, 0)));
    T* const* const at_zeros = this->on_device(std::vector<T*>{zeros});
    ASSERT_EQ(FOR_TYPE(matinvBatched, this->handle, n, at_zeros, n, at_c, ld, info, 1), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(this->read(info, 1), std::vector<int>{1});
}

} // namespace
} // namespace softgpu::runtime
