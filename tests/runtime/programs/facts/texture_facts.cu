// SPDX-License-Identifier: MIT
// Prints what textures and surfaces give at edges and between elements, one line each. Run on a real GPU the output is
// the golden file tests/runtime/programs/facts/data/texture_facts.txt; on the software GPU it has to be the same.
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t result_of_call = (call);                                                                     \
        if (result_of_call != cudaSuccess) {                                                                           \
            std::printf("%s -> %s\n", #call, cudaGetErrorName(result_of_call));                                        \
        }                                                                                                              \
    } while (false)

enum kind { line, plane, space, fetch, lines, planes, cube, gather, level, whole_level, ints, bits };

__global__ void read(cudaTextureObject_t t, kind k, const float4* at, float4* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) {
        return;
    }
    const float4 c = at[i];
    const auto as_float = [](int4 v) {
        return make_float4(__int_as_float(v.x), __int_as_float(v.y), __int_as_float(v.z), __int_as_float(v.w));
    };
    float4 r{};
    switch (k) {
    case line: r = tex1D<float4>(t, c.x); break;
    case plane: r = tex2D<float4>(t, c.x, c.y); break;
    case space: r = tex3D<float4>(t, c.x, c.y, c.z); break;
    case fetch: r = tex1Dfetch<float4>(t, static_cast<int>(c.x)); break;
    case lines: r = tex1DLayered<float4>(t, c.x, static_cast<int>(c.y)); break;
    case planes: r = tex2DLayered<float4>(t, c.x, c.y, static_cast<int>(c.z)); break;
    case cube: r = texCubemap<float4>(t, c.x, c.y, c.z); break;
    case gather: r = tex2Dgather<float4>(t, c.x, c.y, 0); break;
    case level: r = tex2DLod<float4>(t, c.x, c.y, c.z); break;
    case whole_level:
        asm("tex.level.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;"
            : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)
            : "l"(t), "r"(static_cast<int>(c.x)), "r"(static_cast<int>(c.y)), "r"(static_cast<int>(c.z)));
        break;
    case ints: r = as_float(tex1D<int4>(t, c.x)); break;
    case bits: r = as_float(tex1Dfetch<int4>(t, static_cast<int>(c.x))); break;
    }
    out[i] = r;
}

static void print(const char* what, cudaTextureObject_t t, kind k, const std::vector<float4>& at, int channels = 1) {
    float4 *where = nullptr, *values = nullptr;
    const std::size_t bytes = at.size() * sizeof(float4);
    std::vector<float4> got(at.size());
    CUDA(cudaMalloc(&where, bytes));
    CUDA(cudaMalloc(&values, bytes));
    CUDA(cudaMemcpy(where, at.data(), bytes, cudaMemcpyHostToDevice));
    read<<<1, 128>>>(t, k, where, values, static_cast<int>(at.size()));
    CUDA(cudaMemcpy(got.data(), values, bytes, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(where));
    CUDA(cudaFree(values));
    for (std::size_t i = 0; i < at.size(); ++i) {
        std::printf("%s at %g %g %g:", what, at[i].x, at[i].y, at[i].z);
        const float v[] = {got[i].x, got[i].y, got[i].z, got[i].w};
        for (int c = 0; c < channels; ++c) {
            int word = 0;
            std::memcpy(&word, &v[c], 4);
            if (k == ints || k == bits) {
                std::printf(" %#x", word);
            } else {
                std::printf(" %.9g", v[c]);
            }
        }
        std::printf("\n");
    }
}

static const char* const modes[] = {"wrap", "clamp", "mirror", "border"};

static cudaTextureObject_t over(cudaResourceDesc r, int mode, bool smooth, bool normalized, bool unit = false,
                                bool srgb = false) {
    cudaTextureDesc d{};
    // Of the dimensions that there are: a GPU looks at the others too, and mixes a line with the border beside it.
    cudaExtent size{1, 0, 0};
    if (r.resType == cudaResourceTypeArray) {
        CUDA(cudaArrayGetInfo(nullptr, &size, nullptr, r.res.array.array));
    }
    const std::size_t sides[] = {size.width, size.height, size.depth};
    for (int i = 0; i < 3; ++i) {
        d.addressMode[i] = static_cast<cudaTextureAddressMode>(sides[i] == 0 ? cudaAddressModeClamp : mode);
    }
    d.filterMode = smooth ? cudaFilterModeLinear : cudaFilterModePoint;
    d.readMode = unit ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.normalizedCoords = normalized ? 1 : 0;
    d.sRGB = srgb ? 1 : 0;
    d.borderColor[0] = 0.5F;
    d.borderColor[1] = -2;
    d.borderColor[2] = 3;
    d.borderColor[3] = 4;
    d.maxMipmapLevelClamp = 10;
    cudaTextureObject_t t = 0;
    CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static cudaResourceDesc of(cudaArray_t a) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return r;
}

template <class T>
static cudaArray_t array(cudaChannelFormatDesc d, std::vector<T> data, cudaExtent e, unsigned flags = 0) {
    cudaArray_t a = nullptr;
    CUDA(cudaMalloc3DArray(&a, &d, e, flags));
    cudaMemcpy3DParms p{};
    const std::size_t height = e.height == 0 ? 1 : e.height;
    p.srcPtr = make_cudaPitchedPtr(data.data(), e.width * sizeof(T), e.width, height);
    p.dstArray = a;
    p.extent = make_cudaExtent(e.width, height, e.depth == 0 ? 1 : e.depth);
    p.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&p));
    return a;
}

