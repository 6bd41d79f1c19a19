// SPDX-License-Identifier: MIT
// A pipeline as CUTLASS makes them, and mistakes in it: planted_pipeline CASE [fixed]. Markers as in planted.cu. A producer
// warp fills a ring of stages by bulk copies; in two warpgroups of consumers one elected thread frees a stage for its whole
// warpgroup behind wgmma.wait_group. D (128 x 8) = A (128 x K) B (8 x K) of halves, rows of 128 bytes, swizzled. With a
// cluster, block 0 copies B to both blocks.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/runtime/programs/mbarrier.cuh"

namespace {

constexpr int groups = 2;
constexpr int threads = 128 * (groups + 1);
constexpr int stages = 3;
constexpr int tile = 64; // of K
constexpr int rows_a = 64;
constexpr int rows_b = 8;
constexpr unsigned a_bytes = rows_a * tile * sizeof(__half);
constexpr unsigned b_bytes = rows_b * tile * sizeof(__half);

enum class fault { none, early_release, one_group_releases, remote_early };

struct ring {
    alignas(1024) __half a[stages][groups][rows_a * tile];
    alignas(1024) __half b[stages][rows_b * tile];
    alignas(8) std::uint64_t full[stages];
    alignas(8) std::uint64_t empty[stages];
};

__device__ void start(const std::uint64_t* barrier, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_of(barrier)), "r"(count) : "memory");
}

// At the barrier of a block of the cluster.
__device__ void arrive(const std::uint64_t* barrier, unsigned rank) {
    asm volatile("{\n.reg .b32 at;\nmapa.shared::cluster.u32 at, %0, %1;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at];\n}" ::"r"(shared_of(barrier)),
                 "r"(rank)
                 : "memory");
}

