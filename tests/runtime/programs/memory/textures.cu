// SPDX-License-Identifier: MIT
// Textures of every element type and shape, against a model on the host: weights have 8 bits behind the point, and the
// data are such that everything is exact.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/runtime/programs/check.hpp"

static cudaResourceDesc of(cudaArray_t a) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return r;
}

static cudaTextureObject_t texture(const cudaResourceDesc& r, cudaTextureAddressMode mode, bool linear, bool normalized,
                                   bool unit = false) {
    cudaTextureDesc d{};
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.normalizedCoords = normalized ? 1 : 0;
    d.readMode = unit ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.maxAnisotropy = 4;
    std::fill(d.borderColor, d.borderColor + 4, 64.0F);
    cudaTextureObject_t t = 0;
    CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

template <class T>
static cudaArray_t filled(const std::vector<T>& data, cudaExtent e, unsigned flags = 0) {
    const auto d = cudaCreateChannelDesc<T>();
    cudaArray_t a = nullptr;
    CUDA(cudaMalloc3DArray(&a, &d, e, flags));
    cudaMemcpy3DParms p{};
    const std::size_t height = std::max<std::size_t>(1, e.height);
    p.srcPtr = make_cudaPitchedPtr(const_cast<T*>(data.data()), e.width * sizeof(T), e.width, height);
    p.dstArray = a;
    p.extent = make_cudaExtent(e.width, height, std::max<std::size_t>(1, e.depth));
    p.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&p));
    return a;
}

// Every element, by integer coordinates' middle; and the same from memory without an array.
template <class T>
__global__ void elements(cudaTextureObject_t plane, cudaTextureObject_t line, cudaTextureObject_t pitched, T* out,
                         int width) {
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x), i = y * width + x;
    const float u = static_cast<float>(x) + 0.5F, v = static_cast<float>(y) + 0.5F;
    out[3 * i] = tex2D<T>(plane, u, v);
    out[3 * i + 1] = tex1Dfetch<T>(line, i);
    out[3 * i + 2] = tex2D<T>(pitched, u, v);
}

