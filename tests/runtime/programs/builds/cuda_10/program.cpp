// SPDX-License-Identifier: MIT
// A program of CUDA 10 with a static cuBLAS, as PyTorch 1.5.1 is. Under `warpfold run` it ends with 0, and with the number of
// the check that fails otherwise.
#include <cstddef>
#include <cstdlib>
#include <cstring>

extern "C" {

// As in CUDA 10's driver_types.h.
struct properties_10 {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luid_mask;
    std::size_t global_memory;
    std::size_t shared_per_block;
    int registers_per_block;
    int warp_size;
    std::size_t pitch;
    int threads[7];
    int clock;
    std::size_t constant_memory;
    int major;
    int minor;
    std::size_t texture_alignments[2];
    int overlap;
    int multiprocessors;
    int more[4];
    int textures[40];
    std::size_t surface_alignment;
    int flags[10];
    int l2_bytes;
    int threads_per_multiprocessor;
    int l1[3];
    std::size_t shared_per_multiprocessor;
    int registers_per_multiprocessor;
    int managed[9];
    int cooperative[2];
    std::size_t shared_optin;
    int pageable[2];
};
static_assert(sizeof(properties_10) == 712);

struct attributes_10 {
    int memory;
    int type;
    int device;
    void* device_pointer;
    void* host_pointer;
    int managed;
};

int cudaGetDeviceProperties(properties_10*, int);
int cudaPointerGetAttributes(attributes_10*, const void*);
const char* cudaGetErrorString(int);
int cudaRuntimeGetVersion(int*);
int cudaGraphInstantiate(void**, void*, void**, char*, std::size_t);
int cudaMalloc(void**, std::size_t);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaFree(void*);
void __cudaRegisterTexture(void**, const void*, const void**, const char*, int, int, int);

// In the program itself: static_blas.cpp.
int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*,
                 void*, int, int, int, int);
}

namespace {

void expect(bool right, int number) {
    if (!right) {
        std::exit(number);
    }
}

} // namespace

int main() {
    int version = 0;
    expect(cudaRuntimeGetVersion(&version) == 0 && version == 10020 &&
               std::strcmp(cudaGetErrorString(0), "no error") == 0,
           1);
    struct {
        properties_10 of;
        char behind[64];
    } device;
    std::memset(&device, 0x5A, sizeof device);
    expect(cudaGetDeviceProperties(&device.of, 0) == 0, 2);
    expect(std::strcmp(device.of.name, "NVIDIA H100 80GB HBM3") == 0 && device.of.multiprocessors == 132, 3);
    expect(device.of.l2_bytes == 50 << 20 && device.of.threads_per_multiprocessor == 2048, 4);
    expect(device.of.shared_per_multiprocessor == 228 << 10 && device.of.registers_per_multiprocessor == 65536, 5);
    expect(device.of.shared_optin == 227 << 10, 6);
    for (const char c : device.behind) {
        expect(c == 0x5A, 7);
    }
    void* memory = nullptr;
    expect(cudaMalloc(&memory, 64) == 0, 8);
    attributes_10 where{};
    expect(cudaPointerGetAttributes(&where, memory) == 0, 9);
    expect(where.memory == 2 && where.type == 2 && where.device_pointer == memory && where.managed == 0, 10);
    expect(cudaPointerGetAttributes(&where, &version) != 0, 11);                    // CUDA 10 does not know it
    expect(cudaGraphInstantiate(nullptr, nullptr, nullptr, nullptr, 0) == 999, 12); // has another form today: is left
    __cudaRegisterTexture(nullptr, nullptr, nullptr, nullptr, 0, 0, 0);

    void* blas = nullptr;
    const float four[] = {1, 2, 3, 4};
    float product[4] = {};
    const float one = 1, zero = 0;
    auto* const at = static_cast<float*>(memory);
    constexpr int floats = 0; // CUDA_R_32F, which CUDA 10 takes for the computation too
    expect(cudaMemcpy(at, four, sizeof four, 1) == 0 && cublasCreate_v2(&blas) == 0, 13);
    expect(cublasGemmEx(blas, 0, 0, 2, 2, 2, &one, at, floats, 2, at, floats, 2, &zero, at + 4, floats, 2, floats,
                        -1) == 0,
           14);
    expect(cudaMemcpy(product, at + 4, sizeof product, 2) == 0, 15);
    expect(product[0] == 7 && product[1] == 10 && product[2] == 15 && product[3] == 22, 16);
    expect(cublasDestroy_v2(blas) == 0 && cudaFree(memory) == 0, 17);
    return 0;
}
