// SPDX-License-Identifier: MIT
// Tensor maps: tiles of one to three dimensions loaded, changed and stored, a transposition through swizzled shared memory, a
// convolution's columns, sums into a tensor, a multicast, and maps that the host and a kernel change.
#include <cooperative_groups.h>
#include <cuda.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/runtime/programs/check.hpp"
#include "tests/runtime/programs/mbarrier.cuh"

namespace {

constexpr int side = 64; // of the tensors
constexpr int edge = 16; // of the tiles
constexpr int threads = 128;

__device__ void start(std::uint64_t* barrier) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.proxy.async;" ::"r"(shared_of(barrier)) : "memory");
}

__device__ void load(void* to, const CUtensorMap* map, int x, int y, std::uint64_t* barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_of(to)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_of(barrier))
                 : "memory");
}

__device__ void store(const CUtensorMap* map, int x, int y, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
                 "r"(y), "r"(shared_of(from))
                 : "memory");
}

__device__ void commit_and_wait() {
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// Adds one to each element of a tile; tiles at the edge are partly outside of the tensor.
__global__ void increment(const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(128) int tile[edge][edge];
    __shared__ alignas(8) std::uint64_t barrier;
    const int x = static_cast<int>(blockIdx.x) * edge - 4;
    const int y = static_cast<int>(blockIdx.y) * edge - 4;
    if (threadIdx.x == 0) {
        start(&barrier);
        load(tile, &map, x, y, &barrier);
        expect(&barrier, sizeof(tile));
    }
    __syncthreads();
    wait(&barrier, 0);
    for (unsigned k = threadIdx.x; k < edge * edge; k += threads) {
        tile[k / edge][k % edge] += 1;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        store(&map, x, y, tile);
        commit_and_wait();
    }
}

// 8 x 8 pieces of 16 bytes, transposed piece by piece; the swizzle of 128 bytes keeps columns off the same banks.
__global__ void transpose(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
    __shared__ alignas(1024) int4 from[8][8];
    __shared__ alignas(1024) int4 to[8][8];
    __shared__ alignas(8) std::uint64_t barrier;
    if (threadIdx.x == 0) {
        start(&barrier);
        expect(&barrier, sizeof(from));
        load(from, &in, 0, 0, &barrier);
    }
    __syncthreads();
    wait(&barrier, 0);
    if (threadIdx.x < 64) {
        const unsigned row = threadIdx.x / 8;
        const unsigned column = threadIdx.x % 8;
        to[column][row ^ column] = from[row][column ^ row];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        store(&out, 0, 0, to);
        commit_and_wait();
    }
}

// The sum over a window of 3 x 3 pixels of each pixel, channel by channel: nine columns, each with its offset.
__global__ void window_sum(const __grid_constant__ CUtensorMap map, int* out, int pixels, int channels) {
    extern __shared__ __align__(128) int column[];
    __shared__ alignas(8) std::uint64_t barrier;
    const auto bytes = static_cast<unsigned>(pixels * channels) * 4;
    if (threadIdx.x == 0) {
        start(&barrier);
    }
    int sum = 0;
    const auto own = static_cast<int>(threadIdx.x);
    for (unsigned k = 0; k < 9; ++k) {
        __syncthreads();
        if (threadIdx.x == 0) {
            expect(&barrier, bytes);
            asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                         "[%0], [%1, {%3, %2, %2, %3}], [%4], {%5, %6};" ::"r"(shared_of(column)),
                         "l"(&map), "r"(-1), "r"(0), "r"(shared_of(&barrier)), "h"(static_cast<unsigned short>(k % 3)),
                         "h"(static_cast<unsigned short>(k / 3))
                         : "memory");
        }
        wait(&barrier, k % 2);
        sum += own < pixels * channels ? column[own] : 0;
    }
    if (own < pixels * channels) {
        out[own] = sum;
    }
}

