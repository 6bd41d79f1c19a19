// SPDX-License-Identifier: MIT
// Launches: is it a configuration that the card takes, then run it, then account for it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "softgpu/machine/launch.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/program/functions.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/cards/occupancy.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/printed.hpp"
#include "softgpu/runtime/accounts/profile.hpp"
#include "softgpu/runtime/accounts/refused_launches.hpp"
#include "softgpu/runtime/program/launch.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::uint64_t most_threads = 1024;

std::uint64_t count(const dimensions& d) { return std::uint64_t{d.x} * d.y * d.z; }

// A GPU of today answers every configuration that it does not take with invalid_value.
void require_configuration(const card& device, const machine::kernel_facts& facts, const kernel_work& o) {
    require(o.grid.x != 0 && o.grid.y != 0 && o.grid.z != 0 && o.block.x != 0 && o.block.y != 0 && o.block.z != 0);
    require(o.grid.x <= 0x7FFFFFFF && o.grid.y <= 65535 && o.grid.z <= 65535);
    require(o.block.x <= 1024 && o.block.y <= 1024 && o.block.z <= 64 && count(o.block) <= most_threads);
    require(facts.maxntid == 0 || count(o.block) <= facts.maxntid);
    if (facts.reqntid[0] != 0) {
        require(o.block.x == facts.reqntid[0] && o.block.y == std::max(facts.reqntid[1], 1u) &&
                o.block.z == std::max(facts.reqntid[2], 1u));
    }
    require(o.dynamic_shared_bytes <= max_dynamic_shared(device, facts, *o.what));
    require(facts.static_shared_bytes <= static_cast<std::uint32_t>(device.shared_per_block),
            error::invalid_kernel_image);
}

std::uint64_t resident_blocks(const card& device, const machine::kernel_facts& facts, const kernel_work& o) {
    return std::uint64_t{blocks_per_multiprocessor(device, facts, count(o.block), o.dynamic_shared_bytes)} *
           static_cast<std::uint64_t>(device.multiprocessors);
}

std::vector<std::byte> pack(const machine::kernel_facts& facts, void* const* arguments) {
    std::vector<std::byte> block(std::max(facts.parameter_bytes, 1u)); // never a null pointer
    for (std::size_t i = 0; i < facts.parameter_offsets.size(); ++i) {
        require(arguments != nullptr && arguments[i] != nullptr);
        std::memcpy(block.data() + facts.parameter_offsets[i], arguments[i], facts.parameter_sizes[i]);
    }
    return block;
}

error error_of(machine::fault_kind kind) noexcept {
    switch (kind) {
    case machine::fault_kind::none: return error::success;
    case machine::fault_kind::illegal_address: return error::illegal_address;
    case machine::fault_kind::misaligned_address: return error::misaligned_address;
    case machine::fault_kind::trap: return error::launch_failure;
    case machine::fault_kind::assertion: return error::assert;
    case machine::fault_kind::unsupported: return error::not_supported;
    case machine::fault_kind::invalid_ptx: return error::invalid_ptx;
    case machine::fault_kind::deadlock: return error::launch_timeout;
    case machine::fault_kind::stack_overflow: return error::hardware_stack_error;
    }
    return error::unknown;
}

std::uint64_t limit_or(context& gpu, limit which, std::uint64_t standard) {
    const auto set = gpu.state().limits.find(which);
    return set == gpu.state().limits.end() ? standard : set->second;
}

// Each launch has a schedule of its own, by its place in the order of issue.
std::optional<std::uint64_t> seed_of(const settings& s, std::uint64_t launch) {
    return s.seed ? std::optional(*s.seed * 0x9E3779B97F4A7C15ull + (launch - s.seed_from)) : std::nullopt;
}

machine::extent extent_of(const dimensions& d) { return {d.x, d.y, d.z}; }

// CUDA's own variable: a launch then returns when the kernel is over, with what became of it.
bool launches_block() {
    static const bool asked = [] {
        const char* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
        return value != nullptr && std::strtol(value, nullptr, 10) != 0;
    }();
    return asked;
}

