// SPDX-License-Identifier: MIT
// The exported copies of vectors and matrices between the host and the device.
#include <algorithm>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"

namespace softgpu::runtime::cublas {
namespace {

// `columns` runs of `width` bytes, which begin so many bytes after each other.
struct runs {
    const void* at;
    std::size_t pitch;
};

cublasStatus_t copy(std::size_t width, std::size_t columns, runs from, runs to, copy_kind kind, host_order order,
                    cudaStream_t stream_handle) {
    try {
        if (width == 0 || columns == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        require(from.pitch >= width && to.pitch >= width);
        context& gpu = current_context();
        locked lock(gpu.mutex());
        gpu.require_usable();
        copy_3d what{};
        what.source = {const_cast<void*>(from.at), from.pitch, width, columns};
        what.destination = {const_cast<void*>(to.at), to.pitch, width, columns};
        what.extent = {width, columns, 1};
        what.kind = kind;
        enqueue_copy(gpu, lock, what, gpu.checked(reinterpret_cast<stream*>(stream_handle)), order);
        return CUBLAS_STATUS_SUCCESS;
    } catch (const failure& f) {
        const cublasStatus_t status = status_of(f);
        return status == CUBLAS_STATUS_INVALID_VALUE ? status : CUBLAS_STATUS_MAPPING_ERROR;
    }
}

cublasStatus_t copy_vector(int n, int size, const void* x, int incx, void* y, int incy, copy_kind kind,
                           host_order order, cudaStream_t stream) {
    if (n < 0 || size <= 0 || incx <= 0 || incy <= 0) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const auto one = static_cast<std::size_t>(size);
    const auto count = static_cast<std::size_t>(n);
    if (incx == 1 && incy == 1) {
        return copy(count * one, 1, {x, count * one}, {y, count * one}, kind, order, stream);
    }
    return copy(one, count, {x, static_cast<std::size_t>(incx) * one}, {y, static_cast<std::size_t>(incy) * one}, kind,
                order, stream);
}

cublasStatus_t copy_matrix(int rows, int columns, int size, const void* a, int lda, void* b, int ldb, copy_kind kind,
                           host_order order, cudaStream_t stream) {
    if (rows < 0 || columns < 0 || size <= 0 || lda < std::max(1, rows) || ldb < std::max(1, rows)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const auto one = static_cast<std::size_t>(size);
    return copy(static_cast<std::size_t>(rows) * one, static_cast<std::size_t>(columns),
                {a, static_cast<std::size_t>(lda) * one}, {b, static_cast<std::size_t>(ldb) * one}, kind, order,
                stream);
}

} // namespace
} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime;
using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_TRANSFERS(Set, kind)                                                                                   \
    cublasStatus_t cublas##Set##Vector(int n, int size, const void* x, int incx, void* y, int incy) {                  \
        return copy_vector(n, size, x, incx, y, incy, kind, host_order::synchronous, nullptr);                         \
    }                                                                                                                  \
    cublasStatus_t cublas##Set##VectorAsync(int n, int size, const void* x, int incx, void* y, int incy,               \
                                            cudaStream_t stream) {                                                     \
        return copy_vector(n, size, x, incx, y, incy, kind, host_order::asynchronous, stream);                         \
    }                                                                                                                  \
    cublasStatus_t cublas##Set##Matrix(int rows, int columns, int size, const void* a, int lda, void* b, int ldb) {    \
        return copy_matrix(rows, columns, size, a, lda, b, ldb, kind, host_order::synchronous, nullptr);               \
    }                                                                                                                  \
    cublasStatus_t cublas##Set##MatrixAsync(int rows, int columns, int size, const void* a, int lda, void* b, int ldb, \
                                            cudaStream_t stream) {                                                     \
        return copy_matrix(rows, columns, size, a, lda, b, ldb, kind, host_order::asynchronous, stream);               \
    }
SOFTGPU_TRANSFERS(Set, copy_kind::host_to_device)
SOFTGPU_TRANSFERS(Get, copy_kind::device_to_host)
#undef SOFTGPU_TRANSFERS

} // extern "C"
#pragma GCC visibility pop
