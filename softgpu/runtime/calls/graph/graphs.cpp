// SPDX-License-Identifier: MIT
// The calls that create, copy, change and read graphs, and user objects.
#include "softgpu/runtime/calls/graph/graphs.hpp"

#include <algorithm>
#include <cstdint>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/graph.hpp"

namespace softgpu::runtime {
namespace {

// Fills an array of *count places, unused ones with null. Without an array, *count receives the number of nodes.
template <class Give>
void give(const std::vector<graph_node*>& found, graph_node** out, std::size_t* count, Give&& each) {
    require(count != nullptr);
    if (out == nullptr) {
        *count = found.size();
        return;
    }
    for (std::size_t i = 0; i < *count; ++i) {
        each(i, i < found.size() ? found[i] : nullptr);
    }
    *count = std::min(*count, found.size());
}

void give(const std::vector<graph_node*>& found, graph_node** out, std::size_t* count) {
    give(found, out, count, [&](std::size_t i, graph_node* n) { out[i] = n; });
}

void give_edges(const std::vector<edge>& edges, graph_node** out, edge_data* data, std::size_t* count) {
    std::vector<graph_node*> found;
    found.reserve(edges.size());
    for (const edge& e : edges) {
        found.push_back(e.node);
    }
    give(found, out, count, [&](std::size_t i, graph_node* n) {
        out[i] = n;
        if (data != nullptr) {
            data[i] = n == nullptr ? edge_data{} : edges[i].data;
        }
    });
}

void require_changeable(const graph& g) { require(!has_memory_nodes(g)); }

// While a capture adds to a graph, nodes must not be removed.
void require_not_in_capture(const graph& g) { require(!g.in_capture); }

} // namespace

void graph_edges(context& gpu, graph* g, graph_node** from, graph_node** to, edge_data* data, std::size_t* count) {
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    std::vector<graph_node*> sources;
    std::vector<edge> targets;
    for (const auto& n : checked(gpu, g).nodes) {
        for (const edge& e : n->before) {
            sources.push_back(e.node);
            targets.push_back({n.get(), e.data});
        }
    }
    const std::size_t room = *count;
    give(sources, from, count);
    *count = from == nullptr ? *count : room;
    give_edges(targets, to, data, count);
}

void graph_dependencies(context& gpu, graph_node* n, graph_node** out, edge_data* data, std::size_t* count) {
    give_edges(checked(gpu, n).before, out, data, count);
}

void graph_dependents(context& gpu, graph_node* n, graph_node** out, edge_data* data, std::size_t* count) {
    give_edges(checked(gpu, n).after, out, data, count);
}

void add_dependencies(context& gpu, graph* g, graph_node* const* from, graph_node* const* to, const edge_data* data,
                      std::size_t count) {
    graph& in = checked(gpu, g);
    require((from != nullptr && to != nullptr) || count == 0);
    for (std::size_t i = 0; i < count; ++i) {
        require(checked(gpu, from[i]).owner == &in && checked(gpu, to[i]).owner == &in);
    }
    for (std::size_t i = 0; i < count; ++i) {
        connect(*from[i], *to[i], data == nullptr ? edge_data{} : data[i]);
    }
}

void remove_dependencies(context& gpu, graph* g, graph_node* const* from, graph_node* const* to, std::size_t count) {
    graph& in = checked(gpu, g);
    require((from != nullptr && to != nullptr) || count == 0);
    require_changeable(in);
    for (std::size_t i = 0; i < count; ++i) {
        require(checked(gpu, from[i]).owner == &in && checked(gpu, to[i]).owner == &in);
        disconnect(*from[i], *to[i]);
    }
}

#pragma GCC visibility push(default)
extern "C" {

error cudaGraphCreate(graph** out, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && flags == 0);
        gpu.require_usable();
        *out = &create_graph(gpu);
    });
}

error cudaGraphDestroy(graph* g) {
    return call(g, [&](context& gpu, locked&) {
        auto& all = gpu.part<graph_state>().graphs;
        const auto at = all.find(g);
        require(at != all.end());
        require_not_in_capture(*g);
        destroy(gpu, std::move(all.extract(at).value()));
    });
}

error cudaGraphConditionalHandleCreate(unsigned long long* out, graph* of, unsigned initial, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && (flags & ~condition_assign_default) == 0);
        gpu.require_usable();
        graph& g = checked(gpu, of);
        g.conditions.push_back(make_condition(initial, flags != 0));
        *out = g.conditions.back()->handle;
    });
}

error cudaGraphClone(graph** out, graph* from) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        graph& g = checked(gpu, from);
        require(!has_memory_nodes(g) && !has_conditional_nodes(g), error::not_supported);
        std::unique_ptr<graph> made = copy_of(gpu, g);
        *out = made.get();
        gpu.part<graph_state>().graphs.insert(std::move(made));
    });
}

