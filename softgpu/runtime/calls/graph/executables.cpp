// SPDX-License-Identifier: MIT
// The calls that instantiate, launch and update graphs.
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/executable.hpp"
#include "softgpu/runtime/graph/node_parameters.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"
#include "softgpu/runtime/program/symbols.hpp"

namespace softgpu::runtime {
namespace {

error instantiate_call(executable_graph** out, graph* from, unsigned long long flags) {
    return call(from, [&](context& gpu, locked&) {
        require(out != nullptr);
        instantiate_result result{};
        *out = &instantiate(gpu, from, flags, result);
    });
}

error instantiate_call(executable_graph** out, graph* from, instantiate_parameters* p, bool own_default) {
    return call(from, [&](context& gpu, locked&) {
        require(out != nullptr && p != nullptr);
        p->error_node = nullptr;
        executable_graph& e = instantiate(gpu, from, p->flags, p->result);
        if ((p->flags & instantiate_upload) != 0) {
            gpu.mark(gpu.checked(own_default ? of_this_thread(p->upload) : p->upload), e.last);
        }
        *out = &e;
    });
}

error launch_call(executable_graph* e, stream* on) {
    return call(on, [&](context& gpu, locked&) {
        gpu.require_usable();
        executable_graph& what = checked(gpu, e);
        launch(gpu, what, gpu.checked(on));
    });
}

// The frame of the calls that change a node for later launches. make(gpu) makes and checks the work.
template <class Make>
error set_call(executable_graph* e, graph_node* n, node_type type, Make&& make) {
    return call([&](context& gpu, locked&) {
        graph_node next;
        next.type = type;
        next.work = make(gpu);
        set_work(gpu, checked(gpu, e), n, type, next);
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

error cudaGraphLaunch(executable_graph* e, stream* on) { return launch_call(e, on); }

error cudaGraphLaunch_ptsz(executable_graph* e, stream* on) { return launch_call(e, of_this_thread(on)); }

// Nothing is uploaded; the call is a mark in the stream.
error cudaGraphUpload(executable_graph* e, stream* on) {
    return call(on, [&](context& gpu, locked&) {
        gpu.require_usable();
        gpu.mark(gpu.checked(on), checked(gpu, e).last);
    });
}

error cudaGraphUpload_ptsz(executable_graph* e, stream* on) { return cudaGraphUpload(e, of_this_thread(on)); }

// Launches under way continue.
error cudaGraphExecDestroy(executable_graph* e) {
    return call(e, [&](context& gpu, locked&) {
        executable_graph& old = checked(gpu, e);
        --*old.siblings;
        auto& all = gpu.part<executable_graphs>().all;
        const auto taken = all.extract(all.find(e));
        destroy(gpu, std::move(old.copy), old.last);
    });
}

error cudaGraphExecUpdate(executable_graph* e, graph* from, update_information* information) {
    return call(e, [&](context& gpu, locked&) {
        require(information != nullptr);
        *information = {update_result::error, nullptr, nullptr};
        gpu.require_usable();
        executable_graph& now = checked(gpu, e);
        const graph& next = checked(gpu, from);
        *information = compare(gpu, *now.copy, next);
        require(information->result == update_result::success, error::graph_exec_update_failure);
        update(*now.copy, next, now.of_original);
    });
}

error cudaGraphExecKernelNodeSetParams(executable_graph* e, graph_node* n, const kernel_parameters* p) {
    return set_call(e, n, node_type::kernel, [&](context& gpu) {
        require(p != nullptr);
        return kernel_work_of(gpu, *p);
    });
}

error cudaGraphExecMemcpyNodeSetParams(executable_graph* e, graph_node* n, const copy_3d* p) {
    return set_call(e, n, node_type::copy, [&](context& gpu) {
        require(p != nullptr);
        return copy_work_of(gpu, *p);
    });
}

error cudaGraphExecMemcpyNodeSetParams1D(executable_graph* e, graph_node* n, void* destination, const void* source,
                                         std::size_t bytes, copy_kind kind) {
    return set_call(e, n, node_type::copy,
                    [&](context& gpu) { return copy_work_of(gpu, linear_copy(destination, source, bytes, kind)); });
}

error cudaGraphExecMemcpyNodeSetParamsToSymbol(executable_graph* e, graph_node* n, const void* symbol,
                                               const void* source, std::size_t bytes, std::size_t offset,
                                               copy_kind kind) {
    return set_call(e, n, node_type::copy, [&](context& gpu) {
        return copy_work_of(gpu, linear_copy(place_in_symbol(gpu, symbol, bytes, offset), source, bytes, kind));
    });
}

error cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable_graph* e, graph_node* n, void* destination,
                                                 const void* symbol, std::size_t bytes, std::size_t offset,
                                                 copy_kind kind) {
    return set_call(e, n, node_type::copy, [&](context& gpu) {
        return copy_work_of(gpu, linear_copy(destination, place_in_symbol(gpu, symbol, bytes, offset), bytes, kind));
    });
}

error cudaGraphExecMemsetNodeSetParams(executable_graph* e, graph_node* n, const fill_parameters* p) {
    return set_call(e, n, node_type::fill, [&](context& gpu) {
        require(p != nullptr);
        return fill_work_of(gpu, *p);
    });
}

error cudaGraphExecHostNodeSetParams(executable_graph* e, graph_node* n, const host_parameters* p) {
    return set_call(e, n, node_type::host, [&](context&) {
        require(p != nullptr);
        return host_work_of(*p);
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
    return set_call(e, n, node_type::event_record,
                    [&](context& gpu) { return event_work_of(gpu, what, node_type::event_record); });
}

error cudaGraphExecEventWaitNodeSetEvent(executable_graph* e, graph_node* n, event* what) {
    return set_call(e, n, node_type::event_wait,
                    [&](context& gpu) { return event_work_of(gpu, what, node_type::event_wait); });
}

error cudaGraphExecNodeSetParams(executable_graph* e, graph_node* n, node_parameters* p) {
    return call([&](context& gpu, locked&) {
        require(p != nullptr);
        set_work(gpu, checked(gpu, e), n, p->type, node_with(gpu, *p));
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
