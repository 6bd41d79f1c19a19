// SPDX-License-Identifier: MIT
// Attributes of kernels.
#include <cstdint>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/program/attributes.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {
namespace {

void set_attribute(context& gpu, function& f, function_attribute which, int value) {
    switch (which) {
    case function_attribute::max_dynamic_shared_bytes: {
        function_on_device& here = registry::instance().load(f, gpu);
        const std::uint32_t taken = here.image.facts->static_shared_bytes;
        const auto limit = static_cast<std::uint32_t>(gpu.device().shared_per_block_optin);
        require(value >= 0 && taken <= limit && static_cast<std::uint32_t>(value) <= limit - taken);
        here.max_dynamic_shared = value;
        return;
    }
    case function_attribute::preferred_shared_carveout:
        require(value >= -1 && value <= 100);
        f.on[gpu.number()].preferred_carveout = value;
        return;
    case function_attribute::cluster_dimensions_must_be_set: fail(error::invalid_value); // only to be read
    case function_attribute::required_cluster_width:
    case function_attribute::required_cluster_height:
    case function_attribute::required_cluster_depth: {
        function_on_device& here = registry::instance().load(f, gpu);
        require(value >= 0 && here.image.facts->cluster[0] == 0); // what __cluster_dims__ says stays
        dimensions& size = here.required_cluster;
        (which == function_attribute::required_cluster_width    ? size.x
         : which == function_attribute::required_cluster_height ? size.y
                                                                : size.z) = static_cast<unsigned>(value);
        return;
    }
    case function_attribute::non_portable_cluster_size_allowed:
        registry::instance().load(f, gpu).non_portable_cluster = value != 0;
        return;
    case function_attribute::cluster_scheduling_policy:
        require(value >= 0 && value <= 2);
        registry::instance().load(f, gpu).cluster_policy = value;
        return;
    }
    fail(error::invalid_value);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaFuncGetAttributes(function_attributes* out, const void* kernel) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        gpu.require_usable();
        *out = attributes_of(gpu, function_of(kernel));
    });
}

error cudaFuncSetAttribute(const void* kernel, function_attribute which, int value) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        set_attribute(gpu, function_of(kernel), which, value);
    });
}

error cudaKernelSetAttributeForDevice(const void* kernel, function_attribute which, int value, int device) {
    return call([&](context& current, locked&) {
        context& gpu = checked_device(current, device);
        gpu.require_usable();
        set_attribute(gpu, function_of(kernel), which, value);
    });
}

error cudaFuncSetCacheConfig(const void* kernel, cache_preference preference) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        function& f = function_of(kernel);
        require(preference >= cache_preference::none && preference <= cache_preference::equal);
        f.cache = preference;
    });
}

error cudaFuncSetSharedMemConfig(const void* kernel, bank_width width) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        function_of(kernel);
        require(width >= bank_width::automatic && width <= bank_width::eight_bytes);
    });
}

error cudaFuncGetName(const char** name, const void* kernel) {
    return give(name, [&](context&) { return function_of(kernel).name.c_str(); });
}

error cudaFuncGetParamInfo(const void* kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) {
    return call([&](context& gpu, locked&) {
        require(offset != nullptr);
        gpu.require_usable();
        const machine::kernel_facts& facts = *registry::instance().load(function_of(kernel), gpu).image.facts;
        require(index < facts.parameter_offsets.size());
        *offset = facts.parameter_offsets[index];
        if (bytes != nullptr) {
            *bytes = facts.parameter_sizes[index];
        }
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
