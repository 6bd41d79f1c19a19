// SPDX-License-Identifier: MIT
// cuBLAS's calls of vectors and of single matrices against sums in long double.
#include <cmath>

#include "tests/libraries/cublas_fixture.hpp"

namespace softgpu::runtime {
namespace {

template <class T>
class cublas_matrices : public cublas_test {};
TYPED_TEST_SUITE(cublas_matrices, all_types);

TYPED_TEST(cublas_matrices, gemv) {
    using T = TypeParam;
    const T alpha = number<T>(0.5, -1), beta = number<T>(-0.25, 0.5), zero = number<T>(0, 0);
    for (const cublasOperation_t op : all_operations) {
        const auto a = this->template random_matrix<T>(9, 5);
        const int out = op == CUBLAS_OP_N ? 9 : 5, in = op == CUBLAS_OP_N ? 5 : 9;
        const auto x = this->template random_matrix<T>(1, in, 1); // increment 2, backwards
        auto y = this->template random_matrix<T>(1, out, 2);      // increment 3
        for (const T keep : {beta, zero}) {
            y.at = this->on_device(y.values);
            ASSERT_EQ(FOR_TYPE(gemv, this->handle, op, 9, 5, &alpha, a.at, a.ld, x.at, -2, &keep, y.at, 3),
                      CUBLAS_STATUS_SUCCESS);
            this->expect_matrix(y, in, [&](int, int i) {
                exact<T> sum{};
                for (int j = 0; j < in; ++j) {
                    sum += a.element(op, i, j) * x(0, in - 1 - j);
                }
                return widened(alpha) * sum + widened(keep) * y(0, i);
            });
        }
    }
}

TYPED_TEST(cublas_matrices, geam) {
    using T = TypeParam;
    const T alpha = number<T>(0.5, -1), beta = number<T>(-0.25, 0.5), zero = number<T>(0, 0);
    for (const cublasOperation_t op_a : all_operations) {
        for (const cublasOperation_t op_b : all_operations) {
            const auto a = this->template random_operand<T>(op_a, 7, 4);
            const auto b = this->template random_operand<T>(op_b, 7, 4);
            const auto c = this->template random_matrix<T>(7, 4);
            ASSERT_EQ(FOR_TYPE(geam, this->handle, op_a, op_b, 7, 4, &alpha, a.at, a.ld, &beta, b.at, b.ld, c.at, c.ld),
                      CUBLAS_STATUS_SUCCESS);
            this->expect_matrix(c, 1, [&](int row, int column) {
                return widened(alpha) * a.element(op_a, row, column) + widened(beta) * b.element(op_b, row, column);
            });
            ASSERT_EQ(FOR_TYPE(geam, this->handle, op_a, op_b, 7, 4, &alpha, a.at, a.ld, &zero,
                               static_cast<const T*>(nullptr), 7, c.at, c.ld),
                      CUBLAS_STATUS_SUCCESS);
            this->expect_matrix(c, 1,
                                [&](int row, int column) { return widened(alpha) * a.element(op_a, row, column); });
        }
    }
}

// op(A) X = alpha B holds for the X that trsm gives.
TYPED_TEST(cublas_matrices, trsm) {
    using T = TypeParam;
    constexpr int m = 6, n = 4;
    const T alpha = number<T>(0.5, 0.25);
    for (const cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
        for (const cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
            for (const cublasOperation_t op : all_operations) {
                for (const cublasDiagType_t diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
                    const int order = side == CUBLAS_SIDE_LEFT ? m : n;
                    auto a = this->template random_matrix<T>(order, order);
                    for (int i = 0; i < order; ++i) {
                        a.values[static_cast<std::size_t>(i * (a.ld + 1))] = number<T>(2, 1);
                    }
                    a.at = this->on_device(a.values);
                    const auto b = this->template random_matrix<T>(m, n);
                    ASSERT_EQ(
                        FOR_TYPE(trsm, this->handle, side, fill, op, diagonal, m, n, &alpha, a.at, a.ld, b.at, b.ld),
                        CUBLAS_STATUS_SUCCESS);
                    const auto got = this->read(b.at, b.values.size());
                    const auto x = [&](int row, int column) {
                        return widened(got[static_cast<std::size_t>(row + column * b.ld)]);
                    };
                    const auto triangle = [&](int row, int column) -> exact<T> { // of op(A)
                        const int i = op == CUBLAS_OP_N ? row : column, j = op == CUBLAS_OP_N ? column : row;
                        if (i == j && diagonal == CUBLAS_DIAG_UNIT) {
                            return 1;
                        }
                        return (fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j) ? a.element(op, row, column)
                                                                                  : exact<T>{};
                    };
                    for (int row = 0; row < m; ++row) {
                        for (int column = 0; column < n; ++column) {
                            exact<T> sum{};
                            long double size = 1;
                            for (int i = 0; i < order; ++i) {
                                const exact<T> term = side == CUBLAS_SIDE_LEFT ? triangle(row, i) * x(i, column)
                                                                               : x(row, i) * triangle(i, column);
                                sum += term;
                                size += std::abs(term);
                            }
                            ASSERT_LE(std::abs(sum - widened(alpha) * b(row, column)), unit<T> * size * 4);
                        }
                    }
                }
            }
        }
    }
}

TYPED_TEST(cublas_matrices, syrk) {
    using T = TypeParam;
    const T alpha = number<T>(0.5, 0.25), beta = number<T>(-1, 0.5);
    for (const cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            const auto a = this->template random_operand<T>(op, 6, 9);
            const auto c = this->template random_matrix<T>(6, 6);
            ASSERT_EQ(FOR_TYPE(syrk, this->handle, fill, op, 6, 9, &alpha, a.at, a.ld, &beta, c.at, c.ld),
                      CUBLAS_STATUS_SUCCESS);
            this->expect_matrix(
                c, 9,
                [&](int row, int column) { return fill == CUBLAS_FILL_MODE_LOWER ? row >= column : row <= column; },
                [&](int row, int column) {
                    exact<T> sum{};
                    for (int i = 0; i < 9; ++i) {
                        sum += a.element(op, row, i) * a.element(op, column, i);
                    }
                    return widened(alpha) * sum + widened(beta) * c(row, column);
                });
        }
    }
}

TYPED_TEST(cublas_matrices, vectors) {
    using T = TypeParam;
    using R = decltype(std::abs(exact<T>{}));
    constexpr int n = 101;
    const T alpha = number<T>(0.5, -1);
    const auto x = this->template random_matrix<T>(1, n, 1);
    const auto y = this->template random_matrix<T>(1, n, 0);
    T product{};
    const auto dot = [](auto... a) {
        if constexpr (std::is_arithmetic_v<T>) {
            return FOR_TYPE(dot, a...);
        } else {
            return FOR_TYPE(dotc, a...);
        }
    };
    ASSERT_EQ(dot(this->handle, n, x.at, 2, y.at, -1, &product), CUBLAS_STATUS_SUCCESS);
    exact<T> sum{};
    R squares = 0;
    for (int i = 0; i < n; ++i) {
        sum += conjugate(x(0, i)) * y(0, n - 1 - i);
        squares += std::norm(x(0, i));
    }
    EXPECT_LE(std::abs(widened(product) - sum), unit<T> * 10);
    std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, cuComplex>, float, double> norm = 0;
    const auto nrm2 = [](auto... a) {
        if constexpr (std::is_same_v<T, cuComplex>) {
            return cublasScnrm2(a...);
        } else if constexpr (std::is_same_v<T, cuDoubleComplex>) {
            return cublasDznrm2(a...);
        } else {
            return FOR_TYPE(nrm2, a...);
        }
    };
    ASSERT_EQ(nrm2(this->handle, n, x.at, 2, &norm), CUBLAS_STATUS_SUCCESS);
    EXPECT_LE(std::abs(norm - std::sqrt(squares)), unit<T> * 10);
    ASSERT_EQ(FOR_TYPE(axpy, this->handle, n, &alpha, x.at, 2, y.at, 1), CUBLAS_STATUS_SUCCESS);
    this->expect_matrix(y, 2, [&](int, int i) { return y(0, i) + widened(alpha) * x(0, i); });
}

TEST_F(cublas_test, small_vector_calls) {
    const std::vector<float> values{1, -5, 3, -5, 0};
    float* const x = on_device(values);
    float* const y = on_device(std::vector<float>(5));
    int place = 0;
    float result = 0;
    ASSERT_EQ(cublasIsamax(handle, 5, x, 1, &place), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(place, 2) << "the first";
    ASSERT_EQ(cublasIsamin(handle, 5, x, 1, &place), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(place, 5);
    ASSERT_EQ(cublasSasum(handle, 5, x, 1, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(result, 14);
    ASSERT_EQ(cublasSnrm2(handle, 0, x, 1, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(result, 0);
    ASSERT_EQ(cublasSdot(handle, 0, x, 1, y, 1, &result), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasScopy(handle, 5, x, 1, y, -1), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(y, 5), (std::vector<float>{0, -5, 3, -5, 1}));
    ASSERT_EQ(cublasSswap(handle, 2, x, 2, y, 1), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(x, 5), (std::vector<float>{0, -5, -5, -5, 0}));
    EXPECT_EQ(read(y, 5), (std::vector<float>{1, 3, 3, -5, 1}));
    const float two = 2;
    ASSERT_EQ(cublasSscal(handle, 2, &two, y, 3), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(y, 5), (std::vector<float>{2, 3, 3, -10, 1}));
    float* const a = on_device(std::vector<float>(4, 1));
    ASSERT_EQ(cublasSger(handle, 2, 2, &two, y, 1, y + 1, 2, a, 2), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(a, 4), (std::vector<float>{13, 19, -39, -59}));
    ASSERT_EQ(cublasSdgmm(handle, CUBLAS_SIDE_RIGHT, 2, 2, a, 2, y, 1, a, 2), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(a, 4), (std::vector<float>{26, 38, -117, -177}));
    ASSERT_EQ(cublasSnrm2(handle, 2, on_device(std::vector<float>(2, 1e30f)), 1, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_FLOAT_EQ(result, 1.41421356e30f) << "without an overflow of the squares";
}

} // namespace
} // namespace softgpu::runtime
