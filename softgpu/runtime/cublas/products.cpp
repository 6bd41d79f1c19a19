// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cublas/products.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/cublas/backend.hpp"
#include "softgpu/runtime/cublas/numbers.hpp"
#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/unsupported.hpp"

namespace softgpu::runtime::cublas {
namespace {

using complex_value = std::complex<double>;

struct any_scalar {
    cudaDataType type;
    alignas(16) std::byte held[16];
    const void* at;
    complex_value operator()() const { return value_of(type, at == nullptr ? held : at); }
};

any_scalar scalar_of(operation& op, cublasPointerMode_t mode, const char* name, cudaDataType type, const void* at) {
    require(at != nullptr);
    any_scalar s{type, {}, at};
    if (mode == CUBLAS_POINTER_MODE_HOST) {
        std::memcpy(s.held, at, bytes_of(type));
        s.at = nullptr;
    } else {
        op.uses({name, at, bytes_of(type), bytes_of(type), 1, false});
    }
    return s;
}

struct shape {
    int rows, columns;
};
shape shape_of(cublasOperation_t op, int rows, int columns) {
    return op == CUBLAS_OP_N ? shape{rows, columns} : shape{columns, rows};
}

operand operand_of(const char* name, const void* at, const matrices& m, shape of, bool writes) {
    const std::size_t one = bytes_of(m.type);
    return {name,
            at,
            static_cast<std::size_t>(of.rows) * one,
            static_cast<std::size_t>(m.ld) * one,
            static_cast<std::size_t>(of.rows == 0 ? 0 : of.columns),
            writes};
}

template <class T>
T as(complex_value x) {
    if constexpr (std::is_same_v<T, real<T>>) {
        return static_cast<T>(x.real());
    } else {
        return T(x);
    }
}

// A product whose three matrices have the type that it is computed in.
template <class T>
void multiply_directly(const product_request& p, complex_value alpha, complex_value beta, const void* a, const void* b,
                       void* c) {
    multiply(p.op_a, p.op_b, p.m, p.n, p.k, as<T>(alpha), static_cast<const T*>(a), p.a.ld, static_cast<const T*>(b),
             p.b.ld, as<T>(beta), static_cast<T*>(c), p.c.ld);
}

// op(A) op(B) in T, of matrices of any type.
template <class T>
std::vector<T> widened_product(const product_request& p, rounding inputs, const void* a, const void* b) {
    const shape of_a = shape_of(p.op_a, p.m, p.k);
    const shape of_b = shape_of(p.op_b, p.k, p.n);
    const std::vector<T> x = widened<T>(p.a.type, inputs, a, of_a.rows, of_a.columns, p.a.ld);
    const std::vector<T> y = widened<T>(p.b.type, inputs, b, of_b.rows, of_b.columns, p.b.ld);
    std::vector<T> product(static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n));
    multiply(p.op_a, p.op_b, p.m, p.n, p.k, T{1}, x.data(), std::max(of_a.rows, 1), y.data(), std::max(of_b.rows, 1),
             T{}, product.data(), p.m);
    return product;
}

// put(place in C, element of the product).
template <class T, class Put>
void for_each_element(const product_request& p, const std::vector<T>& product, Put put) {
    for (std::ptrdiff_t column = 0; column < p.n; ++column) {
        for (std::ptrdiff_t row = 0; row < p.m; ++row) {
            put(place(row, column, p.c.ld),
                product.empty() ? T{} : product[static_cast<std::size_t>(place(row, column, p.m))]);
        }
    }
}

// Rounded once to C's type.
void multiply_in_float(const product_request& p, rounding inputs, double alpha, double beta, const void* a,
                       const void* b, void* c) {
    const auto product = alpha == 0 ? std::vector<float>() : widened_product<float>(p, inputs, a, b);
    for_each_element(p, product, [&](std::ptrdiff_t at, float sum) {
        store(p.c.type, c, at, alpha * static_cast<double>(sum) + (beta == 0 ? 0.0 : beta * load(p.c.type, c, at)));
    });
}

// Exact in double: a product of bytes has 14 bits. Wraps round at 32.
void multiply_integers(const product_request& p, double alpha, double beta, const void* a, const void* b, void* c) {
    const auto product = alpha == 0 ? std::vector<double>() : widened_product<double>(p, rounding::none, a, b);
    const auto whole = [](double x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); };
    auto* const out = static_cast<std::int32_t*>(c);
    for_each_element(p, product, [&](std::ptrdiff_t at, double sum) {
        const std::uint64_t before = beta == 0 ? 0 : whole(beta) * whole(out[at]);
        out[at] = static_cast<std::int32_t>(static_cast<std::uint32_t>(whole(alpha) * whole(sum) + before));
    });
}

