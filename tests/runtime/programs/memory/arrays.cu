// SPDX-License-Identifier: MIT
// Arrays of every shape, and copies between them, the device's memory and the host's: with offsets, pitches, in streams
// and in graphs.
#include <cstring>
#include <vector>

#include "tests/runtime/programs/check.hpp"

#ifdef __NVCC__
#pragma nv_diag_suppress 1444 // deprecated: copies of bytes that go on in the next row
#endif
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static const cudaChannelFormatDesc word = {32, 0, 0, 0, cudaChannelFormatKindSigned};
static const cudaChannelFormatDesc pair = {16, 16, 0, 0, cudaChannelFormatKindUnsigned};

static std::vector<int> numbered(std::size_t n, int first) {
    std::vector<int> v(n);
    for (std::size_t i = 0; i < n; ++i) {
        v[i] = first + static_cast<int>(i);
    }
    return v;
}

static constexpr std::size_t width = 13, height = 7, row = width * 4;

static std::vector<int> contents(cudaArray_t a) {
    std::vector<int> v(width * height);
    CUDA(cudaMemcpy2DFromArray(v.data(), row, a, 0, 0, row, height, cudaMemcpyDeviceToHost));
    return v;
}

static void planes() {
    cudaArray_t a = nullptr, b = nullptr;
    CUDA(cudaMallocArray(&a, &word, width, height));
    CUDA(cudaMallocArray(&b, &pair, width, height)); // as many bytes an element
    std::vector<int> model = numbered(width * height, 100);
    CUDA(cudaMemcpy2DToArray(a, 0, 0, model.data(), row, row, height, cudaMemcpyHostToDevice));
    CHECK(contents(a) == model);
    // A window, from device memory with a pitch of its own.
    char* device = nullptr;
    std::size_t pitch = 0;
    CUDA(cudaMallocPitch(&device, &pitch, 5 * 4, 3));
    const std::vector<int> window = numbered(5 * 3, 1000);
    CUDA(cudaMemcpy2D(device, pitch, window.data(), 20, 20, 3, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2DToArrayAsync(a, 4 * 4, 2, device, pitch, 20, 3, cudaMemcpyDeviceToDevice, nullptr));
    for (std::size_t y = 0; y < 3; ++y) {
        std::memcpy(&model[(y + 2) * width + 4], &window[y * 5], 20);
    }
    CHECK(contents(a) == model);
    // Not at elements' borders, as CUDA takes it.
    const char text[] = "abcdefghijkl";
    CUDA(cudaMemcpy2DToArray(a, 6, 5, text, 6, 6, 2, cudaMemcpyDefault));
    std::memcpy(reinterpret_cast<char*>(&model[5 * width]) + 6, text, 6);
    std::memcpy(reinterpret_cast<char*>(&model[6 * width]) + 6, text + 6, 6);
    CHECK(contents(a) == model);
    CUDA(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, row, height));
    CHECK(contents(b) == model);
    CUDA(cudaMemcpy2DArrayToArray(b, 8, 1, a, 0, 3, 12, 2, cudaMemcpyDeviceToDevice));
    std::vector<int> other = model;
    for (std::size_t y = 0; y < 2; ++y) {
        std::memcpy(&other[(y + 1) * width + 2], &model[(y + 3) * width], 12);
    }
    CHECK(contents(b) == other);
    CUDA(cudaMemset2D(device, pitch, 0, 20, 3));
    CUDA(cudaMemcpy2DFromArrayAsync(device, pitch, b, 4, 4, 20, 3, cudaMemcpyDefault, nullptr));
    std::vector<int> back(5 * 3);
    CUDA(cudaMemcpy2D(back.data(), 20, device, pitch, 20, 3, cudaMemcpyDeviceToHost));
    for (std::size_t y = 0; y < 3; ++y) {
        CHECK(std::memcmp(&back[y * 5], &other[(y + 4) * width + 1], 20) == 0);
    }
    // Bytes that go on in the next rows.
    const std::vector<int> run = numbered(30, 5000);
    CUDA(cudaMemcpyToArray(b, 9 * 4, 1, run.data(), 120, cudaMemcpyHostToDevice));
    std::memcpy(&other[1 * width + 9], run.data(), 120);
    CHECK(contents(b) == other);
    back.assign(40, 0);
    CUDA(cudaMemcpyFromArray(back.data(), b, 4, 2, 160, cudaMemcpyDeviceToHost));
    CHECK(std::memcmp(back.data(), &other[2 * width + 1], 160) == 0);
    CUDA(cudaMemcpyArrayToArray(a, 12, 1, b, 4, 2, 150));
    std::memcpy(&model[width + 3], &other[2 * width + 1], 150);
    CHECK(contents(a) == model);
    CUDA(cudaMemcpyToArrayAsync(a, 0, 0, run.data(), 4, cudaMemcpyHostToDevice, nullptr));
    CUDA(cudaMemcpyFromArrayAsync(back.data(), a, 0, 0, 4, cudaMemcpyDeviceToHost, nullptr));
    CUDA(cudaDeviceSynchronize());
    CHECK(back[0] == run[0]);
    CUDA(cudaFree(device));
    CUDA(cudaFreeArray(a));
    CUDA(cudaFreeArray(b));
}

