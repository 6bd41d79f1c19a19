// SPDX-License-Identifier: MIT
// Stream capture: sequences of work that become a graph instead of running, and what must not be called meanwhile.
#include "softgpu/runtime/graph/capture.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/graph.hpp"
#include "softgpu/runtime/calls/graph/graphs.hpp"
#include "softgpu/runtime/memory/copies.hpp"

namespace softgpu::runtime {
namespace {

thread_local capture_mode this_threads_mode = capture_mode::global;

// The graph that a failed capture has made is never given to the program.
[[noreturn]] void invalidate(capture& c, error why) {
    c.status = capture_status::invalidated;
    fail(why);
}

template <class Act>
void for_each_stream(context& gpu, Act&& act) {
    for (auto& [thread, s] : gpu.state().of_threads) {
        act(s);
    }
    for (const auto& s : gpu.state().streams) {
        act(*s);
    }
}

// Streams that the legacy default stream would wait for.
std::shared_ptr<capture> of_blocking_streams(context& gpu) {
    std::shared_ptr<capture> found;
    for_each_stream(gpu, [&](const stream& s) {
        if (s.capturing != nullptr && s.blocking()) {
            found = s.capturing;
        }
    });
    return found;
}

void begin(stream* handle, graph* into, graph_node* const* before, std::size_t count, capture_mode mode) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    require(mode >= capture_mode::global && mode <= capture_mode::relaxed);
    gpu.must_be_alive();
    stream& s = gpu.checked(handle);
    require(!is_legacy(handle), error::stream_capture_unsupported);
    require(s.capturing == nullptr, error::illegal_state);
    graph_state& state = gpu.state().graphs;
    auto made = std::make_shared<capture>();
    made->id = gpu.next_id();
    made->mode = mode;
    made->thread = std::this_thread::get_id();
    made->origin = &s;
    if (into == nullptr) {
        made->into = state.graphs.insert(std::make_unique<graph>(state.handles)).first->get();
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
    state.captures.push_back(std::move(made));
}

// Whether all of these are among, or before, those.
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

graph* end(context& gpu, stream& s) {
    require(s.capturing != nullptr, error::illegal_state);
    const std::shared_ptr<capture> c = s.capturing;
    if (c->origin != &s) {
        invalidate(*c, error::stream_capture_unmatched);
    }
    if (c->mode != capture_mode::relaxed) {
        require(c->thread == std::this_thread::get_id(), error::stream_capture_wrong_thread);
    }
    bool joined = true;
    for_each_stream(gpu, [&](stream& other) {
        if (other.capturing == c && &other != &s) {
            joined = joined && (c->status != capture_status::active || are_before(other.capture_before, s.capture_before));
            other.capturing = nullptr;
            other.capture_before.clear();
        }
    });
    s.capturing = nullptr;
    s.capture_before.clear();
    graph_state& state = gpu.state().graphs;
    std::erase(state.captures, c);
    c->into->in_capture = false;
    const error result = c->status != capture_status::active ? error::stream_capture_invalidated
                         : joined                            ? error::success
                                                             : error::stream_capture_unjoined;
    c->status = capture_status::none;
    if (result == error::success) {
        return c->into;
    }
    if (c->owns_graph) {
        destroy(gpu, std::move(state.graphs.extract(state.graphs.find(c->into)).value()));
    }
    fail(result);
}

error end_call(stream* handle, graph** out) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        *out = nullptr;
        gpu.must_be_alive();
        *out = end(gpu, gpu.checked(handle));
    });
}

} // namespace

bool is_capturing(const stream& on) {
    require(on.capturing == nullptr || on.capturing->status == capture_status::active,
            error::stream_capture_invalidated);
    return on.capturing != nullptr;
}

graph_node& capture_node(context& gpu, stream& on, node_type type) {
    graph_node& made = add_node(gpu, *on.capturing->into, type, on.capture_before.data(), on.capture_before.size());
    on.capture_before.assign(1, &made);
    return made;
}

void capture_copy(context& gpu, stream& on, const copy_3d& what) {
    const copy_3d rows = require_copy(gpu, what);
    capture_node(gpu, on, node_type::copy).work = copy_work{.what = what, .rows = rows};
}

void require_not_capturing(context& gpu, const stream& on) {
    if (on.capturing != nullptr) {
        invalidate(*on.capturing, error::stream_capture_unsupported);
    }
    if (&on == &gpu.state().legacy && !gpu.state().graphs.captures.empty()) {
        if (const auto c = of_blocking_streams(gpu)) {
            invalidate(*c, error::stream_capture_implicit);
        }
    }
}

void require_safe(context& gpu) {
    if (this_threads_mode == capture_mode::relaxed) {
        return;
    }
    for (const auto& c : gpu.state().graphs.captures) {
        const bool own = c->thread == std::this_thread::get_id();
        const bool forbids = c->mode == capture_mode::global ? own || this_threads_mode == capture_mode::global
                                                             : c->mode == capture_mode::this_thread && own;
        if (forbids) {
            invalidate(*c, error::stream_capture_unsupported);
        }
    }
}

