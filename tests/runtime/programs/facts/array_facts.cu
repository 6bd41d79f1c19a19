// SPDX-License-Identifier: MIT
// Prints what calls about arrays, textures and surfaces return, right and wrong ones, one line each. Run on a real GPU
// the output is the golden file tests/runtime/programs/facts/data/array_facts.txt; on the software GPU it has to be the same.
#include "tests/runtime/programs/facts/array_facts.hpp"

static void make(const char* what, desc d, cudaExtent e, unsigned flags) {
    cudaArray_t a = nullptr;
    const cudaError_t result = cudaMalloc3DArray(&a, &d, e, flags);
    (void)cudaGetLastError();
    std::printf("%s {%d %d %d %d %d} %zu %zu %zu %#x -> %s", what, d.x, d.y, d.z, d.w, d.f, e.width, e.height, e.depth,
                flags, cudaGetErrorName(result));
    if (result == cudaSuccess) {
        cudaExtent size{};
        unsigned has = 99;
        desc of{};
        const cudaError_t told = cudaArrayGetInfo(&of, &size, &has, a);
        std::printf(", %s: {%d %d %d %d %d} %zu %zu %zu %#x", cudaGetErrorName(told), of.x, of.y, of.z, of.w, of.f,
                    size.width, size.height, size.depth, has);
        std::printf(", freed: %s", cudaGetErrorName(cudaFreeArray(a)));
    }
    std::printf("\n");
}