// The kernel and its configuration are checked, the arguments are copied, and then the call is over.
void launch(context& gpu, locked& lock, kernel_work work, void* const* arguments, stream* handle) {
    gpu.must_be_alive();
    stream& on = gpu.checked(handle);
    require_launchable(gpu, work);
    work.parameters = pack(*work.what->image.facts, arguments);
    apply_limits(gpu, work);
    if (is_capturing(on)) {
        graph_node& node = capture_node(gpu, on, node_type::kernel);
        node.work = with_arguments(std::make_shared<kernel_work>(std::move(work)));
        return;
    }
    const std::uint64_t number = journal::instance().next_launch();
    const function& what = *work.what;
    const operation_pointer issued = gpu.issue(on, operation_kind::device, [&gpu, number, work = std::move(work)] {
        perform(gpu, work, number);
    });
    describe_kernel(*issued, what.demangled, number);
    if (launches_block()) {
        gpu.wait(lock, issued);
    }
}

error launch(const void* kernel, kernel_work work, void* const* arguments, stream* on) {
    const bool by_syntax = refused::take_launch_syntax();
    const dimensions grid = work.grid;
    const dimensions block = work.block;
    const std::uint64_t dynamic_shared_bytes = work.dynamic_shared_bytes;
    bool alive = false;
    const error result = call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        alive = true;
        gpu.checked(on);
        work.what = &function_of(kernel);
        launch(gpu, lock, std::move(work), arguments, on);
    });
    if (result != error::success && alive) { // after a kernel's error no launch is refused for its own sake
        refused::launch(registry::instance().find_function(kernel), grid, block, dynamic_shared_bytes, result, by_syntax);
    }
    return result;
}