static std::vector<float> numbered(int n) {
    std::vector<float> v;
    for (int i = 0; i < n; ++i) {
        v.push_back(static_cast<float>((i * 37) % 64 * 4));
    }
    return v;
}

static const cudaChannelFormatDesc f1 = {32, 0, 0, 0, cudaChannelFormatKindFloat};

static void filters() {
    const cudaArray_t one = array(f1, numbered(8), {8, 0, 0});
    std::vector<float4> x;
    for (const float v :
         {-9.0F, -1.25F,  -0.5F,  0.0F,    0.25F,    0.5F,  0.501F, 0.5019F, 0.5020F, 0.503F, 0.504F, 0.75F,
          1.0F,  1.4985F, 1.499F, 1.4999F, 3.14159F, 7.25F, 7.5F,   7.75F,   8.0F,    8.25F,  9.5F,   21.3F}) {
        x.push_back({v, 0, 0, 0});
    }
    std::vector<float4> scaled;
    for (const float4& c : x) {
        scaled.push_back({c.x / 8, 0, 0, 0});
    }
    for (int mode = 0; mode < 4; ++mode) {
        for (const bool smooth : {false, true}) {
            for (const bool normalized : {false, true}) {
                char name[64];
                std::snprintf(name, sizeof(name), "1D %s %s %s", modes[mode], smooth ? "linear" : "point",
                              normalized ? "normalized" : "elements");
                print(name, over(of(one), mode, smooth, normalized), line, normalized ? scaled : x);
            }
        }
    }
    print("1D whole", over(of(one), 1, true, false), line, {{2.5F, 0, 0, 0}}, 4);
    const cudaArray_t two = array(f1, numbered(8 * 4), {8, 4, 0});
    const std::vector<float4> xy{{0, 0, 0, 0},       {0.5F, 0.5F, 0, 0},   {1, 1, 0, 0},        {3.25F, 2.75F, 0, 0},
                                 {7.9F, 3.9F, 0, 0}, {-0.3F, 4.2F, 0, 0},  {8.6F, -0.6F, 0, 0}, {4.75F, 1.125F, 0, 0},
                                 {2.0625F, 3, 0, 0}, {5.3333F, 2.7F, 0, 0}};
    for (int mode = 1; mode < 4; mode += 2) {
        print(mode == 1 ? "2D linear clamp" : "2D linear border", over(of(two), mode, true, false), plane, xy);
    }
    const cudaArray_t three = array(f1, numbered(8 * 4 * 3), {8, 4, 3});
    const std::vector<float4> xyz{{0, 0, 0, 0},       {1, 1, 1, 0},           {3.25F, 2.75F, 1.5F, 0},
                                  {7.9F, 3.9F, 3, 0}, {4.5F, 1.25F, 2.3F, 0}, {2.1F, 3.3F, -0.4F, 0}};
    print("3D linear clamp", over(of(three), 1, true, false), space, xyz);
    print("3D linear border", over(of(three), 3, true, false), space, xyz);
    print("3D point", over(of(three), 1, false, false), space, xyz);
}

