// SPDX-License-Identifier: MIT
// The calls that add nodes to a graph, and that read and change their parameters.
#include <cstring>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/calls/graph/nodes.hpp"
#include "softgpu/runtime/graph/conditional.hpp"
#include "softgpu/runtime/graph/graph.hpp"
#include "softgpu/runtime/graph/node_parameters.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"
#include "softgpu/runtime/program/symbols.hpp"

namespace softgpu::runtime {
namespace {

using dependencies = graph_node* const*;

// The work is made, and so checked, before the node is added.
template <class Work>
graph_node& add(context& gpu, graph_node** out, graph* in, dependencies before, std::size_t count, node_type type,
                Work work, const edge_data* data = nullptr) {
    require(out != nullptr);
    graph_node& made = add_node(gpu, checked(gpu, in), type, before, count, data);
    made.work = std::move(work);
    *out = &made;
    return made;
}

graph_node& checked(context& gpu, graph_node* n, node_type type) {
    graph_node& node = runtime::checked(gpu, n);
    require(node.type == type);
    return node;
}

copy_work linear(context& gpu, void* destination, const void* source, std::size_t bytes, copy_kind kind) {
    require_kind(kind);
    return copy_work_of(gpu, linear_copy(destination, source, bytes, kind));
}

copy_work to_symbol(context& gpu, const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                    copy_kind kind) {
    require_to_device(kind);
    return linear(gpu, place_in_symbol(gpu, symbol, bytes, offset), source, bytes, kind);
}

copy_work from_symbol(context& gpu, void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                      copy_kind kind) {
    require_from_device(kind);
    return linear(gpu, destination, place_in_symbol(gpu, symbol, bytes, offset), bytes, kind);
}

void add_child(context& gpu, graph_node** out, graph* in, dependencies before, std::size_t count,
               const child_parameters& p, const edge_data* data = nullptr) {
    graph& child = runtime::checked(gpu, p.graph);
    require(out != nullptr && &child != in && (p.ownership == 0 || p.ownership == 1));
    if (p.ownership == 0) {
        require(!has_memory_nodes(child) && !has_conditional_nodes(child), error::not_supported);
        add(gpu, out, in, before, count, node_type::graph, child_work{copy_of(gpu, child)}, data);
        return;
    }
    auto& all = gpu.part<graph_state>().graphs;
    const auto at = all.find(&child);
    require(at != all.end());
    graph_node& made = add(gpu, out, in, before, count, node_type::graph, empty_work{}, data);
    made.work = child_work{std::move(all.extract(at).value())};
}

void add_allocation(context& gpu, graph_node** out, graph* in, dependencies before, std::size_t count,
                    allocate_parameters& p, const edge_data* data = nullptr) {
    require(out != nullptr && p.bytes != 0);
    require(p.pool.allocation == pool_allocation::pinned && p.pool.location.type == location_type::device);
    require(p.pool.location.id == gpu.number(), error::invalid_device);
    require(p.pool.handles == pool_handles::none && (p.access != nullptr || p.access_count == 0));
    graph& owner = runtime::checked(gpu, in);
    graph_node& made = add_node(gpu, owner, node_type::allocate, before, count, data);
    try {
        made.work = memory_work{allocate_for(gpu, owner, p.bytes)};
    } catch (...) {
        owner.remove(made);
        throw;
    }
    p.pointer = reinterpret_cast<void*>(std::get<memory_work>(made.work).what->base);
    *out = &made;
}

void add_free(context& gpu, graph_node** out, graph* in, dependencies before, std::size_t count, void* pointer,
              const edge_data* data = nullptr) {
    const auto& all = gpu.part<graph_memory>().allocations;
    const auto at = all.find(reinterpret_cast<memory::address>(pointer));
    require(at != all.end());
    graph_allocation& a = *at->second;
    require(a.freed_by == nullptr || (a.freed_by != in && a.freed_by != a.owner && in != a.owner));
    add(gpu, out, in, before, count, node_type::free, memory_work{at->second}, data);
    a.freed_by = in;
}

void add_kernel(context& gpu, graph_node** out, graph* in, dependencies before, std::size_t count,
                const kernel_parameters& p, const edge_data* data = nullptr) {
    graph_node& made = add(gpu, out, in, before, count, node_type::kernel, kernel_work_of(gpu, p), data);
    context& home = home_of_kernel(gpu, p.function);
    made.device = &home == &gpu ? nullptr : &home;
}

void add_any(context& gpu, graph_node** out, graph* in, dependencies before, const edge_data* data, std::size_t count,
             node_parameters& p) {
    switch (p.type) {
    case node_type::kernel: add_kernel(gpu, out, in, before, count, p.kernel, data); return;
    case node_type::copy: add(gpu, out, in, before, count, p.type, copy_work_of(gpu, p.copy.copy), data); return;
    case node_type::fill: add(gpu, out, in, before, count, p.type, fill_work_of(gpu, p.fill), data); return;
    case node_type::host: add(gpu, out, in, before, count, p.type, host_work_of(p.host), data); return;
    case node_type::memory_batch:
        add(gpu, out, in, before, count, p.type, memory_batch_of(gpu, p.memory_batch), data);
        return;
    case node_type::graph: add_child(gpu, out, in, before, count, p.graph, data); return;
    case node_type::empty: add(gpu, out, in, before, count, p.type, empty_work{}, data); return;
    case node_type::event_wait:
    case node_type::event_record:
        add(gpu, out, in, before, count, p.type, event_work_of(gpu, p.event.event, p.type), data);
        return;
    case node_type::allocate: add_allocation(gpu, out, in, before, count, p.allocate, data); return;
    case node_type::free: add_free(gpu, out, in, before, count, p.free.pointer, data); return;
    case node_type::semaphore_signal:
    case node_type::semaphore_wait: fail(error::not_supported, "graph nodes for external semaphores are not supported");
    case node_type::conditional:
        *out = &add_conditional(gpu, runtime::checked(gpu, in), before, count, data, p.conditional);
        return;
    }
    fail(error::invalid_value);
}

void set_attribute(graph_kernel& kernel, launch_attribute_id id, const launch_attribute_value& value) {
    if (id == launch_attribute_id::cooperative) {
        auto changed = std::make_shared<kernel_work>(*kernel.work);
        changed->cooperative = value.cooperative != 0;
        auto attributes = std::move(kernel.attributes);
        kernel = with_arguments(std::move(changed));
        kernel.attributes = std::move(attributes);
        return;
    }
    if (id == launch_attribute_id::device_updatable_node && value.cooperative != 0) {
        fail(error::not_supported, "graph nodes that kernels update are not supported");
    }
    kernel.attributes[id] = value;
}

// The frames of the calls that add a node, and that change one. make(gpu) makes and checks the work.
template <class Make>
error add_call(graph_node** out, graph* in, dependencies before, std::size_t count, node_type type, Make&& make) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        add(gpu, out, in, before, count, type, make(gpu));
    });
}