static std::vector<int> whole(cudaArray_t a, cudaExtent e) {
    std::vector<int> v(e.width * e.height * e.depth);
    cudaMemcpy3DParms p{};
    p.srcArray = a;
    p.dstPtr = make_cudaPitchedPtr(v.data(), e.width * 4, e.width, e.height);
    p.extent = e;
    p.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&p));
    return v;
}

static void boxes() {
    const struct {
        cudaExtent size;
        unsigned flags;
    } shapes[] = {{{9, 0, 0}, 0},
                  {{9, 5, 0}, 0},
                  {{9, 5, 4}, 0},
                  {{9, 0, 4}, cudaArrayLayered},
                  {{9, 5, 4}, cudaArrayLayered},
                  {{5, 5, 6}, cudaArrayCubemap},
                  {{5, 5, 12}, cudaArrayCubemap | cudaArrayLayered}};
    for (const auto& s : shapes) {
        const cudaExtent e{s.size.width, s.size.height == 0 ? 1 : s.size.height, s.size.depth == 0 ? 1 : s.size.depth};
        cudaArray_t a = nullptr, b = nullptr;
        CUDA(cudaMalloc3DArray(&a, &word, s.size, s.flags));
        CUDA(cudaMalloc3DArray(&b, &word, s.size, s.flags | cudaArraySurfaceLoadStore));
        std::vector<int> model = numbered(e.width * e.height * e.depth, 7);
        cudaMemcpy3DParms p{};
        p.srcPtr = make_cudaPitchedPtr(model.data(), e.width * 4, e.width, e.height);
        p.dstArray = a;
        p.extent = e;
        p.kind = cudaMemcpyHostToDevice;
        CUDA(cudaMemcpy3D(&p));
        CHECK(whole(a, e) == model);
        p = {};
        p.srcArray = a;
        p.dstArray = b;
        p.extent = e;
        p.kind = cudaMemcpyDeviceToDevice;
        CUDA(cudaMemcpy3DAsync(&p, nullptr));
        CHECK(whole(b, e) == model);
        // From (1, 0, depth / 2) to (2, height - 1, 0): the last row of a slice or layer.
        const cudaExtent part{e.width - 3, 1, e.depth - e.depth / 2};
        p.srcPos = make_cudaPos(1, 0, e.depth / 2);
        p.dstPos = make_cudaPos(2, e.height - 1, 0);
        p.extent = part;
        cudaMemcpy3DPeerParms q{};
        q.srcArray = a;
        q.srcPos = p.srcPos;
        q.dstArray = b;
        q.dstPos = p.dstPos;
        q.extent = part;
        CUDA(cudaMemcpy3DPeer(&q));
        std::vector<int> other = model;
        for (std::size_t z = 0; z < part.depth; ++z) {
            std::memcpy(&other[(z * e.height + e.height - 1) * e.width + 2],
                        &model[(z + e.depth / 2) * e.height * e.width + 1], part.width * 4);
        }
        CHECK(whole(b, e) == other);
        // To pitched device memory and back to another place.
        cudaPitchedPtr device{};
        CUDA(cudaMalloc3D(&device, make_cudaExtent(part.width * 4, 1, part.depth)));
        p = {};
        p.srcArray = a;
        p.srcPos = make_cudaPos(3, e.height - 1, 0);
        p.dstPtr = device;
        p.extent = part;
        p.kind = cudaMemcpyDeviceToDevice;
        CUDA(cudaMemcpy3D(&p));
        std::swap(p.srcPtr, p.dstPtr);
        p.srcArray = nullptr;
        p.srcPos = {};
        p.dstArray = b;
        p.dstPos = make_cudaPos(0, 0, e.depth - part.depth);
        p.kind = cudaMemcpyDefault;
        CUDA(cudaMemcpy3D(&p));
        for (std::size_t z = 0; z < part.depth; ++z) {
            std::memcpy(&other[(z + e.depth - part.depth) * e.height * e.width],
                        &model[(z * e.height + e.height - 1) * e.width + 3], part.width * 4);
        }
        CHECK(whole(b, e) == other);
        // A pointer's position counts elements, too, where there is an array.
        p = {};
        p.srcPtr = make_cudaPitchedPtr(model.data(), e.width * 4, e.width, e.height);
        p.srcPos = make_cudaPos(2, 0, 0);
        p.dstArray = b;
        p.extent = make_cudaExtent(e.width - 2, 1, 1);
        p.kind = cudaMemcpyHostToDevice;
        CUDA(cudaMemcpy3D(&p));
        std::memcpy(other.data(), &model[2], (e.width - 2) * 4);
        CHECK(whole(b, e) == other);
        CUDA(cudaFree(device.ptr));
        CUDA(cudaFreeArray(a));
        CUDA(cudaFreeArray(b));
    }
}