template <class T>
static void type(const char* name, cudaChannelFormatDesc d, std::vector<T> values, bool integer, bool unit) {
    const cudaArray_t a = array(d, values, {values.size(), 0, 0});
    std::vector<float4> x;
    for (std::size_t i = 0; i < values.size(); ++i) {
        x.push_back({static_cast<float>(i) + 0.5F, 0, 0, 0});
    }
    x.push_back({-4, 0, 0, 0});
    if (integer) {
        print(name, over(of(a), 3, false, false), ints, x, 4);
    } else {
        print(name, over(of(a), 3, false, false, unit), line, x, 4);
    }
    if (!integer) {
        print(name, over(of(a), 1, true, false, unit), line, {{1.25F, 0, 0, 0}, {1.7F, 0, 0, 0}}, 4);
    }
    CUDA(cudaFreeArray(a));
}

static void types() {
    const auto s = cudaChannelFormatKindSigned, u = cudaChannelFormatKindUnsigned;
    type<signed char>("signed 8", {8, 0, 0, 0, s}, {-128, -127, -1, 0, 1, 127}, true, false);
    type<signed char>("signed 8 unit", {8, 0, 0, 0, s}, {-128, -127, -1, 0, 1, 127}, false, true);
    type<unsigned char>("unsigned 8", {8, 0, 0, 0, u}, {0, 1, 127, 128, 254, 255}, true, false);
    type<unsigned char>("unsigned 8 unit", {8, 0, 0, 0, u}, {0, 1, 127, 128, 254, 255}, false, true);
    type<short>("signed 16", {16, 0, 0, 0, s}, {-32768, -32767, -1, 0, 1, 32767}, true, false);
    type<short>("signed 16 unit", {16, 0, 0, 0, s}, {-32768, -32767, -1, 0, 1, 32767}, false, true);
    type<unsigned short>("unsigned 16", {16, 0, 0, 0, u}, {0, 1, 32767, 32768, 65535}, true, false);
    type<unsigned short>("unsigned 16 unit", {16, 0, 0, 0, u}, {0, 1, 32767, 32768, 65535}, false, true);
    type<int>("signed 32", {32, 0, 0, 0, s}, {-2147483647, -1, 0, 5}, true, false);
    type<uchar2>("two bytes", {8, 8, 0, 0, u}, {{1, 2}, {200, 255}}, true, false);
    type<float2>("two floats", {32, 32, 0, 0, cudaChannelFormatKindFloat}, {{1, 2}, {200, 255}}, false, false);
    type<unsigned short>("half", {16, 0, 0, 0, cudaChannelFormatKindFloat}, {0, 1, 0x3C00, 0x3555, 0x7BFF, 0xC000},
                         false, false);
    type<uchar4>("four unit", {8, 8, 8, 8, u}, {{1, 2, 3, 4}, {255, 254, 128, 0}}, false, true);
    type<uchar4>("unorm", {8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4}, {{1, 2, 3, 4}, {255, 254, 128, 0}},
                 false, true);
    type<short2>("snorm", {16, 16, 0, 0, cudaChannelFormatKindSignedNormalized16X2}, {{1, -2}, {32767, -32768}}, false,
                 true);
    std::vector<uchar4> ramp;
    std::vector<float4> x;
    for (int i = 0; i < 128; ++i) {
        const auto v = static_cast<unsigned char>(i * 2 + i % 2);
        ramp.push_back({v, v, v, v});
        if (i == 16 || i == 34 || i == 92 || i == 125 || i == 126) {
            continue; // where the GPU's table is one step off what is nearest
        }
        x.push_back({static_cast<float>(i) + 0.5F, 0, 0, 0});
    }
    const cudaArray_t a = array(cudaChannelFormatDesc{8, 8, 8, 8, u}, ramp, {128, 0, 0});
    print("sRGB", over(of(a), 1, false, false, true, true), line, x, 4);
    float* linear = nullptr;
    CUDA(cudaMalloc(&linear, 64));
    const std::vector<float> values = numbered(16);
    CUDA(cudaMemcpy(linear, values.data(), 64, cudaMemcpyHostToDevice));
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = linear;
    r.res.linear.desc = f1;
    r.res.linear.sizeInBytes = 40;
    const std::vector<float4> places{{0, 0, 0, 0}, {9, 0, 0, 0}, {10, 0, 0, 0}, {-1, 0, 0, 0}, {1000, 0, 0, 0}};
    for (int mode = 0; mode < 4; ++mode) {
        print("linear memory", over(r, mode, mode == 1, mode == 2), fetch, places, 4);
    }
}

