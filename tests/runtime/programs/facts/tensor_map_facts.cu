// SPDX-License-Identifier: MIT
// What tensor maps do, in lines that two GPUs can be compared by: tensor_map_facts PART.
#include "tests/runtime/programs/facts/tensor_map_facts.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/runtime/programs/check.hpp"

encode_tiled_t encode_tiled;
encode_im2col_t encode_im2col;
unsigned char* tensor;

__device__ unsigned shared_of(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

struct access {
    int rank = 0;
    int im2col = 0;
    int c[5] = {};
    unsigned short o[3] = {};
    unsigned base = 0;  // of the box in shared memory
    unsigned bytes = 0; // of the box
};

__global__ void load(const __grid_constant__ CUtensorMap map, access a, unsigned char* out, unsigned room) {
    extern __shared__ __align__(1024) unsigned char s[];
    __shared__ alignas(8) unsigned long long bar;
    for (unsigned k = threadIdx.x; k < room; k += blockDim.x) {
        s[k] = 0xEE;
    }
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_of(&bar)));
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const unsigned to = shared_of(s) + a.base;
    const unsigned b = shared_of(&bar);
    const CUtensorMap* const m = &map;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(a.bytes));
#define HEAD(n) "cp.async.bulk.tensor." n ".shared::cluster.global.mbarrier::complete_tx::bytes "
#define HEADI(n) "cp.async.bulk.tensor." n ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        if (a.im2col == 0) {
            switch (a.rank) {
            case 1:
                asm volatile(HEAD("1d") "[%0], [%1, {%2}], [%3];" ::"r"(to), "l"(m), "r"(a.c[0]), "r"(b) : "memory");
                break;
            case 2:
                asm volatile(HEAD("2d") "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(m), "r"(a.c[0]), "r"(a.c[1]),
                             "r"(b)
                             : "memory");
                break;
            case 3:
                asm volatile(HEAD("3d") "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to), "l"(m), "r"(a.c[0]), "r"(a.c[1]),
                             "r"(a.c[2]), "r"(b)
                             : "memory");
                break;
            case 4:
                asm volatile(HEAD("4d") "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to), "l"(m), "r"(a.c[0]),
                             "r"(a.c[1]), "r"(a.c[2]), "r"(a.c[3]), "r"(b)
                             : "memory");
                break;
            default:
                asm volatile(HEAD("5d") "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(to), "l"(m), "r"(a.c[0]),
                             "r"(a.c[1]), "r"(a.c[2]), "r"(a.c[3]), "r"(a.c[4]), "r"(b)
                             : "memory");
                break;
            }
        } else {
            switch (a.rank) {
            case 3:
                asm volatile(HEADI("3d") "[%0], [%1, {%2, %3, %4}], [%5], {%6};" ::"r"(to), "l"(m), "r"(a.c[0]),
                             "r"(a.c[1]), "r"(a.c[2]), "r"(b), "h"(a.o[0])
                             : "memory");
                break;
            case 4:
                asm volatile(HEADI("4d") "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to), "l"(m), "r"(a.c[0]),
                             "r"(a.c[1]), "r"(a.c[2]), "r"(a.c[3]), "r"(b), "h"(a.o[0]), "h"(a.o[1])
                             : "memory");
                break;
            default:
                asm volatile(HEADI("5d") "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};" ::"r"(to), "l"(m),
                             "r"(a.c[0]), "r"(a.c[1]), "r"(a.c[2]), "r"(a.c[3]), "r"(a.c[4]), "r"(b), "h"(a.o[0]),
                             "h"(a.o[1]), "h"(a.o[2])
                             : "memory");
                break;
            }
        }
    }
    unsigned done = 0;
    for (int k = 0; k < 100000 && done == 0; ++k) { // a wrong size must not hang the probe
        asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(b)
                     : "memory");
    }
    for (unsigned k = threadIdx.x; k < room; k += blockDim.x) {
        out[k] = s[k];
    }
    if (threadIdx.x == 0) {
        out[room] = static_cast<unsigned char>(done);
    }
}

