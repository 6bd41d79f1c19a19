// SPDX-License-Identifier: MIT
#include "softgpu/runtime/graph/capture.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>

#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/host_thread.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/memory/copies/array_copies.hpp"

namespace softgpu::runtime {
namespace {

// Whether each of these is one of those, or comes before one.
bool are_before(const std::vector<graph_node*>& these, const std::vector<graph_node*>& those) {
    std::unordered_set<const graph_node*> reached(those.begin(), those.end());
    std::vector<const graph_node*> left(those.begin(), those.end());
    while (!left.empty()) {
        const graph_node* const n = left.back();
        left.pop_back();
        for (const edge& e : n->before) {
            if (reached.insert(e.node).second) {
                left.push_back(e.node);
            }
        }
    }
    return std::ranges::all_of(these, [&](const graph_node* n) { return reached.contains(n); });
}

// Calls act(stream&) for each stream of the capture.
template <class Act>
void for_each_stream_of(context& gpu, const std::shared_ptr<capture>& c, Act&& act) {
    for (const auto& device : gpu.group().members()) {
        device->streams().for_each_capturable([&](stream& s) {
            if (s.capturing == c) {
                act(s);
            }
        });
    }
}

void release_streams(context& gpu, const std::shared_ptr<capture>& c) {
    for_each_stream_of(gpu, c, [](stream& s) {
        s.capturing = nullptr;
        s.capture_before.clear();
    });
    for (const auto& device : gpu.group().members()) {
        std::erase(device->streams().captures, c);
    }
    c->into->in_capture = false;
    c->status = capture_status::none;
}

void drop_graph(context& gpu, const capture& c) {
    if (c.owns_graph) {
        auto& all = gpu.part<graph_state>().graphs;
        destroy(gpu, std::move(all.extract(all.find(c.into)).value()));
    }
}

} // namespace

void begin_capture(context& gpu, stream* handle, graph* into, graph_node* const* before, std::size_t count,
                   capture_mode mode) {
    require(mode >= capture_mode::global && mode <= capture_mode::relaxed);
    gpu.require_usable();
    stream& s = gpu.checked(handle);
    require(!is_legacy(handle), error::stream_capture_unsupported);
    require(s.capturing == nullptr, error::illegal_state);
    auto made = std::make_shared<capture>();
    made->id = gpu.next_id();
    made->mode = mode;
    made->thread = host_thread::number();
    made->origin = &s;
    if (into == nullptr) {
        made->into = &create_graph(gpu);
    } else {
        graph& g = checked(gpu, into);
        require(!g.in_capture && (before != nullptr || count == 0));
        for (std::size_t i = 0; i < count; ++i) {
            require(checked(gpu, before[i]).owner == &g);
        }
        made->into = &g;
        made->owns_graph = false;
        s.capture_before.assign(before, before + count);
    }
    made->into->in_capture = true;
    s.capturing = made;
    gpu.streams().captures.push_back(std::move(made));
}

graph* end_capture(context& gpu, stream& s) {
    require(s.capturing != nullptr, error::illegal_state);
    const std::shared_ptr<capture> c = s.capturing;
    if (c->origin != &s) {
        invalidate(*c, error::stream_capture_unmatched);
    }
    if (c->mode != capture_mode::relaxed) {
        require(c->thread == host_thread::number(), error::stream_capture_wrong_thread);
    }
    error result = error::stream_capture_invalidated;
    if (c->status == capture_status::active) {
        std::vector<graph_node*> last = c->of_destroyed_streams;
        for_each_stream_of(gpu, c, [&](const stream& other) {
            last.insert(last.end(), other.capture_before.begin(), other.capture_before.end());
        });
        result = are_before(last, s.capture_before) ? error::success : error::stream_capture_unjoined;
    }
    release_streams(gpu, c);
    if (result == error::success) {
        return c->into;
    }
    drop_graph(gpu, *c);
    fail(result);
}

graph_node& capture_node(context& gpu, stream& on, node_type type, edge_data after_kernel) {
    context& home = find_home(gpu, on.capturing->into);
    const auto& before = on.capture_before;
    const bool by_kernel = before.size() == 1 && before.front()->type == node_type::kernel;
    graph_node& made =
        add_node(home, *on.capturing->into, type, before.data(), before.size(), by_kernel ? &after_kernel : nullptr);
    if (&home != &gpu) {
        made.device = &gpu;
    }
    on.capture_before.assign(1, &made);
    return made;
}

void capture_copy(context& gpu, stream& on, const copy_3d& what) {
    const copy_3d rows = require_copy(gpu, what);
    capture_node(gpu, on, node_type::copy).work = copy_work{.what = what, .rows = rows};
}

void record_event(context& gpu, event& e, stream& on, unsigned flags) {
    if (!is_capturing(on)) {
        e.recorded = e.shared == nullptr ? gpu.mark(on) : gpu.issue(on, operation_kind::host, gpu.begin_record(e));
        e.captured = nullptr;
        e.captured_nodes.clear();
    } else if ((flags & event_record_external) != 0) {
        capture_node(gpu, on, node_type::event_record).work = event_work{&e};
    } else {
        e.captured = on.capturing;
        e.captured_nodes = on.capture_before;
    }
}

void wait_for_event(context& gpu, stream& on, event& e, unsigned flags) {
    const bool capturing = is_capturing(on);
    if (capturing && (flags & event_wait_external) != 0) {
        capture_node(gpu, on, node_type::event_wait).work = event_work{&e};
        return;
    }
    if (e.captured == nullptr) {
        if (capturing) {
            invalidate(*on.capturing, error::stream_capture_isolation);
        }
        if (const operation_pointer& recorded = gpu.record_of(e); recorded != nullptr) {
            gpu.mark(on, recorded);
        }
        return;
    }
    const std::shared_ptr<capture> c = e.captured;
    require(c->status != capture_status::invalidated, error::stream_capture_invalidated);
    require(c->status == capture_status::active, error::captured_event);
    if (&on == &gpu.streams().legacy()) {
        invalidate(*c, error::stream_capture_implicit);
    }
    if (capturing && on.capturing != c) {
        on.capturing->status = capture_status::invalidated;
        invalidate(*c, error::stream_capture_merge);
    }
    on.capturing = c;
    if (auto& captures = gpu.streams().captures; std::ranges::find(captures, c) == captures.end()) {
        captures.push_back(c); // of a stream of another device
    }
    for (graph_node* const n : e.captured_nodes) {
        if (std::ranges::find(on.capture_before, n) == on.capture_before.end()) {
            on.capture_before.push_back(n);
        }
    }
}

void leave_capture(context& gpu, stream& s) {
    const std::shared_ptr<capture> c = s.capturing;
    if (c == nullptr) {
        return;
    }
    if (c->origin == &s) {
        release_streams(gpu, c);
        drop_graph(gpu, *c);
    } else {
        c->of_destroyed_streams.insert(c->of_destroyed_streams.end(), s.capture_before.begin(), s.capture_before.end());
        s.capturing = nullptr;
    }
}

capture_information capture_information_of(context& gpu, stream* handle) {
    static const std::vector<edge_data>& plain = *new std::vector<edge_data>(4096);
    gpu.require_usable();
    const stream& s = gpu.checked(handle);
    if (&s == &gpu.streams().legacy() && capture_of_blocking_streams(gpu.streams()) != nullptr) {
        fail(error::stream_capture_implicit);
    }
    if (s.capturing == nullptr) {
        return {};
    }
    return {.status = s.capturing->status,
            .id = s.capturing->id,
            .graph = s.capturing->into,
            .dependencies = s.capture_before.data(),
            .data = s.capture_before.size() <= plain.size() ? plain.data() : nullptr,
            .count = s.capture_before.size()};
}

void update_capture_dependencies(context& gpu, stream* handle, graph_node* const* nodes, std::size_t count,
                                 unsigned flags) {
    require(flags <= capture_dependencies_set && (nodes != nullptr || count == 0));
    stream& s = gpu.checked(handle);
    require(s.capturing != nullptr, error::illegal_state);
    (void)is_capturing(s);
    for (std::size_t i = 0; i < count; ++i) {
        require(checked(find_home(gpu, s.capturing->into), nodes[i]).owner == s.capturing->into);
    }
    if (flags == capture_dependencies_set) {
        s.capture_before.clear();
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (std::ranges::find(s.capture_before, nodes[i]) == s.capture_before.end()) {
            s.capture_before.push_back(nodes[i]);
        }
    }
}

} // namespace softgpu::runtime
