// SPDX-License-Identifier: MIT
// Reads the current device's properties through the CUDA runtime.
#include "measure/facts.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "measure/check.hpp"

namespace warpfold::measure {

namespace {

std::string version_text(cudaError_t outcome, int version) {
    if (outcome != cudaSuccess || version <= 0) {
        return "unknown";
    }
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace

device_facts current_device() {
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    cudaDeviceProp properties{};
    WARPFOLD_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    device_facts facts;
    facts.name = properties.name;
    facts.compute_major = properties.major;
    facts.compute_minor = properties.minor;
    facts.multiprocessors = static_cast<unsigned>(properties.multiProcessorCount);
    facts.threads_per_block = static_cast<unsigned>(properties.maxThreadsPerBlock);
    facts.threads_per_multiprocessor = static_cast<unsigned>(properties.maxThreadsPerMultiProcessor);
    facts.blocks_per_multiprocessor = static_cast<unsigned>(properties.maxBlocksPerMultiProcessor);
    facts.memory_bytes = properties.totalGlobalMem;
    facts.l2_bytes = static_cast<std::uint64_t>(std::max(properties.l2CacheSize, 0));
    int version = 0;
    cudaError_t outcome = cudaDriverGetVersion(&version);
    facts.driver = version_text(outcome, version);
    outcome = cudaRuntimeGetVersion(&version);
    facts.runtime = version_text(outcome, version);
    return facts;
}

unsigned resident_blocks(const device_facts& device, unsigned threads) {
    const unsigned rounded = (std::max(threads, 1u) + 31) / 32 * 32;
    const unsigned by_threads = std::max(device.threads_per_multiprocessor / rounded, 1u);
    const unsigned by_blocks = std::max(device.blocks_per_multiprocessor, 1u);
    return std::max(device.multiprocessors, 1u) * std::min(by_threads, by_blocks);
}

} // namespace warpfold::measure
