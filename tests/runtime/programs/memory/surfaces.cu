// SPDX-License-Identifier: MIT
// Surfaces: written and read by kernels, inside and outside, and seen by copies and textures. With an argument: a write
// outside of a surface that traps.
#include <algorithm>
#include <vector>

#include "tests/runtime/programs/check.hpp"

__global__ void fill_plane(cudaSurfaceObject_t s) {
    const int x = static_cast<int>(threadIdx.x) - 2, y = static_cast<int>(blockIdx.x) - 2;
    // What is outside is dropped.
    surf2Dwrite(make_float2(static_cast<float>(x), static_cast<float>(y)), s, x * 8, y, cudaBoundaryModeZero);
}

__global__ void read_plane(cudaSurfaceObject_t s, cudaTextureObject_t t, float2* clamped, float2* zero,
                           float2* by_texture) {
    const int x = static_cast<int>(threadIdx.x) - 2, y = static_cast<int>(blockIdx.x) - 2;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    clamped[i] = surf2Dread<float2>(s, x * 8, y, cudaBoundaryModeClamp);
    zero[i] = surf2Dread<float2>(s, x * 8, y, cudaBoundaryModeZero);
    by_texture[i] = tex2D<float2>(t, static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F);
}

template <class T>
__global__ void others(cudaSurfaceObject_t line, cudaSurfaceObject_t space, cudaSurfaceObject_t lines,
                       cudaSurfaceObject_t planes, cudaSurfaceObject_t cube, T* out) {
    const int x = static_cast<int>(threadIdx.x) * static_cast<int>(sizeof(T)), z = static_cast<int>(blockIdx.x);
    const T v = static_cast<T>(10 * z + threadIdx.x);
    if (z == 0) {
        surf1Dwrite(v, line, x);
    }
    for (int y = 0; y < 4; ++y) {
        surf3Dwrite(static_cast<T>(v + y), space, x, y, z);
        surf2DLayeredwrite(static_cast<T>(v + 2 * y), planes, x, y, z);
        surfCubemapwrite(static_cast<T>(v + 3 * y), cube, x, y, z);
    }
    surf1DLayeredwrite(v, lines, x, z);
    T* const own = out + (blockIdx.x * blockDim.x + threadIdx.x) * 5;
    own[0] = z == 0 ? surf1Dread<T>(line, x) : v;
    own[1] = surf3Dread<T>(space, x, 3, z);
    own[2] = surf1DLayeredread<T>(lines, x, z);
    own[3] = surf2DLayeredread<T>(planes, x, 3, z);
    own[4] = surfCubemapread<T>(cube, x, 3, z);
}

__global__ void outside(cudaSurfaceObject_t s) { surf2Dwrite(1.0F, s, 4 * 4, 0, cudaBoundaryModeTrap); }

static cudaSurfaceObject_t surface(cudaArray_t a) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s = 0;
    CUDA(cudaCreateSurfaceObject(&s, &r));
    return s;
}

static cudaArray_t array(cudaChannelFormatDesc d, cudaExtent e, unsigned flags = 0) {
    cudaArray_t a = nullptr;
    CUDA(cudaMalloc3DArray(&a, &d, e, flags | cudaArraySurfaceLoadStore));
    return a;
}

