// SPDX-License-Identifier: MIT
// Memory of the host that kernels write: a call that waits for a few numbers needs no copy, and no memory of the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "python/src/gpu/module/place.hpp"
#include "warpfold/gpu/core/error.hpp"

namespace warpfold::python::on_gpu {

// 64 bytes, used again by later calls. What kernels wrote there is seen by the host after a wait for their stream.
class page_locked {
public:
    static constexpr std::size_t bytes = 64;

    // Throws cuda_error.
    page_locked();
    page_locked(const page_locked&) = delete;
    page_locked& operator=(const page_locked&) = delete;
    ~page_locked();

    [[nodiscard]] char* data() const noexcept { return data_; }

private:
    char* data_;
};

// The number that work(on, where it goes) enqueues. Waits.
template <class Work>
std::uint64_t number_of(const place& at, const Work& work) {
    const page_locked room;
    auto* const number = reinterpret_cast<std::uint64_t*>(room.data());
    run(at, [&](const gpu& on) {
        work(on, number);
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
    });
    return *number;
}

} // namespace warpfold::python::on_gpu
