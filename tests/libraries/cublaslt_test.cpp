// SPDX-License-Identifier: MIT
// cublasLtMatmul with layouts, batches, scales and epilogues against sums in double, and descriptions.
#include <cmath>
#include <functional>

#include "softgpu/runtime/cublas/data_types.hpp"
#include "softgpu/runtime/cublas/lt/cublasLt.h"
#include "tests/libraries/cublas_fixture.hpp"

namespace softgpu::runtime {
namespace {

// A matrix in device memory by a layout of its own.
struct lt_matrix {
    cudaDataType type;
    int rows, columns, count;
    cublasLtOrder_t order;
    std::int64_t ld, stride;
    char* at;
    cublasLtMatrixLayout_t layout;

    [[nodiscard]] std::ptrdiff_t place(int row, int column, int number) const {
        return number * stride + (order == CUBLASLT_ORDER_COL ? row + column * ld : row * ld + column);
    }
    [[nodiscard]] double operator()(int row, int column, int number = 0) const {
        return cublas::load(type, at, place(row, column, number)); // device memory is the host's memory here
    }
    [[nodiscard]] double element(cublasOperation_t op, int row, int column, int number) const {
        return op == CUBLAS_OP_N ? (*this)(row, column, number) : (*this)(column, row, number);
    }
};

class cublaslt_test : public cublas_test {
protected:
    void SetUp() override {
        cublas_test::SetUp();
        ASSERT_EQ(cublasLtCreate(&lt), CUBLAS_STATUS_SUCCESS);
    }
    void TearDown() override {
        for (const cublasLtMatrixLayout_t l : layouts_) {
            EXPECT_EQ(cublasLtMatrixLayoutDestroy(l), CUBLAS_STATUS_SUCCESS);
        }
        if (desc != nullptr) {
            EXPECT_EQ(cublasLtMatmulDescDestroy(desc), CUBLAS_STATUS_SUCCESS);
        }
        EXPECT_EQ(cublasLtDestroy(lt), CUBLAS_STATUS_SUCCESS);
        cublas_test::TearDown();
    }