void multiply_one(const product_request& p, const product_types& types, complex_value alpha, complex_value beta,
                  const void* a, const void* b, void* c) {
    switch (types.sums) {
    case arithmetic::f64: multiply_directly<double>(p, alpha, beta, a, b, c); break;
    case arithmetic::c32: multiply_directly<std::complex<float>>(p, alpha, beta, a, b, c); break;
    case arithmetic::c64: multiply_directly<std::complex<double>>(p, alpha, beta, a, b, c); break;
    case arithmetic::i32: multiply_integers(p, alpha.real(), beta.real(), a, b, c); break;
    case arithmetic::f32:
        if (types.a == CUDA_R_32F && types.c == CUDA_R_32F && types.inputs == rounding::none) {
            multiply_directly<float>(p, alpha, beta, a, b, c);
        } else {
            multiply_in_float(p, types.inputs, alpha.real(), beta.real(), a, b, c);
        }
    }
}

const void* matrix(const matrices& m, bool by_address, int number) {
    if (by_address) {
        return static_cast<const void* const*>(m.at)[number];
    }
    return static_cast<const char*>(m.at) + number * m.stride * static_cast<long long>(bytes_of(m.type));
}

bool is_operation(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }

std::string title_of(const product_request& p) {
    std::string title(p.name);
    title += " " + std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
    return p.count == 1 ? title : title + ", " + std::to_string(p.count) + " of them";
}

} // namespace

cublasStatus_t enqueue_product(cublasHandle_t handle, const product_request& call) noexcept {
    return guarded(handle, [&] {
        const product_request p = call;
        require(is_operation(p.op_a) && is_operation(p.op_b) && p.m >= 0 && p.n >= 0 && p.k >= 0 && p.count >= 0);
        const shape of_a = shape_of(p.op_a, p.m, p.k);
        const shape of_b = shape_of(p.op_b, p.k, p.n);
        const shape of_c{p.m, p.n};
        require(p.a.ld >= std::max(1, of_a.rows) && p.b.ld >= std::max(1, of_b.rows) && p.c.ld >= std::max(1, p.m));
        const auto types = types_of(p.a.type, p.b.type, p.c.type, p.compute, handle->math);
        if (!types) {
            report_unsupported(p.name, "with types " + std::to_string(p.a.type) + ", " + std::to_string(p.b.type) +
                                           ", " + std::to_string(p.c.type) + " and compute type " +
                                           std::to_string(p.compute));
            return CUBLAS_STATUS_NOT_SUPPORTED;
        }
        if (p.m == 0 || p.n == 0 || p.count == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(p));
        const any_scalar alpha = scalar_of(op, handle->pointers, "alpha", types->scalars, p.alpha);
        const any_scalar beta = scalar_of(op, handle->pointers, "beta", types->scalars, p.beta);
        const auto operands_of = [=](int number) {
            return std::vector{
                operand_of("A", matrix(p.a, p.by_address, number), p.a, p.k == 0 ? shape{0, 0} : of_a, false),
                operand_of("B", matrix(p.b, p.by_address, number), p.b, p.k == 0 ? shape{0, 0} : of_b, false),
                operand_of("C", matrix(p.c, p.by_address, number), p.c, of_c, true)};
        };
        const std::size_t addresses = static_cast<std::size_t>(p.count) * sizeof(void*);
        if (p.by_address) {
            op.uses({"the array of A", p.a.at, addresses, addresses, 1, false});
            op.uses({"the array of B", p.b.at, addresses, addresses, 1, false});
            op.uses({"the array of C", p.c.at, addresses, addresses, 1, false});
        } else {
            for (int number = 0; number < p.count; ++number) {
                for (const operand& o : operands_of(number)) {
                    op.uses(o);
                }
            }
        }
        context& gpu = all_devices().at(handle->device);
        return op.enqueue([=, &gpu, types = *types, title = op.title()](std::vector<operand>& used) {
            if (p.by_address) {
                const locked lock(gpu.mutex());
                for (int number = 0; number < p.count; ++number) {
                    for (const operand& o : operands_of(number)) {
                        require_operand(gpu, title, o);
                        used.push_back(o);
                    }
                }
            }
            const complex_value by = alpha();
            const complex_value with = beta();
            for (int number = 0; number < p.count; ++number) {
                multiply_one(p, types, by, with, matrix(p.a, p.by_address, number), matrix(p.b, p.by_address, number),
                             const_cast<void*>(matrix(p.c, p.by_address, number)));
            }
        });
    });
}

} // namespace softgpu::runtime::cublas
