// SPDX-License-Identifier: MIT
// Answers about texture and surface objects over arrays and memory; see array_facts.cu.
#include "tests/runtime/programs/facts/array_facts.hpp"

static cudaResourceDesc of_array(cudaArray_t a) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return r;
}
static cudaResourceDesc of_mipmaps(cudaMipmappedArray_t m) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    return r;
}
static cudaResourceDesc linear(void* at, desc d, std::size_t bytes) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = at;
    r.res.linear.desc = d;
    r.res.linear.sizeInBytes = bytes;
    return r;
}
static cudaResourceDesc plane(void* at, desc d, std::size_t width, std::size_t height, std::size_t pitch) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = at;
    r.res.pitch2D.desc = d;
    r.res.pitch2D.width = width;
    r.res.pitch2D.height = height;
    r.res.pitch2D.pitchInBytes = pitch;
    return r;
}
static cudaTextureDesc reading(cudaTextureFilterMode filter, cudaTextureReadMode read, int normalized = 0) {
    cudaTextureDesc t{};
    t.filterMode = filter;
    t.readMode = read;
    t.normalizedCoords = normalized;
    return t;
}
static cudaError_t texture(cudaResourceDesc r, cudaTextureDesc t, const cudaResourceViewDesc* v = nullptr) {
    cudaTextureObject_t made = 0;
    const cudaError_t result = cudaCreateTextureObject(&made, &r, &t, v);
    if (result == cudaSuccess) {
        cudaDestroyTextureObject(made);
    }
    return result;
}
static cudaError_t surface(cudaResourceDesc r) {
    cudaSurfaceObject_t made = 0;
    const cudaError_t result = cudaCreateSurfaceObject(&made, &r);
    if (result == cudaSuccess) {
        cudaDestroySurfaceObject(made);
    }
    return result;
}

