// SPDX-License-Identifier: MIT
// Stands for a static cuBLAS: every function fails, and has room for a jump.
#define STAND_IN(name)                                                                                                 \
    extern "C" int name() {                                                                                            \
        volatile int answers[4] = {999, 999, 999, 999};                                                                \
        return answers[0];                                                                                             \
    }

STAND_IN(cublasCreate_v2)
STAND_IN(cublasDestroy_v2)
STAND_IN(cublasGemmEx)