template <class Make>
error set_call(graph_node* n, node_type type, Make&& make) {
    return call([&](context& gpu, locked&) {
        graph_node& node = checked(gpu, n, type);
        node.work = make(gpu);
    });
}

} // namespace

void add_graph_node(context& gpu, graph_node** out, graph* in, dependencies before, const edge_data* data,
                    std::size_t count, node_parameters* p) {
    require(out != nullptr && p != nullptr);
    gpu.require_usable();
    add_any(gpu, out, in, before, data, count, *p);
}

#pragma GCC visibility push(default)
extern "C" {

error cudaGraphAddKernelNode(graph_node** out, graph* in, dependencies before, std::size_t count,
                             const kernel_parameters* p) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        require(p != nullptr);
        add_kernel(gpu, out, in, before, count, *p);
    });
}

error cudaGraphKernelNodeGetParams(graph_node* n, kernel_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        *p = parameters_of(std::get<graph_kernel>(checked(gpu, n, node_type::kernel).work));
    });
}

error cudaGraphKernelNodeSetParams(graph_node* n, const kernel_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        graph_node& node = checked(gpu, n, node_type::kernel);
        graph_node next;
        next.work = kernel_work_of(gpu, *p);
        set_work(node, next);
    });
}

error cudaGraphAddMemcpyNode(graph_node** out, graph* in, dependencies before, std::size_t count, const copy_3d* p) {
    return add_call(out, in, before, count, node_type::copy, [&](context& gpu) {
        require(p != nullptr);
        return copy_work_of(gpu, *p);
    });
}

