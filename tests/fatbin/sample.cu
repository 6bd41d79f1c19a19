// SPDX-License-Identifier: MIT
// Kernels for a fat binary of nvcc.
__constant__ float weights[16];

__global__ void smooth(float* out, const float* in, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0;
    for (int k = 0; k < 16; ++k) {
        if (i + k < n) {
            sum += weights[k] * in[i + k];
        }
    }
    if (i < n) {
        out[i] = sum;
    }
}
