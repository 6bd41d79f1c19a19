// SPDX-License-Identifier: MIT
// Graphs that can be launched: made from a graph, launched into a stream, and updated for the launches that follow.
#include <algorithm>
#include <cstdint>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/graph/graph.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/program/symbols.hpp"
#include "softgpu/runtime/memory/copies.hpp"

namespace softgpu::runtime {
namespace {

constexpr unsigned long long all_flags =
    instantiate_auto_free | instantiate_upload | instantiate_device_launch | instantiate_node_priority;

bool has_cycle(const graph& g) {
    return in_order(g).size() != g.nodes.size() || std::ranges::any_of(g.nodes, [](const auto& n) {
               const auto* const child = std::get_if<child_work>(&n->work);
               return child != nullptr && has_cycle(*child->own);
           });
}

executable_graph& instantiate(context& gpu, graph* from, unsigned long long flags, instantiate_result& result) {
    result = instantiate_result::error;
    graph& g = checked(gpu, from);
    require((flags & ~all_flags) == 0);
    require((flags & instantiate_auto_free) == 0 || (flags & instantiate_device_launch) == 0);
    if ((flags & instantiate_device_launch) != 0) {
        fail(error::not_supported, "graphs that kernels launch are not supported");
    }
    gpu.must_be_alive();
    require(!g.in_capture, error::stream_capture_unsupported);
    if (has_cycle(g)) {
        result = instantiate_result::invalid_structure;
        fail(error::invalid_value);
    }
    require(!has_memory_nodes(g) || *g.executables == 0);
    auto made = std::make_unique<executable_graph>();
    made->copy = copy_of(gpu, g, &made->of_original);
    made->siblings = g.executables;
    made->flags = flags & ~instantiate_upload;
    made->id = ++g.handles.last_id;
    ++*g.executables;
    result = instantiate_result::success;
    return **gpu.state().graphs.executables.insert(std::move(made)).first;
}

// Issues the operations of a graph, each after those that its edges say; the roots after `begin`. One that ends with them.
class issuer {
public:
    issuer(context& gpu, const stream& on) : gpu_(gpu), on_(on) {}

    operation_pointer issue(const graph& g, const operation_pointer& begin) {
        std::vector<operation_pointer> leaves{begin};
        for (graph_node* const n : in_order(g)) {
            std::vector<operation_pointer> before;
            for (const edge& e : n->before) {
                before.push_back(e.node->issued);
            }
            if (before.empty()) {
                before.push_back(begin);
            }
            n->issued = issue(*n, before);
            if (n->after.empty()) {
                leaves.push_back(n->issued);
            }
        }
        for (const auto& n : g.nodes) {
            n->issued = nullptr;
        }
        return mark(leaves);
    }

private:
    operation_pointer mark(const std::vector<operation_pointer>& before) {
        return gpu_.issue_after(before, operation_kind::mark, nullptr, on_.priority, on_.id);
    }

    operation_pointer device(const std::vector<operation_pointer>& before, std::function<void()> work) {
        return gpu_.issue_after(before, operation_kind::device, std::move(work), on_.priority, on_.id);
    }

