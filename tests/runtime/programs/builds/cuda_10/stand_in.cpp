// SPDX-License-Identifier: MIT
// Stands for the libcudart.so.10.2 that a package brings: every function of it fails, and has room for a jump.
#define STAND_IN(name)                                                                                                 \
    extern "C" int name() {                                                                                            \
        volatile int answers[4] = {999, 999, 999, 999};                                                                \
        return answers[0];                                                                                             \
    }

STAND_IN(cudaGetErrorString)
STAND_IN(cudaGetDeviceProperties)
STAND_IN(cudaPointerGetAttributes)
STAND_IN(cudaRuntimeGetVersion)
STAND_IN(cudaGraphInstantiate)
STAND_IN(cudaMalloc)
STAND_IN(cudaMemcpy)
STAND_IN(cudaFree)
STAND_IN(__cudaRegisterTexture)