template <class T>
static void type() {
    constexpr int width = 32, height = 5; // rows of a multiple of 32 bytes
    std::vector<T> data(width * height);
    auto* const bytes = reinterpret_cast<unsigned char*>(data.data());
    for (std::size_t i = 0; i < data.size() * sizeof(T); ++i) {
        bytes[i] = static_cast<unsigned char>(i * 89 % 251 & 0x7F); // no float that is not a number
    }
    const cudaArray_t a = filled(data, {width, height, 0});
    T *device = nullptr, *out = nullptr;
    CUDA(cudaMalloc(&device, data.size() * sizeof(T)));
    CUDA(cudaMalloc(&out, 3 * data.size() * sizeof(T)));
    CUDA(cudaMemcpy(device, data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice));
    cudaResourceDesc line{}, pitched{};
    line.resType = cudaResourceTypeLinear;
    line.res.linear = {device, cudaCreateChannelDesc<T>(), data.size() * sizeof(T)};
    pitched.resType = cudaResourceTypePitch2D;
    pitched.res.pitch2D = {device, cudaCreateChannelDesc<T>(), width, height, width * sizeof(T)};
    const cudaTextureObject_t t[] = {texture(of(a), cudaAddressModeClamp, false, false),
                                     texture(line, cudaAddressModeClamp, false, false),
                                     texture(pitched, cudaAddressModeClamp, false, false)};
    elements<T><<<height, width>>>(t[0], t[1], t[2], out, width);
    std::vector<T> got(3 * data.size());
    CUDA(cudaMemcpy(got.data(), out, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < data.size(); ++i) {
        for (std::size_t k = 0; k < 3; ++k) {
            CHECK(std::memcmp(&got[3 * i + k], &data[i], sizeof(T)) == 0);
        }
    }
    for (const cudaTextureObject_t o : t) {
        CUDA(cudaDestroyTextureObject(o));
    }
    CUDA(cudaFree(device));
    CUDA(cudaFree(out));
    CUDA(cudaFreeArray(a));
}

enum kind { line, plane, space, lines, planes };

__global__ void at_places(cudaTextureObject_t t, kind k, const float4* where, float* out) {
    const unsigned i = threadIdx.x;
    const float4 p = where[i];
    const int layer = static_cast<int>(p.w);
    out[i] = k == line    ? tex1D<float>(t, p.x)
             : k == plane ? tex2D<float>(t, p.x, p.y)
             : k == space ? tex3D<float>(t, p.x, p.y, p.z)
             : k == lines ? tex1DLayered<float>(t, p.x, layer)
                          : tex2DLayered<float>(t, p.x, p.y, layer);
}

struct shape {
    kind k;
    int sides[3]; // 1 where there is none
    int layers;
};

// Where element i is found; -1: beyond the border.
static int place(int i, int n, cudaTextureAddressMode mode) {
    const int period = mode == cudaAddressModeMirror ? 2 * n : n;
    const int in = (i % period + period) % period;
    switch (mode) {
    case cudaAddressModeWrap: return in;
    case cudaAddressModeMirror: return in < n ? in : 2 * n - 1 - in;
    case cudaAddressModeBorder: return i < 0 || i >= n ? -1 : i;
    default: return std::min(std::max(i, 0), n - 1);
    }
}

static double model(const shape& s, const std::vector<float>& data, const float (&at)[3], int layer,
                    cudaTextureAddressMode mode, bool linear) {
    int low[3] = {}, high[3] = {};
    double weight[3] = {};
    const int dimensions = s.k == line || s.k == lines ? 1 : s.k == space ? 3 : 2;
    for (int d = 0; d < dimensions; ++d) {
        const double x = at[d] - (linear ? 0.5 : 0);
        low[d] = static_cast<int>(std::floor(x));
        weight[d] = linear ? std::floor((x - low[d]) * 256 + 0.5) / 256 : 0;
        high[d] = place(low[d] + 1, s.sides[d], mode);
        low[d] = place(low[d], s.sides[d], mode);
    }
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
        double share = 1;
        int c[3];
        for (int d = 0; d < 3; ++d) {
            const bool far = (corner >> d & 1) != 0;
            c[d] = far ? high[d] : low[d];
            share *= far ? weight[d] : 1 - weight[d];
        }
        if (share != 0) {
            const bool out = c[0] < 0 || c[1] < 0 || c[2] < 0;
            const int slice = s.layers > 0 ? layer : c[2];
            sum += share * (out ? 64 : data[static_cast<std::size_t>((slice * s.sides[1] + c[1]) * s.sides[0] + c[0])]);
        }
    }
    return sum;
}

