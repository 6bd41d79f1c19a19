// SPDX-License-Identifier: MIT
// A handle, and matrices with random numbers in device memory, with unused rows that no call may change.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/runtime/cublas/cublas_v2.h"
#include "tests/runtime/devices/devices.hpp"

struct float2 {
    float x, y;
};
struct double2 {
    double x, y;
};

namespace softgpu::runtime {

template <class T>
using exact = std::conditional_t<std::is_arithmetic_v<T>, long double, std::complex<long double>>;

inline exact<float> widened(float x) { return x; }
inline exact<double> widened(double x) { return x; }
inline exact<cuComplex> widened(cuComplex x) { return {x.x, x.y}; }
inline exact<cuDoubleComplex> widened(cuDoubleComplex x) { return {x.x, x.y}; }

template <class T>
T number(double re, double im) {
    if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(re);
    } else {
        using part = decltype(T::x);
        return {static_cast<part>(re), static_cast<part>(im)};
    }
}
inline long double conjugate(long double x) { return x; }
inline std::complex<long double> conjugate(std::complex<long double> x) { return std::conj(x); }

// Of one rounding.
template <class T>
constexpr double unit = std::is_same_v<T, float> || std::is_same_v<T, cuComplex> ? 0x1p-24 : 0x1p-53;

// On the host as `values`, column-major; on the device at `at`. Both live as long as the device.
template <class T>
struct test_matrix {
    int rows, columns, ld;
    std::vector<T> values;
    T* at = nullptr;

    [[nodiscard]] exact<T> operator()(int row, int column) const {
        return widened(
            values[static_cast<std::size_t>(row) + static_cast<std::size_t>(column) * static_cast<std::size_t>(ld)]);
    }
    // Of op(matrix).
    [[nodiscard]] exact<T> element(cublasOperation_t op, int row, int column) const {
        return op == CUBLAS_OP_N   ? (*this)(row, column)
               : op == CUBLAS_OP_T ? (*this)(column, row)
                                   : conjugate((*this)(column, row));
    }
};

class cublas_test : public devices_test {
protected:
    void SetUp() override {
        devices_test::SetUp();
        use(0);
        ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
        on = make_stream();
        ASSERT_EQ(cublasSetStream(handle, reinterpret_cast<cudaStream_t>(on)), CUBLAS_STATUS_SUCCESS);
    }
    void TearDown() override {
        use(0);
        EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
        devices_test::TearDown();
    }

    template <class T>
    static T* on_device(const std::vector<T>& values) {
        void* p = nullptr;
        EXPECT_EQ(cudaMalloc(&p, std::max<std::size_t>(values.size() * sizeof(T), 1)), error::success);
        EXPECT_EQ(cudaMemcpy(p, values.data(), values.size() * sizeof(T), copy_kind::automatic), error::success);
        return static_cast<T*>(p);
    }
    template <class T>
    [[nodiscard]] std::vector<T> read(const T* p, std::size_t count) const {
        EXPECT_EQ(cudaStreamSynchronize(on), error::success);
        std::vector<T> values(count);
        EXPECT_EQ(cudaMemcpy(values.data(), p, count * sizeof(T), copy_kind::automatic), error::success);
        return values;
    }

    template <class T>
    std::vector<T> random_numbers(std::size_t count) {
        std::vector<T> values(count);
        std::ranges::generate(values, [&] { return number<T>(some_(random_), some_(random_)); });
        return values;
    }
    template <class T>
    test_matrix<T> random_matrix(int rows, int columns, int unused = 3) {
        const int ld = std::max(rows, 1) + unused;
        test_matrix<T> m{rows, columns, ld,
                         random_numbers<T>(static_cast<std::size_t>(ld) * static_cast<std::size_t>(columns))};
        m.at = on_device(m.values);
        return m;
    }
    template <class T>
    test_matrix<T> random_operand(cublasOperation_t op, int rows, int columns) {
        return op == CUBLAS_OP_N ? random_matrix<T>(rows, columns) : random_matrix<T>(columns, rows);
    }

    // Where inside(row, column), the device has expected(row, column), up to `terms` roundings of numbers up to 1; else, and in
    // unused rows, what it had.
    template <class T, class Inside, class Expected>
    void expect_matrix(const test_matrix<T>& before, int terms, Inside inside, Expected expected) {
        const std::vector<T> now = read(before.at, before.values.size());
        for (int column = 0; column < before.columns; ++column) {
            for (int row = 0; row < before.ld; ++row) {
                const auto place = static_cast<std::size_t>(row) +
                                   static_cast<std::size_t>(column) * static_cast<std::size_t>(before.ld);
                const exact<T> got = widened(now[place]);
                if (row < before.rows && inside(row, column)) {
                    ASSERT_LE(std::abs(got - expected(row, column)), unit<T> * (terms + 4) * 4)
                        << row << ", " << column;
                } else {
                    const exact<T> was = widened(before.values[place]);
                    ASSERT_TRUE(got == was || was != was) << row << ", " << column << " has changed";
                }
            }
        }
    }
    template <class T, class Expected>
    void expect_matrix(const test_matrix<T>& before, int terms, Expected expected) {
        expect_matrix(
            before, terms, [](int, int) { return true; }, expected);
    }

    cublasHandle_t handle = nullptr;
    stream* on = nullptr;

private:
    std::mt19937 random_{17};
    std::uniform_real_distribution<double> some_{-1, 1};
};

using all_types = testing::Types<float, double, cuComplex, cuDoubleComplex>;
inline constexpr cublasOperation_t all_operations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

// The call of type T: FOR_TYPE(gemm, ...).
#define FOR_TYPE(call, ...)                                                                                            \
    [&] {                                                                                                              \
        if constexpr (std::is_same_v<T, float>) {                                                                      \
            return cublasS##call(__VA_ARGS__);                                                                         \
        } else if constexpr (std::is_same_v<T, double>) {                                                              \
            return cublasD##call(__VA_ARGS__);                                                                         \
        } else if constexpr (std::is_same_v<T, cuComplex>) {                                                           \
            return cublasC##call(__VA_ARGS__);                                                                         \
        } else {                                                                                                       \
            return cublasZ##call(__VA_ARGS__);                                                                         \
        }                                                                                                              \
    }()

} // namespace softgpu::runtime
