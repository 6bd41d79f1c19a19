// SPDX-License-Identifier: MIT
// The intrinsics of cuda_fp16.h and cuda_bf16.h: what the kernel computes is what the same functions give on the host,
// whose versions of them are the toolkit's own; those that only a device has are checked within a tolerance in double.
#include <cmath>
#include <cstring>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tests/runtime/programs/check.hpp"

template <class V>
__host__ __device__ V from_bits(unsigned x) {
    V v;
    memcpy(static_cast<void*>(&v), &x, 4);
    return v;
}
template <class T>
__host__ __device__ unsigned bits(T v) {
    unsigned x = 0;
    memcpy(&x, &v, sizeof(v));
    return x;
}
__host__ __device__ __half low(__half2 v) { return __low2half(v); }
__host__ __device__ __nv_bfloat16 low(__nv_bfloat162 v) { return __low2bfloat16(v); }

constexpr int results = 64;

template <class V>
__host__ __device__ int everything(unsigned x, unsigned y, unsigned* out) {
    const V a = from_bits<V>(x), b = from_bits<V>(y);
    int k = 0;
    out[k++] = bits(__hadd2(a, b));
    out[k++] = bits(__hsub2(a, b));
    out[k++] = bits(__hmul2(a, b));
    out[k++] = bits(__hadd2_sat(a, b));
    out[k++] = bits(__hsub2_sat(a, b));
    out[k++] = bits(__hmul2_sat(a, b));
    out[k++] = bits(__hmax2(a, b));
    out[k++] = bits(__hmin2(a, b));
    out[k++] = bits(__hmax2_nan(a, b));
    out[k++] = bits(__hmin2_nan(a, b));
    out[k++] = bits(__habs2(a));
    out[k++] = bits(__hneg2(a));
    out[k++] = bits(__heq2(a, b));
    out[k++] = bits(__hneu2(a, b));
    out[k++] = bits(__hlt2(a, b));
    out[k++] = bits(__hgeu2(a, b));
    out[k++] = bits(__hisnan2(a));
    out[k++] = bits(__hadd(low(a), low(b)));
    out[k++] = bits(__hsub(low(a), low(b)));
    out[k++] = bits(__hmul(low(a), low(b)));
    out[k++] = bits(__hmul_sat(low(a), low(b)));
    out[k++] = bits(__hmax(low(a), low(b)));
    out[k++] = bits(__hmin_nan(low(a), low(b)));
    const int numbers = k;
    out[k++] = __heq2_mask(a, b);
    out[k++] = __hne2_mask(a, b);
    out[k++] = __hgt2_mask(a, b);
    out[k++] = __hleu2_mask(a, b);
    out[k++] = __hbeq2(a, b) + 2 * __hbltu2(a, b) + 4 * __hbge2(a, b);
    out[k++] = __heq(low(a), low(b)) + 2 * __hgt(low(a), low(b)) + 4 * __hltu(low(a), low(b)) + 8 * __hisnan(low(a));
    const V swapped = from_bits<V>(x << 16 | x >> 16);
    out[k++] = bits(swapped);
    return numbers << 8 | k;
}

__host__ __device__ int conversions(unsigned x, unsigned* out) {
    const __half h = low(from_bits<__half2>(x));
    const __nv_bfloat16 g = low(from_bits<__nv_bfloat162>(x));
    const float f = from_bits<float>(x);
    const int i = static_cast<int>(x);
    int k = 0;
    out[k++] = bits(__float2half_rn(f));
    out[k++] = bits(__float2half_rz(f));
    out[k++] = bits(__float2half_rd(f));
    out[k++] = bits(__float2half_ru(f));
    out[k++] = bits(__float2bfloat16_rn(f));
    out[k++] = bits(__float2bfloat16_rz(f));
    out[k++] = bits(__floats2half2_rn(f, -f));
    out[k++] = bits(__floats2bfloat162_rn(f, -f));
    out[k++] = bits(__double2half(static_cast<double>(f) * 1.0000001));
    const int numbers = k;
    out[k++] = bits(__int2half_rn(i));
    out[k++] = bits(__int2half_rz(i));
    out[k++] = bits(__uint2half_ru(x));
    out[k++] = bits(__short2half_rd(static_cast<short>(x)));
    out[k++] = bits(__ll2half_rn(static_cast<long long>(x) << 20));
    out[k++] = bits(__int2bfloat16_rn(i));
    out[k++] = bits(__ull2bfloat16_rn(static_cast<unsigned long long>(x) << 30 | x));
    out[k++] = __half2int_rz(h);
    out[k++] = __half2uint_rz(h);
    out[k++] = __half2short_rz(h);
    out[k++] = static_cast<unsigned>(__half2ll_rz(h));
    out[k++] = __bfloat162int_rz(g);
    out[k++] = __bfloat162ushort_rz(g);
    const float back = __half2float(h), wide = __bfloat162float(g);
    out[k++] = back == back ? bits(back) : 0;
    out[k++] = wide == wide ? bits(wide) : 0;
    return numbers << 8 | k;
}

