// SPDX-License-Identifier: MIT
// What clusters do and how they are refused, in lines that two GPUs can be compared by.
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "tests/runtime/programs/check.hpp"

__device__ unsigned shared_of(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__global__ void ids(unsigned* out) {
    extern __shared__ __align__(1024) unsigned char s[];
    unsigned v[16];
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(v[0]));
    asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(v[1]));
    asm volatile("mov.u32 %0, %%clusterid.z;" : "=r"(v[2]));
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(v[3]));
    asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(v[4]));
    asm volatile("mov.u32 %0, %%nclusterid.z;" : "=r"(v[5]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v[6]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v[7]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(v[8]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(v[9]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(v[10]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(v[11]));
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[12]));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(v[13]));
    asm volatile("{\n.reg .pred p;\nmov.pred p, %%is_explicit_cluster;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(v[14]));
    unsigned mine = 0;
    asm volatile("{\n.reg .u32 a;\nmapa.shared::cluster.u32 a, %1, 0;\ngetctarank.shared::cluster.u32 %0, a;\n}"
                 : "=r"(mine)
                 : "r"(shared_of(s)));
    v[15] = mine;
    const unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    for (int k = 0; k < 16; ++k) {
        out[b * 16 + k] = v[k];
    }
}

__global__ void __cluster_dims__(2, 1, 1) fixed_cluster(unsigned* out) { out[blockIdx.x] = 1; }

int main() {
    std::printf("== clusters\n");
    unsigned* out = nullptr;
    CUDA(cudaMalloc(&out, 1 << 16));
    const auto launch = [&](void (*kernel)(unsigned*), dim3 grid, dim3 block, dim3 cluster, std::size_t shared,
                            bool given) {
        cudaLaunchConfig_t c{};
        c.gridDim = grid;
        c.blockDim = block;
        c.dynamicSmemBytes = shared;
        cudaLaunchAttribute a{};
        a.id = cudaLaunchAttributeClusterDimension;
        a.val.clusterDim = {cluster.x, cluster.y, cluster.z};
        c.attrs = &a;
        c.numAttrs = given ? 1 : 0;
        const cudaError_t e = cudaLaunchKernelEx(&c, kernel, out);
        const cudaError_t after = cudaDeviceSynchronize();
        (void)cudaGetLastError();
        return std::string(cudaGetErrorName(e)) + " " + cudaGetErrorName(after);
    };
    const auto show = [&](const char* name, dim3 grid, dim3 cluster, bool given) {
        std::printf("ids, %s: %s\n", name, launch(ids, grid, 32, cluster, 1024, given).c_str());
        const unsigned blocks = grid.x * grid.y * grid.z;
        std::vector<unsigned> got(blocks * 16);
        CUDA(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
        for (unsigned b = 0; b < blocks; ++b) {
            std::printf(" ");
            for (int k = 0; k < 16; ++k) {
                std::printf(" %u", got[b * 16 + k]);
            }
            std::printf("\n");
        }
    };
    show("none", {4, 2, 1}, {}, false);
    show("1", {2, 1, 1}, {1, 1, 1}, true);
    show("2 x 2", {4, 4, 2}, {2, 2, 1}, true);
    show("2 x 1 x 2", {4, 2, 2}, {2, 1, 2}, true);
    show("8", {8, 1, 1}, {8, 1, 1}, true);
    std::printf("cluster 3 of 4: %s\n", launch(ids, 4, 32, {3, 1, 1}, 0, true).c_str());
    std::printf("cluster 0: %s\n", launch(ids, 4, 32, {0, 1, 1}, 0, true).c_str());
    std::printf("cluster 9: %s\n", launch(ids, 18, 32, {9, 1, 1}, 0, true).c_str());
    std::printf("cluster 16: %s\n", launch(ids, 16, 32, {16, 1, 1}, 0, true).c_str());
    std::printf("fixed: %s\n", launch(fixed_cluster, 4, 32, {}, 0, false).c_str());
    std::printf("fixed, 3 blocks: %s\n", launch(fixed_cluster, 3, 32, {}, 0, false).c_str());
    std::printf("fixed, the same: %s\n", launch(fixed_cluster, 4, 32, {2, 1, 1}, 0, true).c_str());
    std::printf("fixed, another: %s\n", launch(fixed_cluster, 4, 32, {4, 1, 1}, 0, true).c_str());
    const auto occupancy = [&](const char* name, void (*kernel)(unsigned*), unsigned block, unsigned cluster,
                               std::size_t shared) {
        cudaLaunchConfig_t c{};
        c.gridDim = 16 * 16;
        c.blockDim = block;
        c.dynamicSmemBytes = shared;
        cudaLaunchAttribute a{};
        a.id = cudaLaunchAttributeClusterDimension;
        a.val.clusterDim = {cluster, 1, 1};
        c.attrs = &a;
        c.numAttrs = cluster != 0 ? 1 : 0;
        int active = -1;
        int largest = -1;
        const cudaError_t e = cudaOccupancyMaxActiveClusters(&active, kernel, &c);
        const cudaError_t f = cudaOccupancyMaxPotentialClusterSize(&largest, kernel, &c);
        (void)cudaGetLastError();
        std::printf("occupancy, %s, %u threads, cluster %u, %zu bytes: %s %d, %s %d\n", name, block, cluster, shared,
                    cudaGetErrorName(e), active, cudaGetErrorName(f), largest);
    };
    for (const unsigned cluster : {0u, 1u, 2u, 4u, 8u, 16u}) {
        occupancy("ids", ids, 1024, cluster, 0);
        occupancy("ids", ids, 1024, cluster, 48000);
    }
    occupancy("ids", ids, 128, 3, 0);
    occupancy("ids", ids, 128, 32, 0);
    occupancy("ids", ids, 128, 2, 100000);
    occupancy("fixed", fixed_cluster, 128, 4, 0);
    const auto set = [&](const char* name, void (*kernel)(unsigned*), cudaFuncAttribute which, int value) {
        const cudaError_t e = cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), which, value);
        (void)cudaGetLastError();
        std::printf("set %s of %s to %d: %s\n", name, kernel == ids ? "ids" : "fixed", value, cudaGetErrorName(e));
    };
    const auto facts = [&](const char* name, void (*kernel)(unsigned*)) {
        cudaFuncAttributes a{};
        CUDA(cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(kernel)));
        std::printf("%s: must be set %d, required %d %d %d, policy %d, non-portable %d\n", name, a.clusterDimMustBeSet,
                    a.requiredClusterWidth, a.requiredClusterHeight, a.requiredClusterDepth,
                    a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
    };
    facts("ids", ids);
    facts("fixed", fixed_cluster);
    set("non-portable", ids, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    std::printf("cluster 16, allowed: %s\n", launch(ids, 16, 32, {16, 1, 1}, 0, true).c_str());
    std::printf("cluster 32, allowed: %s\n", launch(ids, 32, 32, {32, 1, 1}, 0, true).c_str());
    std::printf("cluster 9, allowed: %s\n", launch(ids, 18, 32, {9, 1, 1}, 0, true).c_str());
    occupancy("ids, allowed", ids, 1024, 16, 48000);
    set("width", fixed_cluster, cudaFuncAttributeRequiredClusterWidth, 4);
    set("width", ids, cudaFuncAttributeRequiredClusterWidth, 2);
    set("height", ids, cudaFuncAttributeRequiredClusterHeight, 2);
    set("depth", ids, cudaFuncAttributeRequiredClusterDepth, 1);
    facts("ids", ids);
    std::printf("ids, required, none given: %s\n", launch(ids, {4, 4, 1}, 32, {}, 0, false).c_str());
    std::printf("ids, required, another: %s\n", launch(ids, {4, 4, 1}, 32, {4, 1, 1}, 0, true).c_str());
    set("must be set", ids, cudaFuncAttributeClusterDimMustBeSet, 1);
    set("policy", ids, cudaFuncAttributeClusterSchedulingPolicyPreference, 2);
    facts("ids", ids);
    int launches = -1;
    CUDA(cudaDeviceGetAttribute(&launches, cudaDevAttrClusterLaunch, 0));
    std::printf("cluster launch: %d\n", launches);
    CUDA(cudaFree(out));
    return 0;
}
