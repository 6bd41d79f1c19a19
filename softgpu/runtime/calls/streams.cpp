// SPDX-License-Identifier: MIT
// Streams, their attributes, and host functions in them.
#include <algorithm>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"

namespace softgpu::runtime {
namespace {

using stream_callback = void (*)(stream* on, error status, void* user);

error create(stream** out, unsigned flags, int priority) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && (flags & ~stream_non_blocking) == 0);
        gpu.require_usable();
        auto made = std::make_unique<stream>();
        made->flags = flags;
        made->priority = std::clamp(priority, greatest_priority, least_priority);
        made->id = gpu.next_id();
        *out = &gpu.streams().add(std::move(made));
    });
}

enum class stream_attribute : int { window = 1, synchronization_policy = 3, priority = 8 };

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaStreamCreate(stream** out) { return create(out, 0, least_priority); }

error cudaStreamCreateWithFlags(stream** out, unsigned flags) { return create(out, flags, least_priority); }

error cudaStreamCreateWithPriority(stream** out, unsigned flags, int priority) { return create(out, flags, priority); }

// Its work continues.
error cudaStreamDestroy(stream* s) {
    return call(s, [&](context& gpu, locked&) {
        gpu.require_usable();
        require(!is_default(s), error::invalid_resource_handle);
        leave_capture(gpu, gpu.checked(s));
        gpu.streams().remove(s);
    });
}

error cudaStreamSynchronize(stream* s) {
    return call(s, [&](context& gpu, locked& lock) { gpu.wait(lock, gpu.tail(gpu.checked(s))); });
}

error cudaStreamQuery(stream* s) {
    return call(s, [&](context& gpu, locked& lock) { gpu.require_done(lock, gpu.tail(gpu.checked(s))); });
}

error cudaStreamWaitEvent(stream* s, event* e, unsigned flags) {
    return call(s, [&](context& gpu, locked&) {
        require(flags <= 1);
        gpu.require_usable();
        stream& on = gpu.checked(s);
        wait_for_event(gpu, on, home_of(gpu, e).checked(e), flags);
    });
}

error cudaStreamGetFlags(stream* s, unsigned* flags) {
    return give(s, flags, [&](context& gpu) { return gpu.checked(s).flags; });
}

error cudaStreamGetPriority(stream* s, int* priority) {
    return give(s, priority, [&](context& gpu) { return gpu.checked(s).priority; });
}

error cudaStreamGetId(stream* s, unsigned long long* id) {
    return give(s, id, [&](context& gpu) { return gpu.checked(s).id; });
}

error cudaStreamGetDevice(stream* s, int* device) {
    return call(s, [&](context& gpu, locked&) {
        require(device != nullptr);
        gpu.require_usable();
        gpu.checked(s);
        *device = gpu.number();
    });
}

error cudaLaunchHostFunc(stream* s, host_function run, void* user) {
    return call(s, [&](context& gpu, locked&) {
        require(run != nullptr);
        gpu.require_usable();
        enqueue_host_function(gpu, {run, user}, gpu.checked(s));
    });
}

error cudaStreamAddCallback(stream* s, stream_callback run, void* user, unsigned flags) {
    return call(s, [&](context& gpu, locked&) {
        require(run != nullptr && flags == 0);
        gpu.require_usable();
        describe_host_function(*gpu.issue(gpu.checked(s), operation_kind::host,
                                          [&gpu, s, run, user] { run(s, gpu.sticky_error(), user); }));
    });
}

error cudaStreamAttachMemAsync(stream* s, void* pointer, std::size_t, unsigned flags) {
    return call(s, [&](context& gpu, locked&) {
        require(flags == 1 || flags == 2 || flags == 4);
        gpu.require_usable();
        require_not_capturing(gpu.streams(), gpu.checked(s));
        const auto found = memory_of(gpu, pointer).find(reinterpret_cast<memory::address>(pointer));
        require(found.has_value() && found->kind == memory::allocation_kind::managed);
    });
}

