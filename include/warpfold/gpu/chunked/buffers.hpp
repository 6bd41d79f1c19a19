// SPDX-License-Identifier: MIT
// Pinned host memory between a GPU and pageable memory or a file.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/gpu/core/error.hpp"

namespace warpfold {

// Allocating pinned memory takes as long as copying several times as many bytes. Programs that call often pass one of
// these in chunked_options, to one call at a time. It grows to what a call needs and keeps the memory.
class transfer_buffers {
public:
    transfer_buffers() = default;
    transfer_buffers(transfer_buffers&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)),
          registered_(std::exchange(other.registered_, false)) {}
    transfer_buffers& operator=(transfer_buffers&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        std::swap(registered_, other.registered_);
        return *this;
    }
    ~transfer_buffers() { release(); }

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    // At least `bytes` bytes; the old contents are lost. Throws cuda_error, out_of_memory.
    void* reserve(std::size_t bytes) {
        if (bytes > bytes_) {
            release();
            if (bytes < large_page || !take_large_pages(bytes)) {
                WARPFOLD_CHECK_CUDA(cudaHostAlloc(&memory_, bytes, cudaHostAllocPortable));
            }
            bytes_ = bytes;
        }
        return memory_;
    }

private:
    static constexpr std::size_t large_page = std::size_t{2} << 20;

    // Large pages, written by all threads and then pinned: 8 times as fast as cudaHostAlloc.
    bool take_large_pages(std::size_t bytes) {
        const std::size_t pages = (bytes + large_page - 1) / large_page;
        void* const memory = std::aligned_alloc(large_page, pages * large_page);
        if (memory == nullptr) {
            return false;
        }
        (void)::madvise(memory, pages * large_page, MADV_HUGEPAGE); // a hint
        try {
            detail::parallel_for(0, pages, [&](std::uint64_t page) {
                std::memset(static_cast<unsigned char*>(memory) + page * large_page, 0, large_page);
            });
        } catch (...) {
            std::free(memory);
            throw;
        }
        if (cudaHostRegister(memory, pages * large_page, cudaHostRegisterPortable) != cudaSuccess) {
            (void)cudaGetLastError();
            std::free(memory);
            return false;
        }
        memory_ = memory;
        registered_ = true;
        return true;
    }
    void release() noexcept {
        if (registered_) {
            (void)cudaHostUnregister(memory_);
            std::free(memory_);
        } else if (memory_ != nullptr) {
            (void)cudaFreeHost(memory_);
        }
        memory_ = nullptr;
        bytes_ = 0;
        registered_ = false;
    }

    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    bool registered_ = false;
};

namespace detail {

// `count` consecutive slots of `bytes` bytes.
inline std::vector<void*> slots_in(void* memory, unsigned count, std::size_t bytes) {
    std::vector<void*> slots(count);
    for (unsigned k = 0; k < count; ++k) {
        slots[k] = static_cast<unsigned char*>(memory) + k * bytes;
    }
    return slots;
}

// True if the device can copy from or to this memory directly.
inline bool is_reachable(const void* data, std::size_t bytes) {
    const auto* const last = static_cast<const unsigned char*>(data) + (bytes == 0 ? 0 : bytes - 1);
    for (const void* const at : {data, static_cast<const void*>(last)}) {
        cudaPointerAttributes facts{};
        if (cudaPointerGetAttributes(&facts, at) != cudaSuccess) {
            (void)cudaGetLastError();
            return false;
        }
        if (facts.type == cudaMemoryTypeUnregistered) {
            return false;
        }
    }
    return true;
}

} // namespace detail
} // namespace warpfold