void textures() {
    const auto point = cudaFilterModePoint, smooth = cudaFilterModeLinear;
    const auto raw = cudaReadModeElementType, unit = cudaReadModeNormalizedFloat;
    cudaArray_t a = nullptr, ints = nullptr, bytes = nullptr, cube = nullptr, store = nullptr, layers = nullptr;
    (void)cudaMallocArray(&a, &f1, 8, 4);
    (void)cudaMallocArray(&ints, &i1, 8, 4);
    (void)cudaMallocArray(&bytes, &u4, 8, 4);
    (void)cudaMallocArray(&store, &f1, 8, 4, cudaArraySurfaceLoadStore);
    (void)cudaMalloc3DArray(&cube, &f1, cudaExtent{4, 4, 6}, cudaArrayCubemap);
    (void)cudaMalloc3DArray(&layers, &f1, cudaExtent{4, 4, 5}, cudaArrayLayered);
    cudaMipmappedArray_t m = nullptr;
    (void)cudaMallocMipmappedArray(&m, &f1, cudaExtent{8, 4, 0}, 3);
    char* device = nullptr;
    (void)cudaMalloc(&device, 65536);
    SHOW(texture(of_array(a), reading(point, raw)));
    SHOW(texture(of_array(a), reading(smooth, raw)));
    SHOW(texture(of_array(a), reading(smooth, unit)));
    SHOW(texture(of_array(ints), reading(point, raw)));
    SHOW(texture(of_array(ints), reading(point, unit)));
    SHOW(texture(of_array(ints), reading(smooth, raw)));
    SHOW(texture(of_array(bytes), reading(smooth, raw)));
    SHOW(texture(of_array(bytes), reading(smooth, unit)));
    SHOW(texture(of_array(nullptr), reading(point, raw)));
    SHOW(texture(of_mipmaps(nullptr), reading(point, raw, 1)));
    SHOW(texture(of_mipmaps(m), reading(point, raw, 1)));
    SHOW(texture(of_mipmaps(m), reading(point, raw, 0)));
    cudaTextureDesc t{};
    SHOW((t = reading(point, raw), t.addressMode[0] = static_cast<cudaTextureAddressMode>(7), texture(of_array(a), t)));
    SHOW((t = reading(point, raw), t.addressMode[2] = static_cast<cudaTextureAddressMode>(7), texture(of_array(a), t)));
    SHOW((t = reading(point, raw), t.filterMode = static_cast<cudaTextureFilterMode>(7), texture(of_array(a), t)));
    SHOW((t = reading(point, raw), t.readMode = static_cast<cudaTextureReadMode>(7), texture(of_array(a), t)));
    SHOW((t = reading(point, raw), t.maxAnisotropy = 99, texture(of_array(a), t)));
    SHOW((t = reading(point, raw), t.sRGB = 1, texture(of_array(a), t)));
    SHOW((t = reading(point, raw), t.sRGB = 1, texture(of_array(bytes), t)));
    SHOW((t = reading(point, unit), t.sRGB = 1, texture(of_array(bytes), t)));
    SHOW((t = reading(point, raw), t.seamlessCubemap = 1, texture(of_array(a), t)));
    SHOW((t = reading(point, raw), t.seamlessCubemap = 1, texture(of_array(cube), t)));
    SHOW(texture(linear(device, f1, 1024), reading(point, raw)));
    SHOW(texture(linear(device, f1, 1023), reading(point, raw)));
    SHOW(texture(linear(device, f1, 3), reading(point, raw)));
    SHOW(texture(linear(device, f1, 0), reading(point, raw)));
    SHOW(texture(linear(device, f1, 1024), reading(smooth, raw)));
    SHOW(texture(linear(device, f1, 1024), reading(point, raw, 1)));
    SHOW(texture(linear(device, i1, 1024), reading(point, unit)));
    SHOW(texture(linear(device, i1, 1024), reading(smooth, raw)));
    SHOW(texture(linear(device + 4, f1, 1024), reading(point, raw)));
    SHOW(texture(linear(device + 256, f1, 1024), reading(point, raw)));
    SHOW(texture(linear(device + 512, f1, 1024), reading(point, raw)));
    SHOW(texture(linear(nullptr, f1, 1024), reading(point, raw)));
    SHOW(texture(linear(device, f1, (std::size_t{1} << 30)), reading(point, raw)));
    SHOW(texture(linear(device, f1, (std::size_t{1} << 30) + 4), reading(point, raw)));
    SHOW(texture(linear(device, f1, (std::size_t{1} << 34)), reading(point, raw)));
    SHOW(texture(linear(device, desc{8, 8, 8, 0, cudaChannelFormatKindUnsigned}, 1024), reading(point, raw)));
    SHOW(texture(linear(device, desc{0, 0, 0, 0, cudaChannelFormatKindUnsigned}, 1024), reading(point, raw)));
    SHOW(texture(linear(device, desc{64, 0, 0, 0, cudaChannelFormatKindUnsigned}, 1024), reading(point, raw)));
    SHOW(texture(linear(device, desc{8, 0, 0, 0, cudaChannelFormatKindFloat}, 1024), reading(point, raw)));
    SHOW(texture(linear(device, desc{32, 0, 0, 0, cudaChannelFormatKindNone}, 1024), reading(point, raw)));
    SHOW(texture(plane(device, f1, 8, 4, 512), reading(smooth, raw)));
    SHOW(texture(plane(device, f1, 8, 4, 32), reading(point, raw)));
    SHOW(texture(plane(device, f1, 8, 4, 48), reading(point, raw)));
    SHOW(texture(plane(device, f1, 9, 4, 32), reading(point, raw)));
    SHOW(texture(plane(device, f1, 0, 4, 32), reading(point, raw)));
    SHOW(texture(plane(device, f1, 8, 0, 32), reading(point, raw)));
    SHOW(texture(plane(device + 32, f1, 8, 4, 32), reading(point, raw)));
    SHOW(texture(plane(nullptr, f1, 8, 4, 32), reading(point, raw)));
    cudaResourceDesc r = of_array(a);
    SHOW((r.flags = 1, texture(r, reading(point, raw))));
    SHOW((r = of_array(a), r.resType = static_cast<cudaResourceType>(9), texture(r, reading(point, raw))));
    r = of_array(a);
    t = reading(point, raw);
    cudaTextureObject_t o = 0;
    SHOW(cudaCreateTextureObject(nullptr, &r, &t, nullptr));
    SHOW(cudaCreateTextureObject(&o, nullptr, &t, nullptr));
    SHOW(cudaCreateTextureObject(&o, &r, nullptr, nullptr));
    cudaResourceViewDesc v{};
    v.width = 8;
    v.height = 4;
    SHOW((v.format = cudaResViewFormatFloat1, texture(of_array(a), t, &v)));
    SHOW((v.format = cudaResViewFormatSignedInt1, texture(of_array(a), t, &v)));
    SHOW((v.format = cudaResViewFormatUnsignedChar4, texture(of_array(a), t, &v)));
    SHOW((v.format = cudaResViewFormatHalf1, texture(of_array(a), t, &v)));
    SHOW((v.format = cudaResViewFormatNone, texture(of_array(a), t, &v)));
    SHOW((v.format = static_cast<cudaResourceViewFormat>(99), texture(of_array(a), t, &v)));
    SHOW((v.format = cudaResViewFormatFloat1, v.width = 7, texture(of_array(a), t, &v)));
    SHOW((v.width = 8, v.lastLayer = 1, texture(of_array(a), t, &v)));
    SHOW((v.lastLayer = 0, v.lastMipmapLevel = 1, texture(of_array(a), t, &v)));
    SHOW((v.lastMipmapLevel = 0, texture(linear(device, f1, 1024), t, &v)));
    SHOW((v.width = 4, v.depth = 5, v.firstLayer = 1, v.lastLayer = 4, texture(of_array(layers), t, &v)));
    SHOW((v.depth = 4, texture(of_array(layers), t, &v)));
    SHOW((v.depth = 5, v.lastLayer = 5, texture(of_array(layers), t, &v)));
    SHOW((v.firstLayer = 3, v.lastLayer = 2, texture(of_array(layers), t, &v)));
    SHOW((v = {}, v.format = cudaResViewFormatFloat1, v.width = 8, v.height = 4, v.firstMipmapLevel = 1,
          v.lastMipmapLevel = 2, texture(of_mipmaps(m), reading(point, raw, 1), &v)));
    SHOW((v.width = 4, v.height = 2, texture(of_mipmaps(m), reading(point, raw, 1), &v)));
    SHOW((v.width = 8, v.height = 4, v.lastMipmapLevel = 3, texture(of_mipmaps(m), reading(point, raw, 1), &v)));
    SHOW(cudaCreateTextureObject(&o, &r, &t, nullptr));
    cudaResourceDesc back{};
    cudaTextureDesc told{};
    SHOW(cudaGetTextureObjectResourceDesc(&back, o));
    std::printf("  %d %d\n", back.resType, back.res.array.array == a);
    SHOW(cudaGetTextureObjectTextureDesc(&told, o));
    std::printf("  %d %d %d, %d %d, %d\n", told.addressMode[0], told.addressMode[1], told.addressMode[2],
                told.filterMode, told.readMode, told.normalizedCoords);
    SHOW(cudaGetTextureObjectResourceViewDesc(&v, o));
    std::printf("  %d %zu %zu %zu\n", v.format, v.width, v.height, v.depth);
    SHOW(cudaGetTextureObjectResourceDesc(nullptr, o));
    SHOW(cudaDestroyTextureObject(o));
    SHOW(cudaDestroyTextureObject(0));
    SHOW(cudaDestroySurfaceObject(0));
    SHOW(cudaGetTextureObjectResourceDesc(&back, 0));
    SHOW(surface(of_array(store)));
    SHOW(surface(of_array(a)));
    SHOW(surface(of_array(nullptr)));
    SHOW(surface(of_mipmaps(m)));
    SHOW(surface(linear(device, f1, 1024)));
    SHOW(cudaCreateSurfaceObject(nullptr, &r));
    SHOW(cudaCreateSurfaceObject(&o, nullptr));
    r = of_array(store);
    SHOW(cudaCreateSurfaceObject(&o, &r));
    SHOW(cudaGetSurfaceObjectResourceDesc(&back, o));
    std::printf("  %d %d\n", back.resType, back.res.array.array == store);
    SHOW(cudaDestroySurfaceObject(o));
    std::size_t most = 0;
    for (const desc d : {f1, i1, s2, u4, desc{32, 32, 32, 32, cudaChannelFormatKindFloat},
                         desc{8, 0, 0, 0, cudaChannelFormatKindUnsigned}}) {
        const cudaError_t result = cudaDeviceGetTexture1DLinearMaxWidth(&most, &d, 0);
        std::printf("most elements of %d %d -> %s, %zu\n", d.x, d.y, cudaGetErrorName(result), most);
    }
    const desc three{8, 8, 8, 0, cudaChannelFormatKindUnsigned};
    SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&most, &three, 0));
    SHOW(cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &f1, 0));
    SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&most, nullptr, 0));
    SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&most, &f1, 5));
}
