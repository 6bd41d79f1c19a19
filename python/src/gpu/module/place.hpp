// SPDX-License-Identifier: MIT
// Where a call of Python works.
#pragma once

#include <cuda_runtime_api.h>
#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "python/src/lock_released.hpp"
#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::python::on_gpu {

namespace nb = nanobind;

// A device, and the handle of a stream.
using place = std::pair<int, std::uintptr_t>;

inline cudaStream_t stream_of(std::uintptr_t handle) {
    return reinterpret_cast<cudaStream_t>(handle); // NOLINT(performance-no-int-to-ptr)
}

// The device of a call is current; afterwards the one that was.
class current_device {
public:
    explicit current_device(int device) {
        WARPFOLD_CHECK_CUDA(cudaGetDevice(&before_));
        if (before_ != device) {
            WARPFOLD_CHECK_CUDA(cudaSetDevice(device));
            is_changed_ = true;
        }
    }
    current_device(const current_device&) = delete;
    current_device& operator=(const current_device&) = delete;
    ~current_device() {
        if (is_changed_) {
            (void)cudaSetDevice(before_);
        }
    }

private:
    int before_ = 0;
    bool is_changed_ = false;
};

// The device's pool gives memory back to the system at every wait, unless someone has set another threshold: then the
// temporary memory of the next call would take as long as a cudaMalloc. Once per device.
inline void keep_small_memory(int device) {
    static std::array<std::once_flag, 64> done;
    if (device < 0 || device >= 64) {
        return;
    }
    std::call_once(done[static_cast<std::size_t>(device)], [device] {
        constexpr std::uint64_t kept = std::uint64_t{64} << 20; // bytes
        cudaMemPool_t pool = nullptr;
        std::uint64_t threshold = 0;
        const bool is_default =
            cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess &&
            cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess && threshold == 0;
        if (is_default) {
            threshold = kept;
            (void)cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
        }
        (void)cudaGetLastError(); // devices without pools
    });
}

// work(on) on the place's device and stream, without the interpreter's lock.
template <class Work>
void run(const place& at, const Work& work) {
    const lock_released unlocked;
    const current_device device(at.first);
    keep_small_memory(at.first);
    const gpu on{stream_of(at.second), nullptr};
    work(on);
}

// Memory, copies and the exchange of arrays with other packages, for the module.
void define_memory(nb::module_& m);

} // namespace warpfold::python::on_gpu
