// SPDX-License-Identifier: MIT
// Threads of one warp that use different bytes of one word, in code in which they diverge: as planted.cu, planted_bytes CASE
// [fixed]. The corrected twins check their results.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int elements = 128;

template <class T>
__device__ void swap(T& a, T& b) {
    const T was = a;
    a = b;
    b = was;
}

// A load that the compiler does not take for another one.
__device__ int load(const unsigned short& from) {
    unsigned short value;
    asm volatile("ld.u16 %0, [%1];" : "=h"(value) : "l"(&from));
    return value;
}

// The bitonic sort of keys and values in PyTorch before 1.11: pairs that are in order already do nothing.
template <class Key, bool Fixed>
__global__ void sort(Key* keys, unsigned char* values, int n) {
    __shared__ Key key[elements];
    __shared__ unsigned char value[elements];
    __shared__ bool valid[elements];
    const int t = threadIdx.x;
    for (int k = t; k < elements; k += blockDim.x) {
        valid[k] = k < n;
        key[k] = valid[k] ? keys[k] : Key(0);
        value[k] = valid[k] ? values[k] : 0;
    }
    for (int size = 2; size <= elements; size *= 2) {
        const bool descending = size < elements && (t & (size / 2)) != 0;
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            const int at = 2 * t - (t & (stride - 1));
            const int other = at + stride;
            if (((key[other] < key[at] && valid[other]) || !valid[at]) != descending) {
                swap(key[at], key[other]);
                swap(value[at], value[other]);
                swap(valid[at], valid[other]);
            }
        }
    }
    __syncthreads();
    const int mine = load(key[t]); // all lanes, side by side
    if (t % 4 < 2) {
        key[Fixed ? t : t ^ 1] = mine - load(key[t]) + key[t] + 1; // FINDING(halves): race in shared memory
    }
    __syncthreads();
    for (int k = t; k < n; k += blockDim.x) {
        keys[k] = key[k] - (k % 4 < 2 && k < int(blockDim.x) ? 1 : 0);
        values[k] = value[k];
    }
}

template <class Key, bool Fixed>
bool sorts(int n) {
    Key* keys;
    unsigned char* values;
    cudaMallocManaged(&keys, elements * sizeof(Key));
    cudaMallocManaged(&values, elements);
    for (int k = 0; k < n; ++k) {
        values[k] = static_cast<unsigned char>(k * 37 % n);
        keys[k] = static_cast<Key>(100 + values[k]);
    }
    sort<Key, Fixed><<<1, elements / 2>>>(keys, values, n);
    bool right = cudaDeviceSynchronize() == cudaSuccess;
    for (int k = 0; k < n; ++k) {
        right = right && keys[k] == static_cast<Key>(100 + k) && values[k] == k;
    }
    cudaFree(keys);
    cudaFree(values);
    return right;
}

// Two threads, each on its half of one word, on two ways.
template <bool Fixed>
__global__ void take_turns(unsigned short* halves) {
    const unsigned t = threadIdx.x;
    if (t % 2 == 0) {
        halves[t] = halves[t] + 1;
    } else if (t % 4 == 1) {
        halves[Fixed ? t : t - 1] = 7; // FINDING(two_ways): race in global memory
    }
}

template <bool Fixed>
bool takes_turns() {
    unsigned short* halves;
    cudaMallocManaged(&halves, 64 * sizeof(*halves));
    std::memset(halves, 0, 64 * sizeof(*halves));
    take_turns<Fixed><<<1, 64>>>(halves);
    bool right = cudaDeviceSynchronize() == cudaSuccess;
    for (unsigned k = 0; k < 64; ++k) {
        right = right && halves[k] == (k % 2 == 0 ? 1 : k % 4 == 1 ? 7 : 0);
    }
    cudaFree(halves);
    return right;
}

} // namespace

int main(int argc, char** argv) {
    const char* const name = argc > 1 ? argv[1] : "";
    const bool fixed = argc > 2;
    bool right = true;
    if (std::strcmp(name, "halves") == 0) {
        for (const int n : {elements, elements - 1, 77, 2}) {
            right = right && (fixed ? sorts<unsigned short, true>(n) : true);
        }
        if (!fixed) {
            sorts<unsigned short, false>(elements);
        }
    } else if (std::strcmp(name, "two_ways") == 0) {
        right = fixed ? takes_turns<true>() : (takes_turns<false>(), true);
    } else {
        std::fprintf(stderr, "planted_bytes: unknown case %s\n", name);
        return EXIT_FAILURE;
    }
    if (!right) {
        std::fprintf(stderr, "planted_bytes: wrong result of %s\n", name);
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
