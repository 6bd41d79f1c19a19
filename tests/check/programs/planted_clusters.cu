// SPDX-License-Identifier: MIT
// Mistakes with clusters and bulk copies, one a case, and for each a corrected twin: planted_clusters CASE [fixed]. Markers as
// in planted.cu.
#include <cooperative_groups.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tests/runtime/programs/mbarrier.cuh"

namespace cg = cooperative_groups;

namespace {

constexpr int threads = 64;
constexpr unsigned bytes = threads * sizeof(int);

__device__ void start(std::uint32_t barrier) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(barrier) : "memory");
}

// Nobody waits until the neighbour has written what is read.
template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) no_barrier(int* out) {
    __shared__ int s[threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = static_cast<int>(threadIdx.x);
    s[t] = t;
    if (Fixed) {
        cluster.sync();
    } else {
        __syncthreads();
    }
    const int* const theirs = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    out[blockIdx.x * threads + t] = theirs[threads - 1 - t]; // FINDING(no_barrier): race in shared memory
    cluster.sync();
}

// Both blocks write to block 0.
template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) both_write(int* out) {
    __shared__ int s[2 * threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = static_cast<int>(threadIdx.x);
    const int rank = static_cast<int>(cluster.block_rank());
    int* const to = cluster.map_shared_rank(s, 0);
    cluster.sync();
    to[(Fixed ? rank * threads : 0) + t] = rank * 100 + t; // FINDING(both_write): race in shared memory
    cluster.sync();
    if (rank == 0) {
        out[t] = s[t];
    }
}

// The barrier orders nothing where it is relaxed.
template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) relaxed(int* out) {
    __shared__ int s[threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = static_cast<int>(threadIdx.x);
    s[t] = t;
    if (Fixed) {
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    } else {
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    }
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    const int* const theirs = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    out[blockIdx.x * threads + t] = theirs[t]; // FINDING(relaxed): race in shared memory
    cluster.sync();
}

// Block 1 may end before block 0 reads its memory. It takes long enough not to: what counts is that nothing makes it wait.
template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) may_end(int* out) {
    __shared__ int s[threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = static_cast<int>(threadIdx.x);
    s[t] = t;
    cluster.sync();
    if (cluster.block_rank() == 0) {
        out[t] = cluster.map_shared_rank(s, 1)[t]; // FINDING(may_end): race in shared memory
    } else {
        for (int k = 0; k < 100; ++k) {
            __nanosleep(1000);
        }
    }
    if (Fixed) {
        cluster.sync();
    }
}

__device__ std::uint32_t at_rank(std::uint32_t barrier, unsigned rank) {
    std::uint32_t at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(barrier), "r"(rank));
    return at;
}

// A fence makes a relaxed arrival order what came before the fence.
template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) init_not_released(int*) {
    __shared__ alignas(8) std::uint64_t barrier;
    const cg::cluster_group cluster = cg::this_cluster();
    const std::uint32_t own = shared_of(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(own) : "memory");
        if (Fixed) {
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
    }
    __syncthreads();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (cluster.block_rank() == 0) {
        wait(&barrier, 0);
    } else if (threadIdx.x == 0) {
        const std::uint32_t at = at_rank(own, 0);
        // clang-format off
        asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(at)); // FINDING(init_not_released): race in shared memory
        // clang-format on
    }
}

// The same within a block, whose other warps know of the init by the cluster's barrier alone.
template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) init_not_released_to_warps(int*) {
    __shared__ alignas(8) std::uint64_t barrier;
    const std::uint32_t own = shared_of(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(own) : "memory");
        if (Fixed) {
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
    }
    asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory");
    if (threadIdx.x == 32) {
        // clang-format off
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(own)); // FINDING(init_not_released_to_warps): race in shared memory
        // clang-format on
    }
}

// fence.mbarrier_init releases mbarrier.init, and nothing else.
template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) init_fence_for_data(int* out) {
    __shared__ int data;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        data = 5; // FINDING(init_fence_for_data): race in shared memory
        if (Fixed) {
            asm volatile("fence.acq_rel.cluster;" ::: "memory");
        } else {
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (cluster.block_rank() == 1 && threadIdx.x == 0) {
        out[0] = *cluster.map_shared_rank(&data, 0);
    }
    cluster.sync();
}

// Block 0 may end before block 1 arrives at its barrier, unless it waits for the arrival.
template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) last_arrival(int*) {
    __shared__ alignas(8) std::uint64_t barrier;
    const cg::cluster_group cluster = cg::this_cluster();
    const std::uint32_t own = shared_of(&barrier);
    if (threadIdx.x == 0) {
        start(own);
    }
    cluster.sync();
    if (cluster.block_rank() == 1) {
        if (threadIdx.x == 0) {
            const std::uint32_t at = at_rank(own, 0);
            // clang-format off
            asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(at)); // FINDING(last_arrival): race in shared memory
            // clang-format on
        }
    } else if (Fixed) {
        wait(&barrier, 0);
    } else {
        for (int k = 0; k < 100; ++k) {
            __nanosleep(1000);
        }
    }
}

