// SPDX-License-Identifier: MIT
// The program's fat binaries, kernels and variables, most of them registered before main. A binary is decompressed and
// parsed when one of its kernels or variables is first used on a device; each device has its own copy of code and variables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/managed_variables.hpp"
#include "softgpu/ptx/error.hpp"
#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/fatbin/fatbin.hpp"

namespace softgpu::runtime {

[[nodiscard]] constexpr std::uint64_t count_of(const dimensions& d) noexcept { return std::uint64_t{d.x} * d.y * d.z; }

class context;

// invalid_ptx, or unsupported_ptx_version.
[[nodiscard]] error error_of(const ptx::error& wrong) noexcept;

// The modules of a fat binary on a device: one, or one per unit of a program built with -rdc=true, linked.
struct loaded_binary {
    std::vector<std::unique_ptr<machine::module>> modules;
    bool loaded = false;
};

struct function;

struct fat_binary {
    struct managed_variable {
        std::string name;
        void** host = nullptr; // receives the variable's address
    };

    const void* data = nullptr;
    std::string text; // PTX instead of data
    std::vector<managed_variable> managed;
    std::unique_ptr<machine::managed_variables> shared; // by the modules of several devices
    std::map<int, loaded_binary> on;                    // by device
    std::vector<std::unique_ptr<function>> retired;     // that no launch finds any more
    std::vector<std::unique_ptr<function>> nameless;    // kernels that only kernels launch
};

struct kernel_image {
    machine::module* owner = nullptr;
    const machine::kernel* kernel = nullptr;
    const machine::kernel_facts* facts = nullptr;
};

// What a kernel has on one device.
struct function_on_device {
    kernel_image image;          // empty before the first use
    int max_dynamic_shared = -1; // bytes, cudaFuncSetAttribute; -1: not set
    int preferred_carveout = -1;
    dimensions required_cluster{0, 0, 0}; // cudaFuncSetAttribute, like the next two
    bool non_portable_cluster = false;
    int cluster_policy = 0;
};

// The object behind cudaKernel_t and cudaFunction_t.
struct function {
    fat_binary* binary = nullptr;
    const void* host = nullptr;           // the stub that the program names it by
    std::string name;                     // as in the PTX
    std::string demangled;                // empty before the first use
    std::map<int, function_on_device> on; // by device
    int only_on = -1;                     // the device of its module; -1: all devices
    cache_preference cache = cache_preference::none;
};

struct device_variable {
    fat_binary* binary = nullptr;
    std::string name;
    std::uint64_t bytes = 0;
    void** managed_host = nullptr; // not nullptr: the variable is managed
};

class registry {
public:
    static registry& instance();

    fat_binary& add_binary(const void* data);
    fat_binary& add_text(std::string ptx);
    // Takes kernels and variables out of the tables, so that no further launch finds them. Gives the devices whose work has to
    // end before remove(): those that have the code; under checks all that have any, because running kernels hold records of
    // earlier ones.
    std::vector<int> retire(fat_binary& binary);
    // Ends a binary that is retired. Not `finished`: the code is kept, because a kernel of it still runs.
    void remove(fat_binary& binary, bool finished);
    void add_function(fat_binary& binary, const void* host, const char* name);
    void add_variable(fat_binary& binary, const void* host, const char* name, std::uint64_t bytes);
    void add_managed(fat_binary& binary, void** host, const char* name, std::uint64_t bytes);
    [[nodiscard]] bool empty();

    // By the kernel's stub or by handle; nullptr for any other address.
    [[nodiscard]] function* find_function(const void* host_or_handle);
    // The kernel of this name in a loaded module, whether the host has a name for it or not. nullptr: there is none.
    [[nodiscard]] function* find_function(const machine::module& in, const std::string& name);
    // The kernel on the device, with its code, loaded if it is not yet. Throws failure: invalid_resource_handle if it is of a
    // module of another device.
    function_on_device& load(function& f, context& gpu);

    // The names of all kernels of a binary, without duplicates. Throws failure.
    [[nodiscard]] std::vector<std::string> kernels_of(fat_binary& binary, context& gpu);

    // nullptr for an address that is not registered.
    [[nodiscard]] const device_variable* find_variable(const void* host);
    // The variable in device memory. Throws failure.
    [[nodiscard]] machine::variable_place locate(const device_variable& v, context& gpu);

    // Loads a binary, and so its managed variables. wanted: what for, in messages. Throws failure.
    void load(fat_binary& binary, context& gpu, const std::string& wanted = "a managed variable");
    // Unloads the device's modules; the next use loads them again.
    void unload(context& gpu);
    // After a reset of device 0: managed variables have their initial values again.
    void reload_managed(context& gpu);

private:
    registry();
    loaded_binary& load_locked(fat_binary& binary, context& gpu, const std::string& wanted);
    void load_text(fat_binary& binary, context& gpu);
    void load_units(fat_binary& binary, context& gpu, const std::vector<fatbin_entry>& entries,
                    const std::string& wanted);
    static std::unique_ptr<machine::module> make_module(fat_binary& binary, context& gpu, std::string ptx);
    static void tell_of_managed(const fat_binary& binary, const loaded_binary& here);

    std::mutex mutex_;
    std::vector<std::unique_ptr<fat_binary>> binaries_;
    std::unordered_map<const void*, std::unique_ptr<function>> functions_; // by stub
    std::unordered_map<const void*, function*> handles_;
    std::unordered_map<const void*, device_variable> variables_; // by the host's variable
};

// By the kernel's stub or by handle. Throws invalid_device_function for a null pointer and, as a GPU does,
// invalid_resource_handle for any other address that is not a kernel.
function& function_of(const void* kernel);

} // namespace softgpu::runtime
