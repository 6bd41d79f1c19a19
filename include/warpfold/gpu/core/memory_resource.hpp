// SPDX-License-Identifier: MIT
// Where calls get device memory: the stream's memory pool, or a resource of the user.
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "warpfold/error.hpp"
#include "warpfold/gpu/core/error.hpp"

namespace warpfold {

namespace detail {

template <class R>
concept resource_by_stream = requires(R& resource, cudaStream_t stream, void* memory, std::size_t bytes) {
    { resource.allocate(stream, bytes, bytes) } -> std::convertible_to<void*>;
    resource.deallocate(stream, memory, bytes, bytes);
};
template <class R>
concept resource_by_async = requires(R& resource, cudaStream_t stream, void* memory, std::size_t bytes) {
    { resource.allocate_async(bytes, bytes, stream) } -> std::convertible_to<void*>;
    resource.deallocate_async(memory, bytes, bytes, stream);
};

} // namespace detail

// A resource that allocates device memory in stream order, as those of cuda::mr and RMM do. Either
//
//  allocate(stream, bytes, alignment), deallocate(stream, memory, bytes, alignment)                    or
//  allocate_async(bytes, alignment, stream), deallocate_async(memory, bytes, alignment, stream)
//
// where `stream` is anything that a cudaStream_t converts to. Memory is valid for work that is enqueued in `stream`
// between the two. Failures are exceptions; deallocation throws nothing.
template <class R>
concept stream_ordered_resource = detail::resource_by_stream<R> || detail::resource_by_async<R>;

namespace detail {

// Alignment of all memory that calls allocate, as of cudaMalloc.
inline constexpr std::size_t device_alignment = 256;

struct resource_functions {
    void* (*allocate)(void* resource, cudaStream_t stream, std::size_t bytes);
    void (*deallocate)(void* resource, cudaStream_t stream, void* memory, std::size_t bytes) noexcept;
};

template <class R>
struct functions_of_resource {
    static void* allocate(void* resource, cudaStream_t stream, std::size_t bytes) {
        R& of = *static_cast<R*>(resource);
        if constexpr (resource_by_stream<R>) {
            return of.allocate(stream, bytes, device_alignment);
        } else {
            return of.allocate_async(bytes, device_alignment, stream);
        }
    }
    static void deallocate(void* resource, cudaStream_t stream, void* memory, std::size_t bytes) noexcept {
        R& of = *static_cast<R*>(resource);
        if constexpr (resource_by_stream<R>) {
            of.deallocate(stream, memory, bytes, device_alignment);
        } else {
            of.deallocate_async(memory, bytes, device_alignment, stream);
        }
    }
    static constexpr resource_functions all{&allocate, &deallocate};
};

// A user's resource, which outlives this, or none: then the pool of the stream's device or, on devices without pools,
// cudaMalloc and cudaFree, which waits for the device.
class resource_ref {
public:
    constexpr resource_ref() = default;
    template <class R>
    constexpr explicit resource_ref(R& resource)
        : resource_(const_cast<std::remove_const_t<R>*>(&resource)), functions_(&functions_of_resource<R>::all) {}

    // Throws out_of_memory, cuda_error and what the resource throws.
    [[nodiscard]] void* allocate(cudaStream_t stream, std::size_t bytes, bool& pooled) const {
        void* memory = nullptr;
        if (functions_ != nullptr) {
            memory = functions_->allocate(resource_, stream, bytes);
            check(stream, memory, bytes);
            return memory;
        }
        const cudaError_t code = cudaMallocAsync(&memory, bytes, stream);
        pooled = code != cudaErrorNotSupported;
        if (pooled) {
            detail::cuda_check(code, "cudaMallocAsync", __FILE__, __LINE__);
        } else {
            (void)cudaGetLastError();
            WARPFOLD_CHECK_CUDA(cudaMalloc(&memory, bytes));
        }
        return memory;
    }
    void deallocate(cudaStream_t stream, void* memory, std::size_t bytes, bool pooled) const noexcept {
        if (functions_ != nullptr) {
            functions_->deallocate(resource_, stream, memory, bytes);
        } else if (pooled) {
            (void)cudaFreeAsync(memory, stream);
        } else {
            (void)cudaFree(memory);
        }
    }

private:
    void check(cudaStream_t stream, void* memory, std::size_t bytes) const {
        if (memory == nullptr) {
            throw out_of_memory(cudaErrorMemoryAllocation, "warpfold: the memory resource gives a null pointer for " +
                                                               std::to_string(bytes) + " bytes");
        }
        if (reinterpret_cast<std::uintptr_t>(memory) % device_alignment != 0) {
            functions_->deallocate(resource_, stream, memory, bytes);
            throw invalid_argument("warpfold: the memory resource gives memory that is not aligned to " +
                                   std::to_string(device_alignment) + " bytes");
        }
    }

    void* resource_ = nullptr;
    const resource_functions* functions_ = nullptr;
};

} // namespace detail
} // namespace warpfold
