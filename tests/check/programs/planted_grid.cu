// SPDX-License-Identifier: MIT
// Barriers of the grid by atomics and signals between blocks, and mistakes at them: planted_grid CASE [fixed]. Markers as in
// planted.cu. Before each mistake the blocks have met and read each other's words: what is known of a block then must not
// stand for what it does later, and not for what another thread or block knows.
#include <cstdio>
#include <cstring>

namespace {

constexpr int blocks = 3;
constexpr int threads = 96;
constexpr int count = blocks * threads;
constexpr unsigned leader = 64; // of a block: in its last warp

__device__ unsigned met[4]; // by barrier: who waits at one must not see that another block has come to the next
__device__ unsigned signals[4];

__device__ void signal(unsigned which, bool fences) {
    if (fences) {
        __threadfence();
    }
    atomicAdd(&signals[which], 1);
}

__device__ void wait_for(unsigned which) {
    while (*const_cast<volatile unsigned*>(&signals[which]) == 0) {
    }
}

__device__ void wait_for_all(unsigned round) {
    __threadfence();
    atomicAdd(&met[round], 1);
    while (atomicAdd(&met[round], 0) < gridDim.x) {
    }
    __threadfence();
}

__device__ void barrier_of_grid(unsigned round) {
    __syncthreads();
    if (threadIdx.x == leader) {
        wait_for_all(round);
    }
    __syncthreads();
}

// Threads of all blocks have written `a`, and read what those of the next block have.
__device__ void begin(int* a, int* out) {
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    a[i] = static_cast<int>(i);
    barrier_of_grid(1);
    out[i] = a[(i + threads) % count];
    barrier_of_grid(2);
}

template <bool Fixed>
__global__ void written_again(int* a, int* out) {
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    begin(a, out);
    out[i] += a[(i + threads) % count];
    if (Fixed) {
        barrier_of_grid(3);
    }
    a[i] = 7; // FINDING(written_again): race in global memory
}

// The leader releases without the other warps of its block.
template <bool Fixed>
__global__ void early_arrival(int* a, int* out) {
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    begin(a, out);
    a[i] = 7; // FINDING(early_arrival): race in global memory
    if (Fixed) {
        __syncthreads();
    }
    if (threadIdx.x == leader) {
        wait_for_all(3);
    }
    __syncthreads();
    out[i] += a[(i + threads) % count];
}

// The leader's warp has waited for the other blocks and read their words. Warp 1 knows of that, and lets warp 0 go on.
template <bool Fixed>
__global__ void warp_without_order(int* a, int* out) {
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    begin(a, out);
    a[i] = 7; // FINDING(warp_without_order): race in global memory
    __syncthreads();
    if (threadIdx.x / 32 == leader / 32) {
        if (threadIdx.x == leader) {
            wait_for_all(3);
        }
        __syncwarp();
        out[i] += a[(i + threads) % count];
        if (blockIdx.x == 0 && threadIdx.x == leader) {
            signal(0, true);
        }
    } else if (blockIdx.x == 0 && threadIdx.x == 32) {
        wait_for(0);
        signal(1, Fixed);
    } else if (blockIdx.x == 0 && threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            wait_for(1);
        }
        __syncwarp();
        out[i] += a[(i + threads) % count + 32];
    }
}

// Block 1 has waited for block 0 and read its words; block 2 waits for block 1.
template <bool Fixed>
__global__ void block_without_order(int* a, int* out) {
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    begin(a, out);
    if (blockIdx.x == 0) {
        a[i] = 7; // FINDING(block_without_order): race in global memory
        __syncthreads();
        if (threadIdx.x == leader) {
            signal(0, true);
        }
        return;
    }
    if (threadIdx.x == leader) {
        wait_for(blockIdx.x - 1);
    }
    __syncthreads();
    out[i] += a[threadIdx.x];
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == leader) {
        signal(1, Fixed);
    }
}

// Two lanes look at one signal again and again, and then the second one at another: that look tells something new.
template <bool Fixed>
__global__ void lanes_apart(int* a, int* out) {
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    begin(a, out);
    if (blockIdx.x != 0) {
        a[i] = 7; // FINDING(lanes_apart): race in global memory
        __syncthreads();
        if (threadIdx.x == leader) {
            signal(blockIdx.x, true);
        }
    } else if (threadIdx.x == leader || threadIdx.x == leader + 1) {
#pragma unroll 1
        for (unsigned k = 0; k < 6; ++k) {
            wait_for(Fixed && k == 5 && threadIdx.x != leader ? 1 : 2);
        }
        out[i] += a[(threadIdx.x == leader ? 2 : 1) * threads];
    }
}

} // namespace

#define RUN(kernel)                                                                                                    \
    if (std::strcmp(name, #kernel) == 0) {                                                                             \
        fixed ? kernel<true><<<blocks, threads>>>(a, out) : kernel<false><<<blocks, threads>>>(a, out);                \
    }

int main(int argc, char** argv) {
    const char* const name = argc > 1 ? argv[1] : "";
    const bool fixed = argc > 2 && std::strcmp(argv[2], "fixed") == 0;
    int* a = nullptr;
    int* out = nullptr;
    cudaMalloc(&a, count * sizeof(int));
    cudaMalloc(&out, count * sizeof(int));
    RUN(written_again)
    RUN(early_arrival)
    RUN(warp_without_order)
    RUN(block_without_order)
    RUN(lanes_apart)
    const cudaError_t result = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorString(result));
    cudaFree(a);
    cudaFree(out);
    return result == cudaSuccess ? 0 : 3;
}
