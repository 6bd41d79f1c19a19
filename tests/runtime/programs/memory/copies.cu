// SPDX-License-Identifier: MIT
// Copies and fills in two and three dimensions.
#include <vector>

#include "tests/runtime/programs/check.hpp"

__global__ void transpose(const char* in, std::size_t in_pitch, char* out, std::size_t out_pitch, int width,
                          int height) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < width && y < height) {
        reinterpret_cast<int*>(out + x * out_pitch)[y] = reinterpret_cast<const int*>(in + y * in_pitch)[x];
    }
}

int main() {
    constexpr int width = 37, height = 21;
    std::vector<int> host(width * height), back(width * height);
    for (int i = 0; i < width * height; ++i) {
        host[i] = i;
    }
    char *in = nullptr, *out = nullptr;
    std::size_t in_pitch = 0, out_pitch = 0;
    CUDA(cudaMallocPitch(&in, &in_pitch, width * sizeof(int), height));
    CUDA(cudaMallocPitch(&out, &out_pitch, height * sizeof(int), width));
    CHECK(in_pitch >= width * sizeof(int) && in_pitch % 256 == 0);
    CUDA(cudaMemset2D(out, out_pitch, 0xFF, height * sizeof(int), width));
    CUDA(cudaMemcpy2D(in, in_pitch, host.data(), width * sizeof(int), width * sizeof(int), height,
                      cudaMemcpyHostToDevice));
    transpose<<<dim3(5, 3), dim3(8, 8)>>>(in, in_pitch, out, out_pitch, width, height);
    CUDA(cudaMemcpy2DAsync(back.data(), height * sizeof(int), out, out_pitch, height * sizeof(int), width,
                           cudaMemcpyDeviceToHost, nullptr));
    CUDA(cudaDeviceSynchronize());
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            CHECK(back[x * height + y] == host[y * width + x]);
        }
    }
    cudaPitchedPtr box{};
    const cudaExtent size = make_cudaExtent(10, 6, 4);
    CUDA(cudaMalloc3D(&box, size));
    CUDA(cudaMemset3D(box, 7, size));
    std::vector<char> bytes(10 * 6 * 4);
    cudaMemcpy3DParms p{};
    p.srcPtr = box;
    p.dstPtr = make_cudaPitchedPtr(bytes.data(), 10, 10, 6);
    p.extent = size;
    p.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&p));
    for (const char b : bytes) {
        CHECK(b == 7);
    }
    CUDA(cudaFree(box.ptr));
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    return 0;
}
