// SPDX-License-Identifier: MIT
#include "python/src/gpu/module/page_locked.hpp"

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

#include "warpfold/gpu/core/error.hpp"

namespace warpfold::python::on_gpu {

namespace {

// Stays until the process ends: the runtime may be gone when static objects are destroyed.
struct free_list {
    std::mutex mutex;
    std::vector<char*> places;
};
free_list& unused() {
    static auto* const one = new free_list; // NOLINT(cppcoreguidelines-owning-memory)
    return *one;
}

// Another thread may be capturing: that does not forbid this allocation.
void allocate(std::vector<char*>& places) {
    constexpr std::size_t page = 4096;
    void* memory = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    const cudaError_t code = cudaHostAlloc(&memory, page, cudaHostAllocPortable);
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    WARPFOLD_CHECK_CUDA(code);
    for (std::size_t at = 0; at < page; at += page_locked::bytes) {
        places.push_back(static_cast<char*>(memory) + at);
    }
}

} // namespace

page_locked::page_locked() {
    const std::scoped_lock lock(unused().mutex);
    auto& places = unused().places;
    if (places.empty()) {
        allocate(places);
    }
    data_ = places.back();
    places.pop_back();
}

page_locked::~page_locked() {
    const std::scoped_lock lock(unused().mutex);
    unused().places.push_back(data_); // which has the capacity
}

} // namespace warpfold::python::on_gpu
