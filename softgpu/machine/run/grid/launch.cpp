// SPDX-License-Identifier: MIT
// A launch: what its blocks share, and the threads that run them (block_runner.hpp).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "softgpu/check/launch_checks.hpp"
#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/inspect/barrier_checks.hpp"
#include "softgpu/machine/inspect/races/operation_races.hpp"
#include "softgpu/machine/module/callees.hpp"
#include "softgpu/machine/module/kernel_code.hpp"
#include "softgpu/machine/module/shared_layout.hpp"
#include "softgpu/machine/run/grid/block_runner.hpp"
#include "softgpu/machine/run/grid/thread_pool.hpp"

namespace softgpu::machine {

namespace {

constexpr const char* cannot_run = "kernel that cannot run";

constexpr std::uint64_t most_stack = memory::device_memory::window_bytes;

fault not_runnable(fault_kind kind, const std::string& kernel, const std::string& why) {
    return {kind, "kernel " + demangled(kernel) + ": " + why};
}

// What no thread alone has done.
void report_end(const launch_request& request, const std::string& kernel, check::check_set check, const char* kind,
                const fault& why) {
    if (request.checks == nullptr) {
        return;
    }
    check::finding f;
    f.check = check;
    f.kind = kind;
    f.message = why.message;
    f.kernel = demangled(kernel);
    request.checks->sink().add(std::move(f));
}

void run_blocks(launch_state& state, const program_code& code, const kernel& k, bool profiled, launch_result& result) {
    const launch_request& request = *state.request;
    const unsigned all = request.seed           ? 1
                         : request.workers != 0 ? request.workers
                                                : std::max(1u, std::thread::hardware_concurrency());
    const auto workers =
        static_cast<unsigned>(std::min<std::uint64_t>(all, std::max<std::uint64_t>(1, state.clusters)));
    quiet_workers all_workers;
    std::vector<std::unique_ptr<block_runner>> runners(workers);
    run_on_workers(workers, [&](unsigned n) {
        if (n != 0 && state.next_cluster.load(std::memory_order_relaxed) >= state.clusters) {
            return; // too late to help
        }
        runners[n] = std::make_unique<block_runner>(state, all_workers, code, k, n, profiled);
        runners[n]->run();
    });
    if (request.count) {
        for (const auto& r : runners) {
            if (r != nullptr) { // one that found a thread to run on
                r->add_to(result);
            }
        }
    }
    for (const auto& r : runners) {
        if (r != nullptr) {
            r->add_printed();
        }
    }
    std::sort(state.printed.begin(), state.printed.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [number, text] : state.printed) {
        result.printed += text;
    }
    result.error = state.first_fault;
}

} // namespace

launch_result launch(module& owner, const kernel& k, const launch_request& request) {
    launch_result result;
    const program_code* code = nullptr;
    module::implementation& inside = owner.inside();
    try {
        const std::lock_guard lock(inside.linked->mutex);
        code = &code_of(inside, const_cast<kernel&>(k), variant_of(request));
    } catch (const ptx::error& e) {
        result.error = not_runnable(fault_kind::invalid_ptx, k.name, std::string("PTX ") + e.what());
        report_end(request, k.name, check::memory, cannot_run, result.error);
        return result;
    }
    launch_state state;
    state.request = &request;
    state.memory = inside.memory;
    state.shared_bytes = shared_layout_of(k, request).end;
    state.local_bytes = k.stack_bytes;
    if (k.needs_stack) {
        const std::uint64_t stack = std::max<std::uint64_t>({least_stack, k.stack_bytes, request.stack_bytes});
        // Some bytes more, off the same cache sets; the window of local memory ends it.
        state.local_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(stack + 192, most_stack));
    }
    state.of = const_cast<kernel*>(&k);
    state.home = &inside;
    state.parameter_bytes = k.facts.parameter_bytes;
    state.blocks = request.grid.count();
    state.cluster_blocks = static_cast<std::uint32_t>(request.cluster.count());
    state.clusters = state.blocks / state.cluster_blocks;
    state.kernel_name = k.name;
    state.code = code;
    state.turn = request.cooperative ? 64 : turn_budget;
    try {
        if (k.uses_parameter_address && k.facts.parameter_bytes != 0) {
            state.constant_base =
                inside.memory->allocate(k.facts.parameter_bytes, memory::allocation_kind::constant, "(parameters)");
            std::memcpy(reinterpret_cast<void*>(state.constant_base), request.parameters, k.facts.parameter_bytes);
        }
        if (request.cooperative) {
            // As the driver lays it out: its size, then the barrier's counter.
            const std::uint32_t workspace[2] = {sizeof(workspace), 0};
            state.grid_workspace =
                inside.memory->allocate(sizeof(workspace), memory::allocation_kind::device, "(grid workspace)");
            std::memcpy(reinterpret_cast<void*>(state.grid_workspace), workspace, sizeof(workspace));
        }
    } catch (const memory::out_of_memory& e) {
        result.error = not_runnable(fault_kind::illegal_address, k.name, e.what());
        report_end(request, k.name, check::memory, cannot_run, result.error);
    }
    std::optional<check::launch_checks> checks;
    if (request.checks != nullptr) {
        checks.emplace(*request.checks, state.blocks);
        state.checks = &*checks;
        state.shadow = &request.checks->shadow().view();
        state.check_races = request.checks->has(check::race);
        state.check_init = request.checks->has(check::init);
        if (request.note != nullptr && state.check_races) {
            checks->join_order(*request.note, "kernel " + demangled(state.kernel_name), reader_of(state));
        }
    }
    if (!result.error) {
        run_blocks(state, *code, k, inside.profiling && request.count, result);
    }
    // Unless the check of barriers has said more of it.
    if (checks && result.error.kind == fault_kind::deadlock && !checks->has_found(never_meet) &&
        !checks->has_found(mismatched_masks)) {
        report_end(request, k.name, check::sync, "deadlock", result.error);
    }
    for (const memory::address taken : {state.constant_base, state.grid_workspace}) {
        if (taken != 0) {
            inside.memory->release(taken);
        }
    }
    return result;
}

} // namespace softgpu::machine