// It has ended.
template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) has_ended(int* out) {
    __shared__ int s[threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = static_cast<int>(threadIdx.x);
    s[t] = t;
    cluster.sync();
    if (cluster.block_rank() == 1) {
        for (int k = 0; k < 100; ++k) {
            __nanosleep(1000);
        }
        out[t] = cluster.map_shared_rank(s, Fixed ? 1 : 0)[t]; // FINDING(has_ended): illegal address
    }
}

template <bool Fixed>
__global__ void copy_without_proxy_fence(int* out) {
    __shared__ alignas(128) int s[threads];
    s[threadIdx.x] = 1;
    if (Fixed) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const std::uint32_t from = shared_of(s);
        // clang-format off
        asm volatile(
            "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(from), "r"(bytes) : "memory"); // FINDING(copy_without_proxy_fence): race in shared memory
        // clang-format on
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

template <bool Fixed>
__global__ void still_read(int* out) {
    __shared__ alignas(128) int s[threads];
    s[threadIdx.x] = 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(shared_of(s)),
                     "r"(bytes)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        if (Fixed) {
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
    }
    __syncthreads();
    s[threadIdx.x] = 2; // FINDING(still_read): race in shared memory
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

template <bool Fixed>
__global__ void __cluster_dims__(2, 1, 1) not_there(int* out) {
    __shared__ int s[threads];
    __shared__ alignas(8) std::uint64_t barrier;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x;
    const std::uint32_t own = shared_of(&barrier);
    if (t == 0) {
        start(own);
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(own), "r"(bytes) : "memory");
    }
    cluster.sync();
    const unsigned other = cluster.block_rank() ^ 1;
    std::uint32_t to;
    std::uint32_t at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_of(s + t)), "r"(other));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(own), "r"(other));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(t), "r"(at)
                 : "memory");
    if (Fixed) {
        wait(&barrier, 0);
    } else {
        cluster.sync();
    }
    out[blockIdx.x * threads + t] = s[threads - 1 - t]; // FINDING(not_there): race in shared memory
    cluster.sync();
}

__device__ alignas(128) unsigned map_in_global[32]; // zeros

// Thread 0 sets all fields of a map of one dimension, and copies by it.
template <bool Releases, bool Acquires>
__device__ void make_and_use_map(int* out) {
    __shared__ alignas(128) int s[threads];
    s[threadIdx.x] = 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x != 0) {
        return;
    }
    const void* const map = map_in_global;
    asm volatile("tensormap.replace.tile.rank.global.b1024.b32 [%0], 0;\n"
                 "tensormap.replace.tile.box_dim.global.b1024.b32 [%0], 0, %1;\n"
                 "tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 0, %1;\n"
                 "tensormap.replace.tile.element_stride.global.b1024.b32 [%0], 0, 1;\n"
                 "tensormap.replace.tile.elemtype.global.b1024.b32 [%0], 3;" ::"l"(map),
                 "r"(threads)
                 : "memory");
    // clang-format off
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(out) : "memory"); // FINDING(map_not_released): missing fence.proxy.tensormap
    // clang-format on
    if (Releases) {
        asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    }
    if (Acquires) {
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    }
    // clang-format off
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" ::"l"(map), "r"(0), "r"(shared_of(s)) : "memory"); // FINDING(map_not_acquired): missing fence.proxy.tensormap
    // clang-format on
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

template <bool Fixed>
__global__ void map_not_released(int* out) {
    make_and_use_map<Fixed, true>(out);
}

template <bool Fixed>
__global__ void map_not_acquired(int* out) {
    make_and_use_map<true, Fixed>(out);
}

} // namespace

#define LAUNCH(kernel, blocks)                                                                                         \
    if (is(#kernel)) {                                                                                                 \
        if (fixed) {                                                                                                   \
            kernel<true><<<blocks, threads>>>(out);                                                                    \
        } else {                                                                                                       \
            kernel<false><<<blocks, threads>>>(out);                                                                   \
        }                                                                                                              \
    }

int main(int count, char** arguments) {
    const char* const name = count > 1 ? arguments[1] : "";
    const bool fixed = count > 2 && std::strcmp(arguments[2], "fixed") == 0;
    const auto is = [&](const char* which) { return std::strcmp(name, which) == 0; };
    int* out = nullptr;
    cudaMalloc(&out, 4096);
    LAUNCH(no_barrier, 2)
    LAUNCH(both_write, 2)
    LAUNCH(relaxed, 2)
    LAUNCH(may_end, 2)
    LAUNCH(init_not_released, 2)
    LAUNCH(init_not_released_to_warps, 2)
    LAUNCH(init_fence_for_data, 2)
    LAUNCH(last_arrival, 2)
    LAUNCH(has_ended, 2)
    LAUNCH(copy_without_proxy_fence, 1)
    LAUNCH(still_read, 1)
    LAUNCH(not_there, 2)
    LAUNCH(map_not_released, 1)
    LAUNCH(map_not_acquired, 1)
    cudaDeviceSynchronize();
    cudaFree(out);
    return 0;
}