error cudaGraphAddMemcpyNode1D(graph_node** out, graph* in, dependencies before, std::size_t count, void* destination,
                               const void* source, std::size_t bytes, copy_kind kind) {
    return add_call(out, in, before, count, node_type::copy,
                    [&](context& gpu) { return linear(gpu, destination, source, bytes, kind); });
}

error cudaGraphAddMemcpyNodeToSymbol(graph_node** out, graph* in, dependencies before, std::size_t count,
                                     const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                                     copy_kind kind) {
    return add_call(out, in, before, count, node_type::copy,
                    [&](context& gpu) { return to_symbol(gpu, symbol, source, bytes, offset, kind); });
}

error cudaGraphAddMemcpyNodeFromSymbol(graph_node** out, graph* in, dependencies before, std::size_t count,
                                       void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                                       copy_kind kind) {
    return add_call(out, in, before, count, node_type::copy,
                    [&](context& gpu) { return from_symbol(gpu, destination, symbol, bytes, offset, kind); });
}

error cudaGraphMemcpyNodeGetParams(graph_node* n, copy_3d* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        *p = std::get<copy_work>(checked(gpu, n, node_type::copy).work).what;
    });
}

error cudaGraphMemcpyNodeSetParams(graph_node* n, const copy_3d* p) {
    return set_call(n, node_type::copy, [&](context& gpu) {
        require(p != nullptr);
        return copy_work_of(gpu, *p);
    });
}

error cudaGraphMemcpyNodeSetParams1D(graph_node* n, void* destination, const void* source, std::size_t bytes,
                                     copy_kind kind) {
    return set_call(n, node_type::copy, [&](context& gpu) { return linear(gpu, destination, source, bytes, kind); });
}

error cudaGraphMemcpyNodeSetParamsToSymbol(graph_node* n, const void* symbol, const void* source, std::size_t bytes,
                                           std::size_t offset, copy_kind kind) {
    return set_call(n, node_type::copy,
                    [&](context& gpu) { return to_symbol(gpu, symbol, source, bytes, offset, kind); });
}

error cudaGraphMemcpyNodeSetParamsFromSymbol(graph_node* n, void* destination, const void* symbol, std::size_t bytes,
                                             std::size_t offset, copy_kind kind) {
    return set_call(n, node_type::copy,
                    [&](context& gpu) { return from_symbol(gpu, destination, symbol, bytes, offset, kind); });
}

error cudaGraphAddMemsetNode(graph_node** out, graph* in, dependencies before, std::size_t count,
                             const fill_parameters* p) {
    return add_call(out, in, before, count, node_type::fill, [&](context& gpu) {
        require(p != nullptr);
        return fill_work_of(gpu, *p);
    });
}

error cudaGraphMemsetNodeGetParams(graph_node* n, fill_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        *p = parameters_of(std::get<fill_work>(checked(gpu, n, node_type::fill).work));
    });
}

error cudaGraphMemsetNodeSetParams(graph_node* n, const fill_parameters* p) {
    return set_call(n, node_type::fill, [&](context& gpu) {
        require(p != nullptr);
        return fill_work_of(gpu, *p);
    });
}

error cudaGraphAddHostNode(graph_node** out, graph* in, dependencies before, std::size_t count,
                           const host_parameters* p) {
    return add_call(out, in, before, count, node_type::host, [&](context&) {
        require(p != nullptr);
        return host_work_of(*p);
    });
}

error cudaGraphHostNodeGetParams(graph_node* n, host_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        const auto& work = std::get<host_work>(checked(gpu, n, node_type::host).work);
        *p = {work.run, work.user};
    });
}

error cudaGraphHostNodeSetParams(graph_node* n, const host_parameters* p) {
    return set_call(n, node_type::host, [&](context&) {
        require(p != nullptr);
        return host_work_of(*p);
    });
}

error cudaGraphAddChildGraphNode(graph_node** out, graph* in, dependencies before, std::size_t count, graph* child) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        add_child(gpu, out, in, before, count, {.graph = child, .ownership = 0});
    });
}

error cudaGraphChildGraphNodeGetGraph(graph_node* n, graph** child) {
    return call([&](context& gpu, locked&) {
        require(child != nullptr);
        *child = std::get<child_work>(checked(gpu, n, node_type::graph).work).own.get();
    });
}

