// SPDX-License-Identifier: MIT
// cudaGraphDebugDotPrint: a graph as Graphviz draws it.
#include <fstream>
#include <sstream>
#include <string>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/graph.hpp"

namespace softgpu::runtime {
namespace {

const char* name_of(node_type type) {
    switch (type) {
    case node_type::kernel: return "KERNEL";
    case node_type::copy: return "MEMCPY";
    case node_type::fill: return "MEMSET";
    case node_type::host: return "HOST";
    case node_type::graph: return "GRAPH";
    case node_type::empty: return "EMPTY";
    case node_type::event_wait: return "EVENT_WAIT";
    case node_type::event_record: return "EVENT_RECORD";
    case node_type::allocate: return "MEM_ALLOC";
    case node_type::free: return "MEM_FREE";
    case node_type::semaphore_signal:
    case node_type::semaphore_wait: break;
    case node_type::conditional: return "CONDITIONAL";
    case node_type::memory_batch: return "BATCH_MEM_OP";
    }
    return "UNKNOWN";
}

void print(std::ostream& out, const graph_node& n) {
    if (const auto* const kernel = std::get_if<graph_kernel>(&n.work)) {
        const kernel_work& w = *kernel->work;
        out << "\\n"
            << w.what->demangled << "\\n<<<" << w.grid.x << 'x' << w.grid.y << 'x' << w.grid.z << ", " << w.block.x
            << 'x' << w.block.y << 'x' << w.block.z << ", " << w.dynamic_shared_bytes << ">>>";
    } else if (const auto* const copy = std::get_if<copy_work>(&n.work)) {
        const extent& e = copy->rows.extent;
        out << "\\n"
            << e.width << " x " << e.height << " x " << e.depth << " bytes\\nfrom " << copy->rows.source.pointer
            << "\\nto " << copy->rows.destination.pointer;
    } else if (const auto* const fill = std::get_if<fill_work>(&n.work)) {
        out << "\\n"
            << fill->width << " x " << fill->height << " of " << fill->element_bytes << " bytes\\nat " << fill->base
            << "\\nvalue " << fill->value;
    } else if (const auto* const conditional = std::get_if<conditional_work>(&n.work)) {
        constexpr const char* types[] = {"IF", "WHILE", "SWITCH"};
        out << "\\n" << types[static_cast<int>(conditional->type)] << " of handle " << conditional->on->handle;
    } else if (const auto* const memory = std::get_if<memory_work>(&n.work)) {
        out << "\\n" << memory->what->bytes << " bytes\\nat " << reinterpret_cast<void*>(memory->what->base);
    }
}

std::string label(const graph& g, const graph_node& n) {
    return "\"graph_" + std::to_string(g.id) + "_node_" + std::to_string(n.id) + '"';
}

void print(std::ostream& out, const graph& g) {
    out << "subgraph cluster_" << g.id << " {\nlabel=\"graph_" << g.id << "\" graph[style=\"dashed\"];\n";
    for (const auto& n : g.nodes) {
        out << label(g, *n) << "[shape=\"rectangle\" label=\"" << n->id << "\\n" << name_of(n->type);
        print(out, *n);
        out << "\"];\n";
        for (const graph* const inner : inner_graphs(*n)) {
            print(out, *inner);
        }
    }
    for (const auto& n : g.nodes) {
        for (const edge& e : n->after) {
            out << label(g, *n) << " -> " << label(g, *e.node) << ";\n";
        }
    }
    out << "}\n";
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaGraphDebugDotPrint(graph* g, const char* path, unsigned) {
    return call([&](context& gpu, locked&) {
        require(path != nullptr);
        std::ostringstream text;
        text << "digraph dot {\n";
        print(text, checked(gpu, g));
        text << "}\n";
        std::ofstream file(path);
        file << text.str();
        file.close();
        require(file.good(), error::operating_system);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
