// SPDX-License-Identifier: MIT
// Streams: every piece of work runs when it is issued, so synchronising only brings kernels' errors to light.
#include "softgpu/runtime/stream.hpp"

#include <algorithm>
#include <cstdint>

#include "softgpu/runtime/call.hpp"

namespace softgpu::runtime {
namespace {

using host_function = void (*)(void* user);
using stream_callback = void (*)(stream* on, error status, void* user);

void create(stream** out, unsigned flags, int priority) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    require(out != nullptr && (flags & ~stream_non_blocking) == 0);
    gpu.must_be_alive();
    auto made = std::make_unique<stream>();
    made->flags = flags;
    made->priority = std::clamp(priority, greatest_priority, least_priority);
    made->id = gpu.next_id();
    *out = made.get();
    gpu.state().streams.insert(std::move(made));
}

// Attributes that streams have here: 1 the access policy window, 3 the synchronisation policy, 8 the priority.
enum class stream_attribute : int { window = 1, synchronization_policy = 3, priority = 8 };

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaStreamCreate(stream** out) {
    return call([&] { create(out, 0, least_priority); });
}

error cudaStreamCreateWithFlags(stream** out, unsigned flags) {
    return call([&] { create(out, flags, least_priority); });
}

error cudaStreamCreateWithPriority(stream** out, unsigned flags, int priority) {
    return call([&] { create(out, flags, priority); });
}

error cudaStreamDestroy(stream* s) {
    return call([&](context& gpu, locked&) {
        gpu.must_be_alive();
        const auto at = gpu.state().streams.find(s);
        require(at != gpu.state().streams.end(), error::invalid_resource_handle);
        gpu.state().streams.erase(at);
    });
}

error cudaStreamSynchronize(stream* s) {
    return call([&](context& gpu, locked&) {
        gpu.checked(s);
        gpu.synchronize();
    });
}

error cudaStreamQuery(stream* s) {
    return call([&](context& gpu, locked&) {
        gpu.checked(s);
        gpu.synchronize();
    });
}

error cudaStreamWaitEvent(stream* s, event* e, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(flags <= 1);
        gpu.must_be_alive();
        gpu.checked(s);
        gpu.checked(e);
    });
}

error cudaStreamGetFlags(stream* s, unsigned* flags) {
    return call([&](context& gpu, locked&) {
        require(flags != nullptr);
        gpu.must_be_alive();
        *flags = is_default(gpu.checked(s)) ? 0 : s->flags;
    });
}

error cudaStreamGetPriority(stream* s, int* priority) {
    return call([&](context& gpu, locked&) {
        require(priority != nullptr);
        gpu.must_be_alive();
        *priority = is_default(gpu.checked(s)) ? least_priority : s->priority;
    });
}

error cudaStreamGetId(stream* s, unsigned long long* id) {
    return call([&](context& gpu, locked&) {
        require(id != nullptr);
        gpu.must_be_alive();
        *id = is_default(gpu.checked(s)) ? reinterpret_cast<std::uintptr_t>(s) : s->id + 2;
    });
}

error cudaStreamGetDevice(stream* s, int* device) {
    return call([&](context& gpu, locked&) {
        require(device != nullptr);
        gpu.must_be_alive();
        gpu.checked(s);
        *device = 0;
    });
}

error cudaLaunchHostFunc(stream* s, host_function run, void* user) {
    return call([&](context& gpu, locked& lock) {
        require(run != nullptr);
        gpu.must_be_alive();
        gpu.checked(s);
        const bool runs = !gpu.poisoned();
        lock.unlock();
        if (runs) {
            run(user);
        }
    });
}

error cudaStreamAddCallback(stream* s, stream_callback run, void* user, unsigned flags) {
    return call([&](context& gpu, locked& lock) {
        require(run != nullptr && flags == 0);
        gpu.must_be_alive();
        gpu.checked(s);
        lock.unlock();
        run(s, gpu.poisoned() ? gpu.fault() : error::success, user);
    });
}

error cudaStreamAttachMemAsync(stream* s, void* pointer, std::size_t, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(flags == 1 || flags == 2 || flags == 4);
        gpu.must_be_alive();
        gpu.checked(s);
        const auto found = gpu.memory().find(reinterpret_cast<memory::address>(pointer));
        require(found.has_value() && found->kind == memory::allocation_kind::managed);
    });
}

error cudaStreamSetAttribute(stream* s, stream_attribute which, const launch_attribute_value* value) {
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        gpu.must_be_alive();
        require(!is_default(gpu.checked(s)), error::invalid_resource_handle);
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
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        gpu.must_be_alive();
        require(!is_default(gpu.checked(s)), error::invalid_resource_handle);
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
        gpu.must_be_alive();
        require(!is_default(gpu.checked(destination)) && !is_default(gpu.checked(source)),
                error::invalid_resource_handle);
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

decltype(cudaStreamSynchronize) cudaStreamSynchronize_ptsz [[gnu::alias("cudaStreamSynchronize")]];
decltype(cudaStreamQuery) cudaStreamQuery_ptsz [[gnu::alias("cudaStreamQuery")]];
decltype(cudaStreamWaitEvent) cudaStreamWaitEvent_ptsz [[gnu::alias("cudaStreamWaitEvent")]];
decltype(cudaStreamGetFlags) cudaStreamGetFlags_ptsz [[gnu::alias("cudaStreamGetFlags")]];
decltype(cudaStreamGetPriority) cudaStreamGetPriority_ptsz [[gnu::alias("cudaStreamGetPriority")]];
decltype(cudaStreamGetId) cudaStreamGetId_ptsz [[gnu::alias("cudaStreamGetId")]];
decltype(cudaStreamGetDevice) cudaStreamGetDevice_ptsz [[gnu::alias("cudaStreamGetDevice")]];
decltype(cudaLaunchHostFunc) cudaLaunchHostFunc_ptsz [[gnu::alias("cudaLaunchHostFunc")]];
decltype(cudaStreamAddCallback) cudaStreamAddCallback_ptsz [[gnu::alias("cudaStreamAddCallback")]];
decltype(cudaStreamAttachMemAsync) cudaStreamAttachMemAsync_ptsz [[gnu::alias("cudaStreamAttachMemAsync")]];
decltype(cudaStreamSetAttribute) cudaStreamSetAttribute_ptsz [[gnu::alias("cudaStreamSetAttribute")]];
decltype(cudaStreamGetAttribute) cudaStreamGetAttribute_ptsz [[gnu::alias("cudaStreamGetAttribute")]];
decltype(cudaStreamCopyAttributes) cudaStreamCopyAttributes_ptsz [[gnu::alias("cudaStreamCopyAttributes")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
