// SPDX-License-Identifier: MIT
#include "python/src/gpu/stream_workspace.hpp"

#include <cuda_runtime_api.h>

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "python/src/gpu/captured.hpp"
#include "warpfold/error.hpp"
#include "warpfold/gpu/core/workspace.hpp"

namespace warpfold::python::on_gpu {

namespace {

constexpr std::size_t kept_bytes = std::size_t{4} << 20;
constexpr std::size_t most_streams = 8; // of a device

struct stream_memory {
    explicit stream_memory(workspace allocated) : memory(std::move(allocated)) {}

    workspace memory;
    std::optional<unsigned long long> stream_id; // handles are used again for other streams; none: still free
    std::mutex enqueue_mutex;
    bool is_cleared = false; // guarded by it
};

// Entries stay until the process ends: the runtime may be gone when static objects are destroyed.
struct registry {
    std::mutex mutex;
    std::map<int, std::list<stream_memory>> of_device;
};
registry& workspace_registry() {
    static auto* const one = new registry; // NOLINT(cppcoreguidelines-owning-memory)
    return *one;
}

// Another thread may be capturing: that does not forbid these allocations. None where they fail.
std::list<stream_memory> allocated() {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    std::list<stream_memory> made;
    try {
        while (made.size() < most_streams) {
            made.emplace_back(workspace::uncleared(kept_bytes));
        }
    } catch (const error&) {
        (void)cudaGetLastError();
    }
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    return made;
}

stream_memory* memory_of(cudaStream_t stream) {
    int device = 0;
    unsigned long long stream_id = 0;
    if (is_captured(stream) || cudaGetDevice(&device) != cudaSuccess ||
        cudaStreamGetId(stream, &stream_id) != cudaSuccess) {
        (void)cudaGetLastError();
        return nullptr;
    }
    std::list<stream_memory> made; // freed without the lock, if another thread was first
    std::unique_lock lock(workspace_registry().mutex);
    auto& here = workspace_registry().of_device[device];
    if (here.empty()) {
        lock.unlock();
        made = allocated();
        lock.lock();
        if (here.empty()) {
            here.swap(made);
        }
    }
    for (stream_memory& one : here) { // the first streams come first
        if (!one.stream_id) {
            one.stream_id = stream_id;
        }
        if (one.stream_id == stream_id) {
            return &one;
        }
    }
    return nullptr;
}

} // namespace

workspace_of_stream::workspace_of_stream(const gpu& on, std::size_t bytes) : target_{on.stream, nullptr} {
    stream_memory* const found = bytes <= kept_bytes ? memory_of(on.stream) : nullptr;
    if (found == nullptr) {
        return;
    }
    std::unique_lock lock(found->enqueue_mutex);
    if (!found->is_cleared) {
        found->is_cleared = cudaMemsetAsync(found->memory.memory(), 0, kept_bytes, on.stream) == cudaSuccess;
    }
    if (found->is_cleared) {
        target_.memory = &found->memory;
        enqueue_lock_ = std::move(lock);
    } else {
        (void)cudaGetLastError();
    }
}

} // namespace warpfold::python::on_gpu