    // With random numbers from -1 to 1; integers from -100 to 100.
    lt_matrix matrix(cudaDataType type, int rows, int columns, int count = 1,
                     cublasLtOrder_t order = CUBLASLT_ORDER_COL) {
        lt_matrix m{type, rows,    columns, count, order, (order == CUBLASLT_ORDER_COL ? rows : columns) + 3,
                    0,    nullptr, nullptr};
        m.stride = m.ld * (order == CUBLASLT_ORDER_COL ? columns : rows) + 5;
        const auto elements = static_cast<std::size_t>(m.stride * count);
        m.at = on_device(std::vector<char>(elements * cublas::bytes_of(type)));
        const auto values = random_numbers<double>(elements);
        for (std::size_t i = 0; i < elements; ++i) {
            cublas::store(type, m.at, static_cast<std::ptrdiff_t>(i),
                          type == CUDA_R_8I || type == CUDA_R_32I ? values[i] * 100 : values[i]);
        }
        EXPECT_EQ(cublasLtMatrixLayoutCreate(&m.layout, type, static_cast<std::uint64_t>(rows),
                                             static_cast<std::uint64_t>(columns), m.ld),
                  CUBLAS_STATUS_SUCCESS);
        layouts_.push_back(m.layout);
        const std::int32_t in_order = order, batch = count;
        EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(m.layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &in_order, 4),
                  CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(m.layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, 4),
                  CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(m.layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &m.stride, 8),
                  CUBLAS_STATUS_SUCCESS);
        return m;
    }
    void describe(cublasComputeType_t compute, cudaDataType scale) {
        if (desc != nullptr) {
            ASSERT_EQ(cublasLtMatmulDescDestroy(desc), CUBLAS_STATUS_SUCCESS);
        }
        ASSERT_EQ(cublasLtMatmulDescCreate(&desc, compute, scale), CUBLAS_STATUS_SUCCESS);
    }
    template <class T>
    void set(cublasLtMatmulDescAttributes_t attribute, T value) {
        ASSERT_EQ(cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
    }
    cublasStatus_t multiply(const void* alpha, const lt_matrix& a, const lt_matrix& b, const void* beta,
                            const lt_matrix& c, const lt_matrix& d) {
        cublasLtMatmulPreference_t preference = nullptr;
        EXPECT_EQ(cublasLtMatmulPreferenceCreate(&preference), CUBLAS_STATUS_SUCCESS);
        cublasLtMatmulHeuristicResult_t found{};
        int count = 0;
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(lt, desc, a.layout, b.layout, c.layout, d.layout,
                                                                     preference, 1, &found, &count);
        EXPECT_EQ(cublasLtMatmulPreferenceDestroy(preference), CUBLAS_STATUS_SUCCESS);
        const cublasStatus_t result =
            cublasLtMatmul(lt, desc, alpha, a.at, a.layout, b.at, b.layout, beta, c.at, c.layout, d.at, d.layout,
                           &found.algo, nullptr, 0, reinterpret_cast<cudaStream_t>(on));
        EXPECT_EQ(result, status);
        EXPECT_EQ(count, status == CUBLAS_STATUS_SUCCESS ? 1 : 0);
        EXPECT_EQ(cudaStreamSynchronize(on), error::success);
        return result;
    }
    static double sum_of(const lt_matrix& a, cublasOperation_t op_a, const lt_matrix& b, cublasOperation_t op_b, int k,
                         int row, int column, int number) {
        double sum = 0;
        for (int i = 0; i < k; ++i) {
            sum += a.element(op_a, row, i, number) * b.element(op_b, i, column, number);
        }
        return sum;
    }
    // D's element is the expected one but for `slack`, and one rounding to D's type.
    static void expect_near(const lt_matrix& d, int row, int column, int number, double expected, double slack) {
        double rounded = 0;
        cublas::store(d.type, &rounded, 0, expected);
        const double nearest = cublas::load(d.type, &rounded, 0);
        const double unit_of_type = d.type == CUDA_R_16BF                         ? 0x1p-7
                                    : d.type == CUDA_R_16F                        ? 0x1p-10
                                    : d.type == CUDA_R_8F_E4M3                    ? 0x1p-3
                                    : d.type == CUDA_R_8F_E5M2                    ? 0x1p-2
                                    : d.type == CUDA_R_8I || d.type == CUDA_R_32I ? 0.0
                                    : d.type == CUDA_R_64F                        ? 0x1p-52
                                                                                  : 0x1p-23;
        ASSERT_LE(std::abs(d(row, column, number) - nearest), slack + unit_of_type * std::abs(expected))
            << row << ", " << column << " of " << number;
    }

    cublasLtHandle_t lt = nullptr;
    cublasLtMatmulDesc_t desc = nullptr;

private:
    std::vector<cublasLtMatrixLayout_t> layouts_;
};

struct types {
    cudaDataType a, b, c, d;
    cublasComputeType_t compute;
    cudaDataType scale;
};

TEST_F(cublaslt_test, products_of_all_types_layouts_and_batches) {
    constexpr int m = 7, n = 5, k = 19, count = 2;
    for (const types& t :
         {types{CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F},
          types{CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F},
          types{CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F},
          types{CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F},
          types{CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_16F},
          types{CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F},
          types{CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_R_16BF, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F, CUDA_R_32F},
          types{CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I},
          types{CUDA_R_8I, CUDA_R_8I, CUDA_R_8I, CUDA_R_8I, CUBLAS_COMPUTE_32I, CUDA_R_32F}}) {
        for (const cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            for (const cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
                for (const cublasLtOrder_t order : {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW}) {
                    const auto a = op_a == CUBLAS_OP_N ? matrix(t.a, m, k, count, order) : matrix(t.a, k, m, count);
                    const auto b = op_b == CUBLAS_OP_N ? matrix(t.b, k, n, count) : matrix(t.b, n, k, count, order);
                    const auto c = matrix(t.c, m, n, count), d = matrix(t.d, m, n, count, order);
                    describe(t.compute, t.scale);
                    set<std::int32_t>(CUBLASLT_MATMUL_DESC_TRANSA, op_a);
                    set<std::int32_t>(CUBLASLT_MATMUL_DESC_TRANSB, op_b);
                    const double by = t.scale == CUDA_R_32I ? 3 : t.d == CUDA_R_8I ? 0.00390625 : 0.5;
                    const double with = t.scale == CUDA_R_32I ? -2 : -0.25;
                    double alpha = 0, beta = 0; // of the scale type
                    cublas::store(t.scale, &alpha, 0, by);
                    cublas::store(t.scale, &beta, 0, with);
                    ASSERT_EQ(multiply(&alpha, a, b, &beta, c, d), CUBLAS_STATUS_SUCCESS);
                    const double slack = t.compute == CUBLAS_COMPUTE_32I   ? 0.0
                                         : t.compute == CUBLAS_COMPUTE_64F ? k * 0x1p-50
                                                                           : k * 0x1p-22;
                    for (int number = 0; number < count; ++number) {
                        for (int column = 0; column < n; ++column) {
                            for (int row = 0; row < m; ++row) {
                                expect_near(d, row, column, number,
                                            by * sum_of(a, op_a, b, op_b, k, row, column, number) +
                                                with * c(row, column, number),
                                            slack);
                            }
                        }
                    }
                }
            }
        }
    }
}

double tanh_gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

TEST_F(cublaslt_test, epilogues) {
    constexpr int m = 13, n = 6, k = 8, count = 2;
    const float alpha = 1, beta = 0;
    const auto a = matrix(CUDA_R_16BF, m, k, count), b = matrix(CUDA_R_16BF, k, n, count);
    const auto d = matrix(CUDA_R_32F, m, n, count);
    std::vector<float> bias_values = random_numbers<float>(m * count);
    float* const bias = on_device(bias_values);
    const std::int64_t mask_ld = 128, aux_ld = 16;
    auto* const bits = on_device(std::vector<unsigned char>(static_cast<std::size_t>(mask_ld / 8 * n * count)));
    auto* const before = on_device(std::vector<float>(static_cast<std::size_t>(aux_ld * n * count)));
    const auto is_set = [&](int row, int column, int number) {
        const std::int64_t bit = number * mask_ld * n + column * mask_ld + row;
        return (bits[bit / 8] >> (bit % 8) & 1) != 0;
    };
    const auto kept = [&](int row, int column, int number) {
        return before[number * aux_ld * n + column * aux_ld + row];
    };
    const auto run = [&](cublasLtEpilogue_t epilogue, const std::function<double(double, int, int, int)>& expected) {
        describe(CUBLAS_COMPUTE_32F, CUDA_R_32F);
        set<std::uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
        set<void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
        set<std::int64_t>(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, m);
        const bool relu = (epilogue & (CUBLASLT_EPILOGUE_RELU | 8)) != 0;
        set<void*>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, relu ? static_cast<void*>(bits) : before);
        set<std::int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, relu ? mask_ld : aux_ld);
        set<std::int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, (relu ? mask_ld : aux_ld) * n);
        ASSERT_EQ(multiply(&alpha, a, b, &beta, d, d), CUBLAS_STATUS_SUCCESS) << epilogue;
        for (int number = 0; number < count; ++number) {
            for (int column = 0; column < n; ++column) {
                for (int row = 0; row < m; ++row) {
                    const double sum = sum_of(a, CUBLAS_OP_N, b, CUBLAS_OP_N, k, row, column, number);
                    expect_near(d, row, column, number, expected(sum, row, column, number), 1e-5);
                }
            }
        }
    };
    const auto biased = [&](double x, int row, int number) {
        return x + static_cast<double>(bias_values[static_cast<std::size_t>(row + number * m)]);
    };
    run(CUBLASLT_EPILOGUE_RELU, [](double x, int, int, int) { return std::max(x, 0.0); });
    run(CUBLASLT_EPILOGUE_BIAS, [&](double x, int row, int, int number) { return biased(x, row, number); });
    run(CUBLASLT_EPILOGUE_GELU_BIAS,
        [&](double x, int row, int, int number) { return tanh_gelu(biased(x, row, number)); });
    run(CUBLASLT_EPILOGUE_RELU_AUX_BIAS, [&](double x, int row, int column, int number) {
        const double y = biased(x, row, number);
        EXPECT_EQ(is_set(row, column, number), y > 0);
        return std::max(y, 0.0);
    });
    run(CUBLASLT_EPILOGUE_GELU_AUX, [&](double x, int row, int column, int number) {
        EXPECT_NEAR(kept(row, column, number), x, 1e-5);
        return tanh_gelu(x);
    });
    const auto slope = [](double x) { return (tanh_gelu(x + 1e-5) - tanh_gelu(x - 1e-5)) / 2e-5; };
    run(CUBLASLT_EPILOGUE_DGELU, [&](double x, int row, int column, int number) {
        return x * slope(static_cast<double>(kept(row, column, number)));
    });
    run(CUBLASLT_EPILOGUE_DRELU,
        [&](double x, int row, int column, int number) { return is_set(row, column, number) ? x : 0.0; });
    const auto gradients = [&](const std::function<double(int, int)>& expected, int length) {
        for (int number = 0; number < count; ++number) {
            for (int i = 0; i < length; ++i) {
                EXPECT_NEAR(bias[i + number * m], expected(i, number), 1e-4) << i;
            }
        }
    };
    run(CUBLASLT_EPILOGUE_DRELU_BGRAD,
        [&](double x, int row, int column, int number) { return is_set(row, column, number) ? x : 0.0; });
    gradients(
        [&](int row, int number) {
            double sum = 0;
            for (int column = 0; column < n; ++column) {
                sum += d(row, column, number);
            }
            return sum;
        },
        m);
    const auto plain = [](double x, int, int, int) { return x; };
    run(CUBLASLT_EPILOGUE_BGRADA, plain);
    gradients(
        [&](int row, int number) {
            double sum = 0;
            for (int i = 0; i < k; ++i) {
                sum += a(row, i, number);
            }
            return sum;
        },
        m);
    run(CUBLASLT_EPILOGUE_BGRADB, plain);
    gradients(
        [&](int column, int number) {
            double sum = 0;
            for (int i = 0; i < k; ++i) {
                sum += b(i, column, number);
            }
            return sum;
        },
        n);
}

