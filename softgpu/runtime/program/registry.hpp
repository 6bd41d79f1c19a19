// SPDX-License-Identifier: MIT
// What the program has registered before main: its fat binaries, kernels and variables. Registering only takes notes;
// a binary is decompressed and parsed when one of its kernels or variables is first used.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "softgpu/machine/launch.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/fatbin/fatbin.hpp"

namespace softgpu::runtime {

class context;

// A fat binary and, once loaded, its modules: one, or one for each unit of a program built with -rdc=true, linked.
struct fat_binary {
    struct managed_variable {
        std::string name;
        void** host = nullptr; // gets the variable's address
    };

    const void* data = nullptr;
    std::string text; // PTX instead of data
    std::vector<managed_variable> managed;
    std::vector<std::unique_ptr<machine::module>> modules;
    bool loaded = false;
};

struct kernel_image {
    machine::module* owner = nullptr;
    const machine::kernel* kernel = nullptr;
    const machine::kernel_facts* facts = nullptr;
};

// What cudaKernel_t and cudaFunction_t point to.
struct function {
    fat_binary* binary = nullptr;
    const void* host = nullptr; // the stub by which the program names it
    std::string name; // as in the PTX
    std::string demangled; // from first use on
    kernel_image image;          // empty before first use
    int max_dynamic_shared = -1; // cudaFuncSetAttribute; -1: what a block has without it, less the static
    int preferred_carveout = -1;
    cache_preference cache = cache_preference::none;
};

struct device_variable {
    fat_binary* binary = nullptr;
    std::string name;
    std::uint64_t bytes = 0;
    void** managed_host = nullptr; // of a managed variable
};

class registry {
public:
    static registry& instance();

    fat_binary& add_binary(const void* data);
    fat_binary& add_text(std::string ptx);
    // Waits for all work, a second at most.
    void remove_binary(fat_binary& binary);
    void add_function(fat_binary& binary, const void* host, const char* name);
    void add_variable(fat_binary& binary, const void* host, const char* name, std::uint64_t bytes);
    void add_managed(fat_binary& binary, void** host, const char* name, std::uint64_t bytes);
    [[nodiscard]] bool empty();
    [[nodiscard]] int process() const noexcept { return process_; } // that has registered first

    // By the host's stub of a kernel or by handle. nullptr where it is neither.
    [[nodiscard]] function* find_function(const void* host_or_handle);
    // The kernel's code, loaded where it is not yet. Throws failure.
    const kernel_image& load(function& f, context& gpu);

    // The names of all kernels of a binary, each once. Throws failure.
    [[nodiscard]] std::vector<std::string> kernels_of(fat_binary& binary, context& gpu);

    // nullptr where nothing was registered for this address.
    [[nodiscard]] const device_variable* find_variable(const void* host);
    // Throws failure.
    [[nodiscard]] machine::variable_place locate(const device_variable& v, context& gpu);

    // Loads a binary for the sake of its managed variables. Throws failure.
    void load(fat_binary& binary, context& gpu);
    // Drops all modules; they are loaded again when used again.
    void unload();
    void reload_managed(context& gpu);

private:
    void load_locked(fat_binary& binary, context& gpu, const std::string& wanted);
    void load_units(fat_binary& binary, context& gpu, const std::vector<fatbin_entry>& entries);

    const int process_ = ::getpid();
    std::mutex mutex_;
    std::vector<std::unique_ptr<fat_binary>> binaries_;
    std::unordered_map<const void*, std::unique_ptr<function>> functions_; // by host stub
    std::unordered_map<const void*, function*> handles_;
    std::unordered_map<const void*, device_variable> variables_; // by host address
};

} // namespace softgpu::runtime
