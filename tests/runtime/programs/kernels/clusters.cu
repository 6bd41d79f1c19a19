// SPDX-License-Identifier: MIT
// Clusters: sizes by attribute and by __cluster_dims__, distributed shared memory, the cluster's barrier, barrier objects and
// asynchronous stores across blocks, copies within a cluster and to all of its blocks.
#include <cooperative_groups.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/runtime/programs/check.hpp"
#include "tests/runtime/programs/mbarrier.cuh"

namespace cg = cooperative_groups;

namespace {

constexpr int threads = 128;
constexpr int bins = 512;

__device__ std::uint32_t map_to(std::uint32_t at, unsigned rank) {
    std::uint32_t mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(at), "r"(rank));
    return mapped;
}

__device__ void start(std::uint32_t barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(barrier),
                 "r"(arrivals)
                 : "memory");
}

__device__ void wait(std::uint32_t barrier, unsigned parity) {
    unsigned over = 0;
    while (over == 0) {
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(over)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    }
}

// A histogram whose bins are spread over the blocks of a cluster.
__global__ void histogram(int* out, const int* in, int n) {
    extern __shared__ int own[];
    const cg::cluster_group cluster = cg::this_cluster();
    const int each = bins / static_cast<int>(cluster.num_blocks());
    for (int k = static_cast<int>(threadIdx.x); k < each; k += threads) {
        own[k] = 0;
    }
    cluster.sync();
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    for (int k = static_cast<int>(cg::this_grid().thread_rank()); k < n; k += step) {
        const int bin = in[k] % bins;
        atomicAdd(cluster.map_shared_rank(own, bin / each) + bin % each, 1);
    }
    cluster.sync();
    for (int k = static_cast<int>(threadIdx.x); k < each; k += threads) {
        atomicAdd(out + static_cast<int>(cluster.block_rank()) * each + k, own[k]);
    }
}

// Each block reads its neighbour's values, in 32-bit addresses and in generic ones, before and after an exchange.
__global__ void __cluster_dims__(4, 1, 1) ring(int* out) {
    __shared__ int s[2][threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = static_cast<int>(threadIdx.x);
    const unsigned rank = cluster.block_rank();
    const unsigned next = (rank + 1) % 4;
    s[0][t] = static_cast<int>(blockIdx.x) * 1000 + t;
    cluster.barrier_arrive();
    cluster.barrier_wait();
    int theirs;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(theirs) : "r"(map_to(shared_of(&s[0][t]), next)) : "memory");
    *cluster.map_shared_rank(&s[1][threads - 1 - t], next) = theirs + 1;
    cluster.sync();
    unsigned found;
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(found) : "r"(map_to(shared_of(s), next)));
    const void* const generic = cluster.map_shared_rank(&s[0][0], next);
    const bool same = shared_of(generic) == map_to(shared_of(s), next) &&
                      __cvta_shared_to_generic(shared_of(generic)) == generic && __isClusterShared(generic) != 0;
    out[blockIdx.x * threads + t] = found == next && same ? s[1][t] : -1;
    cluster.sync();
}

// st.async, red.async and remote arrivals: block 0 gets a value of each thread of the others.
__global__ void __cluster_dims__(4, 1, 1) send(std::uint32_t* out) {
    __shared__ std::uint32_t s[4][threads];
    __shared__ std::uint32_t sum[2];
    __shared__ alignas(8) std::uint64_t bytes_came;
    __shared__ alignas(8) std::uint64_t all_came;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x;
    const unsigned rank = cluster.block_rank();
    if (t == 0) {
        sum[0] = 0;
        start(shared_of(&bytes_came), 1);
        start(shared_of(&all_came), 3 * threads);
        if (rank == 0) {
            expect(&bytes_came, 3 * threads * 8);
        }
    }
    cluster.sync();
    if (rank != 0) {
        const std::uint32_t barrier = map_to(shared_of(&bytes_came), 0);
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                         shared_of(cluster.map_shared_rank(&s[rank][t], 0))),
                     "r"(rank * 1000 + t), "r"(barrier)
                     : "memory");
        asm volatile(
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(
                map_to(shared_of(sum), 0)),
            "r"(t), "r"(barrier)
            : "memory");
        asm volatile(
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map_to(shared_of(&all_came), 0))
            : "memory");
    } else {
        wait(shared_of(&bytes_came), 0);
        wait(shared_of(&all_came), 0);
        for (unsigned r = 1; r < 4; ++r) {
            out[r * threads + t] = s[r][t];
        }
        out[t] = sum[0];
    }
    cluster.sync();
}

