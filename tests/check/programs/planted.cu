// SPDX-License-Identifier: MIT
// Mistakes, one a case, and for each a corrected twin: planted CASE [fixed]. The line that the checks have to name has
// a comment FINDING(case): kind. Cases without such a comment are mistakes of the host: HOST_FINDING(case): kind.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int block = 128;

template <bool Fixed>
__global__ void out_of_bounds(int* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!Fixed || i < n) {
        data[i] = i; // FINDING(out_of_bounds): out of bounds
    }
}

template <bool Fixed>
__global__ void misaligned(char* data) {
    const int i = threadIdx.x;
    *reinterpret_cast<int*>(data + 4 * i + (Fixed ? 0 : 2)) = i; // FINDING(misaligned): misaligned access
}

__global__ void use_after_free(int* data) {
    data[threadIdx.x] += 1; // FINDING(use_after_free): use after free
}

__global__ void read_global(const int* data, int* out) {
    out[threadIdx.x] = data[threadIdx.x]; // FINDING(init_global): read of unwritten memory
}

template <bool Fixed>
__global__ void read_shared(int* out) {
    __shared__ int s[block];
    if (Fixed || threadIdx.x % 2 == 0) {
        s[threadIdx.x] = threadIdx.x;
    }
    __syncthreads();
    out[threadIdx.x] = s[block - 1 - threadIdx.x]; // FINDING(init_shared): read of unwritten memory
}

template <bool Fixed>
__global__ void read_local(int* out, int count, int which) {
    int a[16];
    for (int k = 0; k < (Fixed ? 16 : count); ++k) {
        a[k] = k * which;
    }
    out[threadIdx.x] = a[(threadIdx.x + which) % 16]; // FINDING(init_local): read of unwritten memory
}

template <bool Fixed>
__global__ void between_warps(int* out) {
    __shared__ int s[block];
    s[threadIdx.x] = threadIdx.x;
    if (Fixed) {
        __syncthreads();
    }
    out[threadIdx.x] = s[block - 1 - threadIdx.x]; // FINDING(race_warps): race in shared memory
}

template <bool Fixed>
__global__ void between_lanes(int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    if (Fixed) {
        __syncwarp();
    }
    out[threadIdx.x] = s[31 - threadIdx.x]; // FINDING(race_lanes): race in shared memory
}

// The last steps of a reduction as they were written before __syncwarp.
template <bool Fixed>
__global__ void warp_synchronous(int* out) {
    __shared__ volatile int s[64];
    s[threadIdx.x] = threadIdx.x;
    s[threadIdx.x + 32] = 0;
    __syncwarp();
    for (int k = 16; k > 0; k /= 2) {
        if (Fixed) {
            const int sum = s[threadIdx.x] + s[threadIdx.x + k];
            __syncwarp();
            s[threadIdx.x] = sum;
            __syncwarp();
        } else {
            s[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + k]; // FINDING(race_volatile): race in shared memory
        }
    }
    out[threadIdx.x] = s[threadIdx.x];
}

template <bool Fixed>
__global__ void one_instruction(int* out) {
    __shared__ int s[32];
    const int place = Fixed ? threadIdx.x : threadIdx.x / 2;
    s[place] = threadIdx.x; // FINDING(race_instruction): race in shared memory
    __syncwarp();
    out[threadIdx.x] = s[place];
}

template <bool Fixed>
__global__ void between_blocks(int* sum) {
    if (threadIdx.x == 0) {
        if (Fixed) {
            atomicAdd(sum, 1);
        } else {
            *sum += 1; // FINDING(race_blocks): race in global memory
        }
    }
}

__device__ unsigned tickets;

template <bool Fixed>
__global__ void last_block(int* partial, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x;
        if (Fixed) {
            __threadfence();
        }
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) {
        out[threadIdx.x] = partial[threadIdx.x]; // FINDING(race_fence): race in global memory
    }
}