static void allocations() {
    using E = cudaExtent;
    for (const int bits : {8, 16, 32, 64}) {
        for (const auto kind : {cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat,
                                cudaChannelFormatKindNone}) {
            make("one", {bits, 0, 0, 0, kind}, E{4, 4, 0}, 0);
            make("four", {bits, bits, bits, bits, kind}, E{4, 4, 0}, 0);
        }
    }
    make("three", {8, 8, 8, 0, cudaChannelFormatKindUnsigned}, E{4, 4, 0}, 0);
    make("mixed", {8, 16, 0, 0, cudaChannelFormatKindUnsigned}, E{4, 4, 0}, 0);
    make("hole", {8, 0, 8, 0, cudaChannelFormatKindUnsigned}, E{4, 4, 0}, 0);
    make("empty", {0, 0, 0, 0, cudaChannelFormatKindUnsigned}, E{4, 4, 0}, 0);
    make("unorm", {8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4}, E{4, 4, 0}, 0);
    make("unorm", {8, 0, 0, 0, cudaChannelFormatKindUnsignedNormalized8X4}, E{4, 4, 0}, 0);
    make("snorm", {16, 16, 0, 0, cudaChannelFormatKindSignedNormalized16X2}, E{4, 4, 0}, 0);
    make("size", f1, E{0, 0, 0}, 0);
    make("size", f1, E{0, 4, 0}, 0);
    make("size", f1, E{7, 0, 0}, 0);
    make("size", f1, E{7, 0, 3}, 0);
    make("size", f1, E{7, 5, 3}, 0);
    make("size", f1, E{131072, 0, 0}, 0);
    make("size", f1, E{131073, 0, 0}, 0);
    make("size", f1, E{131073, 1, 0}, 0);
    make("size", f1, E{1, 65537, 0}, 0);
    make("size", f1, E{16385, 1, 1}, 0);
    make("size", f1, E{1, 1, 16385}, 0);
    make("layers", f1, E{7, 0, 3}, cudaArrayLayered);
    make("layers", f1, E{7, 5, 3}, cudaArrayLayered);
    make("layers", f1, E{7, 5, 0}, cudaArrayLayered);
    make("layers", f1, E{7, 0, 0}, cudaArrayLayered);
    make("layers", f1, E{1, 1, 2049}, cudaArrayLayered);
    make("layers", f1, E{32769, 1, 1}, cudaArrayLayered);
    make("cube", f1, E{4, 4, 6}, cudaArrayCubemap);
    make("cube", f1, E{4, 5, 6}, cudaArrayCubemap);
    make("cube", f1, E{4, 4, 5}, cudaArrayCubemap);
    make("cube", f1, E{4, 4, 12}, cudaArrayCubemap);
    make("cubes", f1, E{4, 4, 12}, cudaArrayCubemap | cudaArrayLayered);
    make("cubes", f1, E{4, 4, 8}, cudaArrayCubemap | cudaArrayLayered);
    make("surface", f1, E{4, 4, 0}, cudaArraySurfaceLoadStore);
    make("surface", f1, E{32769, 0, 0}, cudaArraySurfaceLoadStore);
    make("gather", f1, E{4, 4, 0}, cudaArrayTextureGather);
    make("gather", f1, E{4, 0, 0}, cudaArrayTextureGather);
    make("gather", f1, E{4, 4, 4}, cudaArrayTextureGather);
    make("gather", f1, E{32769, 1, 0}, cudaArrayTextureGather);
    make("flags", f1, E{4, 4, 0}, 0x10);
    make("flags", f1, E{4, 4, 0}, cudaArrayColorAttachment);
    make("flags", f1, E{4, 4, 0}, 0x100);
    cudaArray_t a = nullptr;
    SHOW(cudaMallocArray(nullptr, &f1, 4, 4));
    SHOW(cudaMallocArray(&a, nullptr, 4, 4));
    SHOW(cudaMallocArray(&a, &f1, 0, 4));
    SHOW(cudaMallocArray(&a, &f1, 4, 4, cudaArrayLayered));
    SHOW(cudaFreeArray(nullptr));
    SHOW(cudaFreeMipmappedArray(nullptr));
    SHOW(cudaMallocArray(&a, &f1, 4, 4));
    desc d{};
    cudaExtent e{};
    unsigned flags = 0;
    SHOW(cudaGetChannelDesc(&d, a));
    SHOW(cudaGetChannelDesc(nullptr, a));
    SHOW(cudaGetChannelDesc(&d, nullptr));
    SHOW(cudaArrayGetInfo(nullptr, nullptr, nullptr, a));
    SHOW(cudaArrayGetInfo(&d, &e, &flags, nullptr));
    cudaArrayMemoryRequirements needs{};
    SHOW(cudaArrayGetMemoryRequirements(&needs, a, 0));
    SHOW(cudaArrayGetMemoryRequirements(&needs, nullptr, 0));
    SHOW(cudaArrayGetMemoryRequirements(nullptr, a, 0));
    SHOW(cudaArrayGetMemoryRequirements(&needs, a, 7));
    cudaArraySparseProperties sparse{};
    SHOW(cudaArrayGetSparseProperties(&sparse, a));
    cudaArray_t plane = nullptr;
    SHOW(cudaArrayGetPlane(&plane, a, 0));
    SHOW(cudaArrayGetPlane(&plane, nullptr, 0));
    SHOW(cudaFreeArray(a));
}

