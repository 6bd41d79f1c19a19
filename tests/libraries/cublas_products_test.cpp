// SPDX-License-Identifier: MIT
// cuBLAS's products against sums in long double.
#include <bit>
#include <limits>

#include "tests/libraries/cublas_fixture.hpp"

namespace softgpu::runtime {
namespace {

template <class T>
class cublas_products : public cublas_test {
protected:
    void expect_product(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, T alpha, T beta) {
        SCOPED_TRACE(testing::Message() << op_a << op_b << ' ' << m << " x " << n << " x " << k);
        const auto a = random_operand<T>(op_a, m, k);
        const auto b = random_operand<T>(op_b, k, n);
        auto c = random_matrix<T>(m, n);
        const bool reads_c = widened(beta) != exact<T>{};
        if (!reads_c) {
            std::ranges::fill(c.values, number<T>(std::numeric_limits<double>::quiet_NaN(), 0));
            c.at = on_device(c.values);
        }
        ASSERT_EQ(FOR_TYPE(gemm, handle, op_a, op_b, m, n, k, &alpha, a.at, a.ld, b.at, b.ld, &beta, c.at, c.ld),
                  CUBLAS_STATUS_SUCCESS);
        expect_matrix(c, k, [&](int row, int column) {
            exact<T> sum{};
            for (int i = 0; i < k; ++i) {
                sum += a.element(op_a, row, i) * b.element(op_b, i, column);
            }
            return widened(alpha) * sum + (reads_c ? widened(beta) * c(row, column) : exact<T>{});
        });
    }
};
TYPED_TEST_SUITE(cublas_products, all_types);

TYPED_TEST(cublas_products, all_operations_and_sizes) {
    for (const cublasOperation_t op_a : all_operations) {
        for (const cublasOperation_t op_b : all_operations) {
            for (const auto [m, n, k] :
                 {std::array{1, 1, 1}, std::array{7, 5, 9}, std::array{33, 17, 1}, std::array{1, 65, 40}}) {
                this->expect_product(op_a, op_b, m, n, k, number<TypeParam>(-0.75, 0.5), number<TypeParam>(0.25, -1));
            }
        }
    }
}

TYPED_TEST(cublas_products, all_factors) {
    for (const double alpha : {0.0, 1.0, 0.5}) {
        for (const double beta : {0.0, 1.0, -0.5}) {
            this->expect_product(CUBLAS_OP_N, CUBLAS_OP_T, 9, 6, 11, number<TypeParam>(alpha, 0),
                                 number<TypeParam>(beta, 0));
            this->expect_product(CUBLAS_OP_N, CUBLAS_OP_N, 9, 6, 0, number<TypeParam>(alpha, 0),
                                 number<TypeParam>(beta, 0));
        }
    }
    this->expect_product(CUBLAS_OP_N, CUBLAS_OP_N, 0, 6, 3, number<TypeParam>(1, 0), number<TypeParam>(0, 0));
    this->expect_product(CUBLAS_OP_N, CUBLAS_OP_N, 6, 0, 3, number<TypeParam>(1, 0), number<TypeParam>(0, 0));
}

// Of the value's 32 bits the upper ones, for numbers without more.
std::uint16_t bfloat(float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); }
float of_bfloat(std::uint16_t x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); }
// Of whole numbers below 2048.
std::uint16_t half(int x) {
    if (x == 0) {
        return 0;
    }
    const unsigned size = static_cast<unsigned>(std::abs(x));
    const int exponent = std::bit_width(size) - 1;
    return static_cast<std::uint16_t>((x < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                                      ((size << (10 - exponent)) & 0x3FF));
}

class cublas_types : public cublas_test {
protected:
    // 3 by 2 times 2 by 1, of these types; C as stored.
    template <class In, class Out, class Scalar>
    std::vector<Out> product(const std::vector<In>& a, const std::vector<In>& b, cudaDataType in, cudaDataType out,
                             cublasComputeType_t compute, Scalar alpha, Scalar beta, std::vector<Out> c) {
        Out* const to = on_device(c);
        EXPECT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 3, 1, 2, &alpha, on_device(a), in, 3, on_device(b), in,
                               2, &beta, to, out, 3, compute, CUBLAS_GEMM_DEFAULT),
                  CUBLAS_STATUS_SUCCESS);
        return read(to, 3);
    }
};

TEST_F(cublas_types, halves) {
    const std::vector<std::uint16_t> a{half(1), half(2), half(3), half(4), half(5), half(6)};
    const std::vector<std::uint16_t> b{half(10), half(-1)};
    const std::vector<std::uint16_t> expected{half(6), half(15), half(24)};
    EXPECT_EQ(
        product(a, b, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 1.0f, 0.0f, std::vector<std::uint16_t>(3, 0x7E00)),
        expected);
    EXPECT_EQ(
        product(a, b, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, half(1), half(0), std::vector<std::uint16_t>(3)),
        expected);
    EXPECT_EQ(product(a, b, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2.0f, 1.0f, std::vector<float>{1, 2, 3}),
              (std::vector<float>{13, 32, 51}));
    // 1024 * 2 + 1 lies between two halves, to even; the sum is rounded once.
    EXPECT_EQ(product(std::vector<std::uint16_t>(6, half(1024)), std::vector<std::uint16_t>{half(2), half(0)},
                      CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 1.0f, 1.0f,
                      std::vector<std::uint16_t>{half(1), half(2), half(3)}),
              (std::vector<std::uint16_t>{0x6800, 0x6801, 0x6802}));
    // Two terms that are too small to move it one by one.
    EXPECT_EQ(product(std::vector<std::uint16_t>{half(1024), half(1024), half(1024), half(1), half(1), half(1)},
                      std::vector<std::uint16_t>{half(2), half(1)}, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 1.0f,
                      1.0f, std::vector<std::uint16_t>(3, half(1))),
              std::vector<std::uint16_t>(3, 0x6801));
}

