// SPDX-License-Identifier: MIT
#include "softgpu/runtime/graph/executable.hpp"

#include <algorithm>
#include <cstdint>

#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/device/run_grid.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/graph/conditional.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/graph/node_parameters.hpp"

namespace softgpu::runtime {
namespace {

constexpr unsigned long long all_flags =
    instantiate_auto_free | instantiate_upload | instantiate_device_launch | instantiate_node_priority;

bool has_cycle(const graph& g) {
    return in_order(g).size() != g.nodes.size() || std::ranges::any_of(g.nodes, [](const auto& n) {
               return std::ranges::any_of(inner_graphs(*n), [](const graph* inner) { return has_cycle(*inner); });
           });
}

// Issues the operations of a graph, each after those before it, and the roots after `begin`. issue() returns an operation that
// finishes after all of them.
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
    [[nodiscard]] context& device_of(const graph_node& n) const { return n.device == nullptr ? gpu_ : *n.device; }

    operation_pointer mark(const std::vector<operation_pointer>& before) {
        return gpu_.issue_after(before, operation_kind::mark, nullptr, on_.priority, on_.id);
    }

    operation_pointer device(context& gpu, const std::vector<operation_pointer>& before, std::function<void()> work) {
        return gpu.issue_after(before, operation_kind::device, std::move(work), on_.priority, on_.id);
    }

