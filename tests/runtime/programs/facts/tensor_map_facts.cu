// SPDX-License-Identifier: MIT
// What tensor maps and clusters do, in lines that two GPUs can be compared by: tensor_map_facts PART.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t e = (call);                                                                                  \
        if (e != cudaSuccess) {                                                                                        \
            std::printf("%s: %s\n", #call, cudaGetErrorName(e));                                                       \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (false)

using encode_tiled_t = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                    const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                    CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
using encode_im2col_t = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                     const cuuint64_t*, const int*, const int*, cuuint32_t, cuuint32_t,
                                     const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
encode_tiled_t encode_tiled;
encode_im2col_t encode_im2col;

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

constexpr std::size_t tensor_bytes = 1 << 16;
unsigned char* tensor; // on the device
std::vector<unsigned char> host(tensor_bytes);

struct description {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    std::vector<cuuint64_t> size = {};
    std::vector<cuuint32_t> box = {};
    std::vector<cuuint32_t> steps = {1, 1, 1, 1, 1};
    CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    std::vector<cuuint64_t> stride = {}; // computed where empty
    // im2col
    std::vector<int> lower = {};
    std::vector<int> upper = {};
    unsigned channels = 0;
    unsigned pixels = 0;
};

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

CUresult encode(CUtensorMap& map, const description& d, void* at = nullptr) {
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
    CHECK(cudaMalloc(&out, room + 1));
    a.rank = static_cast<int>(d.size.size());
    a.im2col = d.pixels != 0;
    load<<<1, 128, room>>>(map, a, out, room);
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned char> got(room + 1);
    CHECK(cudaMemcpy(got.data(), out, room + 1, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));
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
    CHECK(cudaMemcpy(tensor, host.data(), tensor_bytes, cudaMemcpyHostToDevice));
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
    CHECK(cudaMalloc(&in, box.size()));
    std::fill(host.begin(), host.end(), 0);
    for (std::size_t k = 0; k < box.size(); k += 2) {
        const auto v = static_cast<std::uint16_t>(k / 2 + 1);
        std::memcpy(box.data() + k, &v, 2);
    }
    description d{.size = {64, 8}, .box = {32, 8}};
    alignas(64) CUtensorMap map;
    CHECK(encode(map, d) == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
    CHECK(cudaMemcpy(tensor, host.data(), tensor_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(in, box.data(), box.size(), cudaMemcpyHostToDevice));
    store<<<1, 128, 4096>>>(map, {.c = {0, 0}, .bytes = 512}, in);
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned char> got(tensor_bytes);
    CHECK(cudaMemcpy(got.data(), tensor, tensor_bytes, cudaMemcpyDeviceToHost));
    std::printf("store: hash %08x\n ", hash(got.data(), got.size()));
    for (unsigned k = 0; k < 64; k += 2) {
        std::printf(" %x", got[k] | got[k + 1] << 8);
    }
    std::printf("\n");
    store<<<1, 128, 4096>>>(map, {.c = {-3, 6}, .bytes = 512}, in);
    std::printf("a first coordinate of 6 bytes: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::exit(0); // the context cannot be used any more
}

void errors() {
    alignas(64) CUtensorMap map[2];
    const auto say = [&](const char* name, const description& d, void* at = nullptr) {
        std::printf("encode, %s: %d\n", name, static_cast<int>(encode(map[0], d, at)));
    };
    description d{.size = {64, 64}, .box = {8, 8}};
    say("plain", d);
    say("address + 8", d, tensor + 8);
    say("address + 16", d, tensor + 16);
    say("no address", d, reinterpret_cast<void*>(0));
    std::printf("encode, map + 32: %d\n",
                static_cast<int>(encode(*reinterpret_cast<CUtensorMap*>(reinterpret_cast<char*>(map) + 32), d)));
    const auto with = [&](const char* name, const std::function<void(description&)>& how) {
        description changed = d;
        how(changed);
        say(name, changed);
    };
    with("size 0", [](description& x) {
        x.size = {0, 64};
        x.stride = {128};
    });
    with("size 2^32", [](description& x) { x.size = {64, 1ull << 32}; });
    with("size 2^32 + 1", [](description& x) { x.size = {64, (1ull << 32) + 1}; });
    with("stride 8", [](description& x) { x.stride = {8}; });
    with("stride 0", [](description& x) { x.stride = {0}; });
    with("stride 16, narrower than a row", [](description& x) { x.stride = {16}; });
    with("stride 2^40", [](description& x) { x.stride = {1ull << 40}; });
    with("stride 2^40 - 16", [](description& x) { x.stride = {(1ull << 40) - 16}; });
    with("strides that go down", [](description& x) {
        x.size = {64, 4, 4};
        x.box = {8, 2, 2};
        x.stride = {512, 128};
    });
    with("box 0", [](description& x) { x.box = {0, 8}; });
    with("box 256", [](description& x) { x.box = {8, 256}; });
    with("box 257", [](description& x) { x.box = {8, 257}; });
    with("box of 8 bytes", [](description& x) { x.box = {4, 8}; });
    with("box of 24 bytes", [](description& x) { x.box = {12, 8}; });
    with("box wider than the tensor", [](description& x) { x.box = {128, 8}; });
    with("box of 512 bytes", [](description& x) { x.box = {256, 8}; });
    with("box of 128 KiB", [](description& x) { x.box = {256, 256}; });
    with("box of 512 KiB", [](description& x) {
        x.size = {64, 64, 4};
        x.box = {256, 256, 4};
    });
    with("step 0", [](description& x) { x.steps = {1, 0, 1, 1, 1}; });
    with("step 8", [](description& x) { x.steps = {1, 8, 1, 1, 1}; });
    with("step 9", [](description& x) { x.steps = {1, 9, 1, 1, 1}; });
    with("step 9 of the first", [](description& x) { x.steps = {9, 1, 1, 1, 1}; });
    with("swizzle 32, box 64", [](description& x) {
        x.box = {32, 8};
        x.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    });
    with("swizzle 128, box 256", [](description& x) {
        x.box = {128, 8};
        x.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    });
    with("swizzle 7", [](description& x) { x.swizzle = static_cast<CUtensorMapSwizzle>(7); });
    with("interleave, 2d", [](description& x) { x.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
    with("interleave 32, no swizzle", [](description& x) {
        x.size = {32, 8, 8};
        x.box = {8, 2, 2};
        x.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    });
    with("NaN of integers", [](description& x) { x.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; });
    with("type 13", [](description& x) { x.type = static_cast<CUtensorMapDataType>(13); });
    with("type 14", [](description& x) {
        x.type = static_cast<CUtensorMapDataType>(14);
        x.box = {128, 8};
        x.size = {256, 64};
    });
    with("type 15", [](description& x) {
        x.type = static_cast<CUtensorMapDataType>(15);
        x.box = {128, 8};
        x.size = {256, 64};
    });
    with("type 99", [](description& x) { x.type = static_cast<CUtensorMapDataType>(99); });
    with("rank 1", [](description& x) {
        x.size = {64};
        x.box = {8};
    });
    const cuuint64_t sizes[6] = {16, 2, 2, 2, 2, 2};
    const cuuint64_t strides[5] = {32, 64, 128, 256, 512};
    const cuuint32_t boxes[6] = {8, 1, 1, 1, 1, 1};
    const cuuint32_t ones[6] = {1, 1, 1, 1, 1, 1};
    for (const unsigned rank : {0u, 6u}) {
        std::printf(
            "encode, rank %u: %d\n", rank,
            static_cast<int>(encode_tiled(map, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, tensor, sizes, strides, boxes,
                                          ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
    }
    d = {.size = {16, 5, 4, 3}};
    d.channels = 8;
    d.pixels = 12;
    d.lower = {0, 0};
    d.upper = {0, 0};
    say("im2col", d);
    with("im2col, 2d", [](description& x) { x.size = {16, 5}; });
    with("im2col, lower 127", [](description& x) { x.lower = {127, 0}; });
    with("im2col, lower 128", [](description& x) { x.lower = {128, 0}; });
    with("im2col, lower -128", [](description& x) { x.lower = {-128, 0}; });
    with("im2col, lower -129", [](description& x) { x.lower = {-129, 0}; });
    with("im2col, upper below lower", [](description& x) {
        x.lower = {2, 0};
        x.upper = {-4, 0};
    });
    with("im2col, 256 channels", [](description& x) { x.channels = 256; });
    with("im2col, 257 channels", [](description& x) { x.channels = 257; });
    with("im2col, 4 channels", [](description& x) { x.channels = 4; });
    with("im2col, 1024 pixels", [](description& x) { x.pixels = 1024; });
    with("im2col, 1025 pixels", [](description& x) { x.pixels = 1025; });
}

// --- clusters ---

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

void clusters() {
    unsigned* out = nullptr;
    CHECK(cudaMalloc(&out, 1 << 16));
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
        CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
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
        CHECK(cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(kernel)));
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
    CHECK(cudaDeviceGetAttribute(&launches, cudaDevAttrClusterLaunch, 0));
    std::printf("cluster launch: %d\n", launches);
    CHECK(cudaFree(out));
}

template <class F>
F entry(const char* name) {
    void* at = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CHECK(cudaGetDriverEntryPointByVersion(name, &at, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) {
        std::printf("%s: missing\n", name);
        std::exit(1);
    }
    return reinterpret_cast<F>(at);
}

int main(int count, char** names) {
    CHECK(cudaMalloc(&tensor, tensor_bytes));
    encode_tiled = entry<encode_tiled_t>("cuTensorMapEncodeTiled");
    encode_im2col = entry<encode_im2col_t>("cuTensorMapEncodeIm2col");
    const std::string part = count > 1 ? names[1] : "";
    std::printf("== %s\n", part.c_str());
    if (part == "errors") {
        errors();
    } else if (part == "clusters") {
        clusters();
    } else if (part == "swizzles") {
        tiles();
    } else if (part == "im2col") {
        im2cols();
    } else {
        stores();
    }
    return 0;
}