// All blocks add their numbers to one tile.
__global__ void add(const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(128) int tile[edge][edge];
    for (unsigned k = threadIdx.x; k < edge * edge; k += threads) {
        tile[k / edge][k % edge] = static_cast<int>(blockIdx.x + 1);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile(
            "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %1}], [%2];" ::"l"(&map),
            "r"(8), "r"(shared_of(tile))
            : "memory");
        commit_and_wait();
    }
}

// Each of two blocks loads half a tile for both.
__global__ void __cluster_dims__(2, 1, 1) multicast(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(128) int tile[2][edge / 2][edge];
    __shared__ alignas(8) std::uint64_t barrier;
    const auto cluster = cooperative_groups::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        start(&barrier);
        expect(&barrier, sizeof(tile));
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_of(tile[rank])),
            "l"(&map), "r"(16), "r"(static_cast<int>(rank * edge / 2)), "r"(shared_of(&barrier)),
            "h"(static_cast<unsigned short>(3))
            : "memory");
    }
    wait(&barrier, 0);
    for (unsigned k = threadIdx.x; k < edge * edge; k += threads) {
        out[blockIdx.x * edge * edge + k] = tile[0][0][k];
    }
    cluster.sync();
}

// A map for another tensor, made of one in shared memory.
__global__ void remake(const CUtensorMap* from, CUtensorMap* to, void* address) {
    __shared__ alignas(128) CUtensorMap map;
    auto* const words = reinterpret_cast<int*>(&map);
    words[threadIdx.x] = reinterpret_cast<const int*>(from)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(shared_of(&map)),
                     "l"(address)
                     : "memory");
        asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(shared_of(&map)), "r"(4)
                     : "memory");
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                 "[%0], [%1], 128;" ::"l"(to),
                 "r"(shared_of(&map))
                 : "memory");
}

// A map of zeros in which every field is set, as Triton makes them.
__global__ void make(CUtensorMap* to, void* address) {
    __shared__ alignas(128) CUtensorMap map;
    reinterpret_cast<int*>(&map)[threadIdx.x] = 0;
    __syncwarp();
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %4;\n"
                     "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;\n"
                     "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, %1;\n"
                     "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, 4;\n"
                     "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %2;\n"
                     "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %2;\n"
                     "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %3;\n"
                     "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, 1;\n"
                     "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, 1;\n"
                     "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 3;\n"
                     "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(shared_of(&map)),
                     "r"(edge), "r"(side), "l"(std::uint64_t{side * sizeof(int)}), "l"(address)
                     : "memory");
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                 "[%0], [%1], 128;" ::"l"(to),
                 "r"(shared_of(&map))
                 : "memory");
}

__global__ void read_by(const CUtensorMap* map, int* out) {
    __shared__ alignas(128) int tile[4][edge];
    __shared__ alignas(8) std::uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
        start(&barrier);
        expect(&barrier, sizeof(tile));
        load(tile, map, 0, 1, &barrier);
    }
    __syncthreads();
    wait(&barrier, 0);
    for (unsigned k = threadIdx.x; k < 4 * edge; k += threads) {
        out[k] = tile[0][k];
    }
}

using encode_tiled_call = decltype(&cuTensorMapEncodeTiled);
using encode_im2col_call = decltype(&cuTensorMapEncodeIm2col);
using replace_address_call = decltype(&cuTensorMapReplaceAddress);

template <class Call>
Call entry(const char* name) {
    void* at = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CUDA(cudaGetDriverEntryPointByVersion(name, &at, 12000, cudaEnableDefault, &found));
    CHECK(found == cudaDriverEntryPointSuccess);
    return reinterpret_cast<Call>(at);
}

CUtensorMap map_of(int* tensor, cuuint32_t box_x, cuuint32_t box_y,
                   CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE, cuuint64_t width = side) {
    static const auto encode = entry<encode_tiled_call>("cuTensorMapEncodeTiled");
    CUtensorMap map{};
    const cuuint64_t size[] = {width, side};
    const cuuint64_t stride[] = {width * sizeof(int)};
    const cuuint32_t box[] = {box_x, box_y};
    const cuuint32_t steps[] = {1, 1};
    CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, size, stride, box, steps,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    return map;
}

