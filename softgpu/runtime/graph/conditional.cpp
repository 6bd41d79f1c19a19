// SPDX-License-Identifier: MIT
#include "softgpu/runtime/graph/conditional.hpp"

#include <unordered_map>
#include <utility>
#include <variant>

#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/device/run_grid.hpp"

namespace softgpu::runtime {
namespace {

// A conditional node and its bodies as they were when the launch was issued: the program may change or destroy the graph.
struct body_plan;
struct node_plan {
    std::shared_ptr<condition> on;
    conditional_type type = conditional_type::if_else;
    std::vector<std::shared_ptr<const body_plan>> bodies;
};
struct step {
    std::variant<empty_work, std::shared_ptr<const kernel_work>, copy_work, fill_work, std::shared_ptr<const body_plan>,
                 node_plan>
        work;
    std::vector<std::size_t> before; // places in the plan
    bool is_leaf = false;
};
struct body_plan {
    std::vector<step> steps; // each after those before it
};

std::shared_ptr<const body_plan> plan_of(const graph& g);

node_plan plan_of(const conditional_work& w) {
    node_plan made{w.on, w.type, {}};
    for (const auto& body : w.bodies) {
        made.bodies.push_back(plan_of(*body));
    }
    return made;
}

std::shared_ptr<const body_plan> plan_of(const graph& g) {
    auto made = std::make_shared<body_plan>();
    std::unordered_map<const graph_node*, std::size_t> places;
    for (const graph_node* const n : in_order(g)) {
        places[n] = made->steps.size();
        step& s = made->steps.emplace_back();
        s.is_leaf = n->after.empty();
        for (const edge& e : n->before) {
            s.before.push_back(places[e.node]);
        }
        if (!n->enabled) {
            continue;
        }
        if (const auto* const kernel = std::get_if<graph_kernel>(&n->work)) {
            s.work = kernel->work;
        } else if (const auto* const copy = std::get_if<copy_work>(&n->work)) {
            s.work = *copy;
        } else if (const auto* const fill = std::get_if<fill_work>(&n->work)) {
            s.work = *fill;
        } else if (const auto* const child = std::get_if<child_work>(&n->work)) {
            s.work = plan_of(*child->own);
        } else if (const auto* const conditional = std::get_if<conditional_work>(&n->work)) {
            s.work = plan_of(*conditional);
        }
    }
    return made;
}

struct place {
    context* gpu;
    int priority;
    std::uint64_t stream;
    operation_pointer within; // nullptr: the graph itself

