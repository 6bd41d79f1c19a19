// SPDX-License-Identifier: MIT
// Memory of a communicator of NCCL: for values that pass through the host's memory, and for what enqueued steps report.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/ranks/agreement.hpp"

namespace warpfold::detail {

// Device memory of a communicator, used by one call after the other.
struct nccl_scratch {
    alignas(16) unsigned char zero[2560];   // between calls; limbs of exact sums
    alignas(16) unsigned char carried[512]; // what precedes a rank's part of a scan
    alignas(16) std::uint64_t first;        // how many elements precede a rank's part
    int first_refused;                      // other than 0: ranks differed in the first gather of a call of two
};

enum class gather_order { only, first_of_two, second };

// Of one gather: its place in its call and among those of its communicator.
struct gather_place {
    gather_order order;
    int* first_refused;   // of the communicator: see nccl_scratch
    std::uint64_t number; // of the rank's gathers, from 1; 0 in a graph
};

struct free_pinned {
    void operator()(void* memory) const { (void)cudaFreeHost(memory); }
};

// Buffers that grow; what they held is lost then.
class staging {
public:
    unsigned char* host(std::size_t bytes) {
        if (bytes > host_bytes_) {
            void* memory = nullptr;
            bytes = std::max(bytes, 2 * host_bytes_);
            WARPFOLD_CHECK_CUDA(cudaMallocHost(&memory, bytes));
            host_.emplace_back(static_cast<unsigned char*>(memory));
            host_bytes_ = bytes;
        }
        return host_.empty() ? nullptr : host_.back().get();
    }
    unsigned char* device(std::size_t bytes, cudaStream_t stream) {
        if (bytes > device_bytes_) {
            bytes = std::max(bytes, 2 * device_bytes_);
            device_.push_back(std::make_unique<stream_ordered_memory>(stream, bytes));
            device_bytes_ = bytes;
        }
        return device_.empty() ? nullptr : static_cast<unsigned char*>(device_.back()->data());
    }

private:
    // The last ones are used. Others are freed at the end: that may wait for the device, or be a part of a capture.
    std::vector<std::unique_ptr<unsigned char, free_pinned>> host_;
    std::vector<std::unique_ptr<stream_ordered_memory>> device_;
    std::size_t host_bytes_ = 0, device_bytes_ = 0;
};

// In pinned memory: set by a kernel that meets a rank that failed or makes another call. The frames follow.
struct enqueued_fault {
    int there = 0;
    int ranks = 0;
    int stop = 0;              // set by the host: kernels no longer wait for other ranks
    int late = 0;              // set by a kernel that waited for mailboxes in vain
    std::uint32_t missing = 0; // of that kernel: bit r: nothing came from rank r
    int unused = 0;
    std::uint64_t number = 0; // gather_place::number of the gather
    std::uint64_t limit = 0;  // how long a kernel waits for mailboxes, ns; 0: for ever

    [[nodiscard]] __host__ __device__ rank_frame* first() { return reinterpret_cast<rank_frame*>(this + 1); }
    [[nodiscard]] bool is_there() const { return __atomic_load_n(&there, __ATOMIC_ACQUIRE) != 0; }
    [[nodiscard]] bool is_late() const { return __atomic_load_n(&late, __ATOMIC_ACQUIRE) != 0; }
    // "of rank 1 rank 3 nothing was heard", where a kernel waited for them.
    [[nodiscard]] std::string what_is_missing() const {
        std::string named;
        for (int r = 0; is_late() && r < ranks && r < 32; ++r) {
            named += (missing >> r & 1) != 0 ? " rank " + std::to_string(r) : "";
        }
        return named.empty() ? "the stream waits for other work, or in NCCL, which does not say for which rank"
                             : "of" + named + " nothing was heard";
    }
    [[nodiscard]] std::vector<rank_frame> frames() { return {first(), first() + ranks}; }
};
static_assert(sizeof(enqueued_fault) % alignof(rank_frame) == 0);

inline std::unique_ptr<enqueued_fault, free_pinned> make_enqueued_fault(int ranks, std::uint64_t limit) {
    void* memory = nullptr;
    const std::size_t bytes = sizeof(enqueued_fault) + static_cast<std::size_t>(ranks) * sizeof(rank_frame);
    WARPFOLD_CHECK_CUDA(cudaMallocHost(&memory, bytes));
    std::memset(memory, 0, bytes);
    return std::unique_ptr<enqueued_fault, free_pinned>(new (memory) enqueued_fault{.ranks = ranks, .limit = limit},
                                                        free_pinned{});
}

} // namespace warpfold::detail
