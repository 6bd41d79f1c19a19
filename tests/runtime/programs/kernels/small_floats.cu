// SPDX-License-Identifier: MIT
// Conversions of CUDA's headers from and to floats of 8, 6 and 4 bits and scales: their instructions give what their code
// for the host gives.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" // in NVIDIA's headers
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#pragma GCC diagnostic pop

#include "tests/runtime/programs/device_array.hpp"

namespace {

constexpr unsigned results = 18; // of one number
constexpr unsigned numbers = 1u << 18;

__host__ __device__ float as_float(unsigned bits) {
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// All patterns of 16 bits, each as the upper half of four floats.
__host__ __device__ void convert(unsigned n, unsigned* to) {
    const auto pattern = static_cast<unsigned short>(n >> 2);
    const unsigned lower[] = {0, 1, 0x8000, 0xFFFF};
    const float2 f{as_float(n >> 2 << 16 | lower[n & 3]), as_float((n >> 2 ^ 0xFFFF) << 16)};
    __half2_raw h;
    h.x = pattern;
    h.y = static_cast<unsigned short>(~pattern);
    __nv_bfloat162_raw b;
    b.x = h.x;
    b.y = h.y;
    const auto halves = [](__half2_raw x) { return static_cast<unsigned>(x.y) << 16 | x.x; };
    *to++ = __nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, __NV_E4M3);
    *to++ = __nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, __NV_E5M2);
    *to++ = __nv_cvt_float2_to_fp6x2(f, __NV_E2M3, cudaRoundNearest);
    *to++ = __nv_cvt_float2_to_fp6x2(f, __NV_E3M2, cudaRoundNearest);
    *to++ = __nv_cvt_float2_to_fp4x2(f, __NV_E2M1, cudaRoundNearest);
    *to++ = __nv_cvt_float2_to_e8m0x2(f, __NV_SATFINITE, cudaRoundZero);
    *to++ = __nv_cvt_float2_to_e8m0x2(f, __NV_NOSAT, cudaRoundPosInf);
    *to++ = __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E4M3);
    *to++ = __nv_cvt_halfraw2_to_fp6x2(h, __NV_E2M3, cudaRoundNearest);
    *to++ = __nv_cvt_halfraw2_to_fp4x2(h, __NV_E2M1, cudaRoundNearest);
    *to++ = __nv_cvt_bfloat16raw2_to_fp4x2(b, __NV_E2M1, cudaRoundNearest);
    *to++ = __nv_cvt_bfloat162raw_to_e8m0x2(b, __NV_NOSAT, cudaRoundZero);
    *to++ = __nv_cvt_bfloat162raw_to_e8m0x2(b, __NV_SATFINITE, cudaRoundPosInf);
    *to++ = halves(__nv_cvt_fp8x2_to_halfraw2(pattern, __NV_E5M2));
    *to++ = halves(__nv_cvt_fp6x2_to_halfraw2(pattern & 0x3F3F, __NV_E2M3));
    *to++ = halves(__nv_cvt_fp6x2_to_halfraw2(pattern & 0x3F3F, __NV_E3M2));
    *to++ = halves(__nv_cvt_fp4x2_to_halfraw2(static_cast<__nv_fp4x2_storage_t>(pattern), __NV_E2M1));
    const __nv_bfloat162_raw scales = __nv_cvt_e8m0x2_to_bf162raw(pattern);
    *to++ = static_cast<unsigned>(scales.y) << 16 | scales.x;
}

__global__ void convert_all(unsigned* to) {
    const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
    convert(n, to + n * results);
}

} // namespace

int main() {
    device_array<unsigned> to(std::size_t{numbers} * results);
    convert_all<<<numbers / 256, 256>>>(to.data());
    CUDA(cudaGetLastError());
    const std::vector<unsigned> device = to.host();
    for (unsigned n = 0; n < numbers; ++n) {
        unsigned host[results];
        convert(n, host);
        for (unsigned k = 0; k < results; ++k) {
            const unsigned there = device[n * results + k];
            if (there != host[k]) {
                std::fprintf(stderr, "conversion %u of 0x%X: 0x%X, and 0x%X on the host\n", k, n, there, host[k]);
                return 1;
            }
        }
    }
    std::puts("ok");
}
