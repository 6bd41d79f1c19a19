// SPDX-License-Identifier: MIT
#include "softgpu/runtime/program/launch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "softgpu/machine/launch.hpp"
#include "softgpu/runtime/accounts/check_report.hpp"
#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/accounts/predictions.hpp"
#include "softgpu/runtime/accounts/printed.hpp"
#include "softgpu/runtime/accounts/profile.hpp"
#include "softgpu/runtime/cards/occupancy.hpp"
#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/program/clusters.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::uint64_t most_threads = 1024;

// Present GPUs return invalid_value for every configuration that they do not accept.
void require_configuration(const card& device, const function_on_device& kernel, const kernel_work& o) {
    const machine::kernel_facts& facts = *kernel.image.facts;
    require(o.grid.x != 0 && o.grid.y != 0 && o.grid.z != 0 && o.block.x != 0 && o.block.y != 0 && o.block.z != 0);
    require(o.grid.x <= 0x7FFFFFFF && o.grid.y <= 65535 && o.grid.z <= 65535);
    require(o.block.x <= 1024 && o.block.y <= 1024 && o.block.z <= 64 && count_of(o.block) <= most_threads);
    require(facts.maxntid == 0 || count_of(o.block) <= facts.maxntid);
    if (facts.reqntid[0] != 0) {
        require(o.block.x == facts.reqntid[0] && o.block.y == std::max(facts.reqntid[1], 1u) &&
                o.block.z == std::max(facts.reqntid[2], 1u));
    }
    require(o.dynamic_shared_bytes <= max_dynamic_shared(device, facts, kernel.max_dynamic_shared));
    require(facts.static_shared_bytes <= static_cast<std::uint32_t>(device.shared_per_block),
            error::invalid_kernel_image);
}

std::uint64_t resident_blocks(const card& device, const machine::kernel_facts& facts, const kernel_work& o) {
    return std::uint64_t{blocks_per_multiprocessor(device, facts, count_of(o.block), o.dynamic_shared_bytes)} *
           static_cast<std::uint64_t>(device.multiprocessors);
}

