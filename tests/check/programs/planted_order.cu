// SPDX-License-Identifier: MIT
// Missing order between streams, graph branches and the host, one mistake a case, and for each a corrected twin:
// planted_order CASE [fixed]. Markers as in planted.cu.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int count = 1024;
constexpr std::size_t bytes = count * sizeof(int);

bool fixed = false;

void require(cudaError_t e, int line) {
    if (e != cudaSuccess) {
        std::printf("line %d: %s\n", line, cudaGetErrorString(e));
        std::exit(3);
    }
}
#define DO(call) require(call, __LINE__)

__global__ void produce(int* data, int value) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = value; // FINDING(event_too_early): race between streams
}

__global__ void consume(const int* data, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = data[i] + 1; // FINDING(missing_wait): race between streams
}

__global__ void produce_for_host(int* data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = 7; // FINDING(host_copy): race between streams
}

__global__ void in_default(int* data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1; // FINDING(default_stream): race between streams
}

__global__ void read_filled(const int* data, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = data[i]; // FINDING(async_fill): race between streams
}

__global__ void read_copied(const int* data, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = data[i]; // FINDING(early_kernel): race between streams
}

__constant__ int constants[count];

__global__ void read_constants(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = constants[i]; // FINDING(constants_copied): race between streams
}

__global__ void in_pool(int* data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = 3; // FINDING(pool_other_stream): use not ordered after the allocation
}

__global__ void before_free(int* data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] += 3; // FINDING(free_in_use): use not ordered before the free
}

__global__ void beside_free(int* data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = 3; // FINDING(use_beside_free): use not ordered before the free
}

__global__ void one_branch(int* data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1; // FINDING(graph_branch): race between branches of a graph
}

__global__ void add_to(int* data, int start) {
    data[start + blockIdx.x * blockDim.x + threadIdx.x] = start; // FINDING(one_buffer): race between streams
}

__global__ void every_second(int* data, int start) {
    data[2 * (blockIdx.x * blockDim.x + threadIdx.x) + start] = start; // FINDING(other_half): race between streams
}

__global__ void add_atomically(int* sum) { atomicAdd(sum, 1); }

struct streams {
    cudaStream_t a = nullptr;
    cudaStream_t b = nullptr;
    cudaEvent_t event = nullptr;
    int* data = nullptr;
    int* out = nullptr;
    int* pinned = nullptr;
    int* other_pinned = nullptr;

