// SPDX-License-Identifier: MIT
// Kernels that launch kernels, with a mistake each; `fixed` as a second argument runs the corrected twin.
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

__global__ void read_one(const int* data, int* out) { out[0] = data[0]; }

__global__ void write_one(int* data, int value) {
    data[0] = value; // FINDING(siblings): race between children
}

__global__ void writes_on(int* data, bool fixed) {
    data[0] = 1;
    if (fixed) {
        data[0] = 2;
    }
    read_one<<<1, 1, 0, cudaStreamFireAndForget>>>(data, data + 8);
    if (!fixed) {
        data[0] = 2; // FINDING(writes_on): race between a kernel and its child
    }
}

__global__ void other_thread(int* data, bool fixed) {
    if (threadIdx.x == 33) {
        data[0] = 1; // FINDING(other_thread): race between a kernel and its child
    }
    if (fixed) {
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        read_one<<<1, 1>>>(data, data + 8);
    }
}

__global__ void other_block(int* data, int* flag, bool fixed) {
    if (blockIdx.x == 0) {
        data[0] = 1; // FINDING(other_block): race between a kernel and its child
        __threadfence();
        atomicExch(flag, 1);
        return;
    }
    if (fixed) {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
    }
    read_one<<<1, 1>>>(data, data + 8);
}

__global__ void siblings(int* data, bool fixed) {
    cudaStream_t other = nullptr;
    if (!fixed) {
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    }
    write_one<<<1, 1>>>(data, 1);
    write_one<<<1, 1, 0, other>>>(data, 2);
    if (!fixed) {
        cudaStreamDestroy(other);
    }
}

__global__ void reads_early(int* data, bool fixed) {
    write_one<<<1, 1>>>(data, 1);
    if (fixed) {
        read_one<<<1, 1, 0, cudaStreamTailLaunch>>>(data, data + 8);
    } else {
        data[8] = data[0]; // FINDING(reads_early): race between a kernel and its child
    }
}

__global__ void grandchild(int* data, bool fixed) {
    if (threadIdx.x == 0) {
        writes_on<<<1, 1>>>(data, true);
    }
    if (!fixed) {
        data[8] = 5; // FINDING(grandchild): race between a kernel and its child
    }
}

__global__ void fills_early(int* data, bool fixed) {
    cudaMemsetAsync(data, 0, 64, nullptr);
    if (!fixed) {
        data[0] = 1; // FINDING(fills_early): race between a kernel and its child
    }
}

__global__ void hands_shared(int* data, bool fixed) {
    __shared__ int own;
    own = 1;
    read_one<<<1, 1>>>(fixed ? data : &own, data + 8); // FINDING(hands_shared): illegal address
}

__global__ void hands_local(int* data, bool fixed) {
    int own = 1;
    write_one<<<1, 1>>>(fixed ? data : &own, 1); // FINDING(hands_local): illegal address
    data[16] = own;
}

__global__ void write_at(int* data, int at) {
    data[at] = 1; // FINDING(child_fault): out of bounds
}

__global__ void child_fault(int* data, bool fixed) { write_at<<<1, 1>>>(data, fixed ? 0 : 1 << 20); }

int main(int argc, char** argv) {
    const char* const name = argc > 1 ? argv[1] : "";
    const bool fixed = argc > 2;
    int* data = nullptr;
    cudaMalloc(&data, 128);
    cudaMemset(data, 0, 128);
    const auto is = [&](const char* which) { return std::strcmp(name, which) == 0; };
    if (is("writes_on")) {
        writes_on<<<1, 1>>>(data, fixed);
    } else if (is("other_thread")) {
        other_thread<<<1, 64>>>(data, fixed);
    } else if (is("other_block")) {
        other_block<<<2, 1>>>(data, data + 16, fixed);
    } else if (is("siblings")) {
        siblings<<<1, 1>>>(data, fixed);
    } else if (is("reads_early")) {
        reads_early<<<1, 1>>>(data, fixed);
    } else if (is("grandchild")) {
        grandchild<<<1, 1>>>(data, fixed);
    } else if (is("fills_early")) {
        fills_early<<<1, 1>>>(data, fixed);
    } else if (is("hands_shared")) {
        hands_shared<<<1, 1>>>(data, fixed);
    } else if (is("hands_local")) {
        hands_local<<<1, 1>>>(data, fixed);
    } else if (is("child_fault")) {
        child_fault<<<1, 1>>>(data, fixed);
    } else {
        std::fprintf(stderr, "no case %s\n", name);
        return 3;
    }
    const cudaError_t e = cudaDeviceSynchronize();
    if (e == cudaSuccess) {
        cudaFree(data);
    }
    return e == cudaSuccess ? 0 : 1;
}