// Attributes that ask for what is not there are refused; hints are not.
kernel_work work_of(const launch_configuration& c) {
    kernel_work o{.grid = c.grid, .block = c.block, .dynamic_shared_bytes = c.dynamic_shared_bytes};
    require(c.attributes != nullptr || c.attribute_count == 0);
    for (const launch_attribute& a : std::span(c.attributes, c.attribute_count)) {
        if (a.id == launch_attribute_id::cooperative) {
            o.cooperative = a.value.cooperative != 0;
        } else if (a.id == launch_attribute_id::cluster_dimensions && count(a.value.cluster) > 1) {
            fail(error::not_supported, "a launch with thread block clusters: they are not supported");
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

error launch(const launch_configuration* configuration, const void* kernel, void** arguments, bool own_default) {
    return call([&](context& gpu, locked& lock) {
        require(configuration != nullptr);
        gpu.must_be_alive();
        stream* const on = own_default ? of_this_thread(configuration->stream) : configuration->stream;
        kernel_work work = work_of(*configuration);
        gpu.checked(on);
        work.what = &function_of(kernel);
        launch(gpu, lock, std::move(work), arguments, on);
        record_events(gpu, *configuration, gpu.checked(on));
    });
}

} // namespace

void describe_kernel(const operation& issued, const std::string& name, std::uint64_t launch) {
    if (operation_journal::kept()) {
        operation_journal::describe(issued, {.on = observe::engine::compute, .name = name, .launch = launch});
    }
}

void require_launchable(context& gpu, const kernel_work& work) {
    const machine::kernel_facts& facts = *registry::instance().load(*work.what, gpu).facts;
    require_configuration(gpu.device(), facts, work);
    if (work.cooperative) {
        require(gpu.device().major >= 6, error::not_supported);
        require(count(work.grid) <= resident_blocks(gpu.device(), facts, work), error::cooperative_launch_too_large);
    }
}

void apply_limits(context& gpu, kernel_work& work) {
    work.stack_bytes = limit_or(gpu, limit::stack_bytes, work.stack_bytes);
    work.heap_bytes = limit_or(gpu, limit::heap_bytes, work.heap_bytes);
}

std::vector<std::byte> pack_arguments(context& gpu, function& f, void* const* arguments) {
    return pack(*registry::instance().load(f, gpu).facts, arguments);
}

void perform(context& gpu, const kernel_work& work, std::uint64_t launch) {
    const kernel_image& image = work.what->image;
    const machine::kernel_facts& facts = *image.facts;
    const check::operation_note note = checking::current_note();
    const machine::launch_request request{
        .grid = extent_of(work.grid),
        .block = extent_of(work.block),
        .dynamic_shared_bytes = static_cast<std::uint32_t>(work.dynamic_shared_bytes),
        .parameters = work.parameters.data(),
        .count = gpu.options().count,
        .cooperative = work.cooperative,
        .workers = gpu.options().workers,
        .resident_blocks = static_cast<unsigned>(resident_blocks(gpu.device(), facts, work)),
        .multiprocessors = static_cast<unsigned>(gpu.device().multiprocessors),
        .checks = checking::current(),
        .note = &note,
        .shared_limit = static_cast<std::uint32_t>(gpu.device().shared_per_block_optin),
        .stack_bytes = work.stack_bytes,
        .heap_bytes = work.heap_bytes,
        .deadlock_seconds = gpu.options().deadlock_seconds,
        .outside = [] { return executor::instance().may_more_come(); },
        .seed = seed_of(gpu.options(), launch)};
    observe::launch_record record{.kernel = work.what->demangled,
                                  .symbol = work.what->name,
                                  .grid = {work.grid.x, work.grid.y, work.grid.z},
                                  .block = {work.block.x, work.block.y, work.block.z},
                                  .dynamic_shared_bytes = work.dynamic_shared_bytes,
                                  .static_shared_bytes = facts.static_shared_bytes,
                                  .total = {},
                                  .by_interval = {},
                                  .fault = {}};
    const auto start = std::chrono::steady_clock::now();
    machine::launch_result result;
    {
        const checking::many_findings of_this_launch;
        result = machine::launch(*image.owner, *image.kernel, request);
    }
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    keep_printed(launch, std::move(result.printed));
    if (request.count) {
        record.total = result.total;
        record.by_interval = std::move(result.by_interval);
    }
    if (!result.profile.empty()) {
        profile::instance().add(*image.owner, *image.kernel, record.kernel, record.symbol, result.profile);
    }
    if (result.error) {
        record.fault = result.error.message;
        gpu.poison(error_of(result.error.kind));
        if (result.error.kind == machine::fault_kind::assertion) {
            std::fprintf(stderr, "%s\n", record.fault.c_str()); // as CUDA writes it
        } else {
            report(record.fault);
        }
    }
    checking::launched(gpu.options(), static_cast<bool>(result.error));
    journal::instance().add(gpu.options(), launch, std::move(record));
}

#pragma GCC visibility push(default)
extern "C" {

error cudaLaunchKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                       std::size_t dynamic_shared_bytes, stream* on) {
    return launch(kernel, {.grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared_bytes}, arguments, on);
}

error cudaLaunchKernel_ptsz(const void* kernel, dimensions grid, dimensions block, void** arguments,
                            std::size_t dynamic_shared_bytes, stream* on) {
    return cudaLaunchKernel(kernel, grid, block, arguments, dynamic_shared_bytes, of_this_thread(on));
}

error cudaLaunchCooperativeKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                                  std::size_t dynamic_shared_bytes, stream* on) {
    return launch(kernel,
                  {.grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared_bytes, .cooperative = true},
                  arguments, on);
}

error cudaLaunchCooperativeKernel_ptsz(const void* kernel, dimensions grid, dimensions block, void** arguments,
                                       std::size_t dynamic_shared_bytes, stream* on) {
    return cudaLaunchCooperativeKernel(kernel, grid, block, arguments, dynamic_shared_bytes, of_this_thread(on));
}

error cudaLaunchKernelExC(const launch_configuration* configuration, const void* kernel, void** arguments) {
    return launch(configuration, kernel, arguments, false);
}

error cudaLaunchKernelExC_ptsz(const launch_configuration* configuration, const void* kernel, void** arguments) {
    return launch(configuration, kernel, arguments, true);
}

// What the launch syntax calls since CUDA 13; the kernel is what __cudaGetKernel gave.
decltype(cudaLaunchKernel) __cudaLaunchKernel [[gnu::alias("cudaLaunchKernel")]];
decltype(cudaLaunchKernel_ptsz) __cudaLaunchKernel_ptsz [[gnu::alias("cudaLaunchKernel_ptsz")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