    streams() {
        DO(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
        DO(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
        DO(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        DO(cudaMalloc(&data, bytes));
        DO(cudaMalloc(&out, bytes));
        DO(cudaMallocHost(&pinned, bytes));
        DO(cudaMallocHost(&other_pinned, bytes));
        DO(cudaMemset(data, 0, bytes));
        DO(cudaMemset(out, 0, bytes));
        DO(cudaDeviceSynchronize());
    }
    ~streams() {
        DO(cudaDeviceSynchronize());
        DO(cudaFree(data));
        DO(cudaFree(out));
        DO(cudaFreeHost(pinned));
        DO(cudaFreeHost(other_pinned));
        DO(cudaEventDestroy(event));
        DO(cudaStreamDestroy(a));
        DO(cudaStreamDestroy(b));
    }
    // What b is given from now on comes after what a was given.
    void join() const {
        DO(cudaEventRecord(event, a));
        DO(cudaStreamWaitEvent(b, event, 0));
    }
    void join_if_fixed() const {
        if (fixed) {
            join();
        }
    }
};

constexpr int blocks = count / 128;

// In each of the reader's rows every second word is of an operation in order, the others of the next one in the same stream,
// which is not; an unordered operation that came before both touches other memory.
void other_half(const streams& s) {
    produce<<<blocks, 128, 0, s.b>>>(s.pinned, 1);
    cudaStream_t c = nullptr;
    DO(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    every_second<<<blocks / 2, 128, 0, c>>>(s.data, 0);
    if (!fixed) {
        DO(cudaEventRecord(s.event, c));
    }
    every_second<<<blocks / 2, 128, 0, c>>>(s.data, 1);
    if (fixed) {
        DO(cudaEventRecord(s.event, c));
    }
    DO(cudaStreamWaitEvent(s.a, s.event, 0));
    consume<<<blocks, 128, 0, s.a>>>(s.data, s.out);
    DO(cudaDeviceSynchronize());
    DO(cudaStreamDestroy(c));
}

void missing_wait(const streams& s) {
    produce<<<blocks, 128, 0, s.a>>>(s.data, 1);
    s.join_if_fixed();
    consume<<<blocks, 128, 0, s.b>>>(s.data, s.out);
}

void event_too_early(const streams& s) {
    if (!fixed) {
        DO(cudaEventRecord(s.event, s.a));
    }
    produce<<<blocks, 128, 0, s.a>>>(s.data, 1);
    if (fixed) {
        DO(cudaEventRecord(s.event, s.a));
    }
    DO(cudaStreamWaitEvent(s.b, s.event, 0));
    consume<<<blocks, 128, 0, s.b>>>(s.data, s.out);
}

void host_copy(const streams& s) {
    int there[count];
    produce_for_host<<<blocks, 128, 0, s.a>>>(s.data);
    if (fixed) {
        DO(cudaStreamSynchronize(s.a));
    }
    DO(cudaMemcpy(there, s.data, bytes, cudaMemcpyDeviceToHost));
}

void default_stream(const streams& s) {
    cudaStream_t blocking = nullptr;
    DO(cudaStreamCreate(&blocking));
    in_default<<<blocks, 128>>>(s.data);
    consume<<<blocks, 128, 0, fixed ? blocking : s.a>>>(s.data, s.out);
    DO(cudaDeviceSynchronize());
    DO(cudaStreamDestroy(blocking));
}

void async_fill(const streams& s) {
    DO(cudaMemsetAsync(s.data, 1, bytes, s.a));
    s.join_if_fixed();
    read_filled<<<blocks, 128, 0, s.b>>>(s.data, s.out);
}

// The kernel is issued first, and the copy overwrites what it reads.
void early_kernel(const streams& s) {
    read_copied<<<blocks, 128, 0, s.a>>>(s.data, s.out);
    s.join_if_fixed();
    DO(cudaMemcpyAsync(s.data, s.pinned, bytes, cudaMemcpyHostToDevice, s.b));
}

void constants_copied(const streams& s) {
    DO(cudaMemcpyToSymbolAsync(constants, s.pinned, bytes, 0, cudaMemcpyHostToDevice, s.a));
    s.join_if_fixed();
    read_constants<<<blocks, 128, 0, s.b>>>(s.out);
}

// HOST_FINDING(two_copies): race between streams
void two_copies(const streams& s) {
    const std::size_t pitch = 64 * sizeof(int);
    const std::size_t half = pitch / 2;
    int* const columns = s.data + (fixed ? 32 : 31);
    DO(cudaMemcpy2DAsync(s.data, pitch, s.pinned, pitch, half, 16, cudaMemcpyHostToDevice, s.a));
    DO(cudaMemcpy2DAsync(columns, pitch, s.other_pinned, pitch, half, 15, cudaMemcpyHostToDevice, s.b));
}

// HOST_FINDING(pinned_reused): race between streams
void pinned_reused(const streams& s) {
    DO(cudaMemcpyAsync(s.pinned, s.data, bytes, cudaMemcpyDeviceToHost, s.a));
    if (fixed) {
        while (cudaStreamQuery(s.a) == cudaErrorNotReady) {
        }
    }
    DO(cudaMemcpy(s.out, s.pinned, bytes, cudaMemcpyHostToDevice));
}

void pool_other_stream(const streams& s) {
    int* memory = nullptr;
    DO(cudaMallocAsync(&memory, bytes, s.a));
    s.join_if_fixed();
    in_pool<<<blocks, 128, 0, s.b>>>(memory);
    DO(cudaStreamSynchronize(s.b));
    DO(cudaFreeAsync(memory, s.a));
}

void free_in_use(const streams& s) {
    int* memory = nullptr;
    DO(cudaMallocAsync(&memory, bytes, s.a));
    DO(cudaMemsetAsync(memory, 0, bytes, s.a));
    s.join();
    before_free<<<blocks, 128, 0, s.a>>>(memory);
    s.join_if_fixed();
    DO(cudaFreeAsync(memory, s.b));
}

// The free is issued first: the kernel belongs before it, in its stream's order.
void use_beside_free(const streams& s) {
    int* memory = nullptr;
    DO(cudaMallocAsync(&memory, bytes, s.a));
    s.join();
    if (!fixed) {
        DO(cudaFreeAsync(memory, s.a));
    }
    beside_free<<<blocks, 128, 0, s.b>>>(memory);
    if (fixed) {
        DO(cudaFreeAsync(memory, s.b));
    }
}

void graph_branch(const streams& s) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaGraphNode_t first = nullptr;
    cudaGraphNode_t second = nullptr;
    int* data = s.data;
    int* out = s.out;
    void* first_arguments[] = {&data};
    void* second_arguments[] = {&data, &out};
    cudaKernelNodeParams p{};
    p.gridDim = dim3(blocks);
    p.blockDim = dim3(128);
    p.func = reinterpret_cast<void*>(one_branch);
    p.kernelParams = first_arguments;
    DO(cudaGraphCreate(&graph, 0));
    DO(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &p));
    p.func = reinterpret_cast<void*>(consume);
    p.kernelParams = second_arguments;
    DO(cudaGraphAddKernelNode(&second, graph, &first, fixed ? 1 : 0, &p));
    DO(cudaGraphInstantiate(&executable, graph, 0));
    DO(cudaGraphLaunch(executable, s.a));
    DO(cudaStreamSynchronize(s.a));
    DO(cudaGraphExecDestroy(executable));
    DO(cudaGraphDestroy(graph));
}

void one_buffer(const streams& s) {
    add_to<<<blocks / 2, 128, 0, s.a>>>(s.data, 0);
    add_to<<<blocks / 2, 128, 0, s.b>>>(s.data, fixed ? count / 2 : count / 2 - 1);
    add_atomically<<<1, 128, 0, s.a>>>(s.out);
    add_atomically<<<1, 128, 0, s.b>>>(s.out);
}

struct named {
    const char* name;
    void (*run)(const streams& s);
};
#define CASE(name)                                                                                                     \
    { #name, name }
const named cases[] = {CASE(missing_wait),      CASE(event_too_early), CASE(host_copy),       CASE(default_stream),
                       CASE(async_fill),        CASE(early_kernel),    CASE(two_copies),      CASE(pinned_reused),
                       CASE(pool_other_stream), CASE(free_in_use),     CASE(use_beside_free), CASE(graph_branch),
                       CASE(one_buffer),        CASE(other_half),      CASE(constants_copied)};

} // namespace

int main(int argc, char** argv) {
    fixed = argc > 2 && std::strcmp(argv[2], "fixed") == 0;
    for (const named& c : cases) {
        if (argc > 1 && std::strcmp(argv[1], c.name) == 0) {
            c.run(streams());
            return 0;
        }
    }
    std::printf("planted_order: no such case\n");
    return 2;
}
