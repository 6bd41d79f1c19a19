// SPDX-License-Identifier: MIT
#include "softgpu/runtime/graph/enqueue.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/device/run_grid.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/memory/allocations.hpp"
#include "softgpu/runtime/memory/copies/array_copies.hpp"
#include "softgpu/runtime/memory/pools.hpp"

namespace softgpu::runtime {
namespace {

// CUDA's own variable: a launch returns when the kernel is finished, with its error.
bool launches_block() {
    static const bool asked = [] {
        const char* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
        return value != nullptr && std::strtol(value, nullptr, 10) != 0;
    }();
    return asked;
}

} // namespace

void enqueue_kernel(context& gpu, locked& lock, kernel_work work, void* const* arguments, stream& on) {
    require_launchable(gpu, work);
    work.parameters = pack_arguments(*work.image.facts, arguments);
    apply_limits(gpu, work);
    if (is_capturing(on)) {
        graph_node& node =
            capture_node(gpu, on, node_type::kernel, work.may_start_early ? programmatic_edge : edge_data{});
        node.work = with_arguments(std::make_shared<kernel_work>(std::move(work)));
        return;
    }
    const std::uint64_t number = journal::instance().next_launch();
    const function& what = *work.what;
    work.follows_kernel =
        on.last != nullptr && on.last == on.last_kernel && on.last_kernel_at == gpu.synchronizations();
    work.starts_early = work.follows_kernel && work.may_start_early && on.last_kernel_lets_start;
    const bool lets_start = work.image.facts->lets_dependents_start;
    const operation_pointer issued =
        gpu.issue(on, operation_kind::device, [&gpu, number, work = std::move(work)] { run_grid(gpu, work, number); });
    on.last_kernel = issued;
    on.last_kernel_at = gpu.synchronizations();
    on.last_kernel_lets_start = lets_start;
    describe_kernel(*issued, what, number);
    if (launches_block()) {
        gpu.wait(lock, issued);
    }
}

void enqueue_copy(context& gpu, locked& lock, const copy_3d& what, stream& on, host_order order) {
    if (order == host_order::synchronous) {
        require_safe(gpu);
    } else if (is_capturing(on)) {
        capture_copy(gpu, on, what);
        return;
    }
    issue_copy(gpu, lock, require_copy(gpu, what), on, order);
}

void enqueue_copy(context& gpu, locked& lock, void* destination, const void* source, std::size_t bytes, copy_kind kind,
                  stream& on, host_order order) {
    if (bytes == 0) {
        if (order == host_order::synchronous) {
            gpu.wait(lock, gpu.tail(on));
        }
        return;
    }
    const auto to = reinterpret_cast<memory::address>(destination);
    const auto from = reinterpret_cast<memory::address>(source);
    const bool overlaps =
        to != from && (to > from ? to - from : from - to) < bytes && memory_of(gpu, destination).find(to).has_value();
    if (check::session* const s = overlaps ? checking::current() : nullptr) {
        s->host_finding("overlapping copy",
                        "a call copies " + std::to_string(bytes) + " bytes to memory that overlaps their own", to);
    }
    enqueue_copy(gpu, lock, linear_copy(destination, source, bytes, kind), on, order);
}

void enqueue_fill(context& gpu, locked& lock, const fill_work& work, stream& on, host_order order) {
    if (order == host_order::synchronous) {
        require_safe(gpu);
    } else if (is_capturing(on)) {
        capture_node(gpu, on, node_type::fill).work = work;
        return;
    }
    issue_fill(gpu, lock, work, on, order);
}

void enqueue_memory_operations(context& gpu, const memory_batch_work& work, stream& on) {
    if (is_capturing(on)) {
        capture_node(gpu, on, node_type::memory_batch).work = work;
        return;
    }
    require_not_capturing(gpu.streams(), on);
    on.last = issue_memory_operations(gpu, work, gpu.streams().before(on), on.priority, on.id);
    gpu.streams().appended(on);
}

void enqueue_allocation(context& gpu, locked& lock, void** pointer, std::size_t bytes, context& home, memory_pool& pool,
                        stream* on) {
    gpu.require_usable();
    stream& in = gpu.checked(on);
    if (is_capturing(in)) {
        require(bytes != 0);
        graph& into = *in.capturing->into;
        auto memory = allocate_for(gpu, into, bytes);
        *pointer = reinterpret_cast<void*>(memory->base);
        capture_node(gpu, in, node_type::allocate).work = memory_work{std::move(memory)};
        return;
    }
    *pointer = bytes == 0 ? nullptr : reinterpret_cast<void*>(allocate_after_pending_frees(home, lock, [&] {
        require(home.part<memory_pools>().contains(&pool));
        return home.part<memory_pools>().allocate(pool, bytes);
    }));
    if (*pointer != nullptr && checking::checks_order()) {
        // An operation for the checks only: from here on the stream may use the memory.
        gpu.issue(in, operation_kind::device, [&home, base = reinterpret_cast<memory::address>(*pointer)] {
            checking::allocated_in_order(home.memory(), base, "cudaMallocAsync");
        });
    }
}

void enqueue_free(context& gpu, void* pointer, stream& on) {
    const auto address = reinterpret_cast<memory::address>(pointer);
    context& home = home_of(gpu, address);
    require_freeable(home, address);
    if (is_capturing(on)) {
        const auto& all = home.part<graph_memory>().allocations;
        const auto at = all.find(address);
        require(at != all.end() && at->second->freed_by == nullptr);
        at->second->freed_by = on.capturing->into;
        capture_node(gpu, on, node_type::free).work = memory_work{at->second};
        return;
    }
    if (home.part<graph_memory>().allocations.contains(address)) {
        gpu.issue(on, operation_kind::device,
                  [&home, address] { checking::freed_in_order(home.memory(), address, "cudaFreeAsync"); });
        (void)free_graph_memory(home, address);
        return;
    }
    // In a stream of another device a host operation, which a failure of that device does not skip.
    const operation_kind kind = &home == &gpu ? operation_kind::device : operation_kind::host;
    home.part<pending_frees>().by_address[address] = gpu.issue(on, kind, [&home, address] {
        const locked lock(home.mutex());
        home.part<pending_frees>().by_address.erase(address);
        checking::freed_in_order(home.memory(), address, "cudaFreeAsync");
        release(home, address);
    });
}

void enqueue_host_function(context& gpu, const host_work& work, stream& on) {
    if (is_capturing(on)) {
        capture_node(gpu, on, node_type::host).work = work;
        return;
    }
    describe_host_function(*gpu.issue(on, operation_kind::host, [&gpu, work] {
        if (!gpu.has_failed()) {
            work.run(work.user);
        }
    }));
}

void describe_host_function(const operation& issued) {
    if (operation_journal::any()) {
        operation_journal::describe(issued, {.on = observe::engine::host, .name = "host function"});
    }
}

} // namespace softgpu::runtime
