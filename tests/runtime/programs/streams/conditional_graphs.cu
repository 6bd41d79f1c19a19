// SPDX-License-Identifier: MIT
// Conditional graph nodes: IF, ELSE, WHILE, SWITCH; nested bodies, default values, capture into a body, updates, and what is
// refused.
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include <unistd.h>

#include "tests/contents_of.hpp"
#include "tests/runtime/programs/check.hpp"

namespace {

__global__ void set_condition(cudaGraphConditionalHandle handle, unsigned value) {
    cudaGraphSetConditional(handle, value);
}
__global__ void add(int* to, int what) { *to += what; }
__global__ void count_down(int* left, cudaGraphConditionalHandle handle) {
    *left -= 1;
    cudaGraphSetConditional(handle, *left > 0 ? 1 : 0);
}
__global__ void child_adds(int* to) { add<<<1, 1>>>(to, 1000); }

struct fixture {
    int* data = nullptr;
    cudaGraph_t graph = nullptr;
    cudaStream_t stream = nullptr;
    fixture() {
        CUDA(cudaMalloc(&data, 16 * sizeof(int)));
        CUDA(cudaMemset(data, 0, 16 * sizeof(int)));
        CUDA(cudaGraphCreate(&graph, 0));
        CUDA(cudaStreamCreate(&stream));
    }
    ~fixture() {
        CUDA(cudaGraphDestroy(graph));
        CUDA(cudaStreamDestroy(stream));
        CUDA(cudaFree(data));
    }
    fixture(const fixture&) = delete;
    fixture& operator=(const fixture&) = delete;