void require_no_capture(context& gpu) {
    const auto& all = gpu.state().graphs.captures;
    if (!all.empty()) {
        for (const auto& c : all) {
            c->status = capture_status::invalidated;
        }
        fail(error::stream_capture_unsupported);
    }
}

void require_uncaptured(const event& e) {
    if (e.captured != nullptr) {
        if (e.captured->status == capture_status::active) {
            e.captured->status = capture_status::invalidated;
        }
        fail(error::captured_event);
    }
}

void record_event(context& gpu, event& e, stream& on, unsigned flags) {
    if (!is_capturing(on)) {
        e.recorded = gpu.mark(on);
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
        if (e.recorded != nullptr) {
            gpu.mark(on, e.recorded);
        }
        return;
    }
    const std::shared_ptr<capture> c = e.captured;
    require(c->status != capture_status::invalidated, error::stream_capture_invalidated);
    require(c->status == capture_status::active, error::captured_event);
    if (&on == &gpu.state().legacy) {
        invalidate(*c, error::stream_capture_implicit);
    }
    if (capturing && on.capturing != c) {
        on.capturing->status = capture_status::invalidated;
        invalidate(*c, error::stream_capture_merge);
    }
    on.capturing = c;
    for (graph_node* const n : e.captured_nodes) {
        if (std::ranges::find(on.capture_before, n) == on.capture_before.end()) {
            on.capture_before.push_back(n);
        }
    }
}

void leave_capture(stream& s) {
    if (s.capturing == nullptr) {
        return;
    }
    // A branch that has been joined may go: whoever forked it in a function destroys it there.
    const stream& origin = *s.capturing->origin;
    if (&origin == &s || !are_before(s.capture_before, origin.capture_before)) {
        s.capturing->status = capture_status::invalidated;
    }
    s.capturing = nullptr;
}

capture_information capture_information_of(stream* handle) {
    static const std::vector<edge_data>& plain = *new std::vector<edge_data>(4096);
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    gpu.must_be_alive();
    const stream& s = gpu.checked(handle);
    if (&s == &gpu.state().legacy && of_blocking_streams(gpu) != nullptr) {
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

void give_capture_information(stream* s, capture_status* status, unsigned long long* id, graph** into,
                              graph_node* const** dependencies, const edge_data** data, std::size_t* count) {
    require(status != nullptr);
    const capture_information known = capture_information_of(s);
    *status = known.status;
    if (known.status != capture_status::active) {
        return;
    }
    if (id != nullptr) {
        *id = known.id;
    }
    if (into != nullptr) {
        *into = known.graph;
    }
    if (dependencies != nullptr) {
        *dependencies = known.dependencies;
    }
    if (data != nullptr) {
        *data = known.data;
    }
    if (count != nullptr) {
        *count = known.count;
    }
}

void update_capture_dependencies(stream* handle, graph_node* const* nodes, std::size_t count, unsigned flags) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    require(flags <= capture_dependencies_set && (nodes != nullptr || count == 0));
    stream& s = gpu.checked(handle);
    require(s.capturing != nullptr, error::illegal_state);
    (void)is_capturing(s);
    for (std::size_t i = 0; i < count; ++i) {
        require(checked(gpu, nodes[i]).owner == s.capturing->into);
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

#pragma GCC visibility push(default)
extern "C" {

error cudaStreamBeginCapture(stream* s, capture_mode mode) {
    return call([&] { begin(s, nullptr, nullptr, 0, mode); });
}

error cudaStreamBeginCapture_ptsz(stream* s, capture_mode mode) {
    return cudaStreamBeginCapture(of_this_thread(s), mode);
}

error cudaStreamBeginCaptureToGraph(stream* s, graph* into, graph_node* const* before, const edge_data*,
                                    std::size_t count, capture_mode mode) {
    return call([&] {
        require(into != nullptr);
        begin(s, into, before, count, mode);
    });
}

error cudaStreamBeginCaptureToGraph_ptsz(stream* s, graph* into, graph_node* const* before, const edge_data* data,
                                         std::size_t count, capture_mode mode) {
    return cudaStreamBeginCaptureToGraph(of_this_thread(s), into, before, data, count, mode);
}

error cudaStreamEndCapture(stream* s, graph** out) { return end_call(s, out); }

error cudaStreamEndCapture_ptsz(stream* s, graph** out) { return end_call(of_this_thread(s), out); }

error cudaStreamIsCapturing(stream* s, capture_status* status) {
    return call([&] {
        require(status != nullptr);
        *status = capture_information_of(s).status;
    });
}

error cudaStreamIsCapturing_ptsz(stream* s, capture_status* status) {
    return cudaStreamIsCapturing(of_this_thread(s), status);
}

error cudaThreadExchangeStreamCaptureMode(capture_mode* mode) {
    return call([&] {
        require(mode != nullptr && *mode >= capture_mode::global && *mode <= capture_mode::relaxed);
        *mode = std::exchange(this_threads_mode, *mode);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