static void mipmaps() {
    cudaMipmappedArray_t m = nullptr;
    CUDA(cudaMallocMipmappedArray(&m, &word, cudaExtent{12, 6, 0}, 3));
    cudaArray_t levels[3] = {};
    for (unsigned n = 0; n < 3; ++n) {
        CUDA(cudaGetMipmappedArrayLevel(&levels[n], m, n));
        const std::vector<int> v = numbered((12u >> n) * (6u >> n), 1000 * static_cast<int>(n));
        CUDA(cudaMemcpy2DToArray(levels[n], 0, 0, v.data(), (12u >> n) * 4, (12u >> n) * 4, 6u >> n,
                                 cudaMemcpyHostToDevice));
    }
    CHECK(cudaGetMipmappedArrayLevel(&levels[0], m, 3) == cudaErrorInvalidValue);
    for (unsigned n = 0; n < 3; ++n) {
        CHECK(whole(levels[n], {12u >> n, 6u >> n, 1}) == numbered((12u >> n) * (6u >> n), 1000 * static_cast<int>(n)));
    }
    CUDA(cudaFreeMipmappedArray(m));
}

static void graphs() {
    cudaArray_t a = nullptr, b = nullptr;
    CUDA(cudaMallocArray(&a, &word, width, height));
    CUDA(cudaMallocArray(&b, &word, width, height));
    int* pinned = nullptr;
    CUDA(cudaMallocHost(&pinned, row * height));
    std::memcpy(pinned, numbered(width * height, 1).data(), row * height);
    cudaGraph_t graph = nullptr;
    CUDA(cudaGraphCreate(&graph, 0));
    cudaMemcpy3DParms in{};
    in.srcPtr = make_cudaPitchedPtr(pinned, row, width, height);
    in.dstArray = a;
    in.extent = make_cudaExtent(width, height, 1);
    in.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3DParms over{};
    over.srcArray = a;
    over.dstArray = b;
    over.srcPos = make_cudaPos(1, 0, 0);
    over.extent = make_cudaExtent(width - 1, height, 1);
    over.kind = cudaMemcpyDeviceToDevice;
    cudaGraphNode_t first = nullptr, second = nullptr;
    CUDA(cudaGraphAddMemcpyNode(&first, graph, nullptr, 0, &in));
    CUDA(cudaGraphAddMemcpyNode(&second, graph, &first, 1, &over));
    cudaMemcpy3DParms told{};
    CUDA(cudaGraphMemcpyNodeGetParams(second, &told));
    CHECK(told.srcArray == a && told.dstArray == b && told.srcPos.x == 1 && told.extent.width == width - 1);
    cudaGraphExec_t exec = nullptr;
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaMemcpy2DToArray(b, 0, 0, pinned, row, row, height, cudaMemcpyHostToDevice));
    CUDA(cudaGraphLaunch(exec, nullptr));
    std::vector<int> model = numbered(width * height, 1);
    for (std::size_t i = 0; i < width * height; ++i) {
        model[i] += i % width != width - 1 ? 1 : 0;
    }
    CHECK(contents(b) == model);
    // Captured, with events of its own order.
    cudaStream_t s = nullptr;
    CUDA(cudaStreamCreate(&s));
    int* device = nullptr;
    CUDA(cudaMalloc(&device, row * height));
    cudaGraph_t captured = nullptr;
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CUDA(cudaMemcpy2DFromArrayAsync(device, row, b, 4, 2, 16, 3, cudaMemcpyDeviceToDevice, s));
    CUDA(cudaMemcpy2DToArrayAsync(a, 8, 1, device, row, 16, 3, cudaMemcpyDeviceToDevice, s));
    CUDA(cudaMemcpy3DAsync(&in, s));
    CUDA(cudaMemcpy2DToArrayAsync(a, 8, 1, device, row, 16, 3, cudaMemcpyDeviceToDevice, s));
    CUDA(cudaStreamEndCapture(s, &captured));
    cudaGraphExec_t again = nullptr;
    CUDA(cudaGraphInstantiate(&again, captured, 0));
    CUDA(cudaGraphLaunch(again, s));
    CUDA(cudaStreamSynchronize(s));
    std::vector<int> expected = numbered(width * height, 1);
    for (std::size_t y = 0; y < 3; ++y) {
        std::memcpy(&expected[(y + 1) * width + 2], &model[(y + 2) * width + 1], 16);
    }
    CHECK(contents(a) == expected);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphExecDestroy(again));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaGraphDestroy(captured));
    CUDA(cudaStreamDestroy(s));
    CUDA(cudaFree(device));
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFreeArray(a));
    CUDA(cudaFreeArray(b));
}

int main() {
    planes();
    boxes();
    mipmaps();
    graphs();
    return 0;
}