    operation_pointer issue(graph_node& n, std::vector<operation_pointer>& before) {
        if (!n.enabled) {
            return mark(before);
        }
        if (const auto* const kernel = std::get_if<graph_kernel>(&n.work)) {
            const std::uint64_t number = journal::instance().next_launch();
            operation_pointer made =
                device(before, [&gpu = gpu_, work = kernel->work, number] { perform(gpu, *work, number); });
            describe_kernel(*made, kernel->work->what->demangled, number);
            return made;
        }
        if (const auto* const copy = std::get_if<copy_work>(&n.work)) {
            operation_pointer made = device(before, [work = *copy] { perform(work); });
            describe_copy(gpu_, *made, *copy);
            return made;
        }
        if (const auto* const fill = std::get_if<fill_work>(&n.work)) {
            operation_pointer made = device(before, [work = *fill] { perform(work); });
            describe_fill(*made, *fill);
            return made;
        }
        if (const auto* const host = std::get_if<host_work>(&n.work)) {
            operation_pointer made = gpu_.issue_after(
                before, operation_kind::host,
                [&gpu = gpu_, work = *host] {
                    if (!gpu.poisoned()) {
                        work.run(work.user);
                    }
                },
                on_.priority, on_.id);
            describe_host_function(*made);
            return made;
        }
        if (const auto* const child = std::get_if<child_work>(&n.work)) {
            return issue(*child->own, mark(before));
        }
        if (const auto* const event = std::get_if<event_work>(&n.work)) {
            const auto& events = gpu_.state().events;
            const auto at = events.find(event->what);
            if (at != events.end() && n.type == node_type::event_wait) {
                before.push_back((*at)->recorded);
            }
            const operation_pointer made = mark(before);
            if (at != events.end() && n.type == node_type::event_record) {
                (*at)->recorded = made;
                (*at)->captured = nullptr;
            }
            return made;
        }
        if (const auto* const memory = std::get_if<memory_work>(&n.work)) {
            const bool allocates = n.type == node_type::allocate;
            set_live(*memory->what, allocates);
            if (checking::watches_order()) {
                return device(before, [&gpu = gpu_, base = memory->what->base, allocates] {
                    allocates ? checking::allocated_in_order(gpu.memory(), base, "allocation node")
                              : checking::freed_in_order(gpu.memory(), base, "free node");
                });
            }
        }
        return mark(before);
    }

    void set_live(graph_allocation& a, bool live) {
        a.live = live;
        graph_state& state = gpu_.state().graphs;
        std::uint64_t used = 0;
        for (const auto& [base, each] : state.allocations) {
            used += each->live ? each->bytes : 0;
        }
        state.used_high = std::max(state.used_high, used);
    }

    context& gpu_;
    const stream& on_;
};

// Allocations that an earlier launch left behind are an error, or are freed now.
void require_memory_free(const graph& g, bool free_it) {
    for (const auto& n : g.nodes) {
        if (const auto* const child = std::get_if<child_work>(&n->work)) {
            require_memory_free(*child->own, free_it);
        }
        if (n->type == node_type::allocate) {
            graph_allocation& a = *std::get<memory_work>(n->work).what;
            require(!a.live || free_it);
            a.live = false;
        }
    }
}

void launch(executable_graph* handle, stream* on) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    gpu.must_be_alive();
    executable_graph& e = checked(gpu, handle);
    stream& s = gpu.checked(on);
    if (is_capturing(s)) {
        require(!has_memory_nodes(*e.copy), error::stream_capture_unsupported);
        std::unique_ptr<graph> child = copy_of(gpu, *e.copy);
        graph_node& n = capture_node(gpu, s, node_type::graph);
        child->parent = &n;
        n.work = child_work{std::move(child)};
        return;
    }
    require_memory_free(*e.copy, (e.flags & instantiate_auto_free) != 0);
    // A graph does not run beside itself.
    const operation_pointer begin = gpu.mark(s, e.last);
    e.last = issuer(gpu, s).issue(*e.copy, begin);
    s.last = e.last;
}

graph_node& node_of(executable_graph& e, const graph_node* original) {
    const auto at = e.of_original.find(original);
    require(at != e.of_original.end());
    return *at->second;
}

void set(context& gpu, executable_graph* handle, graph_node* original, node_type type, const graph_node& next) {
    executable_graph& e = checked(gpu, handle);
    graph_node& n = node_of(e, original);
    require(n.type == type && next.type == type);
    require(type == node_type::kernel || may_become(gpu, n, next) == update_result::success);
    become(n, next);
}

void set_copy(context& gpu, executable_graph* e, graph_node* n, const copy_3d& p) {
    graph_node next;
    next.type = node_type::copy;
    next.work = copy_of(gpu, p);
    set(gpu, e, n, node_type::copy, next);
}

// What stands in the way of an update, node by node in the order in which they were added.
update_information compare(context& gpu, const graph& now, const graph& next) {
    if (now.nodes.size() != next.nodes.size()) {
        return {update_result::topology_changed, nullptr, nullptr};
    }
    std::unordered_map<const graph_node*, std::size_t> place;
    for (std::size_t i = 0; i < now.nodes.size(); ++i) {
        place[now.nodes[i].get()] = i;
        place[next.nodes[i].get()] = i;
    }
    for (std::size_t i = 0; i < now.nodes.size(); ++i) {
        const graph_node& a = *now.nodes[i];
        graph_node& b = *next.nodes[i];
        if (a.before.size() != b.before.size()) {
            return {update_result::topology_changed, &b, nullptr};
        }
        for (const edge& e : b.before) {
            if (std::ranges::none_of(a.before, [&](const edge& o) { return place[o.node] == place[e.node]; })) {
                return {update_result::topology_changed, &b, e.node};
            }
        }
        const update_result result = may_become(gpu, a, b);
        if (result != update_result::success) {
            return {result, &b, nullptr};
        }
        if (const auto* const child = std::get_if<child_work>(&a.work)) {
            const update_information inside = compare(gpu, *child->own, *std::get<child_work>(b.work).own);
            if (inside.result != update_result::success) {
                return inside;
            }
        }
    }
    return {update_result::success, nullptr, nullptr};
}

// `copies` learns the new originals: from now on the nodes are named by them.
void update(graph& now, const graph& next, std::unordered_map<const graph_node*, graph_node*>& copies) {
    for (std::size_t i = 0; i < now.nodes.size(); ++i) {
        graph_node& a = *now.nodes[i];
        const graph_node& b = *next.nodes[i];
        become(a, b);
        copies[&b] = &a;
        if (const auto* const child = std::get_if<child_work>(&a.work)) {
            update(*child->own, *std::get<child_work>(b.work).own, copies);
        }
    }
}

error instantiate_call(executable_graph** out, graph* from, unsigned long long flags) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        instantiate_result result{};
        *out = &instantiate(gpu, from, flags, result);
    });
}