static void filters(const shape& s) {
    std::vector<float> data;
    const bool has_height = s.k != line && s.k != lines;
    for (int i = 0; i < s.sides[0] * s.sides[1] * std::max(s.sides[2], s.layers); ++i) {
        data.push_back(static_cast<float>(i * 37 % 128));
    }
    const cudaExtent e{static_cast<std::size_t>(s.sides[0]), has_height ? static_cast<std::size_t>(s.sides[1]) : 0,
                       static_cast<std::size_t>(s.k == space ? s.sides[2] : s.layers)};
    const cudaArray_t a = filled(data, e, s.layers > 0 ? cudaArrayLayered : 0);
    constexpr int count = 96;
    float4* where = nullptr;
    float* out = nullptr;
    CUDA(cudaMalloc(&where, count * sizeof(float4)));
    CUDA(cudaMalloc(&out, count * sizeof(float)));
    for (const auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
        for (const bool normalized : {false, true}) {
            if (!normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)) {
                continue;
            }
            for (const bool linear : {false, true}) {
                std::vector<float4> places;
                std::vector<float> expected;
                for (int i = 0; i < count; ++i) {
                    // So that weights and their products are exact in 1/256; the sides are powers of two.
                    const int parts = s.k == space ? 4 : 16;
                    float at[3];
                    for (int d = 0; d < 3; ++d) {
                        at[d] = static_cast<float>((i * (13 + 24 * d) + i / 7) % (3 * parts * s.sides[d])) /
                                    static_cast<float>(parts) -
                                static_cast<float>(s.sides[d]);
                    }
                    const int layer = s.layers > 0 ? i % s.layers : 0;
                    const double v = model(s, data, at, layer, mode, linear);
                    expected.push_back(static_cast<float>(v));
                    const auto side = [&](int d) { return normalized ? static_cast<float>(s.sides[d]) : 1.0F; };
                    places.push_back({at[0] / side(0), at[1] / side(1), at[2] / side(2), static_cast<float>(layer)});
                }
                cudaTextureDesc d{};
                d.addressMode[0] = mode;
                // A GPU looks at a line's second coordinate, which is 0, too: see texture_facts.cu.
                d.addressMode[1] = has_height ? mode : cudaAddressModeClamp;
                d.addressMode[2] = mode;
                d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
                d.normalizedCoords = normalized ? 1 : 0;
                std::fill(d.borderColor, d.borderColor + 4, 64.0F);
                const cudaResourceDesc r = of(a);
                cudaTextureObject_t t = 0;
                CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
                CUDA(cudaMemcpy(where, places.data(), count * sizeof(float4), cudaMemcpyHostToDevice));
                at_places<<<1, count>>>(t, s.k, where, out);
                float got[count];
                CUDA(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
                for (int i = 0; i < count; ++i) {
                    if (got[i] != expected[static_cast<std::size_t>(i)]) {
                        const float4 p = places[static_cast<std::size_t>(i)];
                        std::fprintf(stderr,
                                     "shape %d, mode %d, linear %d, normalized %d at %g %g %g %g: %.9g, not %.9g\n",
                                     s.k, mode, linear, normalized, p.x, p.y, p.z, p.w, got[i],
                                     expected[static_cast<std::size_t>(i)]);
                        std::exit(1);
                    }
                }
                CUDA(cudaDestroyTextureObject(t));
            }
        }
    }
    CUDA(cudaFree(where));
    CUDA(cudaFree(out));
    CUDA(cudaFreeArray(a));
}

__global__ void special(cudaTextureObject_t bytes, cudaTextureObject_t cube, cudaTextureObject_t cubes,
                        cudaTextureObject_t gathered, cudaTextureObject_t levels, cudaTextureObject_t viewed,
                        float* out) {
    const float4 v = tex1D<float4>(bytes, 0.5F);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
    out[4] = texCubemap<float>(cube, 1, 0.5F, 0.5F);
    out[5] = texCubemap<float>(cube, -0.25F, -1, 0.25F);
    out[6] = texCubemapLayered<float>(cubes, 0.1F, 0.1F, -1, 1);
    const float4 g = tex2Dgather<float4>(gathered, 1, 1, 0);
    out[7] = g.x, out[8] = g.y, out[9] = g.z, out[10] = g.w;
    for (int n = 0; n < 4; ++n) {
        out[11 + n] = tex2DLod<float>(levels, 0.5F, 0.5F, static_cast<float>(n));
    }
    out[15] = tex2DLod<float>(levels, 0.5F, 0.5F, 0.25F);
    out[16] = tex2DGrad<float>(levels, 0.5F, 0.5F, make_float2(0.25F, 0), make_float2(0, 0.125F));
    out[17] = tex2D<float>(levels, 0.5F, 0.5F);
    out[18] = static_cast<float>(tex2DLayered<int>(viewed, 1.5F, 0.5F, 0));
}

