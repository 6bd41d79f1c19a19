// SPDX-License-Identifier: MIT
// Memory for communication: allocated, and registered.
#include "softgpu/runtime/memory/allocations.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"
#include "softgpu/runtime/nccl/comm.hpp"

namespace softgpu::runtime::nccl {

void require_memory(context& gpu, const void* at, std::size_t bytes) {
    if (bytes != 0) {
        require_accessible(gpu, at, bytes, true);
    }
}

} // namespace softgpu::runtime::nccl

using namespace softgpu::runtime;
using namespace softgpu::runtime::nccl;

ncclResult_t ncclMemAlloc(void** pointer, size_t bytes) {
    return guarded([&] {
        if (pointer == nullptr || bytes == 0) {
            return ncclInvalidArgument;
        }
        locked lock = lock_devices();
        context& gpu = current_context();
        gpu.require_usable();
        *pointer = reinterpret_cast<void*>(allocate_after_pending_frees(
            gpu, lock, [&] { return gpu.memory().allocate(bytes, softgpu::memory::allocation_kind::device); }));
        return ncclSuccess;
    });
}

ncclResult_t ncclMemFree(void* pointer) {
    return guarded([&] {
        if (pointer != nullptr) {
            const auto at = reinterpret_cast<softgpu::memory::address>(pointer);
            locked lock = lock_devices();
            context& home = home_of(current_context(), at);
            require_freeable(home, at);
            home.wait_until_idle(lock);
            release(home, at);
        }
        return ncclSuccess;
    });
}

// Registered memory is used as any other.
ncclResult_t ncclCommRegister(ncclComm_t comm, void* data, size_t bytes, void** handle) {
    return guarded([&] {
        if (comm == nullptr || data == nullptr || bytes == 0 || handle == nullptr) {
            return ncclInvalidArgument;
        }
        const locked lock = lock_devices();
        require_memory(all_devices().at(comm->device), data, bytes);
        *handle = data;
        return ncclSuccess;
    });
}

ncclResult_t ncclCommDeregister(ncclComm_t comm, void* handle) {
    return comm == nullptr || handle == nullptr ? ncclInvalidArgument : ncclSuccess;
}