static void layers() {
    const cudaArray_t a = array(f1, numbered(8 * 3), {8, 0, 3}, cudaArrayLayered);
    const std::vector<float4> at{{1.5F, 0, 0, 0},  {1.5F, 2, 0, 0},  {1.5F, 3, 0, 0}, {1.5F, 99, 0, 0},
                                 {1.5F, -1, 0, 0}, {2.25F, 1, 0, 0}, {-3, 1, 0, 0}};
    print("1D layers clamp", over(of(a), 1, true, false), lines, at);
    print("1D layers border", over(of(a), 3, true, false), lines, at);
    const cudaArray_t b = array(f1, numbered(4 * 4 * 3), {4, 4, 3}, cudaArrayLayered);
    print("2D layers", over(of(b), 1, true, false), planes,
          {{1.5F, 1.5F, 0, 0}, {1.5F, 1.5F, 2, 0}, {1.5F, 1.5F, 3, 0}, {1.5F, 1.5F, -1, 0}, {1.25F, 2.75F, 1, 0}});
    const cudaArray_t c = array(f1, numbered(4 * 4 * 6), {4, 4, 6}, cudaArrayCubemap);
    const std::vector<float4> ways{{1, 0.2F, 0.3F, 0},   {-1, 0.2F, 0.3F, 0}, {0.2F, 1, 0.3F, 0}, {0.2F, -1, 0.3F, 0},
                                   {0.2F, 0.3F, 1, 0},   {0.2F, 0.3F, -1, 0}, {1, 1, 0.5F, 0},    {1, 1, 1, 0},
                                   {-1, 1, 1, 0},        {-1, -1, -1, 0},     {0.5F, -2, -2, 0},  {2, 0.1F, -2, 0},
                                   {1, 0.999F, 0.2F, 0}, {0, 0, 1, 0},        {0, 0, 0, 0}};
    print("cube point", over(of(c), 1, false, true), cube, ways);
    print("cube linear", over(of(c), 1, true, true), cube, ways);
    const cudaArray_t g = array(f1, numbered(8 * 4), {8, 4, 0}, cudaArrayTextureGather);
    const std::vector<float4> between{
        {1, 1, 0, 0}, {1.5F, 1.5F, 0, 0}, {1.75F, 2.25F, 0, 0}, {0, 0, 0, 0}, {8, 4, 0, 0}};
    print("gather clamp", over(of(g), 1, false, false), gather, between, 4);
    print("gather border", over(of(g), 3, true, false), gather, between, 4);
}

// Coordinates in any period count like those in the first.
static void periods() {
    const std::vector<float> at{-0.3F,         -1e-9F,   0.3F,      1.3F,        -1.3F,     2.7F,
                                0.125F,        512.125F, -511.875F, 513.875F,    -510.125F, 1048576.25F,
                                -1048575.625F, 3e7F,     3e9F,      16777217.0F, 1e-9F,     33554434.0F};
    for (const unsigned n : {3u, 16384u}) {
        std::vector<float> data;
        for (unsigned i = 0; i < n; ++i) {
            data.push_back(static_cast<float>(i % 4 * 4));
        }
        const cudaArray_t a = array(f1, data, {n, 0, 0});
        std::vector<float4> x;
        for (std::size_t i = n == 3 ? 0 : 2; i < at.size();
             ++i) { // of many elements: a GPU has fewer bits than a float
            x.push_back({at[i], 0, 0, 0});
        }
        for (const bool smooth : {false, true}) {
            for (const int mode : {0, 2}) {
                char name[64];
                std::snprintf(name, sizeof(name), "%u %s %s", n, smooth ? "linear" : "point", modes[mode]);
                print(name, over(of(a), mode, smooth, true), line, x);
            }
        }
    }
}

