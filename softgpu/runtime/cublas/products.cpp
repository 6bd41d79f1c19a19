// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cublas/products.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/cublas/backend.hpp"
#include "softgpu/runtime/cublas/numbers.hpp"
#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/structured.hpp"
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
    std::int64_t rows, columns;
};
shape shape_of(cublasOperation_t op, std::int64_t rows, std::int64_t columns) {
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

} // namespace

template <class T>
std::vector<T> product_of(const product_request& p, rounding inputs, const void* a, const void* b) {
    std::vector<T> product(static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n));
    if constexpr (std::is_same_v<T, real<T>>) {
        const shape of_a = shape_of(p.op_a, p.m, p.k);
        const shape of_b = shape_of(p.op_b, p.k, p.n);
        const std::vector<T> x = widened<T>(p.a.type, inputs, a, of_a.rows, of_a.columns, p.a.ld);
        const std::vector<T> y = widened<T>(p.b.type, inputs, b, of_b.rows, of_b.columns, p.b.ld);
        multiply(p.op_a, p.op_b, p.m, p.n, p.k, T{1}, x.data(), std::max<std::int64_t>(of_a.rows, 1), y.data(),
                 std::max<std::int64_t>(of_b.rows, 1), T{}, product.data(), p.m);
    } else {
        multiply(p.op_a, p.op_b, p.m, p.n, p.k, T{1}, static_cast<const T*>(a), p.a.ld, static_cast<const T*>(b),
                 p.b.ld, T{}, product.data(), p.m);
    }
    return product;
}
template std::vector<float> product_of(const product_request&, rounding, const void*, const void*);
template std::vector<double> product_of(const product_request&, rounding, const void*, const void*);
template std::vector<std::complex<float>> product_of(const product_request&, rounding, const void*, const void*);
template std::vector<std::complex<double>> product_of(const product_request&, rounding, const void*, const void*);

namespace {

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
    const auto product = alpha == 0 ? std::vector<float>() : product_of<float>(p, inputs, a, b);
    for_each_element(p, product, [&](std::ptrdiff_t at, float sum) {
        store(p.c.type, c, at, alpha * static_cast<double>(sum) + (beta == 0 ? 0.0 : beta * load(p.c.type, c, at)));
    });
}

// Exact in double: a product of bytes has 14 bits. Wraps round at 32.
void multiply_integers(const product_request& p, double alpha, double beta, const void* a, const void* b, void* c) {
    const auto product = alpha == 0 ? std::vector<double>() : product_of<double>(p, rounding::none, a, b);
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

const void* matrix(const matrices& m, bool by_address, std::int64_t number) {
    if (by_address) {
        return static_cast<const void* const*>(m.at)[number];
    }
    return static_cast<const char*>(m.at) + number * m.stride * static_cast<std::int64_t>(bytes_of(m.type));
}

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
        require(p.a.ld >= std::max<std::int64_t>(1, of_a.rows) && p.b.ld >= std::max<std::int64_t>(1, of_b.rows) &&
                p.c.ld >= std::max<std::int64_t>(1, p.m));
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
        const auto operands_of = [=](std::int64_t number) {
            return std::vector{
                operand_of("A", matrix(p.a, p.by_address, number), p.a, p.k == 0 ? shape{0, 0} : of_a, false),
                operand_of("B", matrix(p.b, p.by_address, number), p.b, p.k == 0 ? shape{0, 0} : of_b, false),
                operand_of("C", matrix(p.c, p.by_address, number), p.c, of_c, true)};
        };
        if (p.by_address) {
            op.uses_addresses("the array of A", static_cast<const void* const*>(p.a.at), p.count);
            op.uses_addresses("the array of B", static_cast<const void* const*>(p.b.at), p.count);
            op.uses_addresses("the array of C", static_cast<const void* const*>(p.c.at), p.count);
        } else {
            for (std::int64_t number = 0; number < p.count; ++number) {
                for (const operand& o : operands_of(number)) {
                    op.uses(o);
                }
            }
        }
        const auto one = [=, types = *types](std::int64_t number) {
            multiply_one(p, types, alpha(), beta(), matrix(p.a, p.by_address, number),
                         matrix(p.b, p.by_address, number), const_cast<void*>(matrix(p.c, p.by_address, number)));
        };
        if (p.by_address) {
            return op.enqueue_batch(p.count, operands_of, one);
        }
        return op.enqueue([=](auto&) {
            for (std::int64_t number = 0; number < p.count; ++number) {
                one(number);
            }
        });
    });
}

} // namespace softgpu::runtime::cublas
