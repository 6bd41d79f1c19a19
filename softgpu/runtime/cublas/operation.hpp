// SPDX-License-Identifier: MIT
// A call of cuBLAS as an operation of the handle's stream: what it reads and writes, for the checks, and its work on the
// host's cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/cublas/cublas_v2.h"

struct cublasContext {
    int device = 0;
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};

namespace softgpu::runtime::cublas {

// Rows of `width` bytes, `pitch` bytes apart: a column each of a matrix, or an element each of a vector. A triangle has less
// of each: by `element` bytes fewer from column to column.
struct operand {
    enum triangle : std::uint8_t { whole, lower, upper };

    const char* name = "";
    const void* base = nullptr;
    std::size_t width = 0;
    std::size_t pitch = 0;
    std::size_t rows = 0;
    bool writes = false;
    triangle part = whole;
    std::size_t element = 0;

    [[nodiscard]] std::size_t bytes() const noexcept { return rows == 0 ? 0 : (rows - 1) * pitch + width; }
};

// What a failure becomes; prints its message.
cublasStatus_t status_of(const failure& f);

// The frame of every call: body() returns a status and may throw failure.
template <class Body>
cublasStatus_t guarded(cublasHandle_t handle, Body&& body) noexcept {
    if (handle == nullptr) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    try {
        return body();
    } catch (const failure& f) {
        return status_of(f);
    } catch (const std::bad_alloc&) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    } catch (const std::exception& e) {
        report(e.what());
        return CUBLAS_STATUS_INTERNAL_ERROR;
    }
}

// A scalar of a call: of the host, read at the call, or of the device, read when the operation runs.
template <class T>
struct scalar {
    T held{};
    const T* at = nullptr;
    T operator()() const { return at == nullptr ? held : *at; }
};

class operation {
public:
    // What the operation finds out when it runs adds to the operands.
    using work = std::function<void(std::vector<operand>&)>;

    // The title is for timelines, reports and messages: "cublasSaxpy of 1000".
    operation(const cublasContext& on, std::string title) : on_(on), title_(std::move(title)) {}

    void uses(const operand& what) { operands_.push_back(what); }
    template <class T>
    [[nodiscard]] scalar<T> reads_scalar(const char* name, const T* at) {
        require(at != nullptr);
        if (on_.pointers == CUBLAS_POINTER_MODE_HOST) {
            return {*at, nullptr};
        }
        uses({name, at, sizeof(T), sizeof(T), 1, false});
        return {{}, at};
    }
    // Of `count` operands whose addresses the device has in an array.
    template <class T>
    void uses_addresses(const char* name, const T* array, std::int64_t count) {
        const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
        uses({name, array, bytes, bytes, 1, false});
    }
    // Where the pointers are the host's, the call waits for the result.
    template <class T>
    void writes_result(T* at) {
        require(at != nullptr);
        if (on_.pointers == CUBLAS_POINTER_MODE_HOST) {
            waits_ = true;
        } else {
            uses({"result", at, sizeof(T), sizeof(T), 1, true});
        }
    }
    // Issues it, or adds it to the graph that the stream captures. Throws failure.
    cublasStatus_t enqueue(work run);
    // The same for a batch whose addresses are in arrays: each one's operands are known, and checked, when it runs.
    cublasStatus_t enqueue_batch(std::int64_t count, std::function<std::vector<operand>(std::int64_t)> operands_of,
                                 std::function<void(std::int64_t)> run);

    [[nodiscard]] const std::string& title() const noexcept { return title_; }

private:
    const cublasContext& on_;
    std::string title_;
    std::vector<operand> operands_;
    bool waits_ = false;
};

// Throws failure, with a message, unless the device can access all of it. To be called with the lock held.
void require_operand(context& gpu, const std::string& title, const operand& what);

} // namespace softgpu::runtime::cublas