error error_of(machine::fault_kind kind) noexcept {
    switch (kind) {
    case machine::fault_kind::none: return error::success;
    case machine::fault_kind::illegal_address: return error::illegal_address;
    case machine::fault_kind::misaligned_address: return error::misaligned_address;
    case machine::fault_kind::trap: return error::launch_failure;
    case machine::fault_kind::illegal_instruction: return error::illegal_instruction;
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

machine::extent extent_of(const dimensions& d) { return {d.x, d.y, d.z}; }

// Without an attribute what cudaFuncSetCacheConfig prefers.
int carveout_of(const function_on_device& kernel, cache_preference preference) {
    if (kernel.preferred_carveout >= 0) {
        return kernel.preferred_carveout;
    }
    switch (preference) {
    case cache_preference::none: break;
    case cache_preference::shared: return 100;
    case cache_preference::l1: return 0;
    case cache_preference::equal: return 50;
    }
    return -1;
}

} // namespace

void require_launchable(context& gpu, kernel_work& work) {
    const function_on_device& kernel = registry::instance().load(*work.what, gpu);
    work.image = kernel.image;
    work.preferred_carveout = carveout_of(kernel, work.what->cache);
    if (work.image.facts->blocks_are_clusters) {
        fail(error::not_supported, "kernel " + work.what->name + ": __block_size__ is not supported");
    }
    require_configuration(gpu.device(), kernel, work);
    work.has_cluster = work.cluster.x != 0 || work.image.facts->cluster[0] != 0;
    work.cluster = cluster_of(gpu.device(), kernel, work.grid, work.cluster);
    if (work.cooperative) {
        require(gpu.device().major >= 6, error::not_supported);
        require(count_of(work.grid) <= resident_blocks(gpu.device(), *work.image.facts, work),
                error::cooperative_launch_too_large);
    }
}

void apply_limits(context& gpu, kernel_work& work) {
    work.stack_bytes = limit_or(gpu, limit::stack_bytes, work.stack_bytes);
    work.heap_bytes = limit_or(gpu, limit::heap_bytes, work.heap_bytes);
    work.pending_launches = limit_or(gpu, limit::pending_launches, work.pending_launches);
}

std::vector<std::byte> pack_arguments(const machine::kernel_facts& facts, void* const* arguments) {
    std::vector<std::byte> block(std::max(facts.parameter_bytes, 1u)); // never a null pointer
    for (std::size_t i = 0; i < facts.parameter_offsets.size(); ++i) {
        require(arguments != nullptr && arguments[i] != nullptr);
        std::memcpy(block.data() + facts.parameter_offsets[i], arguments[i], facts.parameter_sizes[i]);
    }
    return block;
}

// Mapped memory of the host. Managed memory counts as the device's.
std::vector<predict::host_lines> host_lines_of(const memory::device_memory& memory) {
    constexpr std::uint64_t line = 128;
    std::vector<predict::host_lines> found;
    for (const memory::allocation& a : memory.list()) {
        if (a.kind == memory::allocation_kind::host_mapped) {
            found.push_back({a.base / line, (a.base + a.bytes + line - 1) / line});
        }
    }
    return found;
}

void run_kernel(context& gpu, const kernel_work& work, std::uint64_t launch, const kernel_surroundings& around) {
    const kernel_image& image = work.image;
    const machine::kernel_facts& facts = *image.facts;
    const check::operation_note note = checking::current_note();
    std::optional<launch_prediction> predicted;
    if (gpu.options().count && !predicted_latencies().empty()) {
        predicted.emplace(predict::launch_shape{.blocks = count_of(work.grid),
                                                .threads = count_of(work.block),
                                                .shared_bytes = facts.static_shared_bytes + work.dynamic_shared_bytes,
                                                .registers = registers_of(gpu.device(), facts),
                                                .registers_32 = facts.registers_32,
                                                .preferred_carveout = work.preferred_carveout,
                                                .follows_kernel = work.follows_kernel,
                                                .starts_early = work.starts_early},
                          host_lines_of(gpu.memory()));
    }
    const machine::launch_request request{
        .grid = extent_of(work.grid),
        .block = extent_of(work.block),
        .cluster = extent_of(work.cluster),
        .explicit_cluster = work.has_cluster,
        .dynamic_shared_bytes = static_cast<std::uint32_t>(work.dynamic_shared_bytes),
        .parameters = work.parameters.data(),
        .count = gpu.options().count,
        .cooperative = work.cooperative,
        .workers = gpu.options().workers,
        .resident_blocks = static_cast<unsigned>(resident_blocks(gpu.device(), facts, work)),
        .multiprocessors = static_cast<unsigned>(gpu.device().multiprocessors),
        .number = launch,
        .checks = checking::current(),
        .note = &note,
        .shared_limit = static_cast<std::uint32_t>(gpu.device().shared_per_block_optin),
        .stack_bytes = work.stack_bytes,
        .heap_bytes = work.heap_bytes,
        .deadlock_seconds = gpu.options().deadlock_seconds,
        .outside = [] { return executor::instance().others_may_run(); },
        .runtime = around.runtime,
        .trace = predicted && predicted->is_alone() && !around.amid_another ? &*predicted : nullptr,
        .seed = gpu.options().seed_of(launch)};
    observe::launch_record record{.kernel = work.what->demangled,
                                  .symbol = work.what->name,
                                  .grid = {work.grid.x, work.grid.y, work.grid.z},
                                  .block = {work.block.x, work.block.y, work.block.z},
                                  .dynamic_shared_bytes = work.dynamic_shared_bytes,
                                  .static_shared_bytes = facts.static_shared_bytes,
                                  .total = {},
                                  .by_interval = {},
                                  .fault = {},
                                  .device = gpu.is_alone() ? -1 : gpu.number(),
                                  .predictions = {},
                                  .launched_by = around.launched_by};
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
    if (predicted && !result.error) {
        record.predictions = predicted->predictions(result.total, result.mix);
    }
    predicted.reset();
    if (!result.profile.empty()) {
        profile::instance().add(*image.owner, *image.kernel, record.kernel, record.symbol, result.profile);
    }
    if (result.error) {
        record.fault = result.error.message;
        if (!around.launched_by.empty() && result.error.kind != machine::fault_kind::assertion) {
            record.fault += "; launched by " + around.launched_by;
        }
        gpu.set_sticky_error(error_of(result.error.kind));
        if (result.error.kind == machine::fault_kind::assertion) {
            std::fprintf(stderr, "%s\n", record.fault.c_str()); // as CUDA writes it
        } else {
            report(record.fault);
        }
    }
    checking::launched(gpu.options(), static_cast<bool>(result.error));
    journal::instance().add(gpu.options(), launch, std::move(record));
}

void describe_kernel(const operation& issued, const function& what, std::uint64_t launch) {
    if (operation_journal::any()) {
        operation_journal::describe(issued, {.on = observe::engine::compute, .name = what.demangled, .launch = launch});
    }
}

} // namespace softgpu::runtime
