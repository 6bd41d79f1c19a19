// SPDX-License-Identifier: MIT
// cuBLAS's calls of symmetric, Hermitian, triangular, band and packed matrices against sums in long double over the
// whole matrix.
#include <cmath>

#include "tests/libraries/cublas_fixture.hpp"

namespace softgpu::runtime {
namespace {

constexpr cublasFillMode_t fills[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
constexpr cublasSideMode_t sides[] = {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT};
constexpr cublasDiagType_t diagonals[] = {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT};

bool is_stored(cublasFillMode_t fill, int row, int column) {
    return fill == CUBLAS_FILL_MODE_LOWER ? row >= column : row <= column;
}
long double real_part(long double x) { return x; }
std::complex<long double> real_part(std::complex<long double> x) { return x.real(); }

// A square matrix by its elements.
template <class T>
struct dense {
    int n;
    std::vector<exact<T>> at;
    exact<T>& operator()(int row, int column) { return at[static_cast<std::size_t>(row + column * n)]; }
    exact<T> element(cublasOperation_t op, int row, int column) const {
        const auto e = [&](int i, int j) { return at[static_cast<std::size_t>(i + j * n)]; };
        return op == CUBLAS_OP_N ? e(row, column) : op == CUBLAS_OP_T ? e(column, row) : conjugate(e(column, row));
    }
};
// What a stored triangle stands for.
template <class T>
dense<T> mirrored(const test_matrix<T>& a, cublasFillMode_t fill, bool hermitian) {
    dense<T> all{a.rows, std::vector<exact<T>>(static_cast<std::size_t>(a.rows * a.rows))};
    for (int column = 0; column < a.rows; ++column) {
        for (int row = 0; row < a.rows; ++row) {
            const exact<T> x = is_stored(fill, row, column) ? a(row, column)
                               : hermitian                  ? conjugate(a(column, row))
                                                            : a(column, row);
            all(row, column) = hermitian && row == column ? real_part(x) : x;
        }
    }
    return all;
}
template <class T>
dense<T> triangular(const test_matrix<T>& a, cublasFillMode_t fill, cublasDiagType_t diagonal) {
    dense<T> all{a.rows, std::vector<exact<T>>(static_cast<std::size_t>(a.rows * a.rows))};
    for (int column = 0; column < a.rows; ++column) {
        for (int row = 0; row < a.rows; ++row) {
            all(row, column) = row == column && diagonal == CUBLAS_DIAG_UNIT ? exact<T>{1}
                               : is_stored(fill, row, column)                ? a(row, column)
                                                                             : exact<T>{};
        }
    }
    return all;
}
// `a` with zeros beyond `k` diagonals.
template <class T>
test_matrix<T> banded(test_matrix<T> a, int below, int above) {
    for (int column = 0; column < a.columns; ++column) {
        for (int row = 0; row < a.rows; ++row) {
            if (row - column > below || column - row > above) {
                a.values[static_cast<std::size_t>(row + column * a.ld)] = number<T>(0, 0);
            }
        }
    }
    return a;
}
// The diagonals as BLAS stores a band; what is unused is NaN.
template <class T>
std::vector<T> as_band(const test_matrix<T>& a, int below, int above, int ld) {
    std::vector<T> out(static_cast<std::size_t>(ld * a.columns), number<T>(NAN, NAN));
    for (int column = 0; column < a.columns; ++column) {
        for (int row = std::max(0, column - above); row < std::min(a.rows, column + below + 1); ++row) {
            out[static_cast<std::size_t>(above + row - column + column * ld)] =
                a.values[static_cast<std::size_t>(row + column * a.ld)];
        }
    }
    return out;
}
template <class T>
std::vector<T> as_packed(const test_matrix<T>& a, cublasFillMode_t fill) {
    std::vector<T> out;
    for (int column = 0; column < a.rows; ++column) {
        for (int row = 0; row < a.rows; ++row) {
            if (is_stored(fill, row, column)) {
                out.push_back(a.values[static_cast<std::size_t>(row + column * a.ld)]);
            }
        }
    }
    return out;
}

template <class T>
class cublas_structured : public cublas_test {
protected:
    // `a` with a main diagonal that systems can be solved with.
    test_matrix<T> solvable(int n) {
        auto a = this->template random_matrix<T>(n, n);
        for (int i = 0; i < n; ++i) {
            a.values[static_cast<std::size_t>(i * (a.ld + 1))] = number<T>(3, 1);
        }
        a.at = this->on_device(a.values);
        return a;
    }
    // x = op(A) b, or op(A) x = b, for x from the device.
    void expect_vector(const dense<T>& a, cublasOperation_t op, const test_matrix<T>& b, const T* at, bool solved) {
        const auto got = this->read(at, b.values.size());
        for (int i = 0; i < a.n; ++i) {
            exact<T> sum{};
            long double size = 1;
            for (int j = 0; j < a.n; ++j) {
                const exact<T> term =
                    a.element(op, i, j) * (solved ? widened(got[static_cast<std::size_t>(j * b.ld)]) : b(0, j));
                sum += term;
                size += std::abs(term);
            }
            const exact<T> other = solved ? b(0, i) : widened(got[static_cast<std::size_t>(i * b.ld)]);
            ASSERT_LE(std::abs(sum - other), unit<T> * size * 8) << i;
        }
    }
};
TYPED_TEST_SUITE(cublas_structured, all_types);

TYPED_TEST(cublas_structured, symmetric_products) {
    using T = TypeParam;
    constexpr int m = 7, n = 5;
    const T alpha = number<T>(0.5, -1), beta = number<T>(-0.25, 0.5);
    for (const cublasSideMode_t side : sides) {
        for (const cublasFillMode_t fill : fills) {
            const int order = side == CUBLAS_SIDE_LEFT ? m : n;
            const auto a = this->template random_matrix<T>(order, order);
            const auto b = this->template random_matrix<T>(m, n);
            const auto expect = [&](const test_matrix<T>& c, bool hermitian) {
                const dense<T> all = mirrored(a, fill, hermitian);
                this->expect_matrix(c, order, [&](int row, int column) {
                    exact<T> sum{};
                    for (int i = 0; i < order; ++i) {
                        sum += side == CUBLAS_SIDE_LEFT ? all.element(CUBLAS_OP_N, row, i) * b(i, column)
                                                        : b(row, i) * all.element(CUBLAS_OP_N, i, column);
                    }
                    return widened(alpha) * sum + widened(beta) * c(row, column);
                });
            };
            const auto c = this->template random_matrix<T>(m, n);
            ASSERT_EQ(FOR_TYPE(symm, this->handle, side, fill, m, n, &alpha, a.at, a.ld, b.at, b.ld, &beta, c.at, c.ld),
                      CUBLAS_STATUS_SUCCESS);
            expect(c, false);
            if constexpr (!std::is_arithmetic_v<T>) {
                const auto d = this->template random_matrix<T>(m, n);
                const auto status = [&] {
                    if constexpr (std::is_same_v<T, cuComplex>) {
                        return cublasChemm(this->handle, side, fill, m, n, &alpha, a.at, a.ld, b.at, b.ld, &beta, d.at,
                                           d.ld);
                    } else {
                        return cublasZhemm_64(this->handle, side, fill, m, n, &alpha, a.at, a.ld, b.at, b.ld, &beta,
                                              d.at, d.ld);
                    }
                }();
                ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
                expect(d, true);
            }
        }
    }
}

TYPED_TEST(cublas_structured, triangular_products_and_solutions) {
    using T = TypeParam;
    constexpr int m = 6, n = 5;
    const T alpha = number<T>(0.5, 0.25);
    for (const cublasSideMode_t side : sides) {
        for (const cublasFillMode_t fill : fills) {
            for (const cublasOperation_t op : all_operations) {
                for (const cublasDiagType_t diagonal : diagonals) {
                    const int order = side == CUBLAS_SIDE_LEFT ? m : n;
                    const auto a = this->solvable(order);
                    const auto b = this->template random_matrix<T>(m, n);
                    ASSERT_EQ(FOR_TYPE(trmm_64, this->handle, side, fill, op, diagonal, m, n, &alpha, a.at, a.ld, b.at,
                                       b.ld, b.at, b.ld), // in place
                              CUBLAS_STATUS_SUCCESS);
                    const dense<T> all = triangular(a, fill, diagonal);
                    this->expect_matrix(b, 3 * order, [&](int row, int column) {
                        exact<T> sum{};
                        for (int i = 0; i < order; ++i) {
                            sum += side == CUBLAS_SIDE_LEFT ? all.element(op, row, i) * b(i, column)
                                                            : b(row, i) * all.element(op, i, column);
                        }
                        return widened(alpha) * sum;
                    });
                    // The batched solution takes it back.
                    T* const* const of_a = this->on_device(std::vector<T*>{a.at, a.at});
                    const auto other = this->template random_matrix<T>(m, n);
                    T* const* const of_b = this->on_device(std::vector<T*>{other.at, b.at});
                    const T one = number<T>(1, 0);
                    ASSERT_EQ(FOR_TYPE(trmm, this->handle, side, fill, op, diagonal, m, n, &one, a.at, a.ld, other.at,
                                       other.ld, other.at, other.ld),
                              CUBLAS_STATUS_SUCCESS);
                    ASSERT_EQ(FOR_TYPE(trsmBatched, this->handle, side, fill, op, diagonal, m, n, &one, of_a, a.ld,
                                       of_b, b.ld, 2),
                              CUBLAS_STATUS_SUCCESS);
                    // Triangles of random numbers with 1 on the diagonal are not well conditioned.
                    this->expect_matrix(other, 400, [&](int row, int column) { return other(row, column); });
                }
            }
        }
    }
}

TYPED_TEST(cublas_structured, triangles_and_vectors) {
    using T = TypeParam;
    constexpr int n = 9, k = 3;
    for (const cublasFillMode_t fill : fills) {
        for (const cublasOperation_t op : all_operations) {
            for (const cublasDiagType_t diagonal : diagonals) {
                const auto a = this->solvable(n);
                const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
                const auto narrow = banded(a, lower ? k : 0, lower ? 0 : k);
                const T* const stored = this->on_device(as_band(a, lower ? k : 0, lower ? 0 : k, k + 2));
                const T* const packed = this->on_device(as_packed(a, fill));
                for (const bool solves : {false, true}) {
                    const auto x = this->template random_matrix<T>(1, n, 1);
                    ASSERT_EQ(solves ? FOR_TYPE(trsv, this->handle, fill, op, diagonal, n, a.at, a.ld, x.at, 2)
                                     : FOR_TYPE(trmv, this->handle, fill, op, diagonal, n, a.at, a.ld, x.at, 2),
                              CUBLAS_STATUS_SUCCESS);
                    this->expect_vector(triangular(a, fill, diagonal), op, x, x.at, solves);
                    T* const y = this->on_device(x.values);
                    ASSERT_EQ(solves ? FOR_TYPE(tbsv_64, this->handle, fill, op, diagonal, n, k, stored, k + 2, y, 2)
                                     : FOR_TYPE(tbmv, this->handle, fill, op, diagonal, n, k, stored, k + 2, y, 2),
                              CUBLAS_STATUS_SUCCESS);
                    this->expect_vector(triangular(narrow, fill, diagonal), op, x, y, solves);
                    T* const z = this->on_device(x.values);
                    ASSERT_EQ(solves ? FOR_TYPE(tpsv, this->handle, fill, op, diagonal, n, packed, z, 2)
                                     : FOR_TYPE(tpmv_64, this->handle, fill, op, diagonal, n, packed, z, 2),
                              CUBLAS_STATUS_SUCCESS);
                    this->expect_vector(triangular(a, fill, diagonal), op, x, z, solves);
                }
            }
        }
    }
}

TYPED_TEST(cublas_structured, bands) {
    using T = TypeParam;
    const T alpha = number<T>(0.5, -1), beta = number<T>(-0.25, 0.5);
    for (const auto& [m, n] : {std::pair(8, 6), std::pair(5, 9), std::pair(1, 1)}) {
        for (const cublasOperation_t op : all_operations) {
            const int below = m > 1 ? 2 : 0, above = n > 1 ? 1 : 0;
            const auto a = banded(this->template random_matrix<T>(m, n), below, above);
            const int ld = below + above + 2;
            const T* const stored = this->on_device(as_band(a, below, above, ld));
            const int in = op == CUBLAS_OP_N ? n : m, out = op == CUBLAS_OP_N ? m : n;
            const auto x = this->template random_matrix<T>(1, in, 0);
            const auto y = this->template random_matrix<T>(1, out, 1);
            ASSERT_EQ(FOR_TYPE(gbmv, this->handle, op, m, n, below, above, &alpha, stored, ld, x.at, 1, &beta, y.at, 2),
                      CUBLAS_STATUS_SUCCESS);
            this->expect_matrix(y, in, [&](int, int i) {
                exact<T> sum{};
                for (int j = 0; j < in; ++j) {
                    sum += a.element(op, i, j) * x(0, j);
                }
                return widened(alpha) * sum + widened(beta) * y(0, i);
            });
        }
    }
}

TYPED_TEST(cublas_structured, rank_updates) {
    using T = TypeParam;
    constexpr int n = 6, k = 4;
    const T alpha = number<T>(0.5, 0.75), beta = number<T>(-0.25, 0.5);
    for (const cublasFillMode_t fill : fills) {
        const auto inside = [&](int row, int column) { return is_stored(fill, row, column); };
        const auto x = this->template random_matrix<T>(1, n, 1);
        const auto y = this->template random_matrix<T>(1, n, 0);
        const auto a = this->template random_matrix<T>(n, n);
        ASSERT_EQ(FOR_TYPE(syr2, this->handle, fill, n, &alpha, x.at, 2, y.at, -1, a.at, a.ld), CUBLAS_STATUS_SUCCESS);
        this->expect_matrix(a, 4, inside, [&](int row, int column) {
            return a(row, column) +
                   widened(alpha) * (x(0, row) * y(0, n - 1 - column) + y(0, n - 1 - row) * x(0, column));
        });
        for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            const auto p = this->template random_operand<T>(op, n, k), q = this->template random_operand<T>(op, n, k);
            const auto c = this->template random_matrix<T>(n, n);
            ASSERT_EQ(FOR_TYPE(syr2k, this->handle, fill, op, n, k, &alpha, p.at, p.ld, q.at, q.ld, &beta, c.at, c.ld),
                      CUBLAS_STATUS_SUCCESS);
            this->expect_matrix(c, 2 * k, inside, [&](int row, int column) {
                exact<T> sum{};
                for (int i = 0; i < k; ++i) {
                    sum += p.element(op, row, i) * q.element(op, column, i) +
                           q.element(op, row, i) * p.element(op, column, i);
                }
                return widened(alpha) * sum + widened(beta) * c(row, column);
            });
        }
    }
}

TEST_F(cublas_test, hermitian_updates) {
    using T = cuDoubleComplex;
    constexpr int n = 5, k = 3;
    const double real_alpha = 0.75, beta = -0.5;
    const T alpha{0.5, -0.25};
    for (const cublasFillMode_t fill : fills) {
        const auto inside = [&](int row, int column) { return is_stored(fill, row, column); };
        const auto real_on_diagonal = [](int row, int column, std::complex<long double> v) {
            return row == column ? std::complex<long double>(v.real()) : v;
        };
        const auto x = random_matrix<T>(1, n, 0);
        const auto a = random_matrix<T>(n, n);
        ASSERT_EQ(cublasZher(handle, fill, n, &real_alpha, x.at, 1, a.at, a.ld), CUBLAS_STATUS_SUCCESS);
        expect_matrix(a, 2, inside, [&](int row, int column) {
            return real_on_diagonal(row, column,
                                    a(row, column) +
                                        static_cast<long double>(real_alpha) * x(0, row) * std::conj(x(0, column)));
        });
        for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_C}) {
            const auto p = random_operand<T>(op, n, k), q = random_operand<T>(op, n, k);
            const auto c = random_matrix<T>(n, n), d = random_matrix<T>(n, n);
            ASSERT_EQ(cublasZherk(handle, fill, op, n, k, &real_alpha, p.at, p.ld, &beta, c.at, c.ld),
                      CUBLAS_STATUS_SUCCESS);
            ASSERT_EQ(cublasZher2k(handle, fill, op, n, k, &alpha, p.at, p.ld, q.at, q.ld, &beta, d.at, d.ld),
                      CUBLAS_STATUS_SUCCESS);
            const auto kept = static_cast<long double>(beta);
            expect_matrix(c, k, inside, [&](int row, int column) {
                std::complex<long double> sum;
                for (int i = 0; i < k; ++i) {
                    sum += p.element(op, row, i) * std::conj(p.element(op, column, i));
                }
                return real_on_diagonal(row, column,
                                        static_cast<long double>(real_alpha) * sum + kept * c(row, column));
            });
            expect_matrix(d, 2 * k, inside, [&](int row, int column) {
                std::complex<long double> sum;
                for (int i = 0; i < k; ++i) {
                    sum += widened(alpha) * p.element(op, row, i) * std::conj(q.element(op, column, i)) +
                           std::conj(widened(alpha)) * q.element(op, row, i) * std::conj(p.element(op, column, i));
                }
                return real_on_diagonal(row, column, sum + kept * d(row, column));
            });
        }
        EXPECT_EQ(cublasZherk(handle, fill, CUBLAS_OP_T, n, k, &real_alpha, a.at, n, &beta, a.at, n),
                  CUBLAS_STATUS_INVALID_VALUE);
    }
}

} // namespace
} // namespace softgpu::runtime
