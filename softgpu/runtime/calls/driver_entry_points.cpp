// SPDX-License-Identifier: MIT
// cudaGetDriverEntryPoint: functions of our libcuda.so.1, which lies beside this library. Without it there is none.
#include <string>

#include <dlfcn.h>

#include "softgpu/runtime/calls/call.hpp"

namespace softgpu::runtime {
namespace {

constexpr int symbol_not_found = 1; // cudaDriverEntryPointSymbolNotFound

using get_entry = int (*)(const char* name, void** out, int version, unsigned long long flags, int* status);

get_entry find_driver() {
    Dl_info about{};
    if (::dladdr(reinterpret_cast<const void*>(&find_driver), &about) == 0) {
        return nullptr;
    }
    const std::string own = about.dli_fname;
    void* const driver = ::dlopen((own.substr(0, own.rfind('/') + 1) + "libcuda.so.1").c_str(), RTLD_LAZY);
    if (driver == nullptr || ::dlsym(driver, "softgpu_is_the_driver") == nullptr) {
        return nullptr;
    }
    if (const auto start = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit")); start(0) != 0) {
        return nullptr;
    }
    return reinterpret_cast<get_entry>(::dlsym(driver, "cuGetProcAddress_v2"));
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// A symbol that is not found is not an error.
error cudaGetDriverEntryPointByVersion(const char* symbol, void** entry, unsigned version, unsigned long long flags,
                                       int* found) {
    return call([&] {
        require(symbol != nullptr && entry != nullptr && flags <= 2);
        *entry = nullptr;
        int status = symbol_not_found;
        static const get_entry driver = find_driver();
        if (driver != nullptr) {
            (void)driver(symbol, entry, static_cast<int>(version), flags, &status);
        }
        if (found != nullptr) {
            *found = status;
        }
    });
}

error cudaGetDriverEntryPoint(const char* symbol, void** entry, unsigned long long flags, int* found) {
    constexpr unsigned newest = 13000;
    return cudaGetDriverEntryPointByVersion(symbol, entry, newest, flags, found);
}

decltype(cudaGetDriverEntryPoint) cudaGetDriverEntryPoint_ptsz [[gnu::alias("cudaGetDriverEntryPoint")]];
decltype(cudaGetDriverEntryPointByVersion) cudaGetDriverEntryPointByVersion_ptsz
    [[gnu::alias("cudaGetDriverEntryPointByVersion")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
