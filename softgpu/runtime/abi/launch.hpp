// SPDX-License-Identifier: MIT
// Launches, functions and limits in the runtime's interface: CUDA's values and layouts under our names.
#pragma once

#include <cstddef>

namespace softgpu::runtime {

struct stream;
struct event;
struct function; // behind cudaKernel_t and cudaFunction_t

struct dimensions {
    unsigned x;
    unsigned y;
    unsigned z;
};

struct function_attributes {
    std::size_t shared_bytes;
    std::size_t constant_bytes;
    std::size_t local_bytes;
    int max_threads_per_block;
    int registers;
    int ptx_version;    // 75 for compute_75
    int binary_version; // 90 for sm_90
    int cache_mode;
    int max_dynamic_shared_bytes;
    int preferred_shared_carveout;
    int cluster_dimensions_must_be_set;
    int required_cluster_width;
    int required_cluster_height;
    int required_cluster_depth;
    int cluster_scheduling_policy;
    int non_portable_cluster_size_allowed;
    int reserved[16];
};

enum class function_attribute : int {
    max_dynamic_shared_bytes = 8,
    preferred_shared_carveout = 9,
    cluster_dimensions_must_be_set = 10,
    required_cluster_width = 11,
    required_cluster_height = 12,
    required_cluster_depth = 13,
    non_portable_cluster_size_allowed = 14,
    cluster_scheduling_policy = 15,
};

enum class cache_preference : int { none = 0, shared = 1, l1 = 2, equal = 3 };
enum class bank_width : int { automatic = 0, four_bytes = 1, eight_bytes = 2 };

enum class limit : int {
    stack_bytes = 0,
    printf_bytes = 1,
    heap_bytes = 2,
    synchronization_depth = 3,
    pending_launches = 4,
    l2_fetch_granularity = 5,
    persisting_l2_bytes = 6,
};

enum class launch_attribute_id : int {
    ignore = 0,
    access_policy_window = 1,
    cooperative = 2,
    synchronization_policy = 3,
    cluster_dimensions = 4,
    cluster_scheduling_policy = 5,
    programmatic_stream_serialization = 6,
    programmatic_event = 7,
    priority = 8,
    memory_domain_map = 9,
    memory_domain = 10,
    preferred_cluster_dimensions = 11,
    launch_completion_event = 12,
    device_updatable_node = 13,
    preferred_shared_carveout = 14,
    nvlink_centric_scheduling = 16,
};

union launch_attribute_value {
    char bytes[64];
    struct {
        void* base;
        std::size_t bytes;
        float hit_ratio;
        int hit_property;
        int miss_property;
    } window;
    int cooperative;
    int synchronization_policy;
    dimensions cluster;
    int programmatic_stream_serialization;
    int priority;
    struct {
        event* what;
        int flags;
        int trigger;
    } programmatic_event;
    struct {
        event* what;
        int flags;
    } completion_event;
};

struct launch_attribute {
    launch_attribute_id id;
    char padding[4];
    launch_attribute_value value;
};

struct launch_configuration {
    dimensions grid;
    dimensions block;
    std::size_t dynamic_shared_bytes;
    runtime::stream* stream;
    launch_attribute* attributes;
    unsigned attribute_count;
};

} // namespace softgpu::runtime