error instantiate_call(executable_graph** out, graph* from, instantiate_parameters* p, bool own_default) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && p != nullptr);
        p->error_node = nullptr;
        executable_graph& e = instantiate(gpu, from, p->flags, p->result);
        if ((p->flags & instantiate_upload) != 0) {
            gpu.mark(gpu.checked(own_default ? of_this_thread(p->upload) : p->upload), e.last);
        }
        *out = &e;
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaGraphInstantiate(executable_graph** out, graph* from, unsigned long long flags) {
    return instantiate_call(out, from, flags);
}

error cudaGraphInstantiateWithFlags(executable_graph** out, graph* from, unsigned long long flags) {
    return instantiate_call(out, from, flags);
}

error cudaGraphInstantiateWithParams(executable_graph** out, graph* from, instantiate_parameters* p) {
    return instantiate_call(out, from, p, false);
}

error cudaGraphInstantiateWithParams_ptsz(executable_graph** out, graph* from, instantiate_parameters* p) {
    return instantiate_call(out, from, p, true);
}

error cudaGraphExecGetFlags(executable_graph* e, unsigned long long* flags) {
    return call([&](context& gpu, locked&) {
        require(flags != nullptr);
        *flags = checked(gpu, e).flags;
    });
}

error cudaGraphLaunch(executable_graph* e, stream* on) {
    return call([&] { launch(e, on); });
}

error cudaGraphLaunch_ptsz(executable_graph* e, stream* on) {
    return call([&] { launch(e, of_this_thread(on)); });
}

// There is nothing to upload: the call only takes its place in the stream.
error cudaGraphUpload(executable_graph* e, stream* on) {
    return call([&](context& gpu, locked&) {
        gpu.must_be_alive();
        gpu.mark(gpu.checked(on), checked(gpu, e).last);
    });
}

error cudaGraphUpload_ptsz(executable_graph* e, stream* on) { return cudaGraphUpload(e, of_this_thread(on)); }

// What has been launched goes on.
error cudaGraphExecDestroy(executable_graph* e) {
    return call([&](context& gpu, locked&) {
        executable_graph& old = checked(gpu, e);
        --*old.siblings;
        auto& all = gpu.state().graphs.executables;
        const auto taken = all.extract(all.find(e));
        destroy(gpu, std::move(old.copy), old.last);
    });
}

error cudaGraphExecUpdate(executable_graph* e, graph* from, update_information* information) {
    return call([&](context& gpu, locked&) {
        require(information != nullptr);
        *information = {update_result::error, nullptr, nullptr};
        gpu.must_be_alive();
        executable_graph& now = checked(gpu, e);
        const graph& next = checked(gpu, from);
        *information = compare(gpu, *now.copy, next);
        require(information->result == update_result::success, error::graph_exec_update_failure);
        update(*now.copy, next, now.of_original);
    });
}

