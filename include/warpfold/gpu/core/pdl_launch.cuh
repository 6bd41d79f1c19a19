// SPDX-License-Identifier: MIT
// Launches that overlap with the end of what stands before them in the stream, where the card and the kernel can.
//
// A kernel launched by launch_after() may start while the kernel before it in the stream still runs. It has to call
// await_earlier() before it touches memory: there it waits until that kernel has ended and what it wrote can be seen.
// allow_later() lets what stands behind start in the same way; a kernel launched ordinarily waits for the end anyhow.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::detail {

__device__ inline void await_earlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ inline void allow_later() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// What has to be known of a kernel on the current device before it is launched, asked for once.
struct kernel_facts {
    bool after = false;  // its code waits by itself for what stands before it
    bool frugal = false; // a block of this card has no room for `shared` bytes: it gets `least`
    unsigned blocks = 0; // that fit on the device at the same time
};

// How the blocks of a kernel are made, where that has to be known beforehand.
struct block_shape {
    unsigned threads = 0;             // 0: nothing is asked but `after`
    std::size_t shared = 0;           // bytes, dynamic
    std::size_t least = 0;            // bytes that do where those are too many
    unsigned of_multiprocessor = ~0u; // blocks, at most
};

inline constexpr std::size_t allowed_to_all = 48 * 1024; // bytes of shared memory that a block gets unasked

// Allows `Kernel` the dynamic shared memory that its blocks get.
template <auto Kernel>
kernel_facts facts_of(const block_shape& shape = {}) {
    static std::array<std::atomic<unsigned>, 64> known{}; // by device: blocks, times 8, plus a bit each
    int device = 0;
    WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
    const bool kept = device >= 0 && device < 64;
    unsigned facts = kept ? known[static_cast<unsigned>(device)].load(std::memory_order_relaxed) : 0;
    if (facts == 0) {
        cudaFuncAttributes attributes{};
        WARPFOLD_CHECK_CUDA(cudaFuncGetAttributes(&attributes, Kernel));
        const bool after = attributes.ptxVersion >= 90 && attributes.binaryVersion >= 90;
        bool frugal = false;
        unsigned blocks = 0;
        if (shape.threads != 0) {
            const std::size_t room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
            frugal = attributes.sharedSizeBytes + shape.shared > room;
            const std::size_t shared = frugal ? shape.least : shape.shared;
            if (attributes.sharedSizeBytes + shared > allowed_to_all) {
                WARPFOLD_CHECK_CUDA(cudaFuncSetAttribute(Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                         static_cast<int>(shared)));
            }
            int of_one = 0;
            WARPFOLD_CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, Kernel,
                                                                              static_cast<int>(shape.threads), shared));
            blocks = std::min(static_cast<unsigned>(of_one), shape.of_multiprocessor) *
                     device_attribute(cudaDevAttrMultiProcessorCount);
        }
        facts = blocks * 8 + (frugal ? 4 : 0) + (after ? 2 : 0) + 1;
        if (kept) {
            known[static_cast<unsigned>(device)].store(facts, std::memory_order_relaxed);
        }
    }
    return {(facts & 2) != 0, (facts & 4) != 0, facts / 8};
}

template <class... P>
void launch_after(const kernel_facts& facts, void (*kernel)(P...), unsigned blocks, unsigned threads,
                  std::size_t shared, cudaStream_t stream, const P&... arguments) {
    cudaLaunchConfig_t how{};
    how.gridDim = dim3(blocks);
    how.blockDim = dim3(threads);
    how.dynamicSmemBytes = shared;
    how.stream = stream;
    cudaLaunchAttribute after{};
    after.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    after.val.programmaticStreamSerializationAllowed = 1;
    how.attrs = &after;
    how.numAttrs = facts.after ? 1 : 0;
    const void* each[] = {static_cast<const void*>(&arguments)...};
    WARPFOLD_CHECK_CUDA(cudaLaunchKernelExC(&how, reinterpret_cast<const void*>(kernel), const_cast<void**>(each)));
}

} // namespace warpfold::detail
