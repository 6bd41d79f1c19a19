// SPDX-License-Identifier: MIT
#include "softgpu/runtime/graph/graph.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <type_traits>

#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {

graph::graph(std::shared_ptr<graph_handles> all) : handles(std::move(all)), id(++handles->last_id) {
    handles->graphs.insert(this);
}

graph::~graph() {
    handles->graphs.erase(this);
    for (const auto& n : nodes) {
        handles->nodes.erase(n.get());
    }
}

graph_node& graph::add(node_type type) {
    auto made = std::make_unique<graph_node>();
    made->owner = this;
    made->type = type;
    made->id = ++handles->last_id;
    handles->nodes.insert(made.get());
    return *nodes.emplace_back(std::move(made));
}

void graph::remove(graph_node& node) {
    while (!node.before.empty()) {
        disconnect(*node.before.back().node, node);
    }
    while (!node.after.empty()) {
        disconnect(node, *node.after.back().node);
    }
    handles->nodes.erase(&node);
    std::erase_if(nodes, [&](const auto& n) { return n.get() == &node; });
}

context& find_home(context& gpu, const graph* g) {
    const auto at = std::ranges::find_if(gpu.group().members(), [g](const auto& c) {
        return c->template part<graph_state>().handles->graphs.contains(g);
    });
    return at == gpu.group().members().end() ? gpu : **at;
}

namespace {

// Throws invalid_value unless it is a handle of the device, with a message if it is one of another device.
template <class Handle>
void require_of(context& gpu, Handle* of) {
    const auto has = [of](context& c) {
        const graph_handles& all = *c.part<graph_state>().handles;
        if constexpr (std::is_same_v<Handle, graph>) {
            return all.graphs.contains(of);
        } else {
            return all.nodes.contains(of);
        }
    };
    if (!has(gpu)) {
        const bool elsewhere =
            std::ranges::any_of(gpu.group().members(), [&](const auto& other) { return has(*other); });
        fail(error::invalid_value, elsewhere ? graph_of_another_device : "");
    }
}

} // namespace

graph& checked(context& gpu, graph* g) {
    require_of(gpu, g);
    return *g;
}

graph_node& checked(context& gpu, graph_node* n) {
    require_of(gpu, n);
    return *n;
}

graph& create_graph(context& gpu) {
    auto& state = gpu.part<graph_state>();
    return **state.graphs.insert(std::make_unique<graph>(state.handles)).first;
}

void connect(graph_node& from, graph_node& to, edge_data data) {
    require(from.owner == to.owner && &from != &to);
    require(std::ranges::none_of(to.before, [&](const edge& e) { return e.node == &from; }));
    to.before.push_back({&from, data});
    from.after.push_back({&to, data});
}

void disconnect(graph_node& from, graph_node& to) {
    const auto removed = std::erase_if(to.before, [&](const edge& e) { return e.node == &from; });
    require(removed == 1);
    std::erase_if(from.after, [&](const edge& e) { return e.node == &to; });
}

graph_node& add_node(context& gpu, graph& in, node_type type, graph_node* const* before, std::size_t count,
                     const edge_data* data) {
    require(before != nullptr || count == 0);
    for (std::size_t i = 0; i < count; ++i) {
        require(checked(gpu, before[i]).owner == &in);
        require(std::find(before, before + i, before[i]) == before + i);
    }
    graph_node& made = in.add(type);
    for (std::size_t i = 0; i < count; ++i) {
        connect(*before[i], made, data == nullptr ? edge_data{} : data[i]);
    }
    return made;
}

graph_kernel with_arguments(std::shared_ptr<const kernel_work> work) {
    graph_kernel k{.work = std::move(work)};
    auto* const at = const_cast<std::byte*>(k.work->parameters.data());
    for (const std::uint32_t offset : k.work->image.facts->parameter_offsets) {
        k.arguments.push_back(at + offset);
    }
    return k;
}

void set_work(graph_node& node, const graph_node& next) {
    if (const auto* const kernel = std::get_if<graph_kernel>(&next.work)) {
        graph_kernel own{kernel->work, kernel->arguments, kernel->attributes};
        if (const auto* const old = std::get_if<graph_kernel>(&node.work); old != nullptr && own.attributes.empty()) {
            own.attributes = old->attributes; // new parameters keep the old attributes
            if (old->work->cooperative && !own.work->cooperative) {
                auto work = std::make_shared<kernel_work>(*own.work);
                work->cooperative = true;
                auto attributes = std::move(own.attributes);
                own = with_arguments(std::move(work));
                own.attributes = std::move(attributes);
            }
        }
        node.work = std::move(own);
    } else if (const auto* const copy = std::get_if<copy_work>(&next.work)) {
        node.work = *copy;
    } else if (const auto* const fill = std::get_if<fill_work>(&next.work)) {
        node.work = *fill;
    } else if (const auto* const host = std::get_if<host_work>(&next.work)) {
        node.work = *host;
    } else if (const auto* const batch = std::get_if<memory_batch_work>(&next.work)) {
        node.work = *batch;
    } else if (const auto* const mark = std::get_if<event_work>(&next.work)) {
        node.work = *mark;
    }
}

