// SPDX-License-Identifier: MIT
// A tensor map as the parts of tensor_map_facts.cu describe it.
#pragma once

#include <cstddef>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

using encode_tiled_t = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                    const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                    CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
using encode_im2col_t = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                     const cuuint64_t*, const int*, const int*, cuuint32_t, cuuint32_t,
                                     const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
extern encode_tiled_t encode_tiled;
extern encode_im2col_t encode_im2col;

constexpr std::size_t tensor_bytes = 1 << 16;
extern unsigned char* tensor; // on the device

struct description {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    std::vector<cuuint64_t> size = {};
    std::vector<cuuint32_t> box = {};
    std::vector<cuuint32_t> steps = {1, 1, 1, 1, 1};
    CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    std::vector<cuuint64_t> stride = {}; // computed where empty
    // im2col
    std::vector<int> lower = {};
    std::vector<int> upper = {};
    unsigned channels = 0;
    unsigned pixels = 0;
};

// The driver's answer. At `tensor` where no other address is given.
CUresult encode(CUtensorMap& map, const description& d, void* at = nullptr);

// tensor_map_facts_errors.cu
void errors();
