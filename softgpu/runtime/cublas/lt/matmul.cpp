// SPDX-License-Identifier: MIT
// cublasLtMatmul: a product with an epilogue, on the host's cores.
#include "softgpu/runtime/cublas/lt/matmul.hpp"

#include <string>

#include "softgpu/runtime/cublas/lt/epilogue.hpp"
#include "softgpu/runtime/cublas/lt/operands.hpp"
#include "softgpu/runtime/cublas/lt/product_run.hpp"
#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/products.hpp"
#include "softgpu/runtime/cublas/unsupported.hpp"

namespace softgpu::runtime::cublas {
namespace {

bool is_small_float(cudaDataType t) { return t == CUDA_R_16F || t == CUDA_R_16BF; }
bool is_complex(cudaDataType t) { return t == CUDA_C_32F || t == CUDA_C_64F; }

// What sums are computed in; empty: not supported.
std::optional<arithmetic> arithmetic_of(const product_description& p, const layout& of_a, const layout& of_b,
                                        const layout& of_c, const layout& of_d) {
    const cudaDataType a = type_of(of_a), b = type_of(of_b), c = type_of(of_c), d = type_of(of_d);
    const auto scale = static_cast<cudaDataType>(p.scale_type);
    const auto all = [&](cudaDataType t) { return a == t && b == t && c == t && d == t && scale == t; };
    const auto when = [](bool is, arithmetic sums) { return is ? std::optional(sums) : std::nullopt; };
    switch (static_cast<cublasComputeType_t>(p.compute)) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return when(all(CUDA_R_16F), arithmetic::f32);
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        return all(CUDA_C_64F) ? std::optional(arithmetic::c64) : when(all(CUDA_R_64F), arithmetic::f64);
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return when(a == CUDA_R_8I && b == a && c == d &&
                        ((scale == CUDA_R_32I && d == CUDA_R_32I) || (scale == CUDA_R_32F && d == CUDA_R_8I)),
                    arithmetic::i32);
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32: break;
    default: return {};
    }
    if (all(CUDA_C_32F)) {
        return arithmetic::c32;
    }
    if (is_byte_float(a) && is_byte_float(b)) {
        const bool same = c == d && (is_small_float(d) || d == CUDA_R_32F);
        return when(scale == CUDA_R_32F && (same || (is_byte_float(d) && is_small_float(c))), arithmetic::f32);
    }
    return when(
        scale == CUDA_R_32F && a == b && c == d &&
            (is_small_float(a) ? d == a || d == CUDA_R_32F : (a == CUDA_R_32F || a == CUDA_R_8I) && d == CUDA_R_32F),
        arithmetic::f32);
}

// What the epilogue reads and writes.
void use_epilogue(operation& op, const product_run& run) {
    const product_description& p = run.p;
    const bool reads_bias = run.has(bias_part);
    if (reads_bias || run.has(bias_gradient_part | bias_gradient_a_part | bias_gradient_b_part)) {
        const std::size_t one = bytes_of(bias_type(p, run.c, run.d));
        const std::int64_t length = run.has(bias_gradient_b_part) ? run.n : run.m;
        op.uses({"the bias", p.bias, static_cast<std::size_t>(length) * one,
                 static_cast<std::size_t>(p.bias_stride) * one, static_cast<std::size_t>(run.d.count), !reads_bias});
    }
    if (run.has(aux_part)) {
        const bool bits = run.has(relu_part | relu_gradient_part);
        const auto bytes = [&](std::int64_t elements) {
            return static_cast<std::size_t>(bits ? (elements + 7) / 8
                                                 : elements * static_cast<std::int64_t>(bytes_of(aux_type(p, run.d))));
        };
        for (std::int64_t number = 0; number < run.d.count; ++number) {
            op.uses({"the auxiliary matrix",
                     static_cast<const char*>(p.aux) + number * static_cast<std::int64_t>(bytes(p.aux_stride)),
                     bytes(run.m), bytes(p.aux_ld), static_cast<std::size_t>(run.n), run.has(relu_part | gelu_part)});
        }
    }
    const auto single = [&](const char* name, const void* at, bool writes) {
        if (at != nullptr) {
            op.uses({name, at, sizeof(float), sizeof(float), 1, writes});
        }
    };
    single("A's scale", p.a_scale, false);
    single("B's scale", p.b_scale, false);
    single("C's scale", p.c_scale, false);
    single("D's scale", p.d_scale, false);
    single("the auxiliary matrix's scale", p.aux_scale, false);
    single("the largest value", p.amax, true);
    single("the auxiliary matrix's largest value", p.aux_amax, true);
}

} // namespace