TEST_F(cublaslt_test, scales_vectors_and_largest_values) {
    constexpr int m = 6, n = 4, k = 8;
    const auto a = matrix(CUDA_R_8F_E4M3, m, k), b = matrix(CUDA_R_8F_E4M3, k, n);
    const auto c = matrix(CUDA_R_16BF, m, n), d = matrix(CUDA_R_8F_E4M3, m, n);
    float* const factors = on_device(std::vector<float>{2, 0.5f, 4, 1000, 0});
    describe(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    set<const void*>(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, factors);
    set<const void*>(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, factors + 1);
    set<const void*>(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, factors + 2);
    set<const void*>(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, factors + 3);
    set<void*>(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, factors + 4);
    const float half = 0.5f;
    ASSERT_EQ(multiply(&half, a, b, &half, c, d), CUBLAS_STATUS_SUCCESS);
    double largest = 0;
    for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row) {
            const double x = 0.5 * sum_of(a, CUBLAS_OP_N, b, CUBLAS_OP_N, k, row, column, 0) + 0.5 * 4 * c(row, column);
            largest = std::max(largest, std::abs(x));
            expect_near(d, row, column, 0, std::clamp(x * 1000, -448.0, 448.0), 0); // saturates
        }
    }
    EXPECT_NEAR(factors[4], largest, 1e-5);

    const auto x = matrix(CUDA_R_32F, m, k), y = matrix(CUDA_R_32F, k, n), z = matrix(CUDA_R_32F, m, n);
    float* const alphas = on_device(random_numbers<float>(m));
    float* const betas = on_device(random_numbers<float>(m));
    for (const auto mode :
         {CUBLASLT_POINTER_MODE_DEVICE, CUBLASLT_POINTER_MODE_DEVICE_VECTOR,
          CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST}) {
        const auto out = matrix(CUDA_R_32F, m, n);
        describe(CUBLAS_COMPUTE_32F, CUDA_R_32F);
        set<std::int32_t>(CUBLASLT_MATMUL_DESC_POINTER_MODE, mode);
        ASSERT_EQ(
            multiply(alphas, x, y, mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST ? &half : betas, z, out),
            CUBLAS_STATUS_SUCCESS);
        for (int column = 0; column < n; ++column) {
            for (int row = 0; row < m; ++row) {
                const bool scalar = mode == CUBLASLT_POINTER_MODE_DEVICE;
                const double beta = mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO ? 0.0
                                    : mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST
                                        ? 0.5
                                        : betas[scalar ? 0 : row];
                expect_near(out, row, column, 0,
                            alphas[scalar ? 0 : row] * sum_of(x, CUBLAS_OP_N, y, CUBLAS_OP_N, k, row, column, 0) +
                                beta * z(row, column),
                            k * 0x1p-22);
            }
        }
    }
}