    operation_pointer issue(graph_node& n, std::vector<operation_pointer>& before) {
        if (!n.enabled) {
            return mark(before);
        }
        context& gpu = device_of(n);
        if (const auto* const kernel = std::get_if<graph_kernel>(&n.work)) {
            const std::uint64_t number = journal::instance().next_launch();
            operation_pointer made =
                device(gpu, before, [&gpu, work = kernel->work, number] { run_grid(gpu, *work, number); });
            describe_kernel(*made, *kernel->work->what, number);
            return made;
        }
        if (const auto* const copy = std::get_if<copy_work>(&n.work)) {
            operation_pointer made = device(gpu, before, [work = *copy] { run_copy(work); });
            describe_copy(gpu, *made, *copy);
            return made;
        }
        if (const auto* const fill = std::get_if<fill_work>(&n.work)) {
            operation_pointer made = device(gpu, before, [work = *fill] { run_fill(work); });
            describe_fill(*made, *fill);
            return made;
        }
        if (const auto* const batch = std::get_if<memory_batch_work>(&n.work)) {
            return issue_memory_operations(gpu, *batch, before, on_.priority, on_.id);
        }
        if (const auto* const host = std::get_if<host_work>(&n.work)) {
            operation_pointer made = gpu.issue_after(
                before, operation_kind::host,
                [&gpu, work = *host] {
                    if (!gpu.has_failed()) {
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
        if (n.type == node_type::conditional) {
            return issue_conditional(gpu, n, before, on_.priority, on_.id);
        }
        if (const auto* const event = std::get_if<event_work>(&n.work)) {
            const auto& events = home_of(gpu, event->what).state().events; // a wait may be for another device's event
            const auto at = events.find(event->what);
            if (at != events.end() && n.type == node_type::event_wait) {
                before.push_back(gpu.record_of(**at));
            }
            const bool records = at != events.end() && n.type == node_type::event_record;
            operation_pointer made =
                records && (*at)->shared != nullptr
                    ? gpu.issue_after(before, operation_kind::host, gpu.begin_record(**at), on_.priority, on_.id)
                    : mark(before);
            if (records) {
                (*at)->recorded = made;
                (*at)->captured = nullptr;
            }
            return made;
        }
        if (const auto* const memory = std::get_if<memory_work>(&n.work)) {
            const bool allocates = n.type == node_type::allocate;
            set_live(gpu, *memory->what, allocates);
            if (checking::checks_order()) {
                return device(gpu, before, [&gpu, base = memory->what->base, allocates] {
                    allocates ? checking::allocated_in_order(gpu.memory(), base, "allocation node")
                              : checking::freed_in_order(gpu.memory(), base, "free node");
                });
            }
        }
        return mark(before);
    }

    context& gpu_;
    const stream& on_;
};

// Throws invalid_value if allocations of an earlier launch are still live, unless free_it says to free them.
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

} // namespace

context& find_home(context& gpu, const executable_graph* e) {
    const auto at = std::ranges::find_if(
        gpu.group().members(), [e](const auto& c) { return c->template part<executable_graphs>().all.contains(e); });
    return at == gpu.group().members().end() ? gpu : **at;
}

executable_graph& checked(context& gpu, executable_graph* e) {
    const auto& all = gpu.part<executable_graphs>().all;
    if (all.find(e) == all.end()) {
        fail(error::invalid_value, &find_home(gpu, e) != &gpu ? graph_of_another_device : "");
    }
    return *e;
}

executable_graph& instantiate(context& gpu, graph* from, unsigned long long flags, instantiate_result& result) {
    result = instantiate_result::error;
    graph& g = checked(gpu, from);
    require((flags & ~all_flags) == 0);
    require((flags & instantiate_auto_free) == 0 || (flags & instantiate_device_launch) == 0);
    if ((flags & instantiate_device_launch) != 0) {
        fail(error::not_supported, "graphs that kernels launch are not supported");
    }
    gpu.require_usable();
    require(!g.in_capture, error::stream_capture_unsupported);
    if (has_cycle(g)) {
        result = instantiate_result::invalid_structure;
        fail(error::invalid_value);
    }
    require(!has_memory_nodes(g) || *g.executables == 0, error::not_supported);
    require(!has_conditional_nodes(g) || *g.executables == 0);
    require_valid_bodies(g);
    auto made = std::make_unique<executable_graph>();
    made->copy = copy_of(gpu, g, &made->of_original);
    made->siblings = g.executables;
    made->flags = flags & ~instantiate_upload;
    ++*g.executables;
    result = instantiate_result::success;
    return **gpu.part<executable_graphs>().all.insert(std::move(made)).first;
}

void launch(context& gpu, executable_graph& e, stream& s) {
    if (is_capturing(s)) {
        require(!has_memory_nodes(*e.copy) && !has_conditional_nodes(*e.copy), error::stream_capture_unsupported);
        child_work child{copy_of(gpu, *e.copy)};
        capture_node(gpu, s, node_type::graph).work = std::move(child);
        return;
    }
    require_memory_free(*e.copy, (e.flags & instantiate_auto_free) != 0);
    // Launches of the same executable graph run one after the other.
    operation_pointer begin = gpu.mark(s, e.last);
    if (auto conditions = reset_at_launch(*e.copy); !conditions.empty()) {
        begin = gpu.issue_after(
            {&begin, 1}, operation_kind::device,
            [conditions = std::move(conditions)] {
                for (const auto& c : conditions) {
                    c->value = c->initial;
                }
            },
            s.priority, s.id);
    }
    e.last = issuer(gpu, s).issue(*e.copy, begin);
    s.last = e.last;
}

graph_node& node_of(executable_graph& e, const graph_node* original) {
    const auto at = e.of_original.find(original);
    require(at != e.of_original.end());
    return *at->second;
}

void set_work(context& gpu, executable_graph& e, const graph_node* original, node_type type, const graph_node& next) {
    graph_node& n = node_of(e, original);
    require(n.type == type && next.type == type);
    require(type == node_type::kernel || can_replace(gpu, n, next) == update_result::success);
    set_work(n, next);
}

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
        const update_result result = can_replace(gpu, a, b);
        if (result != update_result::success) {
            return {result, &b, nullptr};
        }
        const std::vector<graph*> within = inner_graphs(a);
        const std::vector<graph*> within_next = inner_graphs(b);
        for (std::size_t k = 0; k < within.size(); ++k) {
            const update_information inside = compare(gpu, *within[k], *within_next[k]);
            if (inside.result != update_result::success) {
                return inside;
            }
        }
    }
    return {update_result::success, nullptr, nullptr};
}

void update(graph& now, const graph& next, std::unordered_map<const graph_node*, graph_node*>& copies) {
    now.conditions = next.conditions;
    for (std::size_t i = 0; i < now.nodes.size(); ++i) {
        graph_node& a = *now.nodes[i];
        const graph_node& b = *next.nodes[i];
        set_work(a, b);
        copies[&b] = &a;
        if (auto* const conditional = std::get_if<conditional_work>(&a.work)) {
            conditional->on = std::get<conditional_work>(b.work).on;
        }
        const std::vector<graph*> within = inner_graphs(a);
        const std::vector<graph*> within_next = inner_graphs(b);
        for (std::size_t k = 0; k < within.size(); ++k) {
            update(*within[k], *within_next[k], copies);
        }
    }
}

} // namespace softgpu::runtime