static void plane() {
    constexpr int width = 11, height = 5, wide = width + 4, high = height + 4;
    const cudaArray_t a = array(cudaCreateChannelDesc<float2>(), {width, height, 0});
    const std::vector<float2> none(width * height, float2{-1, -1});
    CUDA(cudaMemcpy2DToArray(a, 0, 0, none.data(), width * 8, width * 8, height, cudaMemcpyHostToDevice));
    const cudaSurfaceObject_t s = surface(a);
    cudaResourceDesc r{};
    CUDA(cudaGetSurfaceObjectResourceDesc(&r, s));
    CHECK(r.resType == cudaResourceTypeArray && r.res.array.array == a);
    cudaTextureDesc d{};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeBorder;
    cudaTextureObject_t t = 0;
    CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
    float2* out = nullptr;
    constexpr std::size_t count = wide * high;
    CUDA(cudaMalloc(&out, 3 * count * sizeof(float2)));
    fill_plane<<<high, wide>>>(s);
    read_plane<<<high, wide>>>(s, t, out, out + count, out + 2 * count);
    std::vector<float2> got(3 * count), back(width * height);
    CUDA(cudaMemcpy(got.data(), out, got.size() * sizeof(float2), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy2DFromArray(back.data(), width * 8, a, 0, 0, width * 8, height, cudaMemcpyDeviceToHost));
    for (int y = -2; y < height + 2; ++y) {
        for (int x = -2; x < width + 2; ++x) {
            const std::size_t i = static_cast<std::size_t>((y + 2) * wide + x + 2);
            const bool inside = x >= 0 && x < width && y >= 0 && y < height;
            const auto is = [](float2 v, int a, int b) {
                return v.x == static_cast<float>(a) && v.y == static_cast<float>(b);
            };
            CHECK(is(got[i], std::min(std::max(x, 0), width - 1), std::min(std::max(y, 0), height - 1)));
            CHECK(is(got[count + i], inside ? x : 0, inside ? y : 0));
            CHECK(is(got[2 * count + i], inside ? x : 0, inside ? y : 0));
            CHECK(!inside || is(back[static_cast<std::size_t>(y * width + x)], x, y));
        }
    }
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaDestroySurfaceObject(s));
    CUDA(cudaFree(out));
    CUDA(cudaFreeArray(a));
}

template <class T>
static void shapes() {
    const auto d = cudaCreateChannelDesc<T>();
    const cudaArray_t all[] = {array(d, {8, 0, 0}), array(d, {8, 4, 6}), array(d, {8, 0, 6}, cudaArrayLayered),
                               array(d, {8, 4, 6}, cudaArrayLayered), array(d, {8, 8, 6}, cudaArrayCubemap)};
    cudaSurfaceObject_t s[5];
    for (int i = 0; i < 5; ++i) {
        s[i] = surface(all[i]);
    }
    T* out = nullptr;
    CUDA(cudaMalloc(&out, 6 * 8 * 5 * sizeof(T)));
    others<T><<<6, 8>>>(s[0], s[1], s[2], s[3], s[4], out);
    std::vector<T> got(6 * 8 * 5), layers(8 * 4 * 6);
    CUDA(cudaMemcpy(got.data(), out, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
    cudaMemcpy3DParms p{};
    p.srcArray = all[3];
    p.dstPtr = make_cudaPitchedPtr(layers.data(), 8 * sizeof(T), 8, 4);
    p.extent = make_cudaExtent(8, 4, 6);
    p.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&p));
    for (int z = 0; z < 6; ++z) {
        for (int x = 0; x < 8; ++x) {
            const T* const own = &got[static_cast<std::size_t>((z * 8 + x) * 5)];
            const int v = 10 * z + x;
            CHECK(own[0] == static_cast<T>(v) && own[1] == static_cast<T>(v + 3) && own[2] == static_cast<T>(v));
            CHECK(own[3] == static_cast<T>(v + 6) && own[4] == static_cast<T>(v + 9));
            for (int y = 0; y < 4; ++y) {
                CHECK(layers[static_cast<std::size_t>((z * 4 + y) * 8 + x)] == static_cast<T>(v + 2 * y));
            }
        }
    }
    for (int i = 0; i < 5; ++i) {
        CUDA(cudaDestroySurfaceObject(s[i]));
        CUDA(cudaFreeArray(all[i]));
    }
    CUDA(cudaFree(out));
}

int main(int count, char**) {
    if (count > 1) {
        outside<<<1, 1>>>(surface(array(cudaCreateChannelDesc<float>(), {4, 4, 0})));
        const cudaError_t result = cudaDeviceSynchronize();
        std::printf("%s\n", cudaGetErrorName(result));
        return result == cudaSuccess ? 1 : 0;
    }
    plane();
    shapes<unsigned char>();
    shapes<short>();
    shapes<int>();
    shapes<float>();
    return 0;
}
