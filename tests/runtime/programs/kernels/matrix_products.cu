// SPDX-License-Identifier: MIT
// Matrix products on tensor cores as CUDA C++ programs write them: nvcuda::wmma, and mma.sync with ldmatrix and cp.async
// in two stages. Factors are small integers, so that every sum is exact.
#include <type_traits>
#include <vector>

#include <cuda_fp16.h>
#include <mma.h>

#include "tests/runtime/programs/check.hpp"

namespace wmma = nvcuda::wmma;
constexpr unsigned size = 128; // rows and columns of all matrices

// A warp has a tile of 16 x 16; A by rows, B by columns or rows, C added.
template <class T, class Sum, class Layout>
__global__ void tiles(Sum* d, const T* a, const T* b, const Sum* c) {
    const unsigned row = 16 * (blockIdx.y * blockDim.y + threadIdx.y);
    const unsigned column = 16 * blockIdx.x;
    constexpr bool by_rows = std::is_same_v<Layout, wmma::row_major>;
    wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sum;
    wmma::load_matrix_sync(sum, c + row * size + column, size, wmma::mem_row_major);
    for (unsigned k = 0; k < size; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, T, Layout> right;
        wmma::load_matrix_sync(left, a + row * size + k, size);
        wmma::load_matrix_sync(right, by_rows ? b + k * size + column : b + column * size + k, size);
        wmma::mma_sync(sum, left, right, sum);
    }
    for (int e = 0; e < sum.num_elements; ++e) {
        sum.x[e] = sum.x[e] * Sum(2);
    }
    wmma::store_matrix_sync(d + row * size + column, sum, size, wmma::mem_row_major);
}

constexpr unsigned tile = 64;  // a block's rows and columns
constexpr unsigned depth = 32; // of a stage
constexpr unsigned a_pitch = depth + 8;
constexpr unsigned b_pitch = tile + 8; // elements; rows begin at different banks

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void copy_async(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}
__device__ void load_rows(unsigned (&r)[4], const half* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p)));
}
__device__ void load_columns(unsigned (&r)[4], const half* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p)));
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 128 threads; each of the four warps has 32 x 32 of the block's tile. A and B by rows.
__global__ void pipelined(float* d, const half* a, const half* b) {
    __shared__ __align__(16) half a_room[2][tile][a_pitch];
    __shared__ __align__(16) half b_room[2][depth][b_pitch];
    const unsigned t = threadIdx.x;
    const unsigned warp = t / 32;
    const unsigned lane = t % 32;
    const unsigned row = tile * blockIdx.y;
    const unsigned column = tile * blockIdx.x;
    const auto start = [&](unsigned stage, unsigned k) {
        for (unsigned n = t; n < tile * depth / 8; n += 128) {
            copy_async(&a_room[stage][n / (depth / 8)][n % (depth / 8) * 8],
                       a + (row + n / (depth / 8)) * size + k + n % (depth / 8) * 8);
            copy_async(&b_room[stage][n / (tile / 8)][n % (tile / 8) * 8],
                       b + (k + n / (tile / 8)) * size + column + n % (tile / 8) * 8);
        }
        asm volatile("cp.async.commit_group;");
    };
    float sum[2][4][4] = {};
    start(0, 0);
    for (unsigned k = 0; k < size; k += depth) {
        const unsigned stage = k / depth % 2;
        if (k + depth < size) {
            start(1 - stage, k + depth);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        for (unsigned within = 0; within < depth; within += 16) {
            unsigned left[2][4];
            unsigned right[2][4];
            for (unsigned m = 0; m < 2; ++m) {
                load_rows(left[m], &a_room[stage][32 * (warp / 2) + 16 * m + lane % 16][within + lane / 16 * 8]);
                load_columns(right[m], &b_room[stage][within + lane % 16][32 * (warp % 2) + 16 * m + lane / 16 * 8]);
            }
            for (unsigned m = 0; m < 2; ++m) {
                for (unsigned n = 0; n < 4; ++n) {
                    multiply(sum[m][n], left[m], right[n / 2][n % 2 * 2], right[n / 2][n % 2 * 2 + 1]);
                }
            }
        }
        __syncthreads();
    }
    for (unsigned m = 0; m < 2; ++m) {
        for (unsigned n = 0; n < 4; ++n) {
            for (unsigned e = 0; e < 4; ++e) {
                const unsigned r = row + 32 * (warp / 2) + 16 * m + lane / 4 + 8 * (e / 2);
                const unsigned c = column + 32 * (warp % 2) + 8 * n + lane % 4 * 2 + e % 2;
                d[r * size + c] = sum[m][n][e];
            }
        }
    }
}

int number(unsigned n, unsigned seed) { return static_cast<int>((n * 2654435761u + seed * 40503u) >> 24 & 15) - 8; }

template <class T>
std::vector<T> matrix(unsigned seed) {
    std::vector<T> m(size * size);
    for (unsigned n = 0; n < m.size(); ++n) {
        m[n] = static_cast<T>(static_cast<float>(number(n, seed)));
    }
    return m;
}

template <class T>
T* on_device(const std::vector<T>& m) {
    T* p = nullptr;
    CUDA(cudaMalloc(&p, m.size() * sizeof(T)));
    CUDA(cudaMemcpy(p, m.data(), m.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

// Whether d = twice * (a b + c), with c where it has a seed.
template <class Sum>
bool is_right(const Sum* on_gpu, bool b_by_rows, bool with_c, int factor) {
    std::vector<Sum> d(size * size);
    CUDA(cudaMemcpy(d.data(), on_gpu, d.size() * sizeof(Sum), cudaMemcpyDeviceToHost));
    for (unsigned r = 0; r < size; ++r) {
        for (unsigned c = 0; c < size; ++c) {
            int sum = with_c ? number(r * size + c, 3) : 0;
            for (unsigned k = 0; k < size; ++k) {
                sum += number(r * size + k, 1) * number(b_by_rows ? k * size + c : c * size + k, 2);
            }
            if (d[r * size + c] != static_cast<Sum>(factor * sum)) {
                return false;
            }
        }
    }
    return true;
}

template <class T, class Sum, class Layout>
void check_tiles(bool b_by_rows) {
    T* const a = on_device(matrix<T>(1));
    T* const b = on_device(matrix<T>(2));
    Sum* const c = on_device(matrix<Sum>(3));
    Sum* const d = on_device(std::vector<Sum>(size * size));
    tiles<T, Sum, Layout><<<dim3(size / 16, size / 64), dim3(32, 4)>>>(d, a, b, c);
    CUDA(cudaGetLastError());
    CHECK(is_right(d, b_by_rows, true, 2));
    for (void* p : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(c), static_cast<void*>(d)}) {
        CUDA(cudaFree(p));
    }
}

int main() {
    check_tiles<half, float, wmma::col_major>(false);
    check_tiles<half, float, wmma::row_major>(true);
    check_tiles<signed char, int, wmma::col_major>(false);
    half* const a = on_device(matrix<half>(1));
    half* const b = on_device(matrix<half>(2));
    float* const d = on_device(std::vector<float>(size * size));
    pipelined<<<dim3(size / tile, size / tile), 128>>>(d, a, b);
    CUDA(cudaGetLastError());
    CHECK(is_right(d, true, false, 1));
    CUDA(cudaFree(a));
    CUDA(cudaFree(b));
    CUDA(cudaFree(d));
    return 0;
}