TEST_F(cublas_types, bfloats) {
    const std::vector<std::uint16_t> a{bfloat(1), bfloat(2), bfloat(3), bfloat(4), bfloat(5), bfloat(6)};
    const std::vector<std::uint16_t> b{bfloat(10), bfloat(-1)};
    const auto c =
        product(a, b, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1.0f, 0.0f, std::vector<std::uint16_t>(3));
    EXPECT_EQ(of_bfloat(c[0]), 6);
    EXPECT_EQ(of_bfloat(c[2]), 24);
    EXPECT_EQ(product(a, b, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1.0f, 0.0f, std::vector<float>(3)),
              (std::vector<float>{6, 15, 24}));
}

TEST_F(cublas_types, integers_are_exact_and_wrap) {
    const std::vector<std::int8_t> a{-128, 127, 3, 100, -100, 0};
    const std::vector<std::int8_t> b{-128, 127};
    EXPECT_EQ(product(a, b, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, std::int32_t{1}, std::int32_t{0},
                      std::vector<std::int32_t>(3, 9)),
              (std::vector<std::int32_t>{29084, -28956, -384}));
    EXPECT_EQ(product(a, b, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, std::int32_t{1}, std::int32_t{1},
                      std::vector<std::int32_t>(3, std::numeric_limits<std::int32_t>::max())),
              (std::vector<std::int32_t>{-2147454565, 2147454691, 2147483263}));
    EXPECT_EQ(product(a, b, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1.0f, 0.0f, std::vector<float>(3)),
              (std::vector<float>{29084, -28956, -384}));
}

TEST_F(cublas_types, inputs_are_rounded_where_tensor_cores_round_them) {
    const float fine = 1 + 0x1p-12f; // more than tf32 has
    const std::vector<float> a(6, fine);
    const std::vector<float> b{1, 0};
    const auto by = [&](cublasComputeType_t compute) {
        return product(a, b, CUDA_R_32F, CUDA_R_32F, compute, 1.0f, 0.0f, std::vector<float>(3)).front();
    };
    EXPECT_EQ(by(CUBLAS_COMPUTE_32F), fine);
    EXPECT_EQ(by(CUBLAS_COMPUTE_32F_FAST_TF32), 1);
    EXPECT_EQ(by(CUBLAS_COMPUTE_32F_FAST_16BF), 1);
    EXPECT_EQ(by(CUBLAS_COMPUTE_32F_PEDANTIC), fine);
    ASSERT_EQ(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(by(CUBLAS_COMPUTE_32F), 1);
    EXPECT_EQ(by(CUBLAS_COMPUTE_32F_PEDANTIC), fine);
}

TEST_F(cublas_types, other_types_are_refused_with_a_line) {
    const float one = 1;
    testing::internal::CaptureStderr();
    for (int times = 0; times < 2; ++times) {
        EXPECT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, nullptr, CUDA_R_8I, 1, nullptr,
                               CUDA_R_16F, 1, &one, nullptr, CUDA_R_16F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                  CUBLAS_STATUS_NOT_SUPPORTED);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("cublasGemmEx with types 3, 2, 2"), said.rfind("cublasGemmEx with types 3, 2, 2"));
    EXPECT_NE(said.find("cublasGemmEx with types 3, 2, 2"), std::string::npos);
}

TEST_F(cublas_types, batches) {
    const std::vector<float> a{1, 2, 3, 4, 5, 6}, b{10, 20, 30}; // 2 by 1 each, times 1 by 1
    const float one = 1, two = 2, zero = 0;
    float* const x = on_device(a);
    float* const y = on_device(b);
    float* const z = on_device(std::vector<float>(6, -1));
    ASSERT_EQ(
        cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &one, x, 2, 2, y, 1, 1, &zero, z, 2, 2, 3),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(z, 6), (std::vector<float>{10, 20, 60, 80, 150, 180}));
    ASSERT_EQ(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &one, x, CUDA_R_32F, 2, 0, y,
                                         CUDA_R_32F, 1, 1, &zero, z, CUDA_R_32F, 2, 2, 3, CUBLAS_COMPUTE_32F,
                                         CUBLAS_GEMM_DEFAULT),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(z, 6), (std::vector<float>{10, 20, 20, 40, 30, 60})) << "one A for all";
    const float* const* const of_a = on_device(std::vector<const float*>{x + 4, x});
    const float* const* const of_b = on_device(std::vector<const float*>{y, y + 1});
    float* const* const of_c = on_device(std::vector<float*>{z + 2, z});
    ASSERT_EQ(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &two, of_a, 2, of_b, 1, &zero, of_c, 2, 2),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(z, 6), (std::vector<float>{40, 80, 100, 120, 30, 60}));
}

TEST_F(cublas_types, a_wrong_address_in_a_batch_fails_like_a_kernel) {
    const float one = 1;
    float* const x = on_device(std::vector<float>(1, 1));
    const float* const* const right = on_device(std::vector<const float*>{x});
    const float* const* const wrong = on_device(std::vector<const float*>{x + 1});
    testing::internal::CaptureStderr();
    ASSERT_EQ(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, wrong, 1, right, 1, &one,
                                 const_cast<float* const*>(right), 1, 1),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cudaStreamSynchronize(on), error::illegal_address);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("cublasSgemmBatched 1 x 1 x 1: A has 4 bytes"),
              std::string::npos);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    ASSERT_EQ(cublasSetStream(handle, nullptr), CUBLAS_STATUS_SUCCESS);
}

} // namespace
} // namespace softgpu::runtime