error cudaGraphNodeFindInClone(graph_node** out, graph_node* original, graph* clone) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        const graph& g = checked(gpu, clone);
        const auto at = std::ranges::find_if(g.nodes, [&](const auto& n) { return n->original == original; });
        require(original != nullptr && at != g.nodes.end());
        *out = at->get();
    });
}

error cudaGraphDestroyNode(graph_node* n) {
    return call([&](context& gpu, locked&) {
        graph_node& node = checked(gpu, n);
        require_changeable(*node.owner);
        require_not_in_capture(*node.owner);
        node.owner->remove(node);
    });
}

error cudaGraphNodeGetType(graph_node* n, node_type* type) {
    return call([&](context& gpu, locked&) {
        require(type != nullptr);
        *type = checked(gpu, n).type;
    });
}

error cudaGraphGetNodes(graph* g, graph_node** out, std::size_t* count) {
    return call([&](context& gpu, locked&) {
        std::vector<graph_node*> found;
        for (const auto& n : checked(gpu, g).nodes) {
            found.push_back(n.get());
        }
        give(found, out, count);
    });
}

error cudaGraphGetRootNodes(graph* g, graph_node** out, std::size_t* count) {
    return call([&](context& gpu, locked&) {
        std::vector<graph_node*> found;
        for (const auto& n : checked(gpu, g).nodes) {
            if (n->before.empty()) {
                found.push_back(n.get());
            }
        }
        give(found, out, count);
    });
}

error cudaUserObjectCreate(user_object** out, void* what, host_function destroy, unsigned references, unsigned flags) {
    return call([&](context&, locked&) {
        constexpr unsigned no_destructor_synchronisation = 1; // the only supported value; the program must pass it
        require(out != nullptr && destroy != nullptr && flags == no_destructor_synchronisation);
        require(references != 0 && references <= 0x7FFFFFFF);
        auto made = std::make_unique<user_object>();
        made->what = what;
        made->destroy = destroy;
        made->references = references;
        *out = made.get();
        user_objects().insert(std::move(made));
    });
}

error cudaUserObjectRetain(user_object* object, unsigned count) {
    return call([&](context&, locked&) {
        const auto& all = user_objects();
        require(all.find(object) != all.end() && count != 0 && count <= 0x7FFFFFFF);
        retain(*object, count);
    });
}

error cudaUserObjectRelease(user_object* object, unsigned count) {
    return call([&](context& gpu, locked&) {
        const auto& all = user_objects();
        require(all.find(object) != all.end() && count != 0 && count <= 0x7FFFFFFF);
        release(gpu, *object, count);
    });
}

error cudaGraphRetainUserObject(graph* g, user_object* object, unsigned count, unsigned flags) {
    return call([&](context& gpu, locked&) {
        constexpr unsigned move = 1;
        const auto& all = user_objects();
        graph& in = checked(gpu, g);
        require(all.find(object) != all.end() && count != 0 && count <= 0x7FFFFFFF && flags <= move);
        if (flags == move) {
            require(count <= object->references);
        } else {
            retain(*object, count);
        }
        in.retained[object] += count;
    });
}

error cudaGraphReleaseUserObject(graph* g, user_object* object, unsigned count) {
    return call([&](context& gpu, locked&) {
        graph& in = checked(gpu, g);
        const auto at = in.retained.find(object);
        require(at != in.retained.end() && count != 0 && count <= at->second);
        at->second -= count;
        if (at->second == 0) {
            in.retained.erase(at);
        }
        release(gpu, *object, count);
    });
}

error cudaDeviceGraphMemTrim(int device) {
    return call([&](context& gpu, locked&) { checked_device(gpu, device).part<graph_memory>().trim(); });
}

error cudaDeviceGetGraphMemAttribute(int device, graph_memory_attribute which, void* value) {
    return call([&](context& gpu, locked&) {
        const auto& state = checked_device(gpu, device).part<graph_memory>();
        require(value != nullptr);
        auto& out = *static_cast<std::uint64_t*>(value);
        switch (which) {
        case graph_memory_attribute::used_current: out = state.used(); return;
        case graph_memory_attribute::used_high: out = state.used_high; return;
        case graph_memory_attribute::reserved_current: out = state.reserved(); return;
        case graph_memory_attribute::reserved_high: out = state.reserved_high; return;
        }
        fail(error::invalid_value);
    });
}

// A high-water mark can only be reset.
error cudaDeviceSetGraphMemAttribute(int device, graph_memory_attribute which, void* value) {
    return call([&](context& gpu, locked&) {
        auto& state = checked_device(gpu, device).part<graph_memory>();
        require(value != nullptr && *static_cast<const std::uint64_t*>(value) == 0);
        require(which == graph_memory_attribute::used_high || which == graph_memory_attribute::reserved_high);
        (which == graph_memory_attribute::used_high ? state.used_high : state.reserved_high) = 0;
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