cublasStatus_t check_product(const product_description& p, const layout& a, const layout& b, const layout& c,
                             const layout& d) {
    const auto transposes = [](std::int32_t op) { return op != CUBLAS_OP_N; };
    for (const std::int32_t op : {p.op_a, p.op_b, p.op_c}) {
        if (op != CUBLAS_OP_N && op != CUBLAS_OP_T && op != CUBLAS_OP_C) {
            return CUBLAS_STATUS_INVALID_VALUE;
        }
    }
    const auto rows = [&](const layout& l, std::int32_t op) { return transposes(op) ? l.columns : l.rows; };
    const auto columns = [&](const layout& l, std::int32_t op) { return transposes(op) ? l.rows : l.columns; };
    if (!is_valid(a) || !is_valid(b) || !is_valid(c) || !is_valid(d) || rows(a, p.op_a) != d.rows ||
        columns(b, p.op_b) != d.columns || columns(a, p.op_a) != rows(b, p.op_b) || c.rows != d.rows ||
        c.columns != d.columns || a.count != d.count || b.count != d.count || c.count != d.count ||
        p.pointers < CUBLASLT_POINTER_MODE_HOST || p.pointers > CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const auto missing = [](const std::string& what) {
        report_unsupported("cublasLtMatmul", what);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    };
    for (const layout* const l : {&a, &b, &c, &d}) {
        if (l->order != CUBLASLT_ORDER_COL && l->order != CUBLASLT_ORDER_ROW) {
            return missing("with an order of tiles");
        }
        if (l->batch_mode != 0 || l->plane != 0) {
            return missing("with arrays of pointers or planes");
        }
    }
    for (const std::int32_t mode : p.scale_modes) {
        if (mode != 0) {
            return missing("with scales of blocks or vectors");
        }
    }
    if (p.out_scale != nullptr || p.fill != 2 || transposes(p.op_c)) {
        return missing("with an output scale, a triangle or a transposed C");
    }
    const auto sums = arithmetic_of(p, a, b, c, d);
    if (!sums) {
        return missing("with types " + std::to_string(a.type) + ", " + std::to_string(b.type) + ", " +
                       std::to_string(c.type) + ", " + std::to_string(d.type) + ", compute type " +
                       std::to_string(p.compute) + " and scale type " + std::to_string(p.scale_type));
    }
    if (!is_epilogue(p.epilogue)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const bool complex_numbers = is_complex(type_of(d));
    if (p.epilogue != none_part && (complex_numbers || p.scale_type == CUDA_R_32I)) {
        return missing("with an epilogue on complex numbers or 32-bit integers");
    }
    const auto conjugates_rows = [&](std::int32_t op, const layout& l) {
        return complex_numbers && op == CUBLAS_OP_C && l.order == CUBLASLT_ORDER_ROW;
    };
    if (conjugates_rows(p.op_a, a) || conjugates_rows(p.op_b, b)) {
        return missing("with a conjugated row-major matrix");
    }
    const bool bits = (p.epilogue & (relu_part | relu_gradient_part)) != 0;
    if ((p.epilogue & aux_part) != 0 &&
        (p.aux_ld < static_cast<std::int64_t>(d.rows) || p.aux_ld % (bits ? 128 : 8) != 0 ||
         (d.count > 1 && p.aux_stride % (bits ? 128 : 8) != 0))) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return CUBLAS_STATUS_SUCCESS;
}

} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime;
using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t layout_a, const void* b, cublasLtMatrixLayout_t layout_b,
                              const void* beta, const void* c, cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t stream) {
    auto* const context = reinterpret_cast<cublasHandle_t>(handle);
    return guarded(context, [&] {
        require(desc != nullptr && layout_a != nullptr && layout_b != nullptr && layout_d != nullptr);
        product_run run{description(desc),
                        description(layout_a),
                        description(layout_b),
                        description(layout_c == nullptr ? layout_d : layout_c),
                        description(layout_d),
                        a,
                        b,
                        c,
                        d};
        const product_description& p = run.p;
        const cublasStatus_t status = check_product(p, run.a, run.b, run.c, run.d);
        if (status != CUBLAS_STATUS_SUCCESS) {
            return status;
        }
        run.sums = *arithmetic_of(p, run.a, run.b, run.c, run.d);
        run.inputs = type_of(run.a) == CUDA_R_32F
                         ? rounding_of(static_cast<cublasComputeType_t>(p.compute), CUBLAS_DEFAULT_MATH)
                         : rounding::none;
        run.m = static_cast<std::int64_t>(run.d.rows);
        run.n = static_cast<std::int64_t>(run.d.columns);
        run.k = static_cast<std::int64_t>(p.op_a == CUBLAS_OP_N ? run.a.columns : run.a.rows);
        if (run.m == 0 || run.n == 0 || run.d.count == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        std::string title =
            "cublasLtMatmul " + std::to_string(run.m) + " x " + std::to_string(run.n) + " x " + std::to_string(run.k);
        if (run.d.count != 1) {
            title += ", " + std::to_string(run.d.count) + " of them";
        }
        cublasContext on = *context;
        on.stream = stream;
        softgpu::runtime::cublas::operation op(on, std::move(title));
        const std::size_t one = bytes_of(run.scale());
        const auto on_device = [&](const char* name, const void* at, bool vector, std::int64_t stride) {
            require(at != nullptr);
            op.uses({name, at, one * static_cast<std::size_t>(vector ? run.m : 1),
                     one * static_cast<std::size_t>(stride), static_cast<std::size_t>(stride == 0 ? 1 : run.d.count),
                     false});
            return at;
        };
        const auto on_host = [&](const void* at) {
            require(at != nullptr);
            return scalar_at(run.scale(), at, 0);
        };
        switch (p.pointers) {
        case CUBLASLT_POINTER_MODE_HOST:
            run.held_alpha = on_host(alpha);
            run.held_beta = on_host(beta);
            break;
        case CUBLASLT_POINTER_MODE_DEVICE:
            run.alpha = on_device("alpha", alpha, false, 0);
            run.beta = on_device("beta", beta, false, 0);
            break;
        case CUBLASLT_POINTER_MODE_DEVICE_VECTOR:
            run.alpha = on_device("alpha", alpha, true, 0);
            run.beta = on_device("beta", beta, true, 0);
            break;
        default:
            run.alpha = on_device("alpha", alpha, true, p.alpha_stride);
            run.held_beta = p.pointers == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST ? on_host(beta) : 0.0;
        }
        if (run.k != 0) {
            use_matrix(op, "A", run.a, a, false);
            use_matrix(op, "B", run.b, b, false);
        }
        if (run.beta != nullptr || run.held_beta != 0.0) {
            use_matrix(op, "C", run.c, c, false);
        }
        use_epilogue(op, run);
        use_matrix(op, "D", run.d, d, true);
        return op.enqueue([run](auto&) { carry_out(run); });
    });
}

} // extern "C"
#pragma GCC visibility pop