    cudaGraphConditionalHandle handle(unsigned initial = 0, unsigned flags = 0) const {
        cudaGraphConditionalHandle made = 0;
        CUDA(cudaGraphConditionalHandleCreate(&made, graph, initial, flags));
        return made;
    }
    int value(int k = 0) const {
        int host = 0;
        CUDA(cudaMemcpy(&host, data + k, sizeof(int), cudaMemcpyDeviceToHost));
        return host;
    }
    void write(int k, int value) const { CUDA(cudaMemcpy(data + k, &value, sizeof(int), cudaMemcpyHostToDevice)); }
    cudaGraphExec_t instance() const {
        cudaGraphExec_t made = nullptr;
        CUDA(cudaGraphInstantiate(&made, graph, 0));
        return made;
    }
    void launch(cudaGraphExec_t run) const {
        CUDA(cudaGraphLaunch(run, stream));
        CUDA(cudaStreamSynchronize(stream));
    }
    void run() const {
        const cudaGraphExec_t once = instance();
        launch(once);
        CUDA(cudaGraphExecDestroy(once));
    }
};

template <class... Parameters, class... Arguments>
cudaGraphNode_t add_kernel(cudaGraph_t to, std::vector<cudaGraphNode_t> after, void (*kernel)(Parameters...),
                           Arguments... arguments) {
    cudaGraphNode_t made = nullptr;
    std::tuple<Parameters...> values{arguments...};
    std::apply(
        [&](auto&... each) {
            void* pointers[] = {&each...};
            cudaKernelNodeParams p{};
            p.func = reinterpret_cast<void*>(kernel);
            p.gridDim = p.blockDim = dim3(1);
            p.kernelParams = pointers;
            CUDA(cudaGraphAddKernelNode(&made, to, after.data(), after.size(), &p));
        },
        values);
    return made;
}

cudaError_t try_conditional(cudaGraphNode_t* made, cudaGraph_t to, std::vector<cudaGraphNode_t> after,
                            cudaGraphNodeParams& p) {
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(made, to, after.data(), nullptr, after.size(), &p);
#else
    return cudaGraphAddNode(made, to, after.data(), after.size(), &p);
#endif
}

cudaGraphNodeParams conditional(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned size) {
    cudaGraphNodeParams p{};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    return p;
}

std::vector<cudaGraph_t> add_conditional(cudaGraph_t to, std::vector<cudaGraphNode_t> after,
                                         cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                                         unsigned size, cudaGraphNode_t* node = nullptr) {
    cudaGraphNodeParams p = conditional(handle, type, size);
    cudaGraphNode_t made = nullptr;
    CUDA(try_conditional(&made, to, after, p));
    if (node != nullptr) {
        *node = made;
    }
    return {p.conditional.phGraph_out, p.conditional.phGraph_out + size};
}

void if_and_else() {
    for (const unsigned value : {0u, 1u, 7u}) {
        const fixture f;
        const cudaGraphConditionalHandle handle = f.handle();
        const cudaGraphNode_t first = add_kernel(f.graph, {}, set_condition, handle, value);
        cudaGraphNode_t node = nullptr;
        const auto bodies = add_conditional(f.graph, {first}, handle, cudaGraphCondTypeIf, 2, &node);
        add_kernel(bodies[0], {add_kernel(bodies[0], {}, add, f.data, 1)}, child_adds, f.data);
        add_kernel(bodies[1], {}, add, f.data, 20);
        add_kernel(f.graph, {node}, add, f.data, 100);
        f.run();
        CHECK(f.value() == (value != 0 ? 1101 : 120));
        cudaGraphNodeType type{};
        CUDA(cudaGraphNodeGetType(node, &type));
        CHECK(type == cudaGraphNodeTypeConditional);
    }
}

void while_and_default() {
    const fixture f;
    const cudaGraphConditionalHandle handle = f.handle(1, cudaGraphCondAssignDefault);
    cudaGraphNode_t node = nullptr;
    const auto bodies = add_conditional(f.graph, {}, handle, cudaGraphCondTypeWhile, 1, &node);
    CHECK(bodies.size() == 1);
    CUDA(cudaStreamBeginCaptureToGraph(f.stream, bodies[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, f.stream>>>(f.data, 2);
    count_down<<<1, 1, 0, f.stream>>>(f.data + 1, handle);
    CUDA(cudaStreamEndCapture(f.stream, nullptr)); // the body is known
    CUDA(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamEndCapture(f.stream, nullptr) == cudaErrorInvalidValue);
    cudaGraph_t captured = nullptr;
    CUDA(cudaStreamEndCapture(f.stream, &captured));
    CUDA(cudaGraphDestroy(captured));
    add_kernel(f.graph, {node}, add, f.data, 100);
    const cudaGraphExec_t run = f.instance();
    f.write(1, 10);
    f.launch(run);
    CHECK(f.value() == 120 && f.value(1) == 0);
    f.write(1, 3); // the default is applied again at each launch
    f.launch(run);
    CHECK(f.value() == 226);
    // Two launches behind each other, without a wait: the second finds no work left, and runs its body once.
    f.write(1, 4);
    CUDA(cudaGraphLaunch(run, f.stream));
    CUDA(cudaGraphLaunch(run, f.stream));
    CUDA(cudaStreamSynchronize(f.stream));
    CHECK(f.value() == 226 + 8 + 100 + 2 + 100 && f.value(1) == -1);
    CUDA(cudaGraphExecDestroy(run));
}

void switches() {
    for (const unsigned value : {0u, 1u, 2u, 3u, 1000u}) {
        const fixture f;
        const cudaGraphConditionalHandle handle = f.handle(value, cudaGraphCondAssignDefault);
        const auto bodies = add_conditional(f.graph, {}, handle, cudaGraphCondTypeSwitch, 3);
        for (int k = 0; k < 3; ++k) {
            add_kernel(bodies[static_cast<std::size_t>(k)], {}, add, f.data, k + 1);
        }
        f.run();
        CHECK(f.value() == (value < 3 ? static_cast<int>(value) + 1 : 0));
    }
}

// A loop of a loop with an IF in it.
__global__ void prepare_inner(int* data, cudaGraphConditionalHandle inner, cudaGraphConditionalHandle even) {
    data[2] = 3;
    cudaGraphSetConditional(inner, 1);
    cudaGraphSetConditional(even, data[1] % 2 == 0 ? 1 : 0);
}

void nests() {
    const fixture f;
    const cudaGraphConditionalHandle outer = f.handle(1, cudaGraphCondAssignDefault);
    const auto loop = add_conditional(f.graph, {}, outer, cudaGraphCondTypeWhile, 1);
    cudaGraphConditionalHandle inner = 0;
    cudaGraphConditionalHandle even = 0;
    CUDA(cudaGraphConditionalHandleCreate(&inner, loop[0], 0, 0));
    CUDA(cudaGraphConditionalHandleCreate(&even, loop[0], 0, 0));
    const cudaGraphNode_t first = add_kernel(loop[0], {}, prepare_inner, f.data, inner, even);
    cudaGraphNode_t inner_node = nullptr;
    cudaGraphNode_t even_node = nullptr;
    const auto inner_loop = add_conditional(loop[0], {first}, inner, cudaGraphCondTypeWhile, 1, &inner_node);
    add_kernel(inner_loop[0], {add_kernel(inner_loop[0], {}, add, f.data, 1)}, count_down, f.data + 2, inner);
    const auto if_even = add_conditional(loop[0], {first}, even, cudaGraphCondTypeIf, 1, &even_node);
    add_kernel(if_even[0], {}, add, f.data + 3, 1);
    add_kernel(loop[0], {inner_node, even_node}, count_down, f.data + 1, outer);
    f.write(1, 5);
    f.run();
    CHECK(f.value() == 15 && f.value(1) == 0 && f.value(2) == 0 && f.value(3) == 2);
}

void updates() {
    const fixture f;
    const fixture other;
    const auto build = [&](const fixture& in, int what, unsigned initial) {
        const cudaGraphConditionalHandle handle = in.handle(initial, cudaGraphCondAssignDefault);
        const auto bodies = add_conditional(in.graph, {}, handle, cudaGraphCondTypeIf, 1);
        add_kernel(bodies[0], {}, add, f.data, what);
    };
    build(f, 1, 0);
    build(other, 5, 1);
    const cudaGraphExec_t run = f.instance();
    f.launch(run);
    CHECK(f.value() == 0);
    cudaGraphExecUpdateResultInfo information{};
    CUDA(cudaGraphExecUpdate(run, other.graph, &information));
    f.launch(run);
    CHECK(f.value() == 5);
    const fixture longer;
    const auto bodies = add_conditional(longer.graph, {}, longer.handle(), cudaGraphCondTypeSwitch, 1);
    add_kernel(bodies[0], {}, add, f.data, 1);
    CHECK(cudaGraphExecUpdate(run, longer.graph, &information) == cudaErrorGraphExecUpdateFailure);
    CHECK(information.result == cudaGraphExecUpdateErrorParametersChanged);
    (void)cudaGetLastError();
    f.launch(run);
    CHECK(f.value() == 10);
    CUDA(cudaGraphExecDestroy(run));
}

void refusals() {
    const fixture f;
    cudaGraphConditionalHandle handle = 0;
    CHECK(cudaGraphConditionalHandleCreate(&handle, f.graph, 0, 2) == cudaErrorInvalidValue);
    handle = f.handle();
    cudaGraphNode_t node = nullptr;
    cudaGraphNodeParams p = conditional(handle, cudaGraphCondTypeWhile, 2);
    CHECK(try_conditional(&node, f.graph, {}, p) == cudaErrorInvalidValue);
    p = conditional(handle, cudaGraphCondTypeIf, 3);
    CHECK(try_conditional(&node, f.graph, {}, p) == cudaErrorInvalidValue);
    p = conditional(handle + 1000, cudaGraphCondTypeIf, 1);
    CHECK(try_conditional(&node, f.graph, {}, p) == cudaErrorInvalidValue);
    p = conditional(handle, cudaGraphCondTypeIf, 1);
    CUDA(try_conditional(&node, f.graph, {}, p));
    const cudaGraph_t body = p.conditional.phGraph_out[0];
    p = conditional(handle, cudaGraphCondTypeIf, 1);
    CHECK(try_conditional(&node, f.graph, {}, p) == cudaErrorInvalidValue); // one node a handle
    cudaGraph_t copy = nullptr;
    CHECK(cudaGraphClone(&copy, f.graph) != cudaSuccess);
    const fixture outer;
    CHECK(cudaGraphAddChildGraphNode(&node, outer.graph, nullptr, 0, f.graph) != cudaSuccess);
    const cudaGraphExec_t run = f.instance();
    cudaGraphExec_t second = nullptr;
    CHECK(cudaGraphInstantiate(&second, f.graph, 0) != cudaSuccess); // one instance at a time
    CUDA(cudaGraphExecDestroy(run));
    cudaHostNodeParams host{};
    host.fn = [](void*) {};
    CUDA(cudaGraphAddHostNode(&node, body, nullptr, 0, &host));
    CHECK(cudaGraphInstantiate(&second, f.graph, 0) != cudaSuccess); // no host functions in a body
    (void)cudaGetLastError();
}

void prints() {
    const fixture f;
    add_conditional(f.graph, {}, f.handle(), cudaGraphCondTypeWhile, 1);
    const std::string path = "conditional_graphs." + std::to_string(::getpid()) + ".dot"; // tests run at the same time
    CUDA(cudaGraphDebugDotPrint(f.graph, path.c_str(), 0));
    CHECK(warpfold::tests::contents_of(path).find("CONDITIONAL") != std::string::npos);
    std::remove(path.c_str());
}

} // namespace

int main() {
    if_and_else();
    while_and_default();
    switches();
    nests();
    updates();
    refusals();
    prints();
    return 0;
}
