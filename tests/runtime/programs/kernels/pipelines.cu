// SPDX-License-Identifier: MIT
// Asynchronous copies as CUDA C++ has them: the pipeline primitives, cooperative groups' memcpy_async, cuda::barrier and
// cuda::pipeline of a thread and of a block.
#include <vector>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

#include "tests/runtime/programs/check.hpp"

namespace cg = cooperative_groups;
constexpr int threads = 128;

__global__ void primitives(float* out, const float* in) {
    __shared__ __align__(16) float room[2][4 * threads];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&room[0][t], in + t, sizeof(float));
    __pipeline_commit();
    __pipeline_memcpy_async(&room[1][4 * t], in + 4 * t, 16, 4); // the last word is zero
    __pipeline_commit();
    __pipeline_wait_prior(1);
    out[t] = room[0][t];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threads + t] = room[1][t];
}

__global__ void of_a_group(float* out, const float* in) {
    __shared__ float room[threads];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, room, in, sizeof(room));
    cg::wait(block);
    out[threadIdx.x] = room[threads - 1 - threadIdx.x];
}

#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void with_barrier(float* out, const float* in) {
    __shared__ float room[threads];
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    const cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) {
        init(&ready, block.size());
    }
    block.sync();
    cuda::memcpy_async(block, room, in, sizeof(room), ready);
    ready.arrive_and_wait();
    float sum = room[threads - 1 - threadIdx.x];
    // Half of the threads leave; the rest goes on alone.
    auto token = ready.arrive();
    ready.wait(std::move(token));
    if (threadIdx.x % 2 == 1) {
        ready.arrive_and_drop();
    } else {
        ready.arrive_and_wait();
        room[threadIdx.x] = sum;
        ready.arrive_and_wait();
        sum += room[threadIdx.x ^ 2];
    }
    out[threadIdx.x] = sum;
}

__global__ void pipeline_of_block(float* out, const float* in, int stages) {
    __shared__ float room[2][threads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int done = 0, fetched = 0; done < stages; ++done) {
        for (; fetched < stages && fetched < done + 2; ++fetched) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, room[fetched % 2], in + fetched * threads, sizeof(room[0]), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[done * threads + threadIdx.x] = room[done % 2][threadIdx.x ^ 33];
        pipe.consumer_release();
    }
}

__global__ void pipeline_of_thread(float* out, const float* in) {
    __shared__ float room[threads];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(room + threadIdx.x, in + threadIdx.x, sizeof(float), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[threadIdx.x] = room[threadIdx.x];
    pipe.consumer_release();
}

int main() {
    constexpr int stages = 5, n = stages * threads;
    float *in = nullptr, *out = nullptr;
    CUDA(cudaMallocManaged(&in, n * sizeof(float)));
    CUDA(cudaMallocManaged(&out, n * sizeof(float)));
    const auto fresh = [&] {
        CUDA(cudaGetLastError());
        CUDA(cudaDeviceSynchronize());
        for (int i = 0; i < n; ++i) {
            in[i] = static_cast<float>(i + 1);
            out[i] = -1;
        }
    };
    fresh();
    primitives<<<1, threads>>>(out, in);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < threads; ++t) {
        CHECK(out[t] == static_cast<float>(t + 1));
        CHECK(out[threads + t] == (t % 4 == 3 ? 0 : static_cast<float>(t + 1)));
    }
    fresh();
    of_a_group<<<1, threads>>>(out, in);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < threads; ++t) {
        CHECK(out[t] == static_cast<float>(threads - t));
    }
    fresh();
    with_barrier<<<1, threads>>>(out, in);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < threads; ++t) {
        const int own = threads - t, other = threads - (t ^ 2);
        CHECK(out[t] == static_cast<float>(t % 2 == 1 ? own : own + other));
    }
    fresh();
    pipeline_of_block<<<1, threads>>>(out, in, stages);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) {
        CHECK(out[i] == static_cast<float>((i / threads) * threads + (i % threads ^ 33) + 1));
    }
    fresh();
    pipeline_of_thread<<<1, threads>>>(out, in);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < threads; ++t) {
        CHECK(out[t] == static_cast<float>(t + 1));
    }
    return 0;
}
