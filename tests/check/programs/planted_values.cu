// SPDX-License-Identifier: MIT
// Streams that write values to memory and wait for them (cuStreamWriteValue32, cuStreamWaitValue32): as planted.cu,
// planted_values CASE [fixed]. The corrected twins check their results.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>

namespace {

constexpr int count = 64;

using value_call = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

value_call entry(const char* name) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status;
    if (cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status) != cudaSuccess ||
        found == nullptr) {
        std::fprintf(stderr, "planted_values: no %s\n", name);
        std::exit(EXIT_FAILURE);
    }
    return reinterpret_cast<value_call>(found);
}

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }

__global__ void add(const int* data, int* out) {
    out[threadIdx.x] = data[threadIdx.x] + 1; // FINDING(stream_value): race between streams
}

template <bool Fixed>
__global__ void fill_and_tell(int* data, unsigned* flag) {
    data[threadIdx.x] = 5;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (Fixed) {
            *const_cast<volatile unsigned*>(flag) = 1;
        } else {
            *flag = 1; // FINDING(kernel_value): race between streams
        }
    }
}

__global__ void fill_when_told(int* data, const volatile unsigned* flag) {
    if (threadIdx.x == 0) {
        while (*flag == 0) {
        }
    }
    __syncthreads();
    data[threadIdx.x] += 1;
}

struct bench {
    cudaStream_t first, second;
    int* data;
    int* out;
    unsigned* flag;
    value_call write = entry("cuStreamWriteValue32");
    value_call wait = entry("cuStreamWaitValue32");

    bench() {
        cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
        cudaMalloc(&data, count * sizeof(int));
        cudaMalloc(&out, count * sizeof(int));
        cudaMalloc(&flag, 2 * sizeof(unsigned));
        cudaMemset(flag, 0, 2 * sizeof(unsigned));
        cudaMemset(data, 0, count * sizeof(int));
        cudaMemset(out, 0, count * sizeof(int));
        cudaDeviceSynchronize();
    }
    ~bench() {
        cudaFree(data);
        cudaFree(out);
        cudaFree(flag);
        cudaStreamDestroy(first);
        cudaStreamDestroy(second);
    }
    [[nodiscard]] CUdeviceptr at(int k) const { return reinterpret_cast<CUdeviceptr>(flag + k); }
    [[nodiscard]] bool all_are(int value) const {
        int host[count];
        bool right = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess;
        for (const int v : host) {
            right = right && v == value;
        }
        return right;
    }
};

bool stream_value(bool fixed) {
    bench b;
    if (fixed) {
        b.wait(b.second, b.at(0), 1, CU_STREAM_WAIT_VALUE_GEQ);
        add<<<1, count, 0, b.second>>>(b.data, b.out);
    }
    fill<<<1, count, 0, b.first>>>(b.data, 5);
    b.write(b.first, b.at(0), 1, 0);
    if (!fixed) {
        add<<<1, count, 0, b.second>>>(b.data, b.out);
    }
    return cudaDeviceSynchronize() == cudaSuccess && (!fixed || b.all_are(6));
}

bool kernel_value(bool fixed) {
    bench b;
    b.wait(b.second, b.at(0), 1, CU_STREAM_WAIT_VALUE_EQ);
    if (fixed) {
        add<<<1, count, 0, b.second>>>(b.data, b.out);
        fill_and_tell<true><<<1, count, 0, b.first>>>(b.data, b.flag);
        // And back: a kernel that runs waits for a stream's value.
        b.write(b.second, b.at(1), 1, 0);
        fill_when_told<<<1, count, 0, b.first>>>(b.out, b.flag + 1);
    } else {
        fill_and_tell<false><<<1, count, 0, b.first>>>(b.data, b.flag);
    }
    return cudaDeviceSynchronize() == cudaSuccess && (!fixed || b.all_are(7));
}

// HOST_FINDING(no_value): deadlock
bool no_value(bool fixed) {
    bench b;
    b.wait(b.second, b.at(0), 1, CU_STREAM_WAIT_VALUE_EQ);
    b.write(b.first, b.at(0), fixed ? 1 : 2, 0);
    return (cudaDeviceSynchronize() == cudaSuccess) == fixed;
}

// Each stream waits for what the other writes behind its own wait.
// HOST_FINDING(crossed_values): deadlock
bool crossed_values(bool fixed) {
    bench b;
    b.wait(b.first, b.at(0), 1, CU_STREAM_WAIT_VALUE_EQ);
    b.write(b.first, b.at(1), 1, 0);
    b.wait(b.second, b.at(1), 1, CU_STREAM_WAIT_VALUE_EQ);
    b.write(b.second, b.at(0), 1, 0);
    if (fixed) {
        b.write(cudaStreamPerThread, b.at(0), 1, 0);
    }
    return (cudaDeviceSynchronize() == cudaSuccess) == fixed;
}

} // namespace

int main(int argc, char** argv) {
    const char* const name = argc > 1 ? argv[1] : "";
    const bool fixed = argc > 2;
    struct test {
        const char* name;
        bool (*run)(bool fixed);
    };
    for (const auto& [which, run] : {test{"stream_value", stream_value}, test{"kernel_value", kernel_value},
                                     test{"no_value", no_value}, test{"crossed_values", crossed_values}}) {
        if (std::strcmp(name, which) == 0) {
            const bool right = run(fixed);
            if (!right) {
                std::fprintf(stderr, "planted_values: wrong result of %s\n", name);
            }
            return right ? EXIT_SUCCESS : EXIT_FAILURE;
        }
    }
    std::fprintf(stderr, "planted_values: unknown case %s\n", name);
    return EXIT_FAILURE;
}
