// SPDX-License-Identifier: MIT
// A module in device memory: its parsed text, its variables and its functions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/managed_variables.hpp"
#include "softgpu/machine/module/kernel.hpp"
#include "softgpu/machine/module/link_group.hpp"

namespace softgpu::machine {

struct module::implementation {
    module* front = nullptr;            // that it is part of
    std::shared_ptr<link_group> linked; // holds the lock of all that follows
    std::string text;
    memory::device_memory* memory = nullptr;
    std::unique_ptr<ptx::module> parsed;
    std::map<std::string, variable_place, std::less<>> variables;
    managed_variables* shared = nullptr; // nullptr: managed variables are placed as all others are
    std::vector<memory::address> owned;  // variables that are defined here
    std::map<std::string, std::unique_ptr<kernel>, std::less<>> kernels;
    std::map<const ptx::function*, std::unique_ptr<function_entry>> functions;
    std::map<std::string, std::unique_ptr<function_entry>, std::less<>> outside; // that this module only declares
    std::uint32_t constant_bytes = 0;
    unsigned target = 0; // 75 for sm_75
    bool profiling = false;
    std::unique_ptr<trace_points> traced; // nullptr: launches are not traced

    ptx::module& get(); // parses on first use
    void parse_outline();
    void place_variables();      // those defined here
    void join_variables();       // those that other units define
    void initialise_variables(); // when all are placed

    // The function of this name: a definition here or in another unit, a builtin, or an entry that cannot be called.
    // nullptr where the name is not that of a function.
    const function_entry* find_function(std::string_view name);
    const function_entry* entry_of(ptx::function& f);
    symbol_value symbol(std::string_view name); // a variable or a function

private:
    void write_initial(const ptx::variable& v, std::byte* at);
};

} // namespace softgpu::machine