template <bool Fixed>
__global__ void part_of_block(int* out) {
    __shared__ int s[block];
    s[threadIdx.x] = threadIdx.x;
    if (!Fixed && threadIdx.x >= 64) {
        return;
    }
    __syncthreads(); // FINDING(barrier_part): barrier reached by part of the block
    if (threadIdx.x < 64) {
        out[threadIdx.x] = s[63 - threadIdx.x];
    }
}

template <bool Fixed>
__global__ void divergent_barrier(int* out, int n) {
    __shared__ int s[block];
    s[threadIdx.x] = n;
    if (Fixed) {
        __syncthreads();
        out[threadIdx.x] = s[block - 1 - threadIdx.x];
    } else if (threadIdx.x % 32 < 16) {
        __syncthreads(); // FINDING(barrier_divergent): barrier in divergent code
        out[threadIdx.x] = s[block - 1 - threadIdx.x] + 1;
    } else {
        out[threadIdx.x] = 7;
        __syncthreads();
        out[threadIdx.x] += s[block - 1 - threadIdx.x];
    }
}

// Half of the block waits at one barrier, the other half at another.
template <bool Fixed>
__global__ void never_meet(int* out) {
    if (threadIdx.x < 64) {
        if (Fixed) {
            asm volatile("bar.sync 1, 64;");
        } else {
            asm volatile("bar.sync 1, 128;"); // FINDING(barrier_never): threads that never meet
        }
    } else {
        asm volatile("bar.sync 2, 64;");
    }
    out[threadIdx.x] = 1;
}

template <bool Fixed>
__global__ void absent_lane(int* out) {
    if (threadIdx.x < 16) {
        const int own = static_cast<int>(threadIdx.x);
        out[own] = __shfl_sync(0xFFFF, own, Fixed ? 3 : 20); // FINDING(shuffle): shuffle from an absent lane
    }
}

// The shuffle behind && names lanes for which the first condition does not hold.
template <bool Fixed>
__global__ void shuffle_behind_and(int* out) {
    const int x = static_cast<int>(threadIdx.x);
    const int last = Fixed ? __shfl_sync(0xFFFFFFFF, x, 31) : 0;
    if (x > 10 && (Fixed ? last : __shfl_sync(0xFFFFFFFF, x, 31)) > 20) { // FINDING(behind_and): lanes that never come
        out[threadIdx.x] = 1;
    } else {
        out[threadIdx.x] = 2;
    }
}

template <bool Fixed>
__global__ void own_mask(int* out, unsigned mask) {
    out[threadIdx.x] =
        __ballot_sync(Fixed ? 0xFFFFFFFFu : mask, threadIdx.x % 2 == 0); // FINDING(own_mask): lane outside its own mask
}

template <bool Fixed>
__global__ void masks(int* out, unsigned all) {
    const unsigned mask = Fixed              ? (threadIdx.x < 16 ? 0xFFFFu : 0xFFFF0000u)
                          : threadIdx.x < 16 ? all
                                             : all & 0xFFFF7FFFu;
    if (threadIdx.x < 16) {
        out[threadIdx.x] = 3;
        __syncwarp(mask);
        out[threadIdx.x] += 1;
    } else {
        out[threadIdx.x] = 4;
        __syncwarp(mask); // FINDING(masks): mismatched masks
        out[threadIdx.x] += 2;
    }
}

template <class T>
T* device(int n, bool written = true) {
    T* p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    if (written) {
        cudaMemset(p, 0, n * sizeof(T));
    }
    return p;
}

bool is(const char* a, const char* b) { return std::strcmp(a, b) == 0; }

} // namespace

#define LAUNCH(kernel, grid, threads, ...)                                                                             \
    do {                                                                                                               \
        if (fixed) {                                                                                                   \
            kernel<true><<<grid, threads>>>(__VA_ARGS__);                                                              \
        } else {                                                                                                       \
            kernel<false><<<grid, threads>>>(__VA_ARGS__);                                                             \
        }                                                                                                              \
    } while (false)