error cudaGraphExecKernelNodeSetParams(executable_graph* e, graph_node* n, const kernel_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        graph_node next;
        next.type = node_type::kernel;
        next.work = kernel_of(gpu, *p);
        set(gpu, e, n, node_type::kernel, next);
    });
}

error cudaGraphExecMemcpyNodeSetParams(executable_graph* e, graph_node* n, const copy_3d* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        set_copy(gpu, e, n, *p);
    });
}

error cudaGraphExecMemcpyNodeSetParams1D(executable_graph* e, graph_node* n, void* destination, const void* source,
                                         std::size_t bytes, copy_kind kind) {
    return call([&](context& gpu, locked&) {
        set_copy(gpu, e, n, linear_copy(destination, source, bytes, kind));
    });
}

error cudaGraphExecMemcpyNodeSetParamsToSymbol(executable_graph* e, graph_node* n, const void* symbol,
                                               const void* source, std::size_t bytes, std::size_t offset,
                                               copy_kind kind) {
    return call([&](context& gpu, locked&) {
        set_copy(gpu, e, n, linear_copy(place_in_symbol(gpu, symbol, bytes, offset), source, bytes, kind));
    });
}

error cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable_graph* e, graph_node* n, void* destination,
                                                 const void* symbol, std::size_t bytes, std::size_t offset,
                                                 copy_kind kind) {
    return call([&](context& gpu, locked&) {
        set_copy(gpu, e, n, linear_copy(destination, place_in_symbol(gpu, symbol, bytes, offset), bytes, kind));
    });
}

error cudaGraphExecMemsetNodeSetParams(executable_graph* e, graph_node* n, const fill_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        graph_node next;
        next.type = node_type::fill;
        next.work = fill_of(gpu, *p);
        set(gpu, e, n, node_type::fill, next);
    });
}

error cudaGraphExecHostNodeSetParams(executable_graph* e, graph_node* n, const host_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr && p->function != nullptr);
        graph_node next;
        next.type = node_type::host;
        next.work = host_work{p->function, p->user};
        set(gpu, e, n, node_type::host, next);
    });
}

error cudaGraphExecChildGraphNodeSetParams(executable_graph* e, graph_node* n, graph* child) {
    return call([&](context& gpu, locked&) {
        executable_graph& now = checked(gpu, e);
        graph_node& node = node_of(now, n);
        require(node.type == node_type::graph);
        const graph& next = checked(gpu, child);
        graph& own = *std::get<child_work>(node.work).own;
        require(compare(gpu, own, next).result == update_result::success, error::graph_exec_update_failure);
        update(own, next, now.of_original);
    });
}

error cudaGraphExecEventRecordNodeSetEvent(executable_graph* e, graph_node* n, event* what) {
    return call([&](context& gpu, locked&) {
        gpu.checked(what);
        graph_node next;
        next.type = node_type::event_record;
        next.work = event_work{what};
        set(gpu, e, n, node_type::event_record, next);
    });
}

error cudaGraphExecEventWaitNodeSetEvent(executable_graph* e, graph_node* n, event* what) {
    return call([&](context& gpu, locked&) {
        gpu.checked(what);
        graph_node next;
        next.type = node_type::event_wait;
        next.work = event_work{what};
        set(gpu, e, n, node_type::event_wait, next);
    });
}

error cudaGraphExecNodeSetParams(executable_graph* e, graph_node* n, node_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        set(gpu, e, n, p->type, parameters_for(gpu, *p));
    });
}

error cudaGraphNodeSetEnabled(executable_graph* e, graph_node* n, unsigned enabled) {
    return call([&](context& gpu, locked&) {
        graph_node& node = node_of(checked(gpu, e), n);
        require(node.type == node_type::kernel || node.type == node_type::copy || node.type == node_type::fill);
        node.enabled = enabled != 0;
    });
}

error cudaGraphNodeGetEnabled(executable_graph* e, graph_node* n, unsigned* enabled) {
    return call([&](context& gpu, locked&) {
        require(enabled != nullptr);
        const graph_node& node = node_of(checked(gpu, e), n);
        require(node.type == node_type::kernel || node.type == node_type::copy || node.type == node_type::fill);
        *enabled = node.enabled ? 1 : 0;
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
