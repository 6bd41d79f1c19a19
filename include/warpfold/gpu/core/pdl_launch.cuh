// SPDX-License-Identifier: MIT
// Programmatic dependent launch (PDL), from compute capability 9.0 on; elsewhere all of this is an ordinary launch.
//
// A kernel launched by pdl_launch() may start before the previous kernel of the stream has ended. It calls pdl_wait()
// before its first access to global memory: the previous kernel has ended then, and its writes are visible.
// pdl_trigger() allows the next kernel of the stream to start in the same way; one launched ordinarily still waits.
//
// CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::detail {

__device__ inline void pdl_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ inline void pdl_trigger() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Properties of a kernel on the current device.
struct kernel_properties {
    bool uses_pdl = false;            // its code was compiled for a device with PDL
    bool has_fallback_shared = false; // its blocks get `fallback_shared` bytes
    unsigned resident_blocks = 0;     // that the whole device holds at once; 0 where no block size was given
};

// The blocks of a kernel, where its properties depend on them. Bytes are of dynamic shared memory.
struct block_config {
    unsigned threads = 0;
    std::size_t shared = 0;
    std::size_t fallback_shared = 0; // for devices that do not have `shared` bytes for a block
    unsigned most_per_multiprocessor = ~0u;
};

inline constexpr std::size_t default_shared_bytes = 48 * 1024; // that every block may have without an attribute

// The kernel's properties, from the runtime once for each device, then from a table. Sets the kernel's attribute for
// dynamic shared memory where `config` needs it.
template <auto Kernel>
kernel_properties properties_of(const block_config& config = {}) {
    // By device: resident blocks * 8 + has_fallback_shared * 4 + uses_pdl * 2 + 1, or 0 while unknown.
    static std::array<std::atomic<unsigned>, 64> cached{};
    const int device = current_device();
    const bool is_cached = device >= 0 && device < 64;
    unsigned packed = is_cached ? cached[static_cast<unsigned>(device)].load(std::memory_order_relaxed) : 0;
    if (packed == 0) {
        cudaFuncAttributes attributes{};
        WARPFOLD_CHECK_CUDA(cudaFuncGetAttributes(&attributes, Kernel));
        const bool uses_pdl = attributes.ptxVersion >= 90 && attributes.binaryVersion >= 90;
        bool falls_back = false;
        unsigned blocks = 0;
        if (config.threads != 0) {
            const std::size_t most = device_attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>();
            falls_back = attributes.sharedSizeBytes + config.shared > most;
            const std::size_t shared = falls_back ? config.fallback_shared : config.shared;
            if (attributes.sharedSizeBytes + shared > default_shared_bytes) {
                WARPFOLD_CHECK_CUDA(cudaFuncSetAttribute(Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                         static_cast<int>(shared)));
            }
            int of_one = 0;
            WARPFOLD_CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &of_one, Kernel, static_cast<int>(config.threads), shared));
            blocks = std::min(static_cast<unsigned>(of_one), config.most_per_multiprocessor) *
                     device_attribute<cudaDevAttrMultiProcessorCount>();
        }
        packed = blocks * 8 + (falls_back ? 4 : 0) + (uses_pdl ? 2 : 0) + 1;
        if (is_cached) {
            cached[static_cast<unsigned>(device)].store(packed, std::memory_order_relaxed);
        }
    }
    return {(packed & 2) != 0, (packed & 4) != 0, packed / 8};
}

// Launches a kernel, with PDL where it uses it. Throws cuda_error.
template <class... P>
void pdl_launch(const kernel_properties& properties, void (*kernel)(P...), dim3 blocks, unsigned threads,
                std::size_t shared, cudaStream_t stream, const P&... arguments) {
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    cudaLaunchAttribute pdl{};
    pdl.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    pdl.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &pdl;
    config.numAttrs = properties.uses_pdl ? 1 : 0;
    const void* each[] = {static_cast<const void*>(&arguments)...};
    WARPFOLD_CHECK_CUDA(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), const_cast<void**>(each)));
}

} // namespace warpfold::detail