int main(int argc, char** argv) {
    const char* const name = argc > 1 ? argv[1] : "";
    const bool fixed = argc > 2 && is(argv[2], "fixed");
    int* const out = device<int>(1024);
    int* const data = device<int>(100);
    if (is(name, "out_of_bounds")) {
        LAUNCH(out_of_bounds, 1, block, data, 100);
    } else if (is(name, "misaligned")) {
        LAUNCH(misaligned, 1, 64, reinterpret_cast<char*>(data));
    } else if (is(name, "use_after_free")) {
        int* const gone = device<int>(64);
        if (!fixed) {
            cudaFree(gone);
        }
        use_after_free<<<1, 64>>>(gone);
        if (fixed) {
            cudaFree(gone);
        }
    } else if (is(name, "double_free")) {
        int* const gone = device<int>(64);
        cudaFree(gone);
        if (!fixed) {
            cudaFree(gone); // HOST_FINDING(double_free): double free
        }
    } else if (is(name, "invalid_free")) {
        if (!fixed) {
            cudaFree(data + 1); // HOST_FINDING(invalid_free): invalid free
        }
    } else if (is(name, "copy")) {
        int host[101] = {};
        cudaMemcpy(data, host, (fixed ? 100 : 101) * sizeof(int),
                   cudaMemcpyHostToDevice); // HOST_FINDING(copy): copy or fill out of bounds
    } else if (is(name, "fill")) {
        cudaMemset(data, 0, fixed ? 400 : 401); // HOST_FINDING(fill): copy or fill out of bounds
    } else if (is(name, "init_global")) {
        int* const fresh = device<int>(64, fixed);
        read_global<<<1, 64>>>(fresh, out);
        cudaFree(fresh);
    } else if (is(name, "init_shared")) {
        LAUNCH(read_shared, 1, block, out);
    } else if (is(name, "init_local")) {
        LAUNCH(read_local, 1, 32, out, 5, 3);
    } else if (is(name, "race_warps")) {
        LAUNCH(between_warps, 1, block, out);
    } else if (is(name, "race_lanes")) {
        LAUNCH(between_lanes, 1, 32, out);
    } else if (is(name, "race_volatile")) {
        LAUNCH(warp_synchronous, 1, 32, out);
    } else if (is(name, "race_instruction")) {
        LAUNCH(one_instruction, 1, 32, out);
    } else if (is(name, "race_blocks")) {
        LAUNCH(between_blocks, 16, 32, data);
    } else if (is(name, "race_fence")) {
        LAUNCH(last_block, 16, 32, data, out);
    } else if (is(name, "barrier_part")) {
        LAUNCH(part_of_block, 1, block, out);
    } else if (is(name, "barrier_divergent")) {
        LAUNCH(divergent_barrier, 1, block, out, 3);
    } else if (is(name, "barrier_never")) {
        LAUNCH(never_meet, 1, block, out);
    } else if (is(name, "shuffle")) {
        LAUNCH(absent_lane, 1, 32, out);
    } else if (is(name, "behind_and")) {
        LAUNCH(shuffle_behind_and, 1, 32, out);
    } else if (is(name, "own_mask")) {
        LAUNCH(own_mask, 1, 32, out, 0xFFFFu);
    } else if (is(name, "masks")) {
        LAUNCH(masks, 1, 32, out, 0xFFFFFFFFu);
    } else if (is(name, "leak")) {
        if (!fixed) {
            device<int>(77); // HOST_FINDING(leak): leak
        }
    } else if (is(name, "leak_array")) {
        const cudaChannelFormatDesc d = {32, 0, 0, 0, cudaChannelFormatKindFloat};
        cudaArray_t a = nullptr;
        cudaMallocArray(&a, &d, 7, 5); // HOST_FINDING(leak_array): leak
        if (fixed) {
            cudaFreeArray(a);
        }
    } else if (is(name, "double_free_array")) {
        const cudaChannelFormatDesc d = {32, 0, 0, 0, cudaChannelFormatKindFloat};
        cudaArray_t a = nullptr;
        cudaMallocArray(&a, &d, 7, 5);
        cudaFreeArray(a);
        if (!fixed) {
            cudaFreeArray(a); // HOST_FINDING(double_free_array): double free
        }
    } else {
        std::printf("no case %s\n", name);
        return 2;
    }
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(out);
    return 0;
}
