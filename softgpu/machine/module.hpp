// SPDX-License-Identifier: MIT
// What a loaded module holds; only module.cpp and grid.cpp look inside.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "softgpu/machine/code.hpp"
#include "softgpu/machine/launch.hpp"

namespace softgpu::machine {

class kernel {
public:
    std::string name;
    ptx::function* function = nullptr;
    kernel_facts facts;
    bool prepared = false;
    std::map<std::string, symbol_value, std::less<>> symbols; // of the body
    std::uint32_t shared_bytes = 0;                           // static
    std::uint32_t shared_alignment = 1;                       // of dynamic shared memory
    bool uses_parameter_address = false;
    program::control_flow flow;
    program::register_places places;
    std::unique_ptr<program_code> counting;
    std::unique_ptr<program_code> quick;
};

struct module::implementation {
    std::mutex mutex;
    std::string text;
    memory::device_memory* memory = nullptr;
    std::unique_ptr<ptx::module> parsed;
    std::map<std::string, variable_place, std::less<>> variables;
    std::map<std::string, std::unique_ptr<kernel>, std::less<>> kernels;
    std::uint32_t constant_bytes = 0;
    unsigned target = 0;

    ptx::module& get();                                       // parses on first use
    void prepare(kernel& k);                                  // body, control flow, registers, shared memory
    const program_code& code_of(kernel& k, bool count);
    void place_variables();
};

} // namespace softgpu::machine
