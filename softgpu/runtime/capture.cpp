// SPDX-License-Identifier: MIT
// What programs ask about stream capture before they decide how to allocate or launch: nothing is ever being captured.
#include <cstddef>

#include "softgpu/runtime/call.hpp"

namespace softgpu::runtime {
namespace {

enum class capture_status : int { none = 0, active = 1, invalidated = 2 };
enum class capture_mode : int { global = 0, thread_local_ = 1, relaxed = 2 };

thread_local capture_mode this_threads_mode = capture_mode::global;

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaStreamIsCapturing(stream* s, capture_status* status) {
    return call([&](context& gpu, locked&) {
        require(status != nullptr);
        gpu.must_be_alive();
        gpu.checked(s);
        *status = capture_status::none;
    });
}

error cudaStreamGetCaptureInfo(stream* s, capture_status* status, unsigned long long*, void*, void*, void*,
                               std::size_t*) {
    return call([&](context& gpu, locked&) {
        require(status != nullptr);
        gpu.must_be_alive();
        gpu.checked(s);
        *status = capture_status::none;
    });
}

error cudaThreadExchangeStreamCaptureMode(capture_mode* mode) {
    return call([&] {
        require(mode != nullptr && *mode >= capture_mode::global && *mode <= capture_mode::relaxed);
        *mode = std::exchange(this_threads_mode, *mode);
    });
}

decltype(cudaStreamIsCapturing) cudaStreamIsCapturing_ptsz [[gnu::alias("cudaStreamIsCapturing")]];
decltype(cudaStreamGetCaptureInfo) cudaStreamGetCaptureInfo_ptsz [[gnu::alias("cudaStreamGetCaptureInfo")]];

// CUDA 12 has forms with fewer outputs; none is written while nothing is captured.
decltype(cudaStreamGetCaptureInfo) cudaStreamGetCaptureInfo_v2 [[gnu::alias("cudaStreamGetCaptureInfo")]];
decltype(cudaStreamGetCaptureInfo) cudaStreamGetCaptureInfo_v2_ptsz [[gnu::alias("cudaStreamGetCaptureInfo")]];
decltype(cudaStreamGetCaptureInfo) cudaStreamGetCaptureInfo_v3 [[gnu::alias("cudaStreamGetCaptureInfo")]];
decltype(cudaStreamGetCaptureInfo) cudaStreamGetCaptureInfo_v3_ptsz [[gnu::alias("cudaStreamGetCaptureInfo")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