TEST_F(cublaslt_test, transforms) {
    const auto a = matrix(CUDA_R_32F, 3, 5), b = matrix(CUDA_R_32F, 5, 3, 1, CUBLASLT_ORDER_ROW);
    const auto c = matrix(CUDA_R_16F, 5, 3, 1, CUBLASLT_ORDER_ROW);
    cublasLtMatrixTransformDesc_t how = nullptr;
    ASSERT_EQ(cublasLtMatrixTransformDescCreate(&how, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
    const std::int32_t op = CUBLAS_OP_T;
    ASSERT_EQ(cublasLtMatrixTransformDescSetAttribute(how, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &op, 4),
              CUBLAS_STATUS_SUCCESS);
    const float alpha = 2, beta = -1;
    ASSERT_EQ(cublasLtMatrixTransform(lt, how, &alpha, a.at, a.layout, &beta, b.at, b.layout, c.at, c.layout,
                                      reinterpret_cast<cudaStream_t>(on)),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cudaStreamSynchronize(on), error::success);
    for (int row = 0; row < 5; ++row) {
        for (int column = 0; column < 3; ++column) {
            expect_near(c, row, column, 0, 2 * a(column, row) - b(row, column), 0);
        }
    }
    EXPECT_EQ(
        cublasLtMatrixTransform(lt, how, &alpha, b.at, b.layout, &beta, nullptr, nullptr, c.at, c.layout, nullptr),
        CUBLAS_STATUS_INVALID_VALUE)
        << "5 x 3 transposed is not 5 x 3";
    ASSERT_EQ(cublasLtMatrixTransformDescDestroy(how), CUBLAS_STATUS_SUCCESS);
}

TEST_F(cublaslt_test, attributes_have_sizes) {
    describe(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    std::int32_t value = 5;
    std::size_t size = 0;
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &value, 8),
              CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, nullptr, 4),
              CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc, static_cast<cublasLtMatmulDescAttributes_t>(9), &value, 4),
              CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr, 0, &size),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(size, sizeof(void*));
    EXPECT_EQ(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_FILL_MODE, &value, 4, &size),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(value, 2);
    cublasLtMatmulDescOpaque_t own{};
    EXPECT_EQ(cublasLtMatmulDescInit_internal(&own, 8, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_ALLOC_FAILED);
    EXPECT_EQ(cublasLtMatmulDescInit_internal(&own, sizeof own, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasLtMatmulDescGetAttribute(&own, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &value, 4, nullptr),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(value, CUBLAS_COMPUTE_32F);
}

TEST_F(cublaslt_test, wrong_arguments_have_statuses) {
    const float one = 1;
    const auto a = matrix(CUDA_R_32F, 4, 3), b = matrix(CUDA_R_32F, 3, 2), c = matrix(CUDA_R_32F, 4, 2);
    describe(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    EXPECT_EQ(multiply(&one, b, a, &one, c, c), CUBLAS_STATUS_INVALID_VALUE) << "shapes";
    EXPECT_EQ(cublasLtMatmul(nullptr, desc, &one, a.at, a.layout, b.at, b.layout, &one, c.at, c.layout, c.at, c.layout,
                             nullptr, nullptr, 0, nullptr),
              CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT_EQ(cublasLtMatmul(lt, desc, nullptr, a.at, a.layout, b.at, b.layout, &one, c.at, c.layout, c.at, c.layout,
                             nullptr, nullptr, 0, nullptr),
              CUBLAS_STATUS_INVALID_VALUE);
    testing::internal::CaptureStderr();
    EXPECT_EQ(cublasLtMatmul(lt, desc, &one, a.at + (1 << 30), a.layout, b.at, b.layout, &one, c.at, c.layout, c.at,
                             c.layout, nullptr, nullptr, 0, nullptr),
              CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("cublasLtMatmul 4 x 2 x 3: A has"), std::string::npos);
    describe(CUBLAS_COMPUTE_64F, CUDA_R_64F);
    testing::internal::CaptureStderr();
    EXPECT_EQ(multiply(&one, a, b, &one, c, c), CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("cublasLtMatmul with types 0, 0, 0, 0"), std::string::npos);
}

} // namespace
} // namespace softgpu::runtime
