// SPDX-License-Identifier: MIT
// Parameters of graph nodes in the driver's interface: CUDA's layouts under our names.
#pragma once

#include "softgpu/runtime/abi/driver.hpp"
#include "softgpu/runtime/abi/graph.hpp"

namespace softgpu::runtime {

struct driver_context;
struct function;

// CUDA_KERNEL_NODE_PARAMS: the runtime's, and a kernel of a library in the place of a null function.
struct driver_kernel_parameters {
    kernel_parameters same;
    runtime::function* kernel;
    driver_context* context;
};

struct driver_copy_parameters {
    int flags;
    int reserved;
    driver_context* context;
    driver_copy_3d copy;
};

struct driver_fill_parameters {
    fill_parameters same;
    driver_context* context;
};

struct driver_conditional_parameters {
    conditional_parameters same;
    driver_context* context;
};

// CUgraphNodeParams
struct driver_node_parameters {
    node_type type;
    int reserved[3];
    union {
        long long words[29];
        driver_kernel_parameters kernel;
        driver_copy_parameters copy;
        driver_fill_parameters fill;
        host_parameters host;
        child_parameters graph;
        event_parameters event;
        allocate_parameters allocate;
        free_parameters free;
        driver_conditional_parameters conditional;
        memory_batch_parameters memory_batch;
    };
    long long reserved_too;
};

} // namespace softgpu::runtime