error cudaStreamSetAttribute(stream* s, stream_attribute which, const launch_attribute_value* value) {
    return call(s, [&](context& gpu, locked&) {
        require(value != nullptr);
        gpu.require_usable();
        gpu.checked(s);
        require(!is_default(s), error::invalid_resource_handle);
        switch (which) {
        case stream_attribute::window: s->window = *value; return;
        case stream_attribute::synchronization_policy: s->policy = *value; return;
        case stream_attribute::priority:
            s->priority = std::clamp(value->priority, greatest_priority, least_priority);
            return;
        }
        fail(error::invalid_value);
    });
}

error cudaStreamGetAttribute(stream* s, stream_attribute which, launch_attribute_value* value) {
    return call(s, [&](context& gpu, locked&) {
        require(value != nullptr);
        gpu.require_usable();
        gpu.checked(s);
        require(!is_default(s), error::invalid_resource_handle);
        switch (which) {
        case stream_attribute::window: *value = s->window; return;
        case stream_attribute::synchronization_policy: *value = s->policy; return;
        case stream_attribute::priority:
            *value = {};
            value->priority = s->priority;
            return;
        }
        fail(error::invalid_value);
    });
}

error cudaStreamCopyAttributes(stream* destination, stream* source) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        home_of(gpu, destination).checked(destination);
        home_of(gpu, source).checked(source);
        require(!is_default(destination) && !is_default(source), error::invalid_resource_handle);
        destination->window = source->window;
        destination->policy = source->policy;
        destination->priority = source->priority;
    });
}

error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call([&] {
        if (least != nullptr) {
            *least = least_priority;
        }
        if (greatest != nullptr) {
            *greatest = greatest_priority;
        }
    });
}

error cudaStreamSynchronize_ptsz(stream* s) { return cudaStreamSynchronize(of_this_thread(s)); }

error cudaStreamQuery_ptsz(stream* s) { return cudaStreamQuery(of_this_thread(s)); }

error cudaStreamWaitEvent_ptsz(stream* s, event* e, unsigned flags) {
    return cudaStreamWaitEvent(of_this_thread(s), e, flags);
}

error cudaStreamGetFlags_ptsz(stream* s, unsigned* flags) { return cudaStreamGetFlags(of_this_thread(s), flags); }

error cudaStreamGetPriority_ptsz(stream* s, int* priority) {
    return cudaStreamGetPriority(of_this_thread(s), priority);
}

error cudaStreamGetId_ptsz(stream* s, unsigned long long* id) { return cudaStreamGetId(of_this_thread(s), id); }

error cudaStreamGetDevice_ptsz(stream* s, int* device) { return cudaStreamGetDevice(of_this_thread(s), device); }

error cudaLaunchHostFunc_ptsz(stream* s, host_function run, void* user) {
    return cudaLaunchHostFunc(of_this_thread(s), run, user);
}

error cudaStreamAddCallback_ptsz(stream* s, stream_callback run, void* user, unsigned flags) {
    return cudaStreamAddCallback(of_this_thread(s), run, user, flags);
}

error cudaStreamAttachMemAsync_ptsz(stream* s, void* pointer, std::size_t bytes, unsigned flags) {
    return cudaStreamAttachMemAsync(of_this_thread(s), pointer, bytes, flags);
}

error cudaStreamSetAttribute_ptsz(stream* s, stream_attribute which, const launch_attribute_value* value) {
    return cudaStreamSetAttribute(of_this_thread(s), which, value);
}

error cudaStreamGetAttribute_ptsz(stream* s, stream_attribute which, launch_attribute_value* value) {
    return cudaStreamGetAttribute(of_this_thread(s), which, value);
}

error cudaStreamCopyAttributes_ptsz(stream* destination, stream* source) {
    return cudaStreamCopyAttributes(of_this_thread(destination), of_this_thread(source));
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
