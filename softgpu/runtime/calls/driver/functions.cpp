// SPDX-License-Identifier: MIT
// Kernels: attributes, occupancy, launches.
#include <algorithm>
#include <vector>

#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {
namespace {

using block_to_shared_bytes = std::size_t (*)(int threads);

constexpr int warp_lanes = 32;

int value_of(const function_attributes& a, driver_function_attribute which) {
    switch (which) {
    case driver_function_attribute::max_threads_per_block: return a.max_threads_per_block;
    case driver_function_attribute::shared_bytes: return static_cast<int>(a.shared_bytes);
    case driver_function_attribute::constant_bytes: return static_cast<int>(a.constant_bytes);
    case driver_function_attribute::local_bytes: return static_cast<int>(a.local_bytes);
    case driver_function_attribute::registers: return a.registers;
    case driver_function_attribute::ptx_version: return a.ptx_version;
    case driver_function_attribute::binary_version: return a.binary_version;
    case driver_function_attribute::cache_mode: return a.cache_mode;
    case driver_function_attribute::max_dynamic_shared_bytes: return a.max_dynamic_shared_bytes;
    case driver_function_attribute::preferred_shared_carveout: return a.preferred_shared_carveout;
    case driver_function_attribute::cluster_dimensions_must_be_set: return a.cluster_dimensions_must_be_set;
    case driver_function_attribute::required_cluster_width: return a.required_cluster_width;
    case driver_function_attribute::required_cluster_height: return a.required_cluster_height;
    case driver_function_attribute::required_cluster_depth: return a.required_cluster_depth;
    case driver_function_attribute::non_portable_cluster_size_allowed: return a.non_portable_cluster_size_allowed;
    case driver_function_attribute::cluster_scheduling_policy: return a.cluster_scheduling_policy;
    }
    fail(error::invalid_value);
}

launch_configuration configuration_of(const driver_launch& l) {
    return {l.grid, l.block, l.dynamic_shared_bytes, l.stream, l.attributes, l.attribute_count};
}

result give_attribute(int* value, driver_function_attribute which, const function* kernel) {
    return with_context([&] {
        require(value != nullptr);
        function_attributes a{};
        const error e = cudaFuncGetAttributes(&a, kernel);
        if (e == error::success) {
            *value = value_of(a, which);
        }
        return e;
    });
}

// The arguments of a launch, one pointer each: as the program gives them, or from its block of bytes.
class launch_arguments {
public:
    launch_arguments(const function* kernel, void** arguments, void** list) : given_(arguments) {
        if (list == nullptr) {
            return;
        }
        require(arguments == nullptr);
        const char* block = nullptr;
        std::size_t bytes = 0;
        for (; reinterpret_cast<std::uintptr_t>(*list) != launch_list_end; list += 2) {
            switch (reinterpret_cast<std::uintptr_t>(*list)) {
            case launch_list_buffer: block = static_cast<const char*>(list[1]); break;
            case launch_list_bytes: bytes = *static_cast<const std::size_t*>(list[1]); break;
            default: fail(error::invalid_value);
            }
        }
        const std::size_t parameters = count_parameters(kernel);
        made_.reserve(parameters);
        for (std::size_t i = 0; i < parameters; ++i) {
            std::size_t offset = 0;
            std::size_t size = 0;
            (void)cudaFuncGetParamInfo(kernel, i, &offset, &size);
            require(block != nullptr && offset + size <= bytes);
            made_.push_back(const_cast<char*>(block) + offset);
        }
        given_ = made_.data();
    }

    [[nodiscard]] void** get() const noexcept { return given_; }

private:
    static std::size_t count_parameters(const function* kernel) {
        std::size_t count = 0;
        const error e = call([&](context& gpu, locked&) {
            gpu.require_usable();
            count = registry::instance().load(function_of(kernel), gpu).image.facts->parameter_offsets.size();
        });
        require(e == error::success, e);
        return count;
    }

    void** given_ = nullptr;
    std::vector<void*> made_;
};

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuFuncGetAttribute(int* value, driver_function_attribute which, function* kernel) {
    return give_attribute(value, which, kernel);
}

result cuKernelGetAttribute(int* value, driver_function_attribute which, function* kernel, int device) {
    return device == 0 ? give_attribute(value, which, kernel) : result_of(error::invalid_device);
}

result cuFuncSetAttribute(function* kernel, function_attribute which, int value) {
    return forward(cudaFuncSetAttribute, kernel, which, value);
}

result cuKernelSetAttribute(function_attribute which, int value, function* kernel, int device) {
    return device == 0 ? forward(cudaFuncSetAttribute, kernel, which, value) : result_of(error::invalid_device);
}

result cuFuncSetCacheConfig(function* kernel, cache_preference preference) {
    return forward(cudaFuncSetCacheConfig, kernel, preference);
}

result cuKernelSetCacheConfig(function* kernel, cache_preference preference, int device) {
    return device == 0 ? forward(cudaFuncSetCacheConfig, kernel, preference) : result_of(error::invalid_device);
}

result cuFuncSetSharedMemConfig(function* kernel, bank_width width) {
    return forward(cudaFuncSetSharedMemConfig, kernel, width);
}

result cuFuncGetName(const char** name, function* kernel) { return forward(cudaFuncGetName, name, kernel); }

result cuKernelGetName(const char** name, function* kernel) { return forward(cudaFuncGetName, name, kernel); }

result cuFuncGetParamInfo(function* kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) {
    return forward(cudaFuncGetParamInfo, kernel, index, offset, bytes);
}

result cuKernelGetParamInfo(function* kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) {
    return forward(cudaFuncGetParamInfo, kernel, index, offset, bytes);
}

// CU_FUNCTION_LOADING_STATE_LOADED
result cuFuncIsLoaded(int* state, function* kernel) {
    return on_device([&](context&, locked&) {
        require(state != nullptr);
        (void)function_of(kernel);
        *state = 1;
    });
}

result cuFuncLoad(function* kernel) {
    return on_device([&](context&, locked&) { (void)function_of(kernel); });
}

result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, function* kernel, int threads,
                                                   std::size_t dynamic_shared) {
    return forward(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, kernel, threads, dynamic_shared, 0u);
}