std::vector<graph*> inner_graphs(const graph_node& n) {
    if (const auto* const child = std::get_if<child_work>(&n.work)) {
        return {child->own.get()};
    }
    const auto* const conditional = std::get_if<conditional_work>(&n.work);
    return conditional == nullptr ? std::vector<graph*>{} : conditional->given;
}

bool has_conditional_nodes(const graph& g) {
    return std::ranges::any_of(g.nodes, [](const auto& n) {
        const auto* const child = std::get_if<child_work>(&n->work);
        return n->type == node_type::conditional || (child != nullptr && has_conditional_nodes(*child->own));
    });
}

bool has_memory_nodes(const graph& g) {
    return std::ranges::any_of(g.nodes, [](const auto& n) {
        const auto* const child = std::get_if<child_work>(&n->work);
        return n->type == node_type::allocate || n->type == node_type::free ||
               (child != nullptr && has_memory_nodes(*child->own));
    });
}

std::vector<graph_node*> in_order(const graph& g) {
    std::unordered_map<const graph_node*, std::size_t> left;
    std::deque<graph_node*> ready;
    for (const auto& n : g.nodes) {
        left[n.get()] = n->before.size();
        if (n->before.empty()) {
            ready.push_back(n.get());
        }
    }
    std::vector<graph_node*> found;
    while (!ready.empty()) {
        graph_node* const n = ready.front();
        ready.pop_front();
        found.push_back(n);
        for (const edge& e : n->after) {
            if (--left[e.node] == 0) {
                ready.push_back(e.node);
            }
        }
    }
    return found.size() == g.nodes.size() ? found : std::vector<graph_node*>{};
}

namespace {

// Copies what a node does. A child graph is copied too, memory is shared.
void copy_work_of(context& gpu, const graph_node& from, graph_node& to,
                  std::unordered_map<const graph_node*, graph_node*>* copies) {
    if (const auto* const child = std::get_if<child_work>(&from.work)) {
        to.work = child_work{copy_of(gpu, *child->own, copies)};
    } else if (const auto* const conditional = std::get_if<conditional_work>(&from.work)) {
        conditional_work own{conditional->on, conditional->type, {}, {}};
        for (const auto& body : conditional->bodies) {
            own.bodies.push_back(copy_of(gpu, *body, copies));
            own.given.push_back(own.bodies.back().get());
        }
        to.work = std::move(own);
    } else if (const auto* const memory = std::get_if<memory_work>(&from.work)) {
        to.work = *memory;
    } else {
        set_work(to, from);
    }
}

} // namespace

std::unique_ptr<graph> copy_of(context& gpu, const graph& g,
                               std::unordered_map<const graph_node*, graph_node*>* copies) {
    auto made = std::make_unique<graph>(g.handles);
    std::unordered_map<const graph_node*, graph_node*> own;
    for (const auto& n : g.nodes) {
        graph_node& to = made->add(n->type);
        to.original = n.get();
        to.enabled = n->enabled;
        to.device = n->device;
        own[n.get()] = &to;
        copy_work_of(gpu, *n, to, copies);
    }
    for (const auto& n : g.nodes) {
        for (const edge& e : n->before) {
            own[n.get()]->before.push_back({own[e.node], e.data});
        }
        for (const edge& e : n->after) {
            own[n.get()]->after.push_back({own[e.node], e.data});
        }
    }
    for (const auto& [object, count] : g.retained) {
        retain(*object, count);
        made->retained[object] += count;
    }
    made->conditions = g.conditions;
    if (copies != nullptr) {
        copies->merge(own);
    }
    return made;
}

void destroy(context& gpu, std::unique_ptr<graph> g, const operation_pointer& last) {
    const bool memory = has_memory_nodes(*g);
    std::vector<graph*> all{g.get()};
    for (std::size_t k = 0; k < all.size(); ++k) {
        for (const auto& [object, count] : all[k]->retained) {
            release(gpu, *object, count, last);
        }
        for (const auto& n : all[k]->nodes) {
            std::ranges::copy(inner_graphs(*n), std::back_inserter(all));
        }
    }
    g.reset();
    if (memory) {
        for (const auto& device : gpu.group().members()) {
            release_unreferenced(*device, last);
        }
    }
}

handle_set<user_object>& user_objects() {
    static handle_set<user_object>& all =
        *new handle_set<user_object>; // never destroyed: static destructors make calls too
    return all;
}

void retain(user_object& object, std::uint64_t count) { object.references += count; }

void release(context& gpu, user_object& object, std::uint64_t count, const operation_pointer& last) {
    require(count <= object.references);
    object.references -= count;
    if (object.references != 0) {
        return;
    }
    gpu.issue_after(
        {&last, 1}, operation_kind::host, [run = object.destroy, what = object.what] { run(what); }, least_priority, 0);
    user_objects().erase(user_objects().find(&object));
}

} // namespace softgpu::runtime
