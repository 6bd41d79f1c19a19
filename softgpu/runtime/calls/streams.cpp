// SPDX-License-Identifier: MIT
// Streams: their life, their attributes, waiting for them and making them wait, and the host's functions in them.
#include "softgpu/runtime/core/stream.hpp"

#include <algorithm>
#include <cstdint>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/program/launch.hpp"

namespace softgpu::runtime {
namespace {

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

void describe_host_function(const operation& issued) {
    if (operation_journal::kept()) {
        operation_journal::describe(issued, {.on = observe::engine::host, .name = "host function"});
    }
}

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

// The work that is in it goes on.
error cudaStreamDestroy(stream* s) {
    return call([&](context& gpu, locked&) {
        gpu.must_be_alive();
        const auto at = gpu.state().streams.find(s);
        require(at != gpu.state().streams.end(), error::invalid_resource_handle);
        leave_capture(*s);
        gpu.retire(*s);
        gpu.state().streams.erase(at);
    });
}

error cudaStreamSynchronize(stream* s) {
    return call([&](context& gpu, locked& lock) { gpu.wait(lock, gpu.tail(gpu.checked(s))); });
}

error cudaStreamQuery(stream* s) {
    return call([&](context& gpu, locked& lock) {
        const operation_pointer what = gpu.tail(gpu.checked(s));
        lock.unlock();
        const bool done = executor::instance().is_done(what);
        lock.lock();
        if (done || gpu.poisoned()) {
            gpu.bring_to_light(lock);
        }
        require(done, error::not_ready);
    });
}

error cudaStreamWaitEvent(stream* s, event* e, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(flags <= 1);
        gpu.must_be_alive();
        stream& on = gpu.checked(s);
        wait_for_event(gpu, on, gpu.checked(e), flags);
    });
}

error cudaStreamGetFlags(stream* s, unsigned* flags) {
    return call([&](context& gpu, locked&) {
        require(flags != nullptr);
        gpu.must_be_alive();
        *flags = gpu.checked(s).flags;
    });
}

error cudaStreamGetPriority(stream* s, int* priority) {
    return call([&](context& gpu, locked&) {
        require(priority != nullptr);
        gpu.must_be_alive();
        *priority = gpu.checked(s).priority;
    });
}

error cudaStreamGetId(stream* s, unsigned long long* id) {
    return call([&](context& gpu, locked&) {
        require(id != nullptr);
        gpu.must_be_alive();
        *id = gpu.checked(s).id;
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
    return call([&](context& gpu, locked&) {
        require(run != nullptr);
        gpu.must_be_alive();
        stream& on = gpu.checked(s);
        if (is_capturing(on)) {
            capture_node(gpu, on, node_type::host).work = host_work{run, user};
            return;
        }
        describe_host_function(*gpu.issue(on, operation_kind::host, [&gpu, run, user] {
            if (!gpu.poisoned()) {
                run(user);
            }
        }));
    });
}

namespace {

void add_callback(stream* s, stream_callback run, void* user, unsigned flags) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    require(run != nullptr && flags == 0);
    gpu.must_be_alive();
    describe_host_function(*gpu.issue(gpu.checked(s), operation_kind::host,
                                      [&gpu, s, run, user] { run(s, gpu.fault(), user); }));
}

} // namespace

error cudaStreamAddCallback(stream* s, stream_callback run, void* user, unsigned flags) {
    return call([&] { add_callback(s, run, user, flags); });
}

error cudaStreamAttachMemAsync(stream* s, void* pointer, std::size_t, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(flags == 1 || flags == 2 || flags == 4);
        gpu.must_be_alive();
        require_not_capturing(gpu, gpu.checked(s));
        const auto found = gpu.memory().find(reinterpret_cast<memory::address>(pointer));
        require(found.has_value() && found->kind == memory::allocation_kind::managed);
    });
}

error cudaStreamSetAttribute(stream* s, stream_attribute which, const launch_attribute_value* value) {
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        gpu.must_be_alive();
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
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        gpu.must_be_alive();
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
        gpu.must_be_alive();
        gpu.checked(destination);
        gpu.checked(source);
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
