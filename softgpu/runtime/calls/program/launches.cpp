// SPDX-License-Identifier: MIT
// Launches: cudaLaunchKernel and the calls like it.
#include <span>
#include <string>
#include <utility>

#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/accounts/refused_launches.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/program/launch.hpp"

namespace softgpu::runtime {
namespace {

// Issues a launch. The configuration and the arguments are checked and copied; then the call is done.
void launch(context& gpu, locked& lock, const void* kernel, kernel_work work, void* const* arguments, stream& on) {
    work.what = &function_of(kernel);
    enqueue_kernel(gpu, lock, std::move(work), arguments, on);
}

// The calls that the syntax kernel<<<...>>>() becomes: a refused launch is recorded, because the syntax discards the error.
error launch_by_arguments(const void* kernel, const kernel_work& work, void* const* arguments, stream* on) {
    const bool by_syntax = refused_launches::take_launch_syntax();
    bool usable = false;
    const error result = call([&](context& gpu, locked& lock) {
        gpu.require_usable();
        usable = true;
        launch(gpu, lock, kernel, work, arguments, gpu.checked(on));
    });
    if (result != error::success && usable) { // with a sticky error the launch itself is not at fault
        const function* const what = registry::instance().find_function(kernel);
        refused_launches::add({.kernel = what == nullptr           ? std::string()
                                         : what->demangled.empty() ? what->name
                                                                   : what->demangled,
                               .symbol = what == nullptr ? std::string() : what->name,
                               .grid = work.grid,
                               .block = work.block,
                               .dynamic_shared_bytes = work.dynamic_shared_bytes,
                               .reason = result},
                              by_syntax);
    }
    return result;
}

// Attributes that need missing features are errors; hints are ignored.
kernel_work work_of(const launch_configuration& c) {
    kernel_work o{.grid = c.grid, .block = c.block, .dynamic_shared_bytes = c.dynamic_shared_bytes};
    require(c.attributes != nullptr || c.attribute_count == 0);
    for (const launch_attribute& a : std::span(c.attributes, c.attribute_count)) {
        if (a.id == launch_attribute_id::cooperative) {
            o.cooperative = a.value.cooperative != 0;
        } else if (a.id == launch_attribute_id::programmatic_stream_serialization) {
            o.may_start_early = a.value.programmatic_stream_serialization != 0;
        } else if (a.id == launch_attribute_id::cluster_dimensions) {
            require(count_of(a.value.cluster) != 0, error::invalid_cluster_size);
            o.cluster = a.value.cluster;
        } else if (a.id == launch_attribute_id::device_updatable_node) {
            fail(error::not_supported, "a launch as a graph's device-updatable node: it is not supported");
        }
    }
    return o;
}

void record_events(context& gpu, const launch_configuration& c, stream& on) {
    for (const launch_attribute& a : std::span(c.attributes, c.attribute_count)) {
        const bool completion = a.id == launch_attribute_id::launch_completion_event;
        if (completion || a.id == launch_attribute_id::programmatic_event) {
            event* e = completion ? a.value.completion_event.what : a.value.programmatic_event.what;
            record_event(gpu, gpu.checked(e), on, 0);
        }
    }
}

error launch_by_configuration(const launch_configuration* configuration, const void* kernel, void** arguments,
                              bool own_default) {
    return call([&](context& gpu, locked& lock) {
        require(configuration != nullptr);
        gpu.require_usable();
        kernel_work work = work_of(*configuration);
        stream* const on = own_default ? of_this_thread(configuration->stream) : configuration->stream;
        launch(gpu, lock, kernel, std::move(work), arguments, gpu.checked(on));
        record_events(gpu, *configuration, gpu.checked(on));
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaLaunchKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                       std::size_t dynamic_shared_bytes, stream* on) {
    return launch_by_arguments(kernel, {.grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared_bytes},
                               arguments, on);
}

error cudaLaunchKernel_ptsz(const void* kernel, dimensions grid, dimensions block, void** arguments,
                            std::size_t dynamic_shared_bytes, stream* on) {
    return cudaLaunchKernel(kernel, grid, block, arguments, dynamic_shared_bytes, of_this_thread(on));
}

error cudaLaunchCooperativeKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                                  std::size_t dynamic_shared_bytes, stream* on) {
    return launch_by_arguments(
        kernel, {.grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared_bytes, .cooperative = true},
        arguments, on);
}

error cudaLaunchCooperativeKernel_ptsz(const void* kernel, dimensions grid, dimensions block, void** arguments,
                                       std::size_t dynamic_shared_bytes, stream* on) {
    return cudaLaunchCooperativeKernel(kernel, grid, block, arguments, dynamic_shared_bytes, of_this_thread(on));
}

error cudaLaunchKernelExC(const launch_configuration* configuration, const void* kernel, void** arguments) {
    return launch_by_configuration(configuration, kernel, arguments, false);
}

error cudaLaunchKernelExC_ptsz(const launch_configuration* configuration, const void* kernel, void** arguments) {
    return launch_by_configuration(configuration, kernel, arguments, true);
}

// The launch syntax calls these since CUDA 13, with the kernel of __cudaGetKernel.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
decltype(cudaLaunchKernel) __cudaLaunchKernel [[gnu::alias("cudaLaunchKernel")]];
// NOLINTNEXTLINE(bugprone-reserved-identifier)
decltype(cudaLaunchKernel_ptsz) __cudaLaunchKernel_ptsz [[gnu::alias("cudaLaunchKernel_ptsz")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
