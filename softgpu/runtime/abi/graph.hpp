// SPDX-License-Identifier: MIT
// Graphs and stream capture in the runtime's interface: CUDA's values and layouts under our names.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/abi/memory_operations.hpp"

namespace softgpu::runtime {

struct graph;
struct graph_node;
struct executable_graph;

enum class capture_status : int { none = 0, active = 1, invalidated = 2 };
enum class capture_mode : int { global = 0, this_thread = 1, relaxed = 2 };

inline constexpr unsigned capture_dependencies_set = 1;
inline constexpr unsigned event_record_external = 1;
inline constexpr unsigned event_wait_external = 1;

enum class node_type : int {
    kernel = 0,
    copy = 1,
    fill = 2,
    host = 3,
    graph = 4,
    empty = 5,
    event_wait = 6,
    event_record = 7,
    semaphore_signal = 8,
    semaphore_wait = 9,
    allocate = 10,
    free = 11,
    memory_batch = 12,
    conditional = 13,
};

struct edge_data {
    unsigned char from_port;
    unsigned char to_port;
    unsigned char type;
    unsigned char reserved[5];
};
// cudaGraphKernelNodePortProgrammatic, cudaGraphDependencyTypeProgrammatic.
inline constexpr edge_data programmatic_edge{1, 0, 1, {}};

using host_function = void (*)(void* user);

struct kernel_parameters {
    void* function;
    dimensions grid;
    dimensions block;
    unsigned dynamic_shared_bytes;
    void** arguments;
    void** extra;
};

struct fill_parameters {
    void* destination;
    std::size_t pitch;
    unsigned value;
    unsigned element_bytes;
    std::size_t width; // elements
    std::size_t height;
};

struct host_parameters {
    host_function function;
    void* user;
};

struct copy_parameters {
    int flags;
    int reserved[3];
    copy_3d copy;
};

struct child_parameters {
    runtime::graph* graph;
    int ownership; // 0: a clone, 1: moved
};

struct event_parameters {
    runtime::event* event;
};

struct allocate_parameters {
    pool_properties pool;
    const memory_access* access;
    std::size_t access_count;
    std::size_t bytes;
    void* pointer; // out
};

struct free_parameters {
    void* pointer;
};

enum class conditional_type : int { if_else = 0, loop = 1, choose = 2 };

inline constexpr unsigned condition_assign_default = 1;

struct conditional_parameters {
    unsigned long long handle;
    conditional_type type;
    unsigned size;  // of `bodies`
    graph** bodies; // out
};

struct node_parameters {
    node_type type;
    int reserved[3];
    union {
        long long words[29];
        kernel_parameters kernel;
        copy_parameters copy;
        fill_parameters fill;
        host_parameters host;
        child_parameters graph;
        event_parameters event;
        allocate_parameters allocate;
        free_parameters free;
        conditional_parameters conditional;
        memory_batch_parameters memory_batch; // of the driver only
    };
    long long reserved_too;
};

inline constexpr unsigned long long instantiate_auto_free = 1;
inline constexpr unsigned long long instantiate_upload = 2;
inline constexpr unsigned long long instantiate_device_launch = 4;
inline constexpr unsigned long long instantiate_node_priority = 8;

enum class instantiate_result : int {
    success = 0,
    error = 1,
    invalid_structure = 2,
    operation_not_supported = 3,
};

struct instantiate_parameters {
    unsigned long long flags;
    stream* upload;
    graph_node* error_node;
    instantiate_result result;
};

enum class update_result : int {
    success = 0,
    error = 1,
    topology_changed = 2,
    node_type_changed = 3,
    function_changed = 4,
    parameters_changed = 5,
    not_supported = 6,
    unsupported_function_change = 7,
    attributes_changed = 8,
};

struct update_information {
    update_result result;
    graph_node* error_node;
    graph_node* error_from_node;
};

enum class graph_memory_attribute : int { used_current = 0, used_high = 1, reserved_current = 2, reserved_high = 3 };

} // namespace softgpu::runtime