__device__ unsigned long long descriptor(const void* at) {
    return (shared_of(at) & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define COPY(to, from, bytes, barrier)                                                                                 \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(      \
                     shared_of(to)),                                                                                   \
                 "l"(from), "r"(bytes), "r"(shared_of(barrier))                                                        \
                 : "memory")
#define COPY_TO_ALL(to, from, bytes, barrier, blocks)                                                                  \
    asm volatile(                                                                                                      \
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "  \
        "%4;" ::"r"(shared_of(to)),                                                                                    \
        "l"(from), "r"(bytes), "r"(shared_of(barrier)), "h"(blocks)                                                    \
        : "memory")

// `blocks`: of the cluster.
template <fault Fault>
__device__ void produce(ring& r, const __half* a, const __half* b, int tiles, unsigned rank, unsigned blocks) {
    for (int t = 0; t < tiles; ++t) {
        const int s = t % stages;
        wait(&r.empty[s], t / stages % 2 == 0 ? 1 : 0);
        expect(&r.full[s], groups * a_bytes + b_bytes);
        const __half* const from_a = a + (std::size_t{rank} * tiles + t) * groups * rows_a * tile;
        const __half* const from_b = b + static_cast<std::size_t>(t) * rows_b * tile;
#pragma unroll 1
        for (int part = 0; part < groups + (blocks == 1 ? 1 : 0); ++part) {
            __half* const to = part < groups ? r.a[s][part] : r.b[s];
            const __half* const from = part < groups ? from_a + part * rows_a * tile : from_b;
            const unsigned bytes = part < groups ? a_bytes : b_bytes;
            if (Fault == fault::early_release) {
                COPY(to, from, bytes, &r.full[s]); // FINDING(early_release): race with wgmma
            } else if (Fault == fault::one_group_releases) {
                COPY(to, from, bytes, &r.full[s]); // FINDING(one_group_releases): race in shared memory
            } else {
                COPY(to, from, bytes, &r.full[s]);
            }
        }
        if (blocks != 1 && rank == 0) {
            const std::uint16_t both = 3;
            COPY_TO_ALL(r.b[s], from_b, b_bytes, &r.full[s], both); // FINDING(remote_early): race in shared memory
        }
    }
}

// One elected thread, for its warpgroup.
template <fault Fault>
__device__ void release(const ring& r, int s, int group, unsigned rank, unsigned blocks) {
    if (threadIdx.x % 128 != 0 || (Fault == fault::one_group_releases && group == 1)) {
        return;
    }
    arrive(&r.empty[s], rank);
    if (Fault != fault::remote_early && rank != 0 && blocks != 1) {
        arrive(&r.empty[s], 0);
    }
}

template <fault Fault>
__device__ void consume(ring& r, float* d, int tiles, int group, unsigned rank, unsigned blocks) {
    float acc[4] = {};
    for (int t = 0; t < tiles; ++t) {
        const int s = t % stages;
        wait(&r.full[s], t / stages % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < tile / 16; ++k) {
            asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0;\n"
                         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"
                         : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                         : "l"(descriptor(r.a[s][group]) + 2 * k), "l"(descriptor(r.b[s]) + 2 * k)
                         : "memory");
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (Fault == fault::remote_early && rank != 0 && threadIdx.x % 128 == 0) {
            arrive(&r.empty[s], 0);
        }
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (Fault == fault::early_release) {
            release<Fault>(r, s, group, rank, blocks);
        } else if (t > 0) {
            release<Fault>(r, (t - 1) % stages, group, rank, blocks);
        }
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    const int t = static_cast<int>(threadIdx.x) % 128;
    const int row = (static_cast<int>(rank) * groups + group) * rows_a + t / 32 * 16 + t % 32 / 4;
    for (int n = 0; n < 4; ++n) {
        d[(row + n / 2 * 8) * rows_b + t % 4 * 2 + n % 2] = acc[n];
    }
}

template <fault Fault>
__global__ void multiply(const __half* a, const __half* b, float* d, int tiles) {
    extern __shared__ __align__(1024) unsigned char memory[];
    ring& r = *reinterpret_cast<ring*>(memory);
    const auto cluster = cooperative_groups::this_cluster();
    const unsigned rank = cluster.block_rank();
    const unsigned blocks = cluster.num_blocks();
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; ++s) {
            start(&r.full[s], 1);
            const int releases = Fault == fault::one_group_releases ? 1 : groups;
            start(&r.empty[s], rank == 0 ? releases * blocks : releases);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster.sync();
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    if (group < 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            produce<Fault>(r, a, b, tiles, rank, blocks);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume<Fault>(r, d, tiles, group, rank, blocks);
    }
    cluster.sync();
}

// One warp of a warpgroup leaves a product out: the others wait for it in vain.
__global__ void three_warps(float* d) {
    __shared__ alignas(1024) __half s[rows_b * tile];
    s[threadIdx.x] = __float2half(0);
    float acc[4] = {};
    const unsigned zero[4] = {};
    if (threadIdx.x < 96) {
        asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, 1, "
                     "1, 0; }"
                     : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                     : "r"(zero[0]), "r"(zero[1]), "r"(zero[2]), "r"(zero[3]), "l"(descriptor(s))
                     : "memory");
    }
    __syncthreads();
    d[threadIdx.x] = acc[0];
}

int value_a(int row, int k) { return (row * 7 + k * 3) % 13 - 6; }
int value_b(int row, int k) { return (row * 5 + k) % 11 - 5; }

// Where an element lies in a swizzled tile.
int position(int row, int k) { return row * tile + (k / 8 ^ row % 8) * 8 + k % 8; }

bool run(const char* name, bool fixed, int blocks) {
    constexpr int tiles = 8;
    const int all_groups = blocks * groups;
    std::vector<__half> a(static_cast<std::size_t>(all_groups) * tiles * rows_a * tile);
    std::vector<__half> b(static_cast<std::size_t>(tiles) * rows_b * tile);
    for (int g = 0; g < all_groups; ++g) {
        for (int row = 0; row < rows_a; ++row) {
            for (int k = 0; k < tiles * tile; ++k) {
                const int block = g / groups;
                const int nth = (block * tiles + k / tile) * groups + g % groups;
                a[nth * rows_a * tile + position(row, k % tile)] =
                    __float2half(static_cast<float>(value_a(g * rows_a + row, k)));
            }
        }
    }
    for (int row = 0; row < rows_b; ++row) {
        for (int k = 0; k < tiles * tile; ++k) {
            b[k / tile * rows_b * tile + position(row, k % tile)] = __float2half(static_cast<float>(value_b(row, k)));
        }
    }
    std::vector<float> d(static_cast<std::size_t>(all_groups) * rows_a * rows_b);
    __half* on_gpu_a = nullptr;
    __half* on_gpu_b = nullptr;
    float* on_gpu_d = nullptr;
    cudaMalloc(&on_gpu_a, a.size() * sizeof(__half));
    cudaMalloc(&on_gpu_b, b.size() * sizeof(__half));
    cudaMalloc(&on_gpu_d, d.size() * sizeof(float));
    cudaMemcpy(on_gpu_a, a.data(), a.size() * sizeof(__half), cudaMemcpyHostToDevice);
    cudaMemcpy(on_gpu_b, b.data(), b.size() * sizeof(__half), cudaMemcpyHostToDevice);
    auto* kernel = multiply<fault::none>;
    if (!fixed && std::strcmp(name, "early_release") == 0) {
        kernel = multiply<fault::early_release>;
    } else if (!fixed && std::strcmp(name, "one_group_releases") == 0) {
        kernel = multiply<fault::one_group_releases>;
    } else if (!fixed && std::strcmp(name, "remote_early") == 0) {
        kernel = multiply<fault::remote_early>;
    }
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(ring));
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
    cudaLaunchConfig_t how{};
    how.gridDim = blocks;
    how.blockDim = threads;
    how.dynamicSmemBytes = sizeof(ring);
    how.attrs = &cluster;
    how.numAttrs = 1;
    cudaLaunchKernelEx(&how, kernel, static_cast<const __half*>(on_gpu_a), static_cast<const __half*>(on_gpu_b),
                       on_gpu_d, tiles);
    bool right = cudaMemcpy(d.data(), on_gpu_d, d.size() * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int row = 0; right && fixed && row < all_groups * rows_a; ++row) {
        for (int column = 0; column < rows_b; ++column) {
            int sum = 0;
            for (int k = 0; k < tiles * tile; ++k) {
                sum += value_a(row, k) * value_b(column, k);
            }
            right = right && d[row * rows_b + column] == static_cast<float>(sum);
        }
    }
    cudaFree(on_gpu_a);
    cudaFree(on_gpu_b);
    cudaFree(on_gpu_d);
    return right;
}

} // namespace

int main(int argc, char** argv) {
    const char* const name = argc > 1 ? argv[1] : "none";
    const bool fixed = argc > 2 || std::strcmp(name, "none") == 0;
    if (std::strcmp(name, "three_warps") == 0) {
        float* d = nullptr;
        cudaMalloc(&d, 128 * sizeof(float));
        three_warps<<<1, 128>>>(d);
        const bool fine = cudaDeviceSynchronize() == cudaSuccess;
        return fine ? 0 : 1;
    }
    return run(name, fixed, std::strcmp(name, "remote_early") == 0 ? 2 : 1) ? 0 : 1;
}