template <class V>
__global__ void run_everything(const unsigned* in, unsigned n, unsigned* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n) {
        everything<V>(in[i / n], in[i % n], out + i * results);
    }
}
__global__ void run_conversions(const unsigned* in, unsigned n, unsigned* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        conversions(in[i], out + i * results);
    }
}

// Where bfloat16 has no instructions of its own (before compute_80), single precision.
template <class H>
__device__ float fused(H h) {
#if __CUDA_ARCH__ >= 800
    return float(__hfma(h, h, h));
#else
    return float(h) * float(h) + float(h);
#endif
}
template <class H>
__device__ float fused_relu(H h) {
#if __CUDA_ARCH__ >= 800
    return float(__hfma_relu(h, H(-1.0F), H(1.0F)));
#else
    return fmaxf(1.0F - float(h), 0.0F);
#endif
}
template <class H>
__device__ float fused_sat(H h) {
#if __CUDA_ARCH__ >= 800
    return float(__hfma_sat(h, h, h));
#else
    return __saturatef(float(h) * float(h) + float(h));
#endif
}

// Device only; each result as a float beside its exact value in double.
template <class H, class V>
__global__ void functions(float* out, V* sums, H* sum) {
    const float x = 0.0625F * static_cast<float>(threadIdx.x + 1);
    const H h = H(x);
    float* const o = out + 16 * threadIdx.x;
    o[0] = float(hsqrt(h));
    o[1] = float(hexp(h));
    o[2] = float(hlog2(h));
    o[3] = float(hrcp(h));
    o[4] = float(hrsqrt(h));
    o[5] = float(hsin(h));
    o[6] = float(hcos(h));
    o[7] = float(hrint(h));
    o[8] = float(hceil(h));
    o[9] = float(htrunc(h));
    o[10] = fused(h);
    o[11] = float(__hdiv(h, H(3.0F)));
    o[12] = float(hexp2(h));
    o[13] = fused_relu(h);
    V v;
    v.x = H(1.0F);
    v.y = H(2.0F);
    atomicAdd(sums, v);
    atomicAdd(sum, H(0.5F));
    v.x = __shfl_xor_sync(~0U, h, 1);
    o[14] = float(v.x);
    o[15] = fused_sat(h);
}

bool is_nan(unsigned half, bool brain) { return (half & 0x7FFF) > (brain ? 0x7F80U : 0x7C00U); }
bool alike(unsigned a, unsigned b, bool brain, bool any_zero) {
    for (int k = 0; k < 32; k += 16) {
        const unsigned x = a >> k & 0xFFFF, y = b >> k & 0xFFFF;
        const bool zeros = any_zero && ((x | y) & 0x7FFF) == 0;
        if (x != y && !zeros && !(is_nan(x, brain) && is_nan(y, brain))) {
            return false;
        }
    }
    return true;
}

void compare(const char* what, unsigned x, unsigned y, int how, const unsigned* device, const unsigned* host,
             int brain) {
    for (int k = 0; k < (how & 255); ++k) {
        const bool loose = k < how >> 8;
        const bool b = brain == 2 ? k == 4 || k == 5 || k == 7 : brain == 1;
        // The host's minimum and maximum do not order the zeros.
        const bool any_zero = brain != 2 && ((k >= 6 && k <= 9) || k >= 21);
        if (loose ? !alike(device[k], host[k], b, any_zero) : device[k] != host[k]) {
            std::fprintf(stderr, "%s result %d of 0x%08x, 0x%08x: 0x%08x, the host says 0x%08x\n", what, k, x, y,
                         device[k], host[k]);
            std::exit(1);
        }
    }
}

