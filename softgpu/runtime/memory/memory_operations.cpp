// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/memory_operations.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"

namespace softgpu::runtime {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t most_in_a_batch = 255;
constexpr auto longest_pause = 1ms;
constexpr int least_looks = 4; // before a wait fails. A thread that the host does not run for long has not looked.

bool is_known(value_comparison c) { return c <= value_comparison::nor; }

memory_operation operation_of(context& gpu, const memory_operation_parameters& p) {
    using type = memory_operation_type;
    memory_operation made;
    made.waits = p.type == type::wait_32 || p.type == type::wait_64;
    made.bytes = p.type == type::wait_64 || p.type == type::write_64 ? 8 : 4;
    made.at = p.address;
    made.value = made.bytes == 8 ? p.value : p.value & 0xFFFFFFFFu;
    if (made.waits) {
        require((p.flags & wait_flush) == 0, error::not_supported); // cudaDevAttrCanFlushRemoteWrites is 0
        made.until = static_cast<value_comparison>(p.flags);
        require(is_known(made.until));
    } else {
        require(p.flags == 0); // CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is of CUDA 11
    }
    require(p.address % made.bytes == 0);
    const auto* const pointer = reinterpret_cast<const void*>(p.address);
    require_accessible(gpu, pointer, made.bytes, true);
    const auto found = memory_of(gpu, pointer).find(p.address);
    require(found && found->kind != memory::allocation_kind::managed); // CUDA refuses it
    return made;
}

std::uint64_t value_at(const memory_operation& o) {
    return o.bytes == 8 ? __atomic_load_n(reinterpret_cast<const std::uint64_t*>(o.at), __ATOMIC_ACQUIRE)
                        : __atomic_load_n(reinterpret_cast<const std::uint32_t*>(o.at), __ATOMIC_ACQUIRE);
}

bool is_satisfied(const memory_operation& o, std::uint64_t now) {
    const std::uint64_t all = o.bytes == 8 ? ~0ull : 0xFFFFFFFFull;
    switch (o.until) {
    case value_comparison::at_least: return ((now - o.value) & (all ^ (all >> 1))) == 0; // the sign of the difference
    case value_comparison::equal: return now == o.value;
    case value_comparison::any_bit: return (now & o.value) != 0;
    case value_comparison::nor: return (~(now | o.value) & all) != 0;
    }
    return true;
}

std::string condition_text(const memory_operation& o) {
    std::string value = std::to_string(o.value);
    switch (o.until) {
    case value_comparison::at_least: return "at least " + value;
    case value_comparison::equal: return value;
    case value_comparison::any_bit: return "a value with one of the bits of " + value;
    case value_comparison::nor: break;
    }
    return "a value v with ~(v | " + value + ") != 0";
}

std::string name_of(const memory_operation& o) {
    return std::string(o.waits ? "cuStreamWaitValue" : "cuStreamWriteValue") + (o.bytes == 8 ? "64" : "32");
}

void report_deadlock(context& gpu, const memory_operation& o) {
    const locked lock(gpu.mutex());
    if (gpu.has_failed()) {
        return; // streams that wait for each other: one report
    }
    char address[24];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(o.at));
    const auto found = gpu.memory().find(o.at);
    const std::string message =
        checking::current_note().stream + ", " + name_of(o) + ": deadlock: waits until the " + std::to_string(o.bytes) +
        " bytes at " + address + (found && !found->name.empty() ? " (" + found->name + ")" : "") + " are " +
        condition_text(o) + "; they are " + std::to_string(value_at(o)) + ", and nothing that runs changes them";
    report(message);
    if (check::session* const s = checking::current()) {
        s->report_deadlock(message, o.at);
    }
    gpu.set_sticky_error(error::launch_timeout);
}

// false: the device has failed.
bool wait(context& gpu, const memory_operation& o) {
    const auto found = memory_of(gpu, reinterpret_cast<const void*>(o.at)).find(o.at);
    const bool host_may_write = found && found->kind == memory::allocation_kind::host_mapped;
    const double limit = gpu.options().deadlock_seconds;
    const executor::quiet_wait quiet;
    clock::time_point last = clock::now();
    double waited = 0; // seconds
    for (clock::duration pause = 10us; !is_satisfied(o, value_at(o));
         pause = std::min<clock::duration>(2 * pause, longest_pause)) {
        if (gpu.has_failed()) {
            return false;
        }
        const clock::time_point now = clock::now();
        waited += std::min(std::chrono::duration<double>(now - last).count(), limit / least_looks);
        last = now;
        if (host_may_write || executor::instance().others_may_run(true)) {
            waited = 0;
        } else if (limit > 0 && waited > limit) {
            report_deadlock(gpu, o);
            return false;
        }
        std::this_thread::sleep_for(pause);
    }
    return true;
}

} // namespace

memory_batch_work memory_batch_of(context& gpu, std::span<const memory_operation_parameters> list) {
    require(list.size() <= most_in_a_batch);
    auto operations = std::make_shared<std::vector<memory_operation>>();
    for (const memory_operation_parameters& p : list) {
        switch (p.type) {
        case memory_operation_type::wait_32:
        case memory_operation_type::write_32:
        case memory_operation_type::wait_64:
        case memory_operation_type::write_64: operations->push_back(operation_of(gpu, p)); continue;
        case memory_operation_type::barrier: require(p.flags_of_barrier <= 1); continue;
        case memory_operation_type::flush: fail(error::not_supported);
        }
        fail(error::invalid_value);
    }
    return {std::move(operations),
            std::make_shared<const std::vector<memory_operation_parameters>>(list.begin(), list.end())};
}

memory_batch_work memory_batch_of(context& gpu, const memory_batch_parameters& p) {
    require(p.list != nullptr && p.flags == 0);
    return memory_batch_of(gpu, std::span(p.list, p.count));
}

operation_pointer issue_memory_operations(context& gpu, const memory_batch_work& work,
                                          std::vector<operation_pointer> before, int priority, std::uint64_t stream) {
    operation_pointer last;
    for (const memory_operation& o : *work.operations) {
        last = gpu.issue_after(
            before, operation_kind::device, [&gpu, o] { run_memory_operation(gpu, o); }, priority, stream);
        if (operation_journal::any()) {
            operation_journal::describe(*last, {.on = observe::engine::compute, .name = name_of(o), .bytes = o.bytes});
        }
        before = {last};
    }
    return last != nullptr ? last : gpu.issue_after(before, operation_kind::mark, nullptr, priority, stream);
}

void run_memory_operation(context& gpu, const memory_operation& what) {
    if (what.waits) {
        if (wait(gpu, what)) {
            checking::signalled(name_of(what), what.at, what.bytes, false);
        }
        return;
    }
    checking::written(reinterpret_cast<void*>(what.at), what.bytes);
    checking::signalled(name_of(what), what.at, what.bytes, true); // first, so that who sees the value finds its writer
    if (what.bytes == 8) {
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(what.at), what.value, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(reinterpret_cast<std::uint32_t*>(what.at), static_cast<std::uint32_t>(what.value),
                         __ATOMIC_RELEASE);
    }
}

} // namespace softgpu::runtime
