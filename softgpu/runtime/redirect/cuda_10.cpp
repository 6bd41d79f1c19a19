// SPDX-License-Identifier: MIT
// Layouts of CUDA 10: the headers of its toolkit, and what PyTorch 1.5.1 reads.
#include "softgpu/runtime/redirect/cuda_10.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include <dlfcn.h>

#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/abi/memory.hpp"

namespace softgpu::redirect {
namespace {

using runtime::device_properties_12;
using runtime::function_attributes;
using runtime::pointer_attributes;

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int version = 10020;

template <class Function>
Function* ours(const char* name) {
    static void* const library = ::dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Function*>(::dlsym(library, name));
}

// CUDA 10 ends before the number of blocks per multiprocessor, and has no limit of persisting L2. Without that number the
// four after it lie 4 bytes earlier; the next one, of 8 bytes, lies where it was because of its alignment.
int device_properties_10(char* out, int device) {
    static auto* const read = ours<int(device_properties_12*, int)>("cudaGetDeviceProperties_v2");
    device_properties_12 all{};
    if (const int e = out == nullptr ? invalid_value : read(&all, device); e != success) {
        return e;
    }
    constexpr std::size_t left_out = offsetof(device_properties_12, persisting_l2_cache_max_bytes);
    constexpr std::size_t moved = offsetof(device_properties_12, max_threads_per_multi_processor);
    constexpr std::size_t same = offsetof(device_properties_12, shared_memory_per_multiprocessor);
    constexpr std::size_t end = offsetof(device_properties_12, max_blocks_per_multi_processor);
    static_assert(left_out % 8 == 4 && same == moved + 4 * sizeof(int));
    const auto* const bytes = reinterpret_cast<const char*>(&all);
    std::memcpy(out, bytes, end);
    std::memcpy(out + left_out, bytes + moved, same - moved);
    return success;
}

// Memory that CUDA does not know is an error in CUDA 10.
int pointer_attributes_10(char* out, const void* pointer) {
    static auto* const read = ours<int(pointer_attributes*, const void*)>("cudaPointerGetAttributes");
    struct attributes_10 {
        int host_or_device; // 1, 2
        int type;           // 3: managed
        int device;
        void* device_pointer;
        void* host_pointer;
        int managed;
    };
    pointer_attributes today{};
    if (const int e = out == nullptr ? invalid_value : read(&today, pointer); e != success) {
        return e;
    }
    const int type = static_cast<int>(today.type);
    if (type == 0) {
        return invalid_value;
    }
    const attributes_10 then{std::min(type, 2),  type,     today.device, today.device_pointer,
                             today.host_pointer, type == 3};
    std::memcpy(out, &then, sizeof then);
    return success;
}

int function_attributes_10(char* out, const void* function) {
    static auto* const read = ours<int(function_attributes*, const void*)>("cudaFuncGetAttributes");
    function_attributes today{};
    if (const int e = out == nullptr ? invalid_value : read(&today, function); e != success) {
        return e;
    }
    std::memcpy(out, &today, offsetof(function_attributes, cluster_dimensions_must_be_set));
    return success;
}

int version_10(int* out) {
    if (out == nullptr) {
        return invalid_value;
    }
    *out = version;
    return success;
}

// A kernel that reads a texture reference is refused when it is loaded.
void register_nothing() {}

const std::pair<std::string_view, const void*> translations[] = {
    {"cudaGetDeviceProperties", reinterpret_cast<const void*>(&device_properties_10)},
    {"cudaPointerGetAttributes", reinterpret_cast<const void*>(&pointer_attributes_10)},
    {"cudaFuncGetAttributes", reinterpret_cast<const void*>(&function_attributes_10)},
    {"cudaRuntimeGetVersion", reinterpret_cast<const void*>(&version_10)},
    {"__cudaRegisterTexture", reinterpret_cast<const void*>(&register_nothing)},
    {"__cudaRegisterSurface", reinterpret_cast<const void*>(&register_nothing)},
};

constexpr std::string_view other_forms[] = {"cudaGraphInstantiate", "cudaGraphExecUpdate", "cudaStreamGetCaptureInfo"};

} // namespace

bool is_runtime_of_cuda_10(std::string_view file_name) noexcept {
    return file_name.starts_with("libcudart") && file_name.find(".so.10.") != std::string_view::npos;
}

const void* form_of_cuda_10(std::string_view call, void* runtime_12) {
    const auto* const found = std::ranges::find(translations, call, &std::pair<std::string_view, const void*>::first);
    if (found != std::end(translations)) {
        return found->second;
    }
    return std::ranges::find(other_forms, call) != std::end(other_forms) ? nullptr : ::dlsym(runtime_12, call.data());
}

} // namespace softgpu::redirect