error cudaGraphAddEmptyNode(graph_node** out, graph* in, dependencies before, std::size_t count) {
    return add_call(out, in, before, count, node_type::empty, [&](context&) { return empty_work{}; });
}

error cudaGraphAddEventRecordNode(graph_node** out, graph* in, dependencies before, std::size_t count, event* e) {
    return add_call(out, in, before, count, node_type::event_record,
                    [&](context& gpu) { return event_work_of(gpu, e, node_type::event_record); });
}

error cudaGraphAddEventWaitNode(graph_node** out, graph* in, dependencies before, std::size_t count, event* e) {
    return add_call(out, in, before, count, node_type::event_wait,
                    [&](context& gpu) { return event_work_of(gpu, e, node_type::event_wait); });
}

error cudaGraphEventRecordNodeGetEvent(graph_node* n, event** e) {
    return call([&](context& gpu, locked&) {
        require(e != nullptr);
        *e = std::get<event_work>(checked(gpu, n, node_type::event_record).work).what;
    });
}

error cudaGraphEventWaitNodeGetEvent(graph_node* n, event** e) {
    return call([&](context& gpu, locked&) {
        require(e != nullptr);
        *e = std::get<event_work>(checked(gpu, n, node_type::event_wait).work).what;
    });
}

error cudaGraphEventRecordNodeSetEvent(graph_node* n, event* e) {
    return set_call(n, node_type::event_record,
                    [&](context& gpu) { return event_work_of(gpu, e, node_type::event_record); });
}

error cudaGraphEventWaitNodeSetEvent(graph_node* n, event* e) {
    return set_call(n, node_type::event_wait,
                    [&](context& gpu) { return event_work_of(gpu, e, node_type::event_wait); });
}

error cudaGraphAddMemAllocNode(graph_node** out, graph* in, dependencies before, std::size_t count,
                               allocate_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        gpu.require_usable();
        add_allocation(gpu, out, in, before, count, *p);
    });
}

error cudaGraphMemAllocNodeGetParams(graph_node* n, allocate_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        const graph_allocation& a = *std::get<memory_work>(checked(gpu, n, node_type::allocate).work).what;
        *p = {};
        p->pool.allocation = pool_allocation::pinned;
        p->pool.location = {location_type::device, gpu.number()};
        p->bytes = a.bytes;
        p->pointer = reinterpret_cast<void*>(a.base);
    });
}

error cudaGraphAddMemFreeNode(graph_node** out, graph* in, dependencies before, std::size_t count, void* pointer) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        add_free(gpu, out, in, before, count, pointer);
    });
}

error cudaGraphMemFreeNodeGetParams(graph_node* n, void* out) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        void* const p =
            reinterpret_cast<void*>(std::get<memory_work>(checked(gpu, n, node_type::free).work).what->base);
        std::memcpy(out, &p, sizeof p);
    });
}

error cudaGraphNodeSetParams(graph_node* n, node_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        graph_node& node = runtime::checked(gpu, n);
        require(node.type == p->type);
        const graph_node next = node_with(gpu, *p);
        set_work(node, next);
    });
}

error cudaGraphKernelNodeSetAttribute(graph_node* n, launch_attribute_id id, const launch_attribute_value* value) {
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        set_attribute(std::get<graph_kernel>(checked(gpu, n, node_type::kernel).work), id, *value);
    });
}

error cudaGraphKernelNodeGetAttribute(graph_node* n, launch_attribute_id id, launch_attribute_value* value) {
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        const auto& kernel = std::get<graph_kernel>(checked(gpu, n, node_type::kernel).work);
        const auto at = kernel.attributes.find(id);
        *value = at == kernel.attributes.end() ? launch_attribute_value{} : at->second;
        if (id == launch_attribute_id::cooperative) {
            value->cooperative = kernel.work->cooperative ? 1 : 0;
        }
    });
}

error cudaGraphKernelNodeCopyAttributes(graph_node* from, graph_node* to) {
    return call([&](context& gpu, locked&) {
        const auto& source = std::get<graph_kernel>(checked(gpu, from, node_type::kernel).work);
        auto& destination = std::get<graph_kernel>(checked(gpu, to, node_type::kernel).work);
        destination.attributes = source.attributes;
        launch_attribute_value cooperative{};
        cooperative.cooperative = source.work->cooperative ? 1 : 0;
        set_attribute(destination, launch_attribute_id::cooperative, cooperative);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
