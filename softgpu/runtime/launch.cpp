// SPDX-License-Identifier: MIT
// Launches: is it a configuration that the card takes, then run it, then account for it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "softgpu/machine/launch.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/call.hpp"
#include "softgpu/runtime/functions.hpp"
#include "softgpu/runtime/journal.hpp"
#include "softgpu/runtime/occupancy.hpp"

namespace softgpu::runtime {
namespace {

struct order {
    dimensions grid{1, 1, 1};
    dimensions block{1, 1, 1};
    std::size_t dynamic_shared_bytes = 0;
    bool cooperative = false;
};

constexpr std::uint64_t most_threads = 1024;

std::uint64_t count(const dimensions& d) { return std::uint64_t{d.x} * d.y * d.z; }

// A GPU of today answers every configuration that it does not take with invalid_value.
void require_launchable(const card& device, const function& f, const machine::kernel_facts& facts, const order& o) {
    require(o.grid.x != 0 && o.grid.y != 0 && o.grid.z != 0 && o.block.x != 0 && o.block.y != 0 && o.block.z != 0);
    require(o.grid.x <= 0x7FFFFFFF && o.grid.y <= 65535 && o.grid.z <= 65535);
    require(o.block.x <= 1024 && o.block.y <= 1024 && o.block.z <= 64 && count(o.block) <= most_threads);
    require(facts.maxntid == 0 || count(o.block) <= facts.maxntid);
    if (facts.reqntid[0] != 0) {
        require(o.block.x == facts.reqntid[0] && o.block.y == std::max(facts.reqntid[1], 1u) &&
                o.block.z == std::max(facts.reqntid[2], 1u));
    }
    require(o.dynamic_shared_bytes <= max_dynamic_shared(device, facts, f));
    require(facts.static_shared_bytes <= static_cast<std::uint32_t>(device.shared_per_block),
            error::invalid_kernel_image);
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
    }
    return error::unknown;
}

machine::extent extent_of(const dimensions& d) { return {d.x, d.y, d.z}; }

void launch(context& gpu, locked& lock, const void* kernel, const order& o, void* const* arguments, stream* on) {
    gpu.must_be_alive();
    gpu.checked(on);
    function& f = function_of(kernel);
    const kernel_image image = registry::instance().load(f, gpu);
    const machine::kernel_facts& facts = *image.facts;
    require_launchable(gpu.device(), f, facts, o);
    const std::uint64_t resident =
        std::uint64_t{blocks_per_multiprocessor(gpu.device(), facts, count(o.block), o.dynamic_shared_bytes)} *
        static_cast<std::uint64_t>(gpu.device().multiprocessors);
    if (o.cooperative) {
        require(gpu.device().major >= 6, error::not_supported);
        require(count(o.grid) <= resident, error::cooperative_launch_too_large);
    }
    const std::vector<std::byte> parameters = pack(facts, arguments);
    const machine::launch_request request{.grid = extent_of(o.grid),
                                          .block = extent_of(o.block),
                                          .dynamic_shared_bytes = static_cast<std::uint32_t>(o.dynamic_shared_bytes),
                                          .parameters = parameters.data(),
                                          .count = gpu.options().count,
                                          .cooperative = o.cooperative,
                                          .workers = gpu.options().workers,
                                          .resident_blocks = static_cast<unsigned>(resident),
                                          .multiprocessors = static_cast<unsigned>(gpu.device().multiprocessors),
                                          .shared_limit =
                                              static_cast<std::uint32_t>(gpu.device().shared_per_block_optin)};
    observe::launch_record record{.kernel = f.demangled,
                                  .symbol = f.name,
                                  .grid = {o.grid.x, o.grid.y, o.grid.z},
                                  .block = {o.block.x, o.block.y, o.block.z},
                                  .dynamic_shared_bytes = o.dynamic_shared_bytes,
                                  .static_shared_bytes = facts.static_shared_bytes,
                                  .total = {},
                                  .by_interval = {},
                                  .fault = {}};
    bool ran = false;
    gpu.submit(lock, [&] {
        ran = true;
        const auto start = std::chrono::steady_clock::now();
        machine::launch_result result = machine::launch(*image.owner, *image.kernel, request);
        record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (request.count) {
            record.total = result.total;
            record.by_interval = std::move(result.by_interval);
        }
        if (result.error) {
            record.fault = result.error.message;
            gpu.poison(error_of(result.error.kind));
        }
    });
    if (ran) {
        lock.unlock();
        if (!record.fault.empty()) {
            report(record.fault);
        }
        journal::instance().add(gpu.options(), std::move(record));
    }
}

error launch(const void* kernel, const order& o, void* const* arguments, stream* on) {
    return call([&](context& gpu, locked& lock) { launch(gpu, lock, kernel, o, arguments, on); });
}

// Attributes that ask for what is not there are refused; hints are not.
order order_of(const launch_configuration& c) {
    order o{.grid = c.grid, .block = c.block, .dynamic_shared_bytes = c.dynamic_shared_bytes};
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

void record_events(const launch_configuration& c) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    for (const launch_attribute& a : std::span(c.attributes, c.attribute_count)) {
        const bool completion = a.id == launch_attribute_id::launch_completion_event;
        if (completion || a.id == launch_attribute_id::programmatic_event) {
            event* e = completion ? a.value.completion_event.what : a.value.programmatic_event.what;
            gpu.checked(e).recorded = std::chrono::steady_clock::now();
        }
    }
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaLaunchKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                       std::size_t dynamic_shared_bytes, stream* on) {
    return launch(kernel, {.grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared_bytes}, arguments, on);
}

error cudaLaunchCooperativeKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                                  std::size_t dynamic_shared_bytes, stream* on) {
    return launch(kernel,
                  {.grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared_bytes, .cooperative = true},
                  arguments, on);
}

error cudaLaunchKernelExC(const launch_configuration* configuration, const void* kernel, void** arguments) {
    return call([&](context& gpu, locked& lock) {
        require(configuration != nullptr);
        gpu.must_be_alive();
        launch(gpu, lock, kernel, order_of(*configuration), arguments, configuration->stream);
        if (lock.owns_lock()) {
            lock.unlock();
        }
        record_events(*configuration);
    });
}

// What the launch syntax calls since CUDA 13; the kernel is what __cudaGetKernel gave.
decltype(cudaLaunchKernel) __cudaLaunchKernel [[gnu::alias("cudaLaunchKernel")]];
decltype(cudaLaunchKernel) __cudaLaunchKernel_ptsz [[gnu::alias("cudaLaunchKernel")]];
decltype(cudaLaunchKernel) cudaLaunchKernel_ptsz [[gnu::alias("cudaLaunchKernel")]];
decltype(cudaLaunchCooperativeKernel) cudaLaunchCooperativeKernel_ptsz [[gnu::alias("cudaLaunchCooperativeKernel")]];
decltype(cudaLaunchKernelExC) cudaLaunchKernelExC_ptsz [[gnu::alias("cudaLaunchKernelExC")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