// The box is what `in` holds.
__global__ void store(const __grid_constant__ CUtensorMap map, access a, const unsigned char* in) {
    extern __shared__ __align__(1024) unsigned char s[];
    for (unsigned k = threadIdx.x; k < a.bytes; k += blockDim.x) {
        s[a.base + k] = in[k];
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned from = shared_of(s) + a.base;
        const CUtensorMap* const m = &map;
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(m),
                     "r"(a.c[0]), "r"(a.c[1]), "r"(from)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

std::uint32_t hash(const unsigned char* at, std::size_t bytes) {
    std::uint32_t h = 2166136261u;
    for (std::size_t k = 0; k < bytes; ++k) {
        h = (h ^ at[k]) * 16777619u;
    }
    return h;
}

std::vector<unsigned char> host(tensor_bytes);

unsigned bytes_of(CUtensorMapDataType t) {
    switch (t) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 8;
    default: return 4;
    }
}

CUresult encode(CUtensorMap& map, const description& d, void* at) {
    std::vector<cuuint64_t> stride = d.stride;
    cuuint64_t step = d.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE  ? d.size[0] * bytes_of(d.type)
                      : d.interleave == CU_TENSOR_MAP_INTERLEAVE_16B ? 16
                                                                     : 32;
    for (std::size_t k = 0; stride.size() + 1 < d.size.size(); ++k) {
        stride.push_back(step);
        step *= d.size[k + 1];
    }
    stride.push_back(0);
    const auto rank = static_cast<cuuint32_t>(d.size.size());
    if (d.pixels != 0) {
        return encode_im2col(&map, d.type, rank, at != nullptr ? at : tensor, d.size.data(), stride.data(),
                             d.lower.data(), d.upper.data(), d.channels, d.pixels, d.steps.data(), d.interleave,
                             d.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, d.fill);
    }
    return encode_tiled(&map, d.type, rank, at != nullptr ? at : tensor, d.size.data(), stride.data(), d.box.data(),
                        d.steps.data(), d.interleave, d.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, d.fill);
}

// The box after a load: a hash of all of shared memory, and every `each`th value of `width` bytes.
void show_load(const std::string& name, const description& d, access a, unsigned width, unsigned each,
               unsigned room = 4096) {
    alignas(64) CUtensorMap map;
    const CUresult e = encode(map, d);
    if (e != CUDA_SUCCESS) {
        std::printf("%s: encode %d\n", name.c_str(), static_cast<int>(e));
        return;
    }
    unsigned char* out = nullptr;
    CUDA(cudaMalloc(&out, room + 1));
    a.rank = static_cast<int>(d.size.size());
    a.im2col = d.pixels != 0;
    load<<<1, 128, room>>>(map, a, out, room);
    CUDA(cudaDeviceSynchronize());
    std::vector<unsigned char> got(room + 1);
    CUDA(cudaMemcpy(got.data(), out, room + 1, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(out));
    std::printf("%s: done %d hash %08x\n ", name.c_str(), got[room], hash(got.data(), room));
    for (unsigned k = 0, n = 0; k < a.bytes && n < 128; k += each, ++n) {
        unsigned long long v = 0;
        std::memcpy(&v, got.data() + a.base + k, width);
        std::printf(" %llx", v);
    }
    std::printf("\n");
}

void fill_tensor(const std::function<void(std::vector<unsigned char>&)>& how) {
    how(host);
    CUDA(cudaMemcpy(tensor, host.data(), tensor_bytes, cudaMemcpyHostToDevice));
}
void number_words() {
    fill_tensor([](std::vector<unsigned char>& h) {
        for (std::size_t k = 0; k < tensor_bytes / 2; ++k) {
            const auto v = static_cast<std::uint16_t>(k);
            std::memcpy(h.data() + 2 * k, &v, 2);
        }
    });
}

void tiles() {
    number_words();
    const CUtensorMapSwizzle swizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                           CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
    for (int s = 0; s < 4; ++s) {
        for (const unsigned inner : {16u, 32u, 64u, 128u}) {
            for (const unsigned base : {0u, 128u, 384u}) {
                description d{.size = {64, 64}, .box = {inner / 2, 16}};
                d.swizzle = swizzles[s];
                show_load("swizzle " + std::to_string(s) + " inner " + std::to_string(inner) + " base " +
                              std::to_string(base),
                          d, {.c = {0, 0}, .base = base, .bytes = inner * 16}, 2, 16);
            }
        }
    }
}

void im2cols() {
    number_words();
    description d{.size = {16, 5, 4, 3}};
    d.channels = 8;
    d.pixels = 12;
    const auto four = [&](const std::string& name, std::vector<int> lower, std::vector<int> upper, std::vector<int> c,
                          unsigned short x, unsigned short y, std::vector<cuuint32_t> steps) {
        d.lower = lower;
        d.upper = upper;
        d.steps = steps;
        access a{.c = {c[0], c[1], c[2], c[3]}, .o = {x, y}, .bytes = d.pixels * d.channels * 2};
        show_load("im2col 4d " + name, d, a, 2, 16);
    };
    four("plain", {0, 0}, {0, 0}, {0, 0, 0, 0}, 0, 0, {1, 1, 1, 1});
    four("halo", {-1, -1}, {-1, -1}, {8, -1, -1, 0}, 0, 0, {1, 1, 1, 1});
    four("halo, offsets", {-1, -1}, {-1, -1}, {8, -1, -1, 0}, 1, 2, {1, 1, 1, 1});
    four("halo, middle", {-1, -1}, {-1, -1}, {0, 2, 1, 1}, 2, 1, {1, 1, 1, 1});
    four("valid only", {0, 0}, {-2, -2}, {0, 0, 0, 0}, 2, 2, {1, 1, 1, 1});
    four("strides", {-1, -1}, {-1, -1}, {0, -1, -1, 0}, 1, 1, {1, 2, 2, 1});
    four("strides 3", {0, 0}, {0, 0}, {0, 1, 0, 0}, 0, 0, {1, 3, 2, 1});
    four("last image", {0, 0}, {0, 0}, {0, 2, 3, 2}, 0, 0, {1, 1, 1, 1});
    four("upper 1", {0, 0}, {1, 1}, {0, 0, 0, 0}, 0, 0, {1, 1, 1, 1});
}

void stores() {
    std::vector<unsigned char> box(4096);
    unsigned char* in = nullptr;
    CUDA(cudaMalloc(&in, box.size()));
    std::fill(host.begin(), host.end(), 0);
    for (std::size_t k = 0; k < box.size(); k += 2) {
        const auto v = static_cast<std::uint16_t>(k / 2 + 1);
        std::memcpy(box.data() + k, &v, 2);
    }
    description d{.size = {64, 8}, .box = {32, 8}};
    alignas(64) CUtensorMap map;
    CHECK(encode(map, d) == CUDA_SUCCESS);
    CUDA(cudaMemcpy(tensor, host.data(), tensor_bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(in, box.data(), box.size(), cudaMemcpyHostToDevice));
    store<<<1, 128, 4096>>>(map, {.c = {0, 0}, .bytes = 512}, in);
    CUDA(cudaDeviceSynchronize());
    std::vector<unsigned char> got(tensor_bytes);
    CUDA(cudaMemcpy(got.data(), tensor, tensor_bytes, cudaMemcpyDeviceToHost));
    std::printf("store: hash %08x\n ", hash(got.data(), got.size()));
    for (unsigned k = 0; k < 64; k += 2) {
        std::printf(" %x", got[k] | got[k + 1] << 8);
    }
    std::printf("\n");
    store<<<1, 128, 4096>>>(map, {.c = {-3, 6}, .bytes = 512}, in);
    std::printf("a first coordinate of 6 bytes: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::exit(0); // the context cannot be used any more
}

template <class F>
F entry(const char* name) {
    void* at = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CUDA(cudaGetDriverEntryPointByVersion(name, &at, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) {
        std::printf("%s: missing\n", name);
        std::exit(1);
    }
    return reinterpret_cast<F>(at);
}

int main(int count, char** names) {
    CUDA(cudaMalloc(&tensor, tensor_bytes));
    encode_tiled = entry<encode_tiled_t>("cuTensorMapEncodeTiled");
    encode_im2col = entry<encode_im2col_t>("cuTensorMapEncodeIm2col");
    const std::string part = count > 1 ? names[1] : "";
    std::printf("== %s\n", part.c_str());
    if (part == "errors") {
        errors();
    } else if (part == "swizzles") {
        tiles();
    } else if (part == "im2col") {
        im2cols();
    } else {
        stores();
    }
    return 0;
}