static void mipmaps() {
    using E = cudaExtent;
    const struct {
        E size;
        unsigned levels, flags;
    } cases[] = {{{8, 4, 0}, 3, 0},
                 {{8, 4, 0}, 0, 0},
                 {{8, 4, 0}, 9, 0},
                 {{8, 0, 0}, 4, 0},
                 {{8, 4, 2}, 4, 0},
                 {{8, 4, 2}, 4, cudaArrayLayered},
                 {{8, 0, 2}, 4, cudaArrayLayered},
                 {{8, 8, 6}, 9, cudaArrayCubemap},
                 {{7, 5, 0}, 3, 0},
                 {{4, 4, 0}, 2, cudaArrayTextureGather},
                 {{4, 4, 0}, 2, cudaArraySurfaceLoadStore}};
    for (const auto& c : cases) {
        cudaMipmappedArray_t m = nullptr;
        const cudaError_t result = cudaMallocMipmappedArray(&m, &f1, c.size, c.levels, c.flags);
        (void)cudaGetLastError();
        std::printf("mipmaps %zu %zu %zu, %u, %#x -> %s\n", c.size.width, c.size.height, c.size.depth, c.levels,
                    c.flags, cudaGetErrorName(result));
        for (unsigned level = 0; result == cudaSuccess && level < 6; ++level) {
            cudaArray_t a = nullptr;
            const cudaError_t found = cudaGetMipmappedArrayLevel(&a, m, level);
            (void)cudaGetLastError();
            std::printf("  level %u -> %s", level, cudaGetErrorName(found));
            if (found == cudaSuccess) {
                cudaExtent size{};
                unsigned has = 99;
                (void)cudaArrayGetInfo(nullptr, &size, &has, a);
                std::printf(": %zu %zu %zu %#x", size.width, size.height, size.depth, has);
            }
            std::printf("\n");
        }
        if (result == cudaSuccess) {
            SHOW(cudaFreeMipmappedArray(m));
        }
    }
    cudaMipmappedArray_t m = nullptr;
    cudaArray_t a = nullptr;
    SHOW(cudaMallocMipmappedArray(nullptr, &f1, E{8, 4, 0}, 2));
    SHOW(cudaMallocMipmappedArray(&m, nullptr, E{8, 4, 0}, 2));
    SHOW(cudaMallocMipmappedArray(&m, &f1, E{8, 4, 0}, 2));
    SHOW(cudaGetMipmappedArrayLevel(&a, nullptr, 0));
    SHOW(cudaGetMipmappedArrayLevel(nullptr, m, 0));
    SHOW(cudaGetMipmappedArrayLevel(&a, m, 2));
    SHOW(cudaGetMipmappedArrayLevel(&a, m, 1));
    SHOW(cudaFreeArray(a));
    cudaArrayMemoryRequirements needs{};
    SHOW(cudaMipmappedArrayGetMemoryRequirements(&needs, m, 0));
    cudaArraySparseProperties sparse{};
    SHOW(cudaMipmappedArrayGetSparseProperties(&sparse, m));
    SHOW(cudaFreeMipmappedArray(m));
}