    [[nodiscard]] operation_pointer issue(const std::vector<operation_pointer>& before,
                                          std::function<void()> work) const {
        const operation_kind kind = work ? operation_kind::device : operation_kind::mark;
        return gpu->issue_after(before, kind, std::move(work), priority, stream, false, within);
    }
};

operation_pointer issue(const node_plan& plan, const std::vector<operation_pointer>& before, const place& at);

operation_pointer issue(const body_plan& plan, const operation_pointer& begin, const place& at) {
    std::vector<operation_pointer> issued;
    std::vector<operation_pointer> leaves{begin};
    for (const step& s : plan.steps) {
        std::vector<operation_pointer> before;
        for (const std::size_t k : s.before) {
            before.push_back(issued[k]);
        }
        if (before.empty()) {
            before.push_back(begin);
        }
        if (const auto* const kernel = std::get_if<std::shared_ptr<const kernel_work>>(&s.work)) {
            const std::uint64_t number = journal::instance().next_launch();
            issued.push_back(
                at.issue(before, [&gpu = *at.gpu, work = *kernel, number] { run_grid(gpu, *work, number); }));
            describe_kernel(*issued.back(), *(*kernel)->what, number);
        } else if (const auto* const copy = std::get_if<copy_work>(&s.work)) {
            issued.push_back(at.issue(before, [work = *copy] { run_copy(work); }));
        } else if (const auto* const fill = std::get_if<fill_work>(&s.work)) {
            issued.push_back(at.issue(before, [work = *fill] { run_fill(work); }));
        } else if (const auto* const child = std::get_if<std::shared_ptr<const body_plan>>(&s.work)) {
            issued.push_back(issue(**child, at.issue(before, nullptr), at));
        } else if (const auto* const conditional = std::get_if<node_plan>(&s.work)) {
            issued.push_back(issue(*conditional, before, at));
        } else {
            issued.push_back(at.issue(before, nullptr));
        }
        if (s.is_leaf) {
            leaves.push_back(issued.back());
        }
    }
    return at.issue(leaves, nullptr);
}

const body_plan* chosen_body(const node_plan& plan) {
    const unsigned value = plan.on->value;
    const std::size_t which = plan.type == conditional_type::choose ? value : value != 0 ? 0 : 1;
    return which < plan.bodies.size() ? plan.bodies[which].get() : nullptr;
}

// A conditional node under way. Guarded by the context's lock, under which its operations are issued.
struct round {
    node_plan plan;
    place inside;          // where the bodies' operations go
    operation_pointer end; // of the node
};

// Runs as an operation of the node: issues the body, if there is one, and for a loop the next decision.
void decide(const std::shared_ptr<round>& now) {
    const locked lock(now->inside.gpu->mutex());
    const body_plan* const body = chosen_body(now->plan);
    if (body == nullptr) {
        return;
    }
    const operation_pointer self = executor::this_threads_operation();
    operation_pointer last = issue(*body, self, now->inside);
    if (now->plan.type == conditional_type::loop) {
        last = now->inside.issue({last}, [now] { decide(now); });
    }
    executor::instance().add_dependency(now->end, last);
}

operation_pointer issue(const node_plan& plan, const std::vector<operation_pointer>& before, const place& at) {
    const auto now = std::make_shared<round>(round{plan, at, nullptr});
    const operation_pointer first = at.issue(before, [now] {
        now->inside.within = executor::this_threads_operation();
        decide(now);
    });
    if (at.within == nullptr && operation_journal::any()) {
        operation_journal::describe(*first, {.on = observe::engine::compute, .name = "conditional node"});
    }
    now->end = at.issue({first}, nullptr);
    return now->end;
}

bool is_allowed_in_body(node_type type) {
    switch (type) {
    case node_type::kernel:
    case node_type::copy:
    case node_type::fill:
    case node_type::graph:
    case node_type::empty:
    case node_type::conditional: return true;
    default: return false;
    }
}

void require_valid(const graph& g, bool in_body) {
    for (const auto& n : g.nodes) {
        if (in_body && !is_allowed_in_body(n->type)) {
            fail(error::not_supported,
                 "the body of a conditional node holds a node that is no kernel, copy, fill, empty "
                 "node, child graph or conditional node");
        }
        for (const graph* const inner : inner_graphs(*n)) {
            require_valid(*inner, in_body || n->type == node_type::conditional);
        }
    }
}

} // namespace

graph_node& add_conditional(context& gpu, graph& in, graph_node* const* before, std::size_t count,
                            const edge_data* data, conditional_parameters& p) {
    const std::shared_ptr<condition> on = find_condition(p.handle);
    require(on != nullptr && !on->is_taken);
    switch (p.type) {
    case conditional_type::if_else: require(p.size == 1 || p.size == 2); break;
    case conditional_type::loop: require(p.size == 1); break;
    case conditional_type::choose: require(p.size >= 1); break;
    default: fail(error::invalid_value);
    }
    graph_node& made = add_node(gpu, in, node_type::conditional, before, count, data);
    conditional_work work{on, p.type, {}, {}};
    for (unsigned k = 0; k < p.size; ++k) {
        work.bodies.push_back(std::make_unique<graph>(in.handles));
        work.given.push_back(work.bodies.back().get());
    }
    made.work = std::move(work);
    on->is_taken = true;
    p.bodies = std::get<conditional_work>(made.work).given.data();
    return made;
}

void require_valid_bodies(const graph& g) { require_valid(g, false); }

std::vector<std::shared_ptr<condition>> reset_at_launch(const graph& g) {
    std::vector<std::shared_ptr<condition>> all;
    for (const auto& n : g.nodes) {
        if (const auto* const work = std::get_if<conditional_work>(&n->work); work != nullptr && work->on->is_reset) {
            all.push_back(work->on);
        }
        for (const graph* const inner : inner_graphs(*n)) {
            std::ranges::move(reset_at_launch(*inner), std::back_inserter(all));
        }
    }
    return all;
}

operation_pointer issue_conditional(context& gpu, const graph_node& n, const std::vector<operation_pointer>& before,
                                    int priority, std::uint64_t stream) {
    return issue(plan_of(std::get<conditional_work>(n.work)), before, {&gpu, priority, stream, nullptr});
}

} // namespace softgpu::runtime