template <class V>
void check_everything(const char* what, const std::vector<unsigned>& values, bool brain) {
    const auto n = static_cast<unsigned>(values.size());
    unsigned *in = nullptr, *out = nullptr;
    CUDA(cudaMallocManaged(&in, n * 4));
    CUDA(cudaMallocManaged(&out, n * n * results * 4));
    std::memcpy(in, values.data(), n * 4);
    run_everything<V><<<(n * n + 127) / 128, 128>>>(in, n, out);
    CUDA(cudaDeviceSynchronize());
    for (unsigned i = 0; i < n * n; ++i) {
        unsigned host[results];
        const int how = everything<V>(values[i / n], values[i % n], host);
        compare(what, values[i / n], values[i % n], how, out + i * results, host, brain);
    }
}

template <class H, class V>
void check_functions(double tolerance) {
    float* out = nullptr;
    V* sums = nullptr;
    H* sum = nullptr;
    CUDA(cudaMallocManaged(&out, 64 * 16 * sizeof(float)));
    CUDA(cudaMallocManaged(&sums, sizeof(V)));
    CUDA(cudaMallocManaged(&sum, sizeof(H)));
    CUDA(cudaMemset(sums, 0, sizeof(V)));
    CUDA(cudaMemset(sum, 0, sizeof(H)));
    functions<H, V><<<1, 64>>>(out, sums, sum);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < 64; ++t) {
        const double x = 0.0625 * (t + 1);
        const double other = 0.0625 * ((t ^ 1) + 1);
        const double exact[16] = {std::sqrt(x),     std::exp(x),         std::log2(x), 1 / x,
                                  1 / std::sqrt(x), std::sin(x),         std::cos(x),  std::nearbyint(x),
                                  std::ceil(x),     std::trunc(x),       x * x + x,    x / 3,
                                  std::exp2(x),     std::fmax(1 - x, 0), other,        std::fmin(1, x * x + x)};
        for (int k = 0; k < 16; ++k) {
            const double got = static_cast<double>(out[16 * t + k]);
            if (!(std::abs(got - exact[k]) <= tolerance * std::fmax(0.25, std::abs(exact[k])))) {
                std::fprintf(stderr, "function %d of %g: %g, exactly %g\n", k, x, got, exact[k]);
                std::exit(1);
            }
        }
    }
    CHECK(float(sums->x) == 64 && float(sums->y) == 128);
    CHECK(float(*sum) == 32);
}

int main() {
    const unsigned halves[] = {0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x3C00, 0xBC01, 0x3555, 0x4248,
                               0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x6400, 0x1234, 0xC500, 0x3F80,
                               0x3F81, 0xBFC0, 0x7F80, 0x7FC0, 0x0080, 0x4300, 0xFF7F, 0x3EAB};
    std::vector<unsigned> pairs;
    for (unsigned k = 0; k < std::size(halves); ++k) {
        pairs.push_back(halves[k] << 16 | halves[(7 * k + 3) % std::size(halves)]);
    }
    check_everything<__half2>("half", pairs, false);
    check_everything<__nv_bfloat162>("bfloat16", pairs, true);
    std::vector<unsigned> words = pairs;
    unsigned state = 12345;
    for (int k = 0; k < 4000; ++k) {
        state = state * 1664525 + 1013904223;
        words.push_back(k % 2 == 0 ? state : 0x33000000 + state % 0x15000000); // all patterns; floats that halves hold
    }
    const auto n = static_cast<unsigned>(words.size());
    unsigned *in = nullptr, *out = nullptr;
    CUDA(cudaMallocManaged(&in, n * 4));
    CUDA(cudaMallocManaged(&out, n * results * 4));
    std::memcpy(in, words.data(), n * 4);
    run_conversions<<<(n + 127) / 128, 128>>>(in, n, out);
    CUDA(cudaDeviceSynchronize());
    for (unsigned i = 0; i < n; ++i) {
        unsigned host[results];
        const int how = conversions(words[i], host);
        compare("conversion", words[i], 0, how, out + i * results, host, 2);
    }
    check_functions<__half, __half2>(0x1p-9);
    check_functions<__nv_bfloat16, __nv_bfloat162>(0x1p-6);
    return 0;
}
