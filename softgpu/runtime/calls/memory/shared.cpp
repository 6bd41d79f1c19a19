// SPDX-License-Identifier: MIT
// Memory and events of one process in another one.
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/memory/shared_memory.hpp"

namespace softgpu::runtime {

#pragma GCC visibility push(default)
extern "C" {

error cudaIpcGetMemHandle(shared_handle* out, void* pointer) {
    return call([&](context& gpu, locked& lock) {
        require(out != nullptr && pointer != nullptr);
        gpu.require_usable();
        *out = share_memory(gpu, lock, reinterpret_cast<memory::address>(pointer), shared_kind::memory);
    });
}

error cudaIpcOpenMemHandle(void** pointer, shared_handle handle, unsigned flags) {
    return call([&](context& gpu, locked&) {
        constexpr unsigned lazy_peer_access = 1;
        require(pointer != nullptr && flags <= lazy_peer_access);
        gpu.require_usable();
        *pointer = reinterpret_cast<void*>(open_memory(gpu, handle, shared_kind::memory));
    });
}

error cudaIpcCloseMemHandle(void* pointer) {
    return call([&](context& gpu, locked& lock) {
        close_memory(gpu, lock, reinterpret_cast<memory::address>(pointer), shared_kind::memory);
    });
}

error cudaIpcGetEventHandle(shared_handle* out, event* e) {
    return call(e, [&](context& gpu, locked&) {
        require(out != nullptr);
        gpu.require_usable();
        const event& of = gpu.checked(e);
        require(of.shared != nullptr, error::invalid_resource_handle);
        *out = handle_of(shared_kind::event, gpu.number(), of.shared->file(), 0, of.shared->file().bytes());
    });
}

error cudaIpcOpenEventHandle(event** out, shared_handle handle) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        gpu.require_usable();
        auto made = std::make_unique<event>();
        made->flags = event_disable_timing | event_interprocess;
        made->shared = std::make_shared<shared_event>(open_handle(handle, shared_kind::event));
        *out = made.get();
        gpu.state().events.insert(std::move(made));
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