std::vector<int> taken(const int* from, std::size_t n) {
    std::vector<int> result(n);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(result.data(), from, n * sizeof(int), cudaMemcpyDeviceToHost));
    return result;
}

int at(const std::vector<int>& v, int k) { return v[static_cast<std::size_t>(k)]; }

} // namespace

// What hardware cannot do is refused, also where only the low bits of an argument would be in range.
void refuse_wrong_maps(int* tensor) {
    struct arguments {
        int type = CU_TENSOR_MAP_DATA_TYPE_INT32;
        cuuint32_t rank = 2;
        std::uintptr_t address = 0;
        cuuint64_t size[5] = {side, side, 1, 1, 1};
        cuuint64_t stride[4] = {side * sizeof(int), 0, 0, 0};
        cuuint32_t box[5] = {edge, edge, 1, 1, 1};
        cuuint32_t steps[5] = {1, 1, 1, 1, 1};
        int interleave = 0;
        int swizzle = 0;
        int promotion = 0;
        int fill = 0;
    };
    const auto encode = entry<encode_tiled_call>("cuTensorMapEncodeTiled");
    const auto refuses = [&](void (*change)(arguments&)) {
        arguments a;
        a.address = reinterpret_cast<std::uintptr_t>(tensor);
        change(a);
        CUtensorMap map{};
        return encode(&map, static_cast<CUtensorMapDataType>(a.type), a.rank, reinterpret_cast<void*>(a.address),
                      a.size, a.stride, a.box, a.steps, static_cast<CUtensorMapInterleave>(a.interleave),
                      static_cast<CUtensorMapSwizzle>(a.swizzle), static_cast<CUtensorMapL2promotion>(a.promotion),
                      static_cast<CUtensorMapFloatOOBfill>(a.fill)) == CUDA_ERROR_INVALID_VALUE;
    };
    CHECK(!refuses([](arguments&) {}));
    CHECK(refuses([](arguments& a) { a.type = 256 + CU_TENSOR_MAP_DATA_TYPE_INT32; }));
    CHECK(refuses([](arguments& a) { a.rank = 0; }));
    CHECK(refuses([](arguments& a) { a.rank = 256 + 2; }));
    CHECK(refuses([](arguments& a) { a.address += 8; }));
    CHECK(refuses([](arguments& a) { a.size[1] = 0; }));
    CHECK(refuses([](arguments& a) { a.size[1] = (1ull << 32) + 1; }));
    CHECK(refuses([](arguments& a) { a.stride[0] += 8; }));
    CHECK(refuses([](arguments& a) { a.stride[0] = 1ull << 40; }));
    CHECK(refuses([](arguments& a) { a.box[1] = 0; }));
    CHECK(refuses([](arguments& a) { a.box[1] = 257; }));
    CHECK(refuses([](arguments& a) { a.box[1] = (1u << 16) + edge; }));
    CHECK(refuses([](arguments& a) { a.box[0] = 2; }));
    CHECK(refuses([](arguments& a) { a.steps[1] = 0; }));
    CHECK(refuses([](arguments& a) { a.steps[1] = 9; }));
    CHECK(refuses([](arguments& a) { a.steps[1] = 256 + 1; }));
    CHECK(refuses([](arguments& a) { a.interleave = 256; }));
    CHECK(refuses([](arguments& a) { a.swizzle = 256; }));
    CHECK(refuses([](arguments& a) { a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; })); // the box is 64 bytes wide
    CHECK(refuses([](arguments& a) { a.promotion = 256; }));
    CHECK(refuses([](arguments& a) { a.fill = 256; }));
}