static void specials() {
    const cudaArray_t bytes = filled(std::vector<uchar4>{{0, 51, 255, 102}}, {1, 0, 0});
    std::vector<float> faces(2 * 2 * 12);
    for (std::size_t i = 0; i < faces.size(); ++i) {
        faces[i] = static_cast<float>(i);
    }
    const cudaArray_t cube = filled(std::vector<float>(faces.begin(), faces.begin() + 24), {2, 2, 6}, cudaArrayCubemap);
    const cudaArray_t cubes = filled(faces, {2, 2, 12}, cudaArrayCubemap | cudaArrayLayered);
    const cudaArray_t gathered = filled(faces, {8, 6, 0}, cudaArrayTextureGather);
    const cudaArray_t layered = filled(std::vector<int>{1, 2, 3, 4, 5, 6}, {2, 1, 3}, cudaArrayLayered);
    cudaMipmappedArray_t m = nullptr;
    const auto d = cudaCreateChannelDesc<float>();
    CUDA(cudaMallocMipmappedArray(&m, &d, cudaExtent{8, 8, 0}, 4));
    for (unsigned n = 0; n < 4; ++n) {
        cudaArray_t level = nullptr;
        CUDA(cudaGetMipmappedArrayLevel(&level, m, n));
        const std::vector<float> data((8u >> n) * (8u >> n), static_cast<float>(100 * n));
        CUDA(cudaMemcpy2DToArray(level, 0, 0, data.data(), (8u >> n) * 4, (8u >> n) * 4, 8u >> n,
                                 cudaMemcpyHostToDevice));
    }
    cudaResourceDesc mipmaps{};
    mipmaps.resType = cudaResourceTypeMipmappedArray;
    mipmaps.res.mipmap.mipmap = m;
    cudaTextureDesc how{};
    how.normalizedCoords = 1;
    how.filterMode = how.mipmapFilterMode = cudaFilterModeLinear;
    how.maxMipmapLevelClamp = 2;
    cudaTextureObject_t levels = 0, viewed = 0;
    CUDA(cudaCreateTextureObject(&levels, &mipmaps, &how, nullptr));
    cudaResourceViewDesc view{};
    view.format = cudaResViewFormatSignedInt1;
    view.width = 2;
    view.height = 1;
    view.depth = 3;
    view.firstLayer = 1;
    view.lastLayer = 2;
    const cudaResourceDesc of_layers = of(layered);
    how = {};
    CUDA(cudaCreateTextureObject(&viewed, &of_layers, &how, &view));
    const cudaTextureObject_t t[] = {texture(of(bytes), cudaAddressModeClamp, false, false, true),
                                     texture(of(cube), cudaAddressModeClamp, false, true),
                                     texture(of(cubes), cudaAddressModeClamp, false, true),
                                     texture(of(gathered), cudaAddressModeClamp, false, false)};
    float* out = nullptr;
    CUDA(cudaMalloc(&out, 19 * sizeof(float)));
    special<<<1, 1>>>(t[0], t[1], t[2], t[3], levels, viewed, out);
    float got[19];
    CUDA(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    const float expected[19] = {0, 51 / 255.0F, 1,   102 / 255.0F, 0,   12, 44,  8, 9, 1,
                                0, 0,           100, 200,          200, 25, 100, 0, 4};
    for (int i = 0; i < 19; ++i) {
        if (got[i] != expected[i]) {
            std::fprintf(stderr, "value %d is %.9g, not %.9g\n", i, got[i], expected[i]);
            std::exit(1);
        }
    }
    for (const cudaTextureObject_t o : {t[0], t[1], t[2], t[3], levels, viewed}) {
        CUDA(cudaDestroyTextureObject(o));
    }
    for (const cudaArray_t a : {bytes, cube, cubes, gathered, layered}) {
        CUDA(cudaFreeArray(a));
    }
    CUDA(cudaFreeMipmappedArray(m));
    CUDA(cudaFree(out));
}

int main() {
    type<signed char>();
    type<uchar2>();
    type<char4>();
    type<short>();
    type<ushort2>();
    type<short4>();
    type<unsigned>();
    type<int2>();
    type<uint4>();
    type<float>();
    type<float2>();
    type<float4>();
    filters({line, {8, 1, 1}, 0});
    filters({plane, {8, 4, 1}, 0});
    filters({space, {4, 4, 2}, 0});
    filters({lines, {8, 1, 1}, 3});
    filters({planes, {4, 8, 1}, 3});
    specials();
    return 0;
}