static void copies() {
    cudaArray_t a = nullptr, b = nullptr, solid = nullptr, layers = nullptr, halves = nullptr;
    (void)cudaMallocArray(&a, &f1, 8, 4);
    (void)cudaMallocArray(&b, &f1, 8, 4);
    (void)cudaMallocArray(&halves, &s2, 8, 4);
    const desc c1 = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    cudaArray_t bytes = nullptr;
    (void)cudaMallocArray(&bytes, &c1, 8, 4);
    (void)cudaMalloc3DArray(&solid, &f1, cudaExtent{8, 4, 2});
    (void)cudaMalloc3DArray(&layers, &f1, cudaExtent{8, 0, 2}, cudaArrayLayered);
    static float host[256];
    float* device = nullptr;
    (void)cudaMalloc(&device, sizeof(host));
    const auto in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost, inside = cudaMemcpyDeviceToDevice;
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 32, 32, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 32, 32, 4, cudaMemcpyDefault));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 32, 32, 4, out));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 32, 32, 4, inside));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 32, 32, 4, cudaMemcpyHostToHost));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, device, 32, 32, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, device, 32, 32, 4, inside));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 32, 32, 4, static_cast<cudaMemcpyKind>(9)));
    SHOW(cudaMemcpy2DToArray(a, 4, 0, host, 32, 28, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 4, 0, host, 32, 32, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 2, 0, host, 32, 28, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 32, 30, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 0, 1, host, 32, 32, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 31, 32, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 0, 32, 1, in));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 32, 0, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, 32, 32, 0, in));
    SHOW(cudaMemcpy2DToArray(nullptr, 0, 0, host, 32, 32, 4, in));
    SHOW(cudaMemcpy2DToArray(nullptr, 0, 0, host, 32, 0, 4, in));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, nullptr, 32, 32, 4, in));
    SHOW(cudaMemcpy2DToArray(solid, 0, 0, host, 32, 32, 4, in));
    SHOW(cudaMemcpy2DToArray(layers, 0, 0, host, 32, 32, 1, in));
    SHOW(cudaMemcpy2DToArray(layers, 0, 0, host, 32, 32, 2, in));
    SHOW(cudaMemcpy2DFromArray(host, 32, a, 0, 0, 32, 4, out));
    SHOW(cudaMemcpy2DFromArray(host, 32, a, 0, 0, 32, 4, in));
    SHOW(cudaMemcpy2DFromArray(host, 32, a, 0, 0, 36, 4, out));
    SHOW(cudaMemcpy2DFromArray(host, 28, a, 0, 0, 32, 4, out));
    SHOW(cudaMemcpy2DFromArrayAsync(device, 32, a, 0, 0, 32, 4, inside, nullptr));
    SHOW(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 4, inside));
    SHOW(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 4, in));
    SHOW(cudaMemcpy2DArrayToArray(halves, 0, 0, a, 0, 0, 32, 4, inside));
    SHOW(cudaMemcpy2DArrayToArray(bytes, 0, 0, a, 0, 0, 8, 4, inside));
    SHOW(cudaMemcpyToArray(a, 0, 0, host, 128, in));
    SHOW(cudaMemcpyToArray(a, 0, 0, host, 132, in));
    SHOW(cudaMemcpyToArray(a, 16, 1, host, 72, in));
    SHOW(cudaMemcpyToArray(a, 16, 1, host, 84, in));
    SHOW(cudaMemcpyToArray(a, 16, 1, host, 70, in));
    SHOW(cudaMemcpyToArray(a, 0, 0, host, 0, in));
    SHOW(cudaMemcpyFromArray(host, a, 4, 0, 64, out));
    SHOW(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 128));
    SHOW(cudaMemcpyArrayToArray(b, 4, 0, a, 8, 1, 64));
    const auto box = [&](cudaArray_t to, cudaArray_t from, cudaExtent e, cudaMemcpyKind kind) {
        cudaMemcpy3DParms p{};
        p.dstArray = to;
        p.srcArray = from;
        if (to == nullptr) {
            p.dstPtr = make_cudaPitchedPtr(host, 32, 8, 4);
        }
        if (from == nullptr) {
            p.srcPtr = make_cudaPitchedPtr(host, 32, 8, 4);
        }
        p.extent = e;
        p.kind = kind;
        return p;
    };
    const cudaExtent whole{8, 4, 1}, both{8, 4, 2};
    cudaMemcpy3DParms p{};
    SHOW((p = box(solid, nullptr, both, in), cudaMemcpy3D(&p)));
    SHOW((p = box(solid, nullptr, both, out), cudaMemcpy3D(&p)));
    SHOW((p = box(solid, nullptr, both, inside), cudaMemcpy3D(&p)));
    SHOW((p = box(solid, nullptr, {8, 4, 3}, in), cudaMemcpy3D(&p)));
    SHOW((p = box(solid, nullptr, {9, 4, 2}, in), cudaMemcpy3D(&p)));
    SHOW((p = box(solid, nullptr, {8, 5, 2}, in), cudaMemcpy3D(&p)));
    SHOW((p = box(solid, nullptr, {8, 4, 0}, in), cudaMemcpy3D(&p)));
    SHOW((p = box(nullptr, solid, both, out), cudaMemcpy3D(&p)));
    SHOW((p = box(a, solid, whole, inside), cudaMemcpy3D(&p)));
    SHOW((p = box(a, bytes, whole, inside), cudaMemcpy3D(&p)));
    SHOW((p = box(halves, a, whole, inside), cudaMemcpy3D(&p)));
    SHOW((p = box(layers, nullptr, {8, 1, 2}, in), cudaMemcpy3D(&p)));
    SHOW((p = box(layers, nullptr, {8, 2, 1}, in), cudaMemcpy3D(&p)));
    SHOW((p = box(a, nullptr, whole, in), p.srcPos = {4, 0, 0}, cudaMemcpy3D(&p)));
    SHOW((p = box(a, nullptr, {7, 4, 1}, in), p.srcPos = {4, 0, 0}, cudaMemcpy3D(&p)));
    SHOW((p = box(a, nullptr, {7, 4, 1}, in), p.dstPos = {1, 0, 0}, cudaMemcpy3D(&p)));
    SHOW((p = box(a, nullptr, {7, 4, 1}, in), p.dstPos = {2, 0, 0}, cudaMemcpy3D(&p)));
    SHOW((p = box(a, nullptr, {7, 3, 1}, in), p.dstPos = {0, 2, 0}, cudaMemcpy3D(&p)));
    SHOW((p = box(a, nullptr, whole, in), p.dstPtr = make_cudaPitchedPtr(host, 32, 8, 4), cudaMemcpy3D(&p)));
    SHOW((p = box(a, b, whole, inside), p.srcPtr = make_cudaPitchedPtr(host, 32, 8, 4), cudaMemcpy3D(&p)));
    // Where a pointer's position counts, and in what.
    for (const std::size_t x : {0, 1, 4, 8, 16}) {
        for (int i = 0; i < 256; ++i) {
            host[i] = static_cast<float>(i);
        }
        p = box(a, nullptr, {3, 2, 1}, in);
        p.srcPtr.xsize = 32;
        p.srcPos = {x, 1, 0};
        const cudaError_t result = cudaMemcpy3D(&p);
        (void)cudaGetLastError();
        float got[6] = {};
        (void)cudaMemcpy2DFromArray(got, 12, a, 0, 0, 12, 2, out);
        std::printf("from byte %zu -> %s: %g %g %g %g\n", x, cudaGetErrorName(result), got[0], got[1], got[2], got[3]);
    }
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    (void)cudaGraphCreate(&graph, 0);
    p = box(a, nullptr, whole, in);
    SHOW(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &p));
    p = box(a, nullptr, {9, 4, 1}, in);
    SHOW(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &p));
    cudaMemcpy3DParms got{};
    SHOW(cudaGraphMemcpyNodeGetParams(node, &got));
    std::printf("  %d %d, %zu %zu %zu, pitch %zu\n", got.dstArray == a, got.srcArray == nullptr, got.extent.width,
                got.extent.height, got.extent.depth, got.srcPtr.pitch);
    cudaStream_t s = nullptr;
    (void)cudaStreamCreate(&s);
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SHOW(cudaMemcpy2DToArrayAsync(a, 8, 1, device, 40, 16, 2, inside, s));
    cudaGraph_t captured = nullptr;
    SHOW(cudaStreamEndCapture(s, &captured));
    std::size_t count = 1;
    SHOW(cudaGraphGetNodes(captured, &node, &count));
    SHOW(cudaGraphMemcpyNodeGetParams(node, &got));
    std::printf("  %d %d, at %zu %zu %zu, %zu %zu %zu, pitch %zu, kind %d\n", got.dstArray == a,
                got.srcArray == nullptr, got.dstPos.x, got.dstPos.y, got.dstPos.z, got.extent.width, got.extent.height,
                got.extent.depth, got.srcPtr.pitch, got.kind);
}

int main(int count, char** names) {
    const struct {
        const char* name;
        void (*print)();
    } parts[] = {{"allocations", allocations}, {"mipmaps", mipmaps}, {"copies", copies}, {"textures", textures}};
    for (const auto& part : parts) {
        if (count < 2 || std::strcmp(names[1], part.name) == 0) {
            std::printf("== %s\n", part.name);
            part.print();
        }
    }
}