int main() {
    constexpr std::size_t n = side * side;
    int* in = nullptr;
    int* out = nullptr;
    CUDA(cudaMalloc(&in, n * sizeof(int)));
    CUDA(cudaMalloc(&out, n * sizeof(int)));
    std::vector<int> values(n);
    std::iota(values.begin(), values.end(), 0);
    const auto reset = [&] {
        CUDA(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
        CUDA(cudaMemset(out, 0, n * sizeof(int)));
    };

    reset();
    increment<<<dim3(5, 5), threads>>>(map_of(in, edge, edge));
    const std::vector<int> added = taken(in, n);
    for (int k = 0; k < static_cast<int>(n); ++k) {
        CHECK(at(added, k) == k + 1);
    }

    reset();
    transpose<<<1, threads>>>(map_of(in, 32, 8, CU_TENSOR_MAP_SWIZZLE_128B),
                              map_of(out, 32, 8, CU_TENSOR_MAP_SWIZZLE_128B));
    const std::vector<int> transposed = taken(out, n);
    for (int row = 0; row < 8; ++row) {
        for (int k = 0; k < 32; ++k) {
            CHECK(at(transposed, row * side + k) == k / 4 * side + row * 4 + k % 4);
        }
    }

    // An image of 5 x 4 pixels with 4 channels.
    reset();
    constexpr int width = 5;
    constexpr int height = 4;
    constexpr int channels = 4;
    const auto im2col = entry<encode_im2col_call>("cuTensorMapEncodeIm2col");
    CUtensorMap image{};
    const cuuint64_t size[] = {channels, width, height, 1};
    const cuuint64_t stride[] = {16, 16 * width, 16 * width * height};
    const int corner[] = {-1, -1};
    const cuuint32_t steps[] = {1, 1, 1, 1};
    CHECK(im2col(&image, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, in, size, stride, corner, corner, channels, width * height,
                 steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    window_sum<<<1, threads, width * height * channels * sizeof(int)>>>(image, out, width * height, channels);
    const std::vector<int> sums = taken(out, width * height * channels);
    for (int p = 0; p < width * height; ++p) {
        for (int c = 0; c < channels; ++c) {
            int sum = 0;
            for (int k = 0; k < 9; ++k) {
                const int x = p % width + k % 3 - 1;
                const int y = p / width + k / 3 - 1;
                sum += x >= 0 && x < width && y >= 0 && y < height ? (y * width + x) * channels + c : 0;
            }
            CHECK(at(sums, p * channels + c) == sum);
        }
    }

    reset();
    add<<<10, threads>>>(map_of(out, edge, edge));
    const std::vector<int> totals = taken(out, n);
    for (int k = 0; k < static_cast<int>(n); ++k) {
        const bool inside = k % side >= 8 && k % side < 24 && k / side >= 8 && k / side < 24;
        CHECK(at(totals, k) == (inside ? 55 : 0));
    }

    reset();
    multicast<<<2, threads>>>(map_of(in, edge, edge / 2), out);
    const std::vector<int> both = taken(out, 2 * edge * edge);
    for (int k = 0; k < 2 * edge * edge; ++k) {
        CHECK(at(both, k) == k % (edge * edge) / edge * side + 16 + k % edge);
    }

    reset();
    refuse_wrong_maps(in);
    CUtensorMap moved = map_of(out, edge, edge);
    const auto replace = entry<replace_address_call>("cuTensorMapReplaceAddress");
    CHECK(replace(&moved, in) == CUDA_SUCCESS);
    CHECK(replace(&moved, reinterpret_cast<char*>(in) + 8) == CUDA_ERROR_INVALID_VALUE);
    increment<<<dim3(5, 5), threads>>>(moved);
    CHECK(at(taken(in, n), 100) == 101);

    reset();
    const CUtensorMap first = map_of(out, edge, edge);
    CUtensorMap* maps = nullptr;
    CUDA(cudaMalloc(&maps, 2 * sizeof(CUtensorMap)));
    CUDA(cudaMemcpy(maps, &first, sizeof(first), cudaMemcpyHostToDevice));
    for (const bool from_zeros : {false, true}) {
        if (from_zeros) {
            make<<<1, 32>>>(maps + 1, in);
        } else {
            remake<<<1, 32>>>(maps, maps + 1, in);
        }
        read_by<<<1, threads>>>(maps + 1, out);
        const std::vector<int> read = taken(out, 4 * edge);
        for (int k = 0; k < 4 * edge; ++k) {
            CHECK(at(read, k) == (1 + k / edge) * side + k % edge);
        }
    }
    CUDA(cudaFree(maps));
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    return 0;
}
