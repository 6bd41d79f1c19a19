// SPDX-License-Identifier: MIT
// What cudaGetDeviceProperties fills in CUDA 13, and cudaGetDeviceProperties_v2 in CUDA 12, as it lies in memory.
#pragma once

#include <cstddef>

namespace softgpu::runtime {

struct uuid_bytes {
    char bytes[16];
};

#define SOFTGPU_PROPERTY(type, name, cudas, attribute) type name;
#define SOFTGPU_PROPERTIES(count, name, cudas, ...) int name[count];
#define SOFTGPU_PROPERTY_13(type, name, cudas, attribute) type name;
struct device_properties {
    char name[256];
    uuid_bytes uuid;
    char luid[8];
    unsigned luid_device_node_mask;
    std::size_t total_global_memory;
#include "softgpu/runtime/abi/device_properties.def"
    int reserved[56];
};

#define SOFTGPU_PROPERTY(type, name, cudas, attribute) type name;
#define SOFTGPU_PROPERTIES(count, name, cudas, ...) int name[count];
#define SOFTGPU_PROPERTY_12(type, name, cudas, attribute) type name;
struct device_properties_12 {
    char name[256];
    uuid_bytes uuid;
    char luid[8];
    unsigned luid_device_node_mask;
    std::size_t total_global_memory;
#include "softgpu/runtime/abi/device_properties.def"
    int reserved2[2];
    int reserved1[1];
    int reserved[60];
};

} // namespace softgpu::runtime
