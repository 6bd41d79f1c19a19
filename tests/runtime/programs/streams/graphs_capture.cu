// SPDX-License-Identifier: MIT
// Graphs made by stream capture: forks and joins, replay and update, what must not be called meanwhile, several threads.
#include <string>
#include <thread>
#include <vector>

#include "tests/runtime/programs/check.hpp"

__global__ void add(int* p, int value) { p[threadIdx.x] += value; }

__global__ void twice(int* p) { p[threadIdx.x] *= 2; }

#define EXPECT(call, expected)                                                                                         \
    do {                                                                                                               \
        const cudaError_t result_of_call = (call);                                                                     \
        if (result_of_call != (expected)) {                                                                            \
            std::fprintf(stderr, "%s:%d: %s is %s, not %s\n", __FILE__, __LINE__, #call,                               \
                         cudaGetErrorName(result_of_call), cudaGetErrorName(expected));                                \
            std::exit(1);                                                                                              \
        }                                                                                                              \
        (void)cudaGetLastError();                                                                                      \
    } while (false)

static int first(const int* device) {
    int value = -1;
    CUDA(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static int *a, *b, *pinned;
static cudaStream_t s, t;
static cudaEvent_t fork_event, join_event;

static void append(void* text) { *static_cast<std::string*>(text) += "h"; }

static void forks_and_joins() {
    std::string order;
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    CUDA(cudaStreamIsCapturing(s, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    CUDA(cudaMemsetAsync(a, 0, 32 * sizeof(int), s));
    CUDA(cudaEventRecord(fork_event, s));
    CUDA(cudaStreamWaitEvent(t, fork_event, 0));
    CUDA(cudaStreamIsCapturing(t, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<1, 32, 0, s>>>(a, 3);
    CUDA(cudaMemcpyAsync(b, pinned, 32 * sizeof(int), cudaMemcpyHostToDevice, t));
    twice<<<1, 32, 0, t>>>(b);
    CUDA(cudaEventRecord(join_event, t));
    CUDA(cudaStreamWaitEvent(s, join_event, 0));
    CUDA(cudaMemcpyAsync(a, b, sizeof(int), cudaMemcpyDeviceToDevice, s));
    CUDA(cudaLaunchHostFunc(s, append, &order));
    unsigned long long id = 0;
    cudaGraph_t graph{};
    CUDA(cudaStreamGetCaptureInfo(s, &status, &id, &graph));
    CHECK(status == cudaStreamCaptureStatusActive && id != 0 && graph != nullptr);
    cudaGraph_t captured{};
    CUDA(cudaStreamEndCapture(s, &captured));
    CHECK(captured == graph);
    CUDA(cudaStreamIsCapturing(t, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    std::size_t nodes = 0, edges = 0, roots = 0;
    CUDA(cudaGraphGetNodes(captured, nullptr, &nodes));
    CUDA(cudaGraphGetRootNodes(captured, nullptr, &roots));
    CUDA(cudaGraphGetEdges(captured, nullptr, nullptr, nullptr, &edges));
    CHECK(nodes == 6 && roots == 1 && edges == 6);
    CHECK(order.empty());
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiate(&exec, captured));
    CUDA(cudaGraphDestroy(captured));
    for (int i = 1; i <= 3; ++i) {
        *pinned = 10 * i;
        CUDA(cudaGraphLaunch(exec, s));
        CUDA(cudaStreamSynchronize(s));
        CHECK(first(a) == 20 * i && first(a + 1) == 3);
    }
    CHECK(order == "hhh");
    // Launches of the same graph follow each other, whatever their streams.
    for (int i = 0; i < 20; ++i) {
        CUDA(cudaGraphLaunch(exec, i % 2 == 0 ? s : t));
    }
    CUDA(cudaGraphExecDestroy(exec)); // what is launched goes on
    CUDA(cudaDeviceSynchronize());
    CHECK(order.size() == 23);
}

static void replay_counts() {
    CUDA(cudaMemset(a, 0, 32 * sizeof(int)));
    CUDA(cudaDeviceSynchronize());
    const auto capture = [](int value) {
        cudaGraph_t graph{};
        CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < 10; ++i) {
            add<<<1, 32, 0, s>>>(a, value);
        }
        CUDA(cudaStreamEndCapture(s, &graph));
        return graph;
    };
    cudaGraph_t ones = capture(1), twos = capture(2);
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiateWithFlags(&exec, ones, 0));
    for (int i = 0; i < 50; ++i) {
        CUDA(cudaGraphLaunch(exec, s));
    }
    cudaGraphExecUpdateResultInfo info{};
    CUDA(cudaGraphExecUpdate(exec, twos, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    for (int i = 0; i < 50; ++i) {
        CUDA(cudaGraphLaunch(exec, s));
    }
    CUDA(cudaStreamSynchronize(s));
    CHECK(first(a + 31) == 50 * 10 + 50 * 20);
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    add<<<1, 32, 0, s>>>(a, 1);
    CUDA(cudaGraphLaunch(exec, s)); // becomes a child graph
    cudaGraph_t outer{};
    CUDA(cudaStreamEndCapture(s, &outer));
    EXPECT(cudaGraphExecUpdate(exec, outer, &info), cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    cudaGraphExec_t nested{};
    CUDA(cudaGraphInstantiate(&nested, outer));
    CUDA(cudaGraphLaunch(nested, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(first(a) == 1500 + 1 + 20);
    for (cudaGraph_t g : {ones, twos, outer}) {
        CUDA(cudaGraphDestroy(g));
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphExecDestroy(nested));
}

static void mistakes() {
    cudaGraph_t graph{};
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorIllegalState);
    EXPECT(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    // Waiting for a stream that captures, and using it afterwards.
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed), cudaErrorIllegalState);
    EXPECT(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
    cudaStreamCaptureStatus status;
    CUDA(cudaStreamIsCapturing(s, &status));
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    EXPECT(cudaMemsetAsync(a, 0, 4, s), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK(graph == nullptr);
    CUDA(cudaMemsetAsync(a, 0, 4, s));
    CUDA(cudaStreamSynchronize(s));
    // Work that was forked and not joined.
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    add<<<1, 1, 0, s>>>(a, 1);
    CUDA(cudaEventRecord(fork_event, s));
    CUDA(cudaStreamWaitEvent(t, fork_event, 0));
    add<<<1, 1, 0, t>>>(a, 1);
    EXPECT(cudaEventQuery(fork_event), cudaErrorCapturedEvent);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CUDA(cudaEventRecord(fork_event, s));
    CUDA(cudaStreamWaitEvent(t, fork_event, 0));
    add<<<1, 1, 0, t>>>(a, 1);
    EXPECT(cudaStreamEndCapture(t, &graph), cudaErrorStreamCaptureUnmatched);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CUDA(cudaEventRecord(fork_event, s));
    CUDA(cudaStreamWaitEvent(t, fork_event, 0));
    add<<<1, 1, 0, t>>>(a, 1);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);
    // Waiting for what is outside, mixing two captures, the legacy stream beside a blocking one that captures.
    CUDA(cudaEventRecord(join_event, t));
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    EXPECT(cudaStreamWaitEvent(s, join_event, 0), cudaErrorStreamCaptureIsolation);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CUDA(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
    CUDA(cudaEventRecord(join_event, t));
    EXPECT(cudaStreamWaitEvent(s, join_event, 0), cudaErrorStreamCaptureMerge);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(t, &graph), cudaErrorStreamCaptureInvalidated);
    cudaStream_t blocking;
    CUDA(cudaStreamCreate(&blocking));
    CUDA(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
    EXPECT(cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaErrorStreamCaptureImplicit);
    EXPECT(cudaMemsetAsync(a, 0, 4, cudaStreamLegacy), cudaErrorStreamCaptureImplicit);
    EXPECT(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
    CUDA(cudaStreamDestroy(blocking));
    // Calls that wait, or may: by the mode of the capture and of the thread.
    void* p = nullptr;
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    EXPECT(cudaMalloc(&p, 16), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeGlobal);
    CUDA(cudaMalloc(&p, 16));
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    std::thread([] { EXPECT(cudaStreamEndCapture(s, nullptr), cudaErrorInvalidValue); }).join();
    std::thread([&] { EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureWrongThread); }).join();
    CUDA(cudaStreamEndCapture(s, &graph));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    std::thread([] {
        void* q = nullptr;
        CUDA(cudaMalloc(&q, 16));
        CUDA(cudaFree(q));
    }).join();
    EXPECT(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    CUDA(cudaFree(p));
}

// As an H100 does it.
static void destroyed_streams() {
    cudaGraph_t graph{};
    cudaStreamCaptureStatus status;
    const auto fork = [] {
        cudaStream_t branch{};
        CUDA(cudaStreamCreateWithFlags(&branch, cudaStreamNonBlocking));
        CUDA(cudaEventRecord(fork_event, s));
        CUDA(cudaStreamWaitEvent(branch, fork_event, 0));
        add<<<1, 1, 0, branch>>>(a, 1);
        return branch;
    };
    // A branch that is not joined: the capture goes on, and cannot be ended.
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CUDA(cudaStreamDestroy(fork()));
    CUDA(cudaStreamIsCapturing(s, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);
    // Its nodes are joined by hand.
    CUDA(cudaMemset(a, 0, sizeof(int)));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    const cudaStream_t branch = fork();
    cudaGraph_t captured{};
    cudaGraphNode_t last{};
    std::size_t count = 1;
    CUDA(cudaStreamDestroy(branch));
    CUDA(cudaStreamGetCaptureInfo(s, &status, nullptr, &captured));
    CUDA(cudaGraphGetNodes(captured, &last, &count));
#if CUDART_VERSION >= 13000
    CUDA(cudaStreamUpdateCaptureDependencies(s, &last, nullptr, count, cudaStreamSetCaptureDependencies));
#else
    CUDA(cudaStreamUpdateCaptureDependencies(s, &last, count, cudaStreamSetCaptureDependencies));
#endif
    add<<<1, 1, 0, s>>>(a, 1);
    CUDA(cudaStreamEndCapture(s, &graph));
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(first(a) == 2);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    // The stream on which the capture began: there is none any more.
    cudaStream_t origin{};
    CUDA(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed));
    CUDA(cudaEventRecord(fork_event, origin));
    CUDA(cudaStreamWaitEvent(t, fork_event, 0));
    CUDA(cudaStreamDestroy(origin));
    CUDA(cudaStreamIsCapturing(t, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    EXPECT(cudaStreamEndCapture(t, &graph), cudaErrorIllegalState);
    add<<<1, 1, 0, t>>>(a, 1);
    CUDA(cudaStreamSynchronize(t));
    CHECK(first(a) == 3);
}

static void memory_in_a_capture() {
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    int* scratch = nullptr;
    CUDA(cudaMallocAsync(reinterpret_cast<void**>(&scratch), 32 * sizeof(int), s));
    CUDA(cudaMemsetAsync(scratch, 0, 32 * sizeof(int), s));
    add<<<1, 32, 0, s>>>(scratch, 5);
    CUDA(cudaMemcpyAsync(a, scratch, 32 * sizeof(int), cudaMemcpyDeviceToDevice, s));
    CUDA(cudaFreeAsync(scratch, s));
    cudaGraph_t graph{};
    CUDA(cudaStreamEndCapture(s, &graph));
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiate(&exec, graph));
    cudaGraphExec_t another{};
    EXPECT(cudaGraphInstantiate(&another, graph), cudaErrorNotSupported);
    for (int i = 0; i < 3; ++i) {
        CUDA(cudaGraphLaunch(exec, s));
    }
    CUDA(cudaStreamSynchronize(s));
    CHECK(first(a + 31) == 5);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

// A launch that may start early has an edge of this kind from the launch before it.
static void programmatic_launches_in_a_capture() {
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = 32;
    config.stream = s;
    config.attrs = &early;
    config.numAttrs = 1;
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CUDA(cudaMemsetAsync(a, 0, 32 * sizeof(int), s));
    CUDA(cudaLaunchKernelEx(&config, add, a, 1));
    CUDA(cudaLaunchKernelEx(&config, add, a, 2));
    add<<<1, 32, 0, s>>>(a, 4);
    cudaGraph_t graph{};
    CUDA(cudaStreamEndCapture(s, &graph));
    cudaGraphNode_t from[4], to[4];
    cudaGraphEdgeData data[4];
    std::size_t edges = 4;
    CUDA(cudaGraphGetEdges(graph, from, to, data, &edges));
    CHECK(edges == 3);
    int programmatic = 0;
    for (std::size_t i = 0; i < edges; ++i) {
        const bool is = data[i].type == cudaGraphDependencyTypeProgrammatic;
        CHECK(data[i].from_port == (is ? cudaGraphKernelNodePortProgrammatic : cudaGraphKernelNodePortDefault));
        programmatic += is ? 1 : 0;
    }
    CHECK(programmatic == 1);
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiate(&exec, graph));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(first(a) == 7);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

static void several_threads() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([i] {
            cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
            CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
            cudaStream_t mine;
            CUDA(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
            int* p = nullptr;
            CUDA(cudaMallocAsync(reinterpret_cast<void**>(&p), 32 * sizeof(int), mine));
            CUDA(cudaMemsetAsync(p, 0, 32 * sizeof(int), mine));
            for (int k = 0; k < 10; ++k) {
                cudaGraph_t graph{};
                CUDA(cudaStreamBeginCapture(mine, cudaStreamCaptureModeThreadLocal));
                add<<<1, 32, 0, mine>>>(p, i);
                CUDA(cudaStreamEndCapture(mine, &graph));
                cudaGraphExec_t exec{};
                CUDA(cudaGraphInstantiate(&exec, graph));
                CUDA(cudaGraphLaunch(exec, mine));
                CUDA(cudaGraphExecDestroy(exec));
                CUDA(cudaGraphDestroy(graph));
            }
            int value = -1;
            CUDA(cudaMemcpyAsync(&value, p, sizeof value, cudaMemcpyDeviceToHost, mine));
            CUDA(cudaStreamSynchronize(mine));
            CHECK(value == 10 * i);
            CUDA(cudaFreeAsync(p, mine));
            CUDA(cudaStreamDestroy(mine));
        });
    }
    for (std::thread& each : threads) {
        each.join();
    }
}

int main() {
    CUDA(cudaMalloc(&a, 32 * sizeof(int)));
    CUDA(cudaMalloc(&b, 32 * sizeof(int)));
    CUDA(cudaMallocHost(&pinned, 32 * sizeof(int)));
    CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&fork_event, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&join_event, cudaEventDisableTiming));
    forks_and_joins();
    replay_counts();
    mistakes();
    destroyed_streams();
    memory_in_a_capture();
    programmatic_launches_in_a_capture();
    several_threads();
    CUDA(cudaDeviceReset());
    return 0;
}
