// SPDX-License-Identifier: MIT
// A function that makes streams, events and memory of its own, works in them and destroys them is captured as a whole,
// as an application's code is. What it destroys has been joined; a stream that has not invalidates the capture.
#include "tests/runtime/programs/check.hpp"

__global__ void square(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x]; }

__global__ void negate(const int* in, int* out) { out[threadIdx.x] = -in[threadIdx.x]; }

constexpr int n = 64;

static void work(cudaStream_t stream, const int* in, int* squares, int* negated, bool join) {
    cudaStream_t side = nullptr;
    cudaEvent_t squared = nullptr, freed = nullptr;
    int *a = nullptr, *b = nullptr;
    CUDA(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&squared));
    CUDA(cudaEventCreate(&freed));
    CUDA(cudaMallocAsync(&a, n * sizeof(int), stream));
    CUDA(cudaMallocAsync(&b, n * sizeof(int), stream));
    CUDA(cudaMemcpyAsync(a, in, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    square<<<1, n, 0, stream>>>(a, b);
    CUDA(cudaEventRecord(squared, stream));
    CUDA(cudaStreamWaitEvent(side, squared, 0));
    CUDA(cudaMemcpyAsync(squares, b, n * sizeof(int), cudaMemcpyDeviceToHost, side));
    negate<<<1, n, 0, stream>>>(b, a);
    CUDA(cudaMemcpyAsync(negated, a, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(a, stream));
    CUDA(cudaEventRecord(freed, side));
    if (join) {
        CUDA(cudaStreamWaitEvent(stream, freed, 0));
        CUDA(cudaFreeAsync(b, stream));
    }
    CUDA(cudaStreamDestroy(side));
    CUDA(cudaEventDestroy(squared));
    CUDA(cudaEventDestroy(freed));
}

int main() {
    int *in = nullptr, *squares = nullptr, *negated = nullptr;
    CUDA(cudaMallocHost(&in, n * sizeof(int)));
    CUDA(cudaMallocHost(&squares, n * sizeof(int)));
    CUDA(cudaMallocHost(&negated, n * sizeof(int)));
    cudaStream_t stream = nullptr;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    work(stream, in, squares, negated, true);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < n; ++i) {
            in[i] = i + round;
            squares[i] = negated[i] = -1;
        }
        CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; ++i) {
            CHECK(squares[i] == in[i] * in[i] && negated[i] == -squares[i]);
        }
    }
    CUDA(cudaGraphExecDestroy(executable));

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    work(stream, in, squares, negated, false);
    CHECK(cudaStreamEndCapture(stream, &graph) != cudaSuccess);
    CHECK(cudaGetLastError() != cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    return 0;
}
