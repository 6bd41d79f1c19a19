// SPDX-License-Identifier: MIT
// The products of one call and their epilogue.
#include "softgpu/runtime/cublas/lt/product_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "softgpu/runtime/cublas/lt/epilogue.hpp"

namespace softgpu::runtime::cublas {
namespace {

double factor_at(const void* at) { return at == nullptr ? 1.0 : load(CUDA_R_32F, at, 0); }

// The product of one pair of matrices: V is double, or complex where the matrices are. T: what sums are computed in.
template <class T>
std::vector<T> sums_of(const product_run& run, std::int64_t number) {
    const auto op = [](std::int32_t of, const layout& l) {
        const auto asked = static_cast<cublasOperation_t>(of);
        return l.order == CUBLASLT_ORDER_COL ? asked : asked == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    product_request request{};
    request.op_a = op(run.p.op_a, run.a);
    request.op_b = op(run.p.op_b, run.b);
    request.m = run.m;
    request.n = run.n;
    request.k = run.k;
    request.a = {nullptr, type_of(run.a), run.a.ld};
    request.b = {nullptr, type_of(run.b), run.b.ld};
    return product_of<T>(request, run.inputs, matrix_of(run.a, run.at_a, number), matrix_of(run.b, run.at_b, number));
}

// Sums over k of op(A)'s rows, or of op(B)'s columns.
void write_input_sums(const product_run& run, std::int64_t number, void* bias, cudaDataType type) {
    const bool of_a = run.has(bias_gradient_a_part);
    const layout& l = of_a ? run.a : run.b;
    const void* const at = matrix_of(l, of_a ? run.at_a : run.at_b, number);
    const bool plain = (of_a ? run.p.op_a : run.p.op_b) == CUBLAS_OP_N;
    for (std::int64_t i = 0; i < (of_a ? run.m : run.n); ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < run.k; ++j) {
            const bool i_is_row = of_a == plain;
            sum += load(type_of(l), at, place_in(l, i_is_row ? i : j, i_is_row ? j : i));
        }
        store(type, bias, i, sum);
    }
}

// The epilogue of real products: computed in double and rounded once.
template <class T>
void finish(const product_run& run, std::int64_t number, const std::vector<T>& sums) {
    const product_description& p = run.p;
    const void* const from = matrix_of(run.c, run.at_c, number);
    void* const to = const_cast<void*>(matrix_of(run.d, run.at_d, number));
    const cudaDataType type_bias = bias_type(p, run.c, run.d), type_aux = aux_type(p, run.d);
    char* const bias =
        static_cast<char*>(p.bias) + number * p.bias_stride * static_cast<std::int64_t>(bytes_of(type_bias));
    const bool bits = run.has(relu_part | relu_gradient_part); // the auxiliary matrix has a bit for each element
    char* const aux =
        static_cast<char*>(p.aux) +
        (bits ? number * p.aux_stride / 8 : number * p.aux_stride * static_cast<std::int64_t>(bytes_of(type_aux)));
    const double scale_ab = factor_at(p.a_scale) * factor_at(p.b_scale);
    const double scale_c = factor_at(p.c_scale), scale_d = factor_at(p.d_scale), scale_aux = factor_at(p.aux_scale);
    double largest = 0, largest_aux = 0;
    std::vector<double> gradient(run.has(bias_gradient_part) ? static_cast<std::size_t>(run.m) : 0);
    for (std::int64_t column = 0; column < run.n; ++column) {
        for (std::int64_t row = 0; row < run.m; ++row) {
            const double alpha = run.alpha_of(number, row).real(), beta = run.beta_of(row).real();
            const auto sum = static_cast<double>(sums[static_cast<std::size_t>(row + column * run.m)]);
            double x = alpha == 0 ? 0.0 : alpha * scale_ab * sum;
            if (beta != 0) {
                x += beta * scale_c * load(type_of(run.c), from, place_in(run.c, row, column));
            }
            if (run.has(bias_part)) {
                x += load(type_bias, bias, row);
            }
            const std::int64_t at_aux = row + column * p.aux_ld;
            const auto mask = static_cast<char>(1 << (at_aux % 8));
            if (run.has(relu_part)) {
                if (run.has(aux_part)) {
                    char& byte = aux[at_aux / 8];
                    byte = static_cast<char>(x > 0 ? byte | mask : byte & ~mask);
                }
                x = x < 0 ? 0 : x; // NaN stays
            } else if (run.has(gelu_part)) {
                if (run.has(aux_part)) {
                    store(type_aux, aux, at_aux, x * scale_aux);
                    largest_aux = std::max(largest_aux, std::abs(x));
                }
                x = gelu(x);
            } else if (run.has(relu_gradient_part)) {
                x = (aux[at_aux / 8] & mask) != 0 ? x : 0;
            } else if (run.has(gelu_gradient_part)) {
                x *= gelu_derivative(load(type_aux, aux, at_aux));
            }
            if (!gradient.empty()) {
                gradient[static_cast<std::size_t>(row)] += x;
            }
            largest = std::max(largest, std::abs(x));
            store(type_of(run.d), to, place_in(run.d, row, column), x * scale_d);
        }
    }
    for (std::size_t row = 0; row < gradient.size(); ++row) {
        store(type_bias, bias, static_cast<std::ptrdiff_t>(row), gradient[row]);
    }
    if (run.has(bias_gradient_a_part | bias_gradient_b_part)) {
        write_input_sums(run, number, bias, type_bias);
    }
    const auto keep_largest = [&](void* at, double x) {
        if (at != nullptr) {
            store(CUDA_R_32F, at, 0, number == 0 ? x : std::max(x, load(CUDA_R_32F, at, 0)));
        }
    };
    keep_largest(p.amax, largest);
    keep_largest(p.aux_amax, largest_aux);
}

// Modulo 2^32.
void finish_integers(const product_run& run, std::int64_t number, const std::vector<double>& sums) {
    const auto whole = [](double x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); };
    const auto* const from = static_cast<const std::int32_t*>(matrix_of(run.c, run.at_c, number));
    auto* const to = static_cast<std::int32_t*>(const_cast<void*>(matrix_of(run.d, run.at_d, number)));
    for (std::int64_t column = 0; column < run.n; ++column) {
        for (std::int64_t row = 0; row < run.m; ++row) {
            const std::uint64_t beta = whole(run.beta_of(row).real());
            const std::uint64_t product =
                whole(run.alpha_of(number, row).real()) * whole(sums[static_cast<std::size_t>(row + column * run.m)]);
            const std::uint64_t kept = beta == 0 ? 0 : beta * whole(from[place_in(run.c, row, column)]);
            to[place_in(run.d, row, column)] = static_cast<std::int32_t>(static_cast<std::uint32_t>(product + kept));
        }
    }
}

template <class T>
void finish_complex(const product_run& run, std::int64_t number, const std::vector<T>& sums) {
    const auto* const from = static_cast<const T*>(matrix_of(run.c, run.at_c, number));
    auto* const to = static_cast<T*>(const_cast<void*>(matrix_of(run.d, run.at_d, number)));
    for (std::int64_t column = 0; column < run.n; ++column) {
        for (std::int64_t row = 0; row < run.m; ++row) {
            const T alpha(run.alpha_of(number, row)), beta(run.beta_of(row));
            const T product = alpha == T{} ? T{} : alpha * sums[static_cast<std::size_t>(row + column * run.m)];
            to[place_in(run.d, row, column)] =
                beta == T{} ? product : product + beta * from[place_in(run.c, row, column)];
        }
    }
}

} // namespace

void carry_out(const product_run& run) {
    for (std::int64_t number = 0; number < run.d.count; ++number) {
        switch (run.sums) {
        case arithmetic::f32: finish(run, number, sums_of<float>(run, number)); break;
        case arithmetic::f64: finish(run, number, sums_of<double>(run, number)); break;
        case arithmetic::c32: finish_complex(run, number, sums_of<std::complex<float>>(run, number)); break;
        case arithmetic::c64: finish_complex(run, number, sums_of<std::complex<double>>(run, number)); break;
        case arithmetic::i32:
            if (run.scale() == CUDA_R_32I) {
                finish_integers(run, number, sums_of<double>(run, number));
            } else {
                finish(run, number, sums_of<double>(run, number));
            }
        }
    }
}

} // namespace softgpu::runtime::cublas