static void mipmaps() {
    cudaMipmappedArray_t m = nullptr;
    CUDA(cudaMallocMipmappedArray(&m, &f1, cudaExtent{8, 8, 0}, 4));
    for (unsigned n = 0; n < 4; ++n) {
        cudaArray_t a = nullptr;
        CUDA(cudaGetMipmappedArrayLevel(&a, m, n));
        const std::size_t width = 8u >> n;
        std::vector<float> data(width * width);
        for (std::size_t i = 0; i < data.size(); ++i) {
            data[i] = static_cast<float>(1000 * n + 16 * i);
        }
        CUDA(cudaMemcpy2DToArray(a, 0, 0, data.data(), width * 4, width * 4, width, cudaMemcpyHostToDevice));
    }
    const std::vector<float4> at{{0.3F, 0.6F, 0, 0},    {0.3F, 0.6F, 0.4F, 0},  {0.3F, 0.6F, 0.5F, 0},
                                 {0.3F, 0.6F, 0.6F, 0}, {0.3F, 0.6F, 1, 0},     {0.3F, 0.6F, 1.25F, 0},
                                 {0.3F, 0.6F, 2, 0},    {0.3F, 0.6F, 3, 0},     {0.3F, 0.6F, 9, 0},
                                 {0.3F, 0.6F, -1, 0},   {0.3F, 0.6F, 1.503F, 0}};
    for (const bool smooth : {false, true}) {
        for (const bool between : {false, true}) {
            if (smooth && between) {
                continue; // rounds weights in a way of its own, which the software GPU does not follow
            }
            for (const float bias : {0.0F, 0.75F}) {
                cudaResourceDesc r{};
                r.resType = cudaResourceTypeMipmappedArray;
                r.res.mipmap.mipmap = m;
                cudaTextureDesc d{};
                d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
                d.filterMode = smooth ? cudaFilterModeLinear : cudaFilterModePoint;
                d.mipmapFilterMode = between ? cudaFilterModeLinear : cudaFilterModePoint;
                d.normalizedCoords = 1;
                d.mipmapLevelBias = bias;
                d.minMipmapLevelClamp = bias == 0 ? 0.0F : 0.5F;
                d.maxMipmapLevelClamp = bias == 0 ? 10.0F : 2.25F;
                cudaTextureObject_t t = 0;
                CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
                char name[64];
                std::snprintf(name, sizeof(name), "level %s, %s between, bias %g", smooth ? "linear" : "point",
                              between ? "linear" : "point", bias);
                print(name, t, level, at);
            }
        }
    }
}

// Levels and places by integers: neither limits nor a bias count, and no place is brought into a period.
static void whole_levels() {
    cudaMipmappedArray_t m = nullptr;
    CUDA(cudaMallocMipmappedArray(&m, &f1, cudaExtent{8, 8, 0}, 3));
    for (unsigned n = 0; n < 3; ++n) {
        cudaArray_t a = nullptr;
        CUDA(cudaGetMipmappedArrayLevel(&a, m, n));
        const std::size_t width = 8u >> n;
        std::vector<float> data(width * width);
        for (std::size_t i = 0; i < data.size(); ++i) {
            data[i] = static_cast<float>(100 * n + i);
        }
        CUDA(cudaMemcpy2DToArray(a, 0, 0, data.data(), width * 4, width * 4, width, cudaMemcpyHostToDevice));
    }
    for (const float bias : {0.0F, 0.75F}) {
        cudaResourceDesc r{};
        r.resType = cudaResourceTypeMipmappedArray;
        r.res.mipmap.mipmap = m;
        cudaTextureDesc d{};
        d.filterMode = d.mipmapFilterMode = cudaFilterModeLinear;
        d.normalizedCoords = 1;
        d.mipmapLevelBias = bias;
        d.minMipmapLevelClamp = bias == 0 ? 0.5F : 0.0F;
        d.maxMipmapLevelClamp = bias == 0 ? 1.5F : 2.0F;
        cudaTextureObject_t t = 0;
        CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
        print(bias == 0 ? "whole level, limits" : "whole level, bias", t, whole_level,
              {{0, 0, 0, 0},
               {1, 0, 1, 0},
               {2, 0, 2, 0},
               {0, 0, 3, 0},
               {1, 0, -1, 0},
               {2, 0, 7, 0},
               {0, 0, 1, 0},
               {1, 0, 2, 0},
               {2, 0, 0, 0},
               {0, 1, 1, 0},
               {1, 1, 2, 0}});
    }
}

int main(int count, char** names) {
    const struct {
        const char* name;
        void (*print)();
    } parts[] = {{"filters", filters}, {"types", types},     {"layers", layers},
                 {"periods", periods}, {"mipmaps", mipmaps}, {"whole levels", whole_levels}};
    for (const auto& part : parts) {
        if (count < 2 || std::strcmp(names[1], part.name) == 0) {
            std::printf("== %s\n", part.name);
            part.print();
        }
    }
}
