// SPDX-License-Identifier: MIT
// Mistakes with cp.async, with barrier objects and atomics, and of the host, one a case, and for each a corrected twin:
// planted_copies CASE [fixed]. Markers as in planted.cu.
#include <cstdio>
#include <cstring>

#include <cuda_pipeline.h>

namespace {

constexpr int block = 128;

template <bool Fixed>
__global__ void forgotten_wait(const int* in, int* out) {
    __shared__ int s[block];
    const int t = static_cast<int>(threadIdx.x);
    __pipeline_memcpy_async(s + t, in + t, sizeof(int));
    __pipeline_commit();
    if (Fixed) {
        __pipeline_wait_prior(0);
    }
    __syncthreads();
    out[t] = s[block - 1 - t]; // FINDING(forgotten_wait): race in shared memory
}

// Two stages; the copy of the next one is under way while this one is read.
template <bool Fixed>
__global__ void stages(const int* in, int* out, int rounds) {
    __shared__ int s[2][block];
    const int t = static_cast<int>(threadIdx.x);
    __pipeline_memcpy_async(s[0] + t, in + t, sizeof(int));
    __pipeline_commit();
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
        if (r + 1 < rounds) {
            __pipeline_memcpy_async(s[(r + 1) % 2] + t, in + t, sizeof(int));
        }
        __pipeline_commit();
        __pipeline_wait_prior(Fixed ? 1 : 2);
        __syncthreads();
        sum += s[r % 2][block - 1 - t]; // FINDING(stages): race in shared memory
        __syncthreads();
    }
    out[t] = sum;
}

__global__ void copy_unwritten(const int* in, int* out) {
    __shared__ int s[block];
    const int t = static_cast<int>(threadIdx.x);
    __pipeline_memcpy_async(s + t, in + t, sizeof(int)); // FINDING(copy_unwritten): read of unwritten memory
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[block - 1 - t];
}

template <bool Fixed>
__global__ void counter(int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) {
        count = 0;
    }
    if (Fixed) {
        __syncthreads();
    }
    atomicAdd(&count, 1); // FINDING(counter): race in shared memory
    __syncthreads();
    out[threadIdx.x] = count;
}

template <bool Fixed>
__global__ void exchanged(int* out) {
    __shared__ int bins[block];
    if (Fixed) {
        atomicExch(bins + threadIdx.x, 0);
    }
    atomicAdd(bins + threadIdx.x, 1); // FINDING(exchanged): read of unwritten memory
    out[threadIdx.x] = bins[threadIdx.x];
}

struct padded {
    char a;
    int b;
    short c;
    double d;
};

template <bool Fixed>
__global__ void assigned(padded* out) {
    __shared__ padded s[block];
    const int t = static_cast<int>(threadIdx.x);
    s[t].a = 1;
    s[t].b = t;
    s[t].c = 2;
    if (Fixed) {
        s[t].d = t;
    }
    __syncthreads();
    out[t] = s[block - 1 - t]; // FINDING(assigned): read of unwritten memory
}

__device__ int variable[8];

__global__ void use_variable(int* out) { out[0] = variable[threadIdx.x]; }

} // namespace

#define LAUNCH(kernel, ...)                                                                                            \
    do {                                                                                                               \
        if (fixed) {                                                                                                   \
            kernel<true><<<1, block>>>(__VA_ARGS__);                                                                   \
        } else {                                                                                                       \
            kernel<false><<<1, block>>>(__VA_ARGS__);                                                                  \
        }                                                                                                              \
    } while (false)

int main(int argc, char** argv) {
    const char* const name = argc > 1 ? argv[1] : "";
    const bool fixed = argc > 2 && std::strcmp(argv[2], "fixed") == 0;
    const auto is = [&](const char* wanted) { return std::strcmp(name, wanted) == 0; };
    int* in = nullptr;
    int* out = nullptr;
    cudaMalloc(&in, 4096);
    cudaMalloc(&out, sizeof(padded) * block);
    if (!is("copy_unwritten") || fixed) {
        cudaMemset(in, 0, 4096);
    }
    if (is("forgotten_wait")) {
        LAUNCH(forgotten_wait, in, out);
    } else if (is("stages")) {
        LAUNCH(stages, in, out, fixed ? 5 : 1);
    } else if (is("copy_unwritten")) {
        copy_unwritten<<<1, block>>>(in, out);
    } else if (is("counter")) {
        LAUNCH(counter, out);
    } else if (is("exchanged")) {
        LAUNCH(exchanged, out);
    } else if (is("assigned")) {
        LAUNCH(assigned, reinterpret_cast<padded*>(out));
    } else if (is("free_host")) {
        int* pinned = nullptr;
        cudaMallocHost(&pinned, 64);
        cudaFreeHost(fixed ? pinned : in); // HOST_FINDING(free_host): invalid free
        if (!fixed) {
            cudaFreeHost(pinned);
        }
    } else if (is("symbol")) {
        const int values[9] = {};
        use_variable<<<1, 1>>>(out);
        cudaMemcpyToSymbol(variable, values, fixed ? 32 : 36); // HOST_FINDING(symbol): copy or fill out of bounds
    } else if (is("overlap")) {
        cudaMemcpy(in + (fixed ? 100 : 1), in, 400,
                   cudaMemcpyDeviceToDevice); // HOST_FINDING(overlap): overlapping copy
    } else {
        std::printf("no case %s\n", name);
        return 2;
    }
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return 0;
}