// One block loads for all, and each passes its part on to the next.
__global__ void __cluster_dims__(2, 1, 1) copies(int* out, const int* in) {
    __shared__ alignas(128) int all[threads];
    __shared__ alignas(128) int passed[threads];
    __shared__ alignas(8) std::uint64_t loaded;
    __shared__ alignas(8) std::uint64_t handed;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x;
    if (t == 0) {
        start(shared_of(&loaded), 1);
        start(shared_of(&handed), 1);
        asm volatile("fence.proxy.async;" ::: "memory");
        expect(&loaded, sizeof(all));
        expect(&handed, sizeof(passed));
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && t == 0) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%0], [%1], %2, [%3], %4;" ::"r"(shared_of(all)),
                     "l"(in), "r"(static_cast<unsigned>(sizeof(all))), "r"(shared_of(&loaded)),
                     "h"(static_cast<unsigned short>(3))
                     : "memory");
    }
    wait(shared_of(&loaded), 0);
    all[t] += static_cast<int>(cluster.block_rank()) * 1000;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        const unsigned other = cluster.block_rank() ^ 1;
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                map_to(shared_of(passed), other)),
            "r"(shared_of(all)), "r"(static_cast<unsigned>(sizeof(all))), "r"(map_to(shared_of(&handed), other))
            : "memory");
    }
    wait(shared_of(&handed), 0);
    out[blockIdx.x * threads + t] = passed[t];
    cluster.sync();
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), unsigned blocks, unsigned cluster, std::size_t shared,
            Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster, 1, 1};
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = blocks;
    configuration.blockDim = threads;
    configuration.dynamicSmemBytes = shared;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    CUDA(cudaLaunchKernelEx(&configuration, kernel, arguments...));
    CUDA(cudaDeviceSynchronize());
}

template <class T>
std::vector<T> taken(const T* from, std::size_t n) {
    std::vector<T> result(n);
    CUDA(cudaMemcpy(result.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
}

} // namespace

int main() {
    constexpr int n = 5000;
    int* in = nullptr;
    int* out = nullptr;
    CUDA(cudaMalloc(&in, n * sizeof(int)));
    CUDA(cudaMalloc(&out, 4096 * sizeof(int)));
    std::vector<int> values(n);
    std::iota(values.begin(), values.end(), 0);
    CUDA(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    for (const unsigned cluster : {1u, 2u, 4u, 8u}) {
        CUDA(cudaMemset(out, 0, bins * sizeof(int)));
        launch(histogram, 16, cluster, bins / cluster * sizeof(int), out, static_cast<const int*>(in), n);
        const std::vector<int> found = taken(out, bins);
        for (int k = 0; k < bins; ++k) {
            CHECK(found[static_cast<std::size_t>(k)] == n / bins + (k < n % bins ? 1 : 0));
        }
    }
    ring<<<8, threads>>>(out);
    CUDA(cudaDeviceSynchronize());
    const std::vector<int> ringed = taken(out, 8 * threads);
    for (int b = 0; b < 8; ++b) {
        const int before = b / 4 * 4 + (b + 3) % 4;         // who wrote here ...
        const int read = before / 4 * 4 + (before + 1) % 4; // ... had read from here
        for (int t = 0; t < threads; ++t) {
            CHECK(ringed[static_cast<std::size_t>(b * threads + t)] == read * 1000 + threads - 1 - t + 1);
        }
    }
    auto* const words = reinterpret_cast<std::uint32_t*>(out);
    send<<<4, threads>>>(words);
    CUDA(cudaDeviceSynchronize());
    const std::vector<std::uint32_t> sent = taken(words, 4 * threads);
    for (unsigned t = 0; t < threads; ++t) {
        CHECK(sent[t] == 3 * threads * (threads - 1) / 2);
        for (unsigned r = 1; r < 4; ++r) {
            CHECK(sent[r * threads + t] == r * 1000 + t);
        }
    }
    copies<<<4, threads>>>(out, in);
    CUDA(cudaDeviceSynchronize());
    const std::vector<int> copied = taken(out, 4 * threads);
    for (int b = 0; b < 4; ++b) {
        for (int t = 0; t < threads; ++t) {
            CHECK(copied[static_cast<std::size_t>(b * threads + t)] == t + (b % 2 == 0 ? 1000 : 0));
        }
    }
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    return 0;
}
