// SPDX-License-Identifier: MIT
// What lets one header serve nvcc and a plain C++ compiler.
#pragma once

#if defined(__CUDACC__)
#define WARPFOLD_HD __host__ __device__
#else
#define WARPFOLD_HD
#endif