result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, function* kernel, int threads,
                                                            std::size_t dynamic_shared, unsigned flags) {
    return forward(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, kernel, threads, dynamic_shared,
                   flags);
}

result cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, function* kernel, block_to_shared_bytes shared,
                                                 std::size_t dynamic_shared, int most, unsigned flags) {
    return with_context([&] {
        require(grid != nullptr && block != nullptr);
        function_attributes a{};
        if (const error e = cudaFuncGetAttributes(&a, kernel); e != error::success) {
            return e;
        }
        const int largest = most == 0 ? a.max_threads_per_block : std::min(most, a.max_threads_per_block);
        int best_threads = 0;
        for (int threads = (largest + warp_lanes - 1) / warp_lanes * warp_lanes; threads > 0; threads -= warp_lanes) {
            const int own = std::min(threads, largest);
            int blocks = 0;
            const error e = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                &blocks, kernel, own, shared != nullptr ? shared(own) : dynamic_shared, flags);
            if (e != error::success) {
                return e;
            }
            if (blocks * own > best_threads) {
                best_threads = blocks * own;
                *block = own;
                *grid = blocks * current_context().device().multiprocessors;
            }
        }
        require(best_threads != 0);
        return error::success;
    });
}

result cuOccupancyMaxPotentialBlockSize(int* grid, int* block, function* kernel, block_to_shared_bytes shared,
                                        std::size_t dynamic_shared, int most) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared, dynamic_shared, most, 0);
}

result cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, function* kernel, int blocks, int threads) {
    return forward(cudaOccupancyAvailableDynamicSMemPerBlock, bytes, kernel, blocks, threads);
}

result cuOccupancyMaxPotentialClusterSize(int* blocks, function* kernel, const driver_launch* what) {
    return with_context([&] {
        require(what != nullptr);
        const launch_configuration same = configuration_of(*what);
        return cudaOccupancyMaxPotentialClusterSize(blocks, kernel, &same);
    });
}

result cuOccupancyMaxActiveClusters(int* clusters, function* kernel, const driver_launch* what) {
    return with_context([&] {
        require(what != nullptr);
        const launch_configuration same = configuration_of(*what);
        return cudaOccupancyMaxActiveClusters(clusters, kernel, &same);
    });
}

result cuLaunchKernel(function* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, stream* on, void** arguments,
                      void** list) {
    return with_context([&] {
        const launch_arguments values(kernel, arguments, list);
        return cudaLaunchKernel(kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, values.get(),
                                dynamic_shared_bytes, on);
    });
}

result cuLaunchKernel_ptsz(function* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, stream* on,
                           void** arguments, void** list) {
    return cuLaunchKernel(kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared_bytes,
                          of_this_thread(on), arguments, list);
}

result cuLaunchKernelEx(const driver_launch* what, function* kernel, void** arguments, void** list) {
    return with_context([&] {
        require(what != nullptr);
        const launch_arguments values(kernel, arguments, list);
        const launch_configuration same = configuration_of(*what);
        return cudaLaunchKernelExC(&same, kernel, values.get());
    });
}

result cuLaunchKernelEx_ptsz(const driver_launch* what, function* kernel, void** arguments, void** list) {
    if (what == nullptr) {
        return result::invalid_value;
    }
    driver_launch own = *what;
    own.stream = of_this_thread(own.stream);
    return cuLaunchKernelEx(&own, kernel, arguments, list);
}

result cuLaunchCooperativeKernel(function* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, stream* on,
                                 void** arguments) {
    return forward(cudaLaunchCooperativeKernel, kernel, dimensions{grid_x, grid_y, grid_z},
                   dimensions{block_x, block_y, block_z}, arguments, dynamic_shared_bytes, on);
}

result cuLaunchCooperativeKernel_ptsz(function* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                      unsigned block_x, unsigned block_y, unsigned block_z,
                                      unsigned dynamic_shared_bytes, stream* on, void** arguments) {
    return cuLaunchCooperativeKernel(kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared_bytes,
                                     of_this_thread(on), arguments);
}

result cuLaunchHostFunc(stream* s, host_function run, void* user) { return forward(cudaLaunchHostFunc, s, run, user); }

result cuLaunchHostFunc_ptsz(stream* s, host_function run, void* user) {
    return cuLaunchHostFunc(of_this_thread(s), run, user);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
