// SPDX-License-Identifier: MIT
// What a loaded module holds; only module.cpp and grid.cpp look inside.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/profile.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/run/calls.hpp"

namespace softgpu::machine {

// Code is decoded in as many ways as launches ask for.
struct code_variant {
    bool count = true;
    bool adversarial = false;
    check::check_set looks = 0; // checks that look at instructions

    auto operator<=>(const code_variant&) const = default;
};
using decoded_variants = std::map<code_variant, std::unique_ptr<program_code>>;
inline code_variant variant_of(const launch_request& r) {
    constexpr check::check_set looking = check::race | check::init | check::sync;
    return {r.count, r.seed.has_value(), r.checks != nullptr ? r.checks->checks() & looking : 0};
}

// A function as one kernel calls it: its shared variables have places in that kernel's shared memory.
class callee {
public:
    const function_entry* entry = nullptr;
    std::map<std::string, std::uint64_t, std::less<>> locals; // its local variables and in memory parameters, by offset
    std::uint32_t local_bytes = 0;
    program::control_flow flow;
    program::register_places places;
    decoded_variants decoded;
};

class kernel {
public:
    std::string name;
    ptx::function* function = nullptr;
    kernel_facts facts;
    bool prepared = false;
    std::map<std::string, symbol_value, std::less<>> symbols;    // parameters and local variables
    std::map<const ptx::variable*, std::uint64_t> shared_places; // of it and of all that it may call
    std::vector<const ptx::variable*> dynamic;                   // dynamic shared memory
    std::uint32_t local_bytes = 0;                               // its own, of a thread
    std::uint32_t shared_bytes = 0;                              // static
    std::uint32_t shared_alignment = 1;                          // of dynamic shared memory
    bool uses_reserved_shared = false;                           // names the registers that say where it lies
    bool uses_parameter_address = false;
    program::control_flow flow;
    program::register_places places;
    std::map<const function_entry*, std::unique_ptr<callee>> callees;
    bool needs_stack = false;      // how deep calls go is only known when they are made
    std::uint32_t stack_bytes = 0; // local memory of a thread where it is known
    decoded_variants decoded;
    std::map<code_variant, std::unique_ptr<site_table>> sites; // of the checked code
    profile_points profiled;
};

struct link_group;

struct module::implementation {
    std::shared_ptr<link_group> linked; // holds the lock of all that follows
    std::string text;
    memory::device_memory* memory = nullptr;
    std::unique_ptr<ptx::module> parsed;
    std::map<std::string, variable_place, std::less<>> variables;
    std::vector<memory::address> owned; // variables that are defined here
    std::map<std::string, std::unique_ptr<kernel>, std::less<>> kernels;
    std::map<const ptx::function*, std::unique_ptr<function_entry>> functions;
    std::map<std::string, std::unique_ptr<function_entry>, std::less<>> outside; // that this module declares only
    std::uint32_t constant_bytes = 0;
    unsigned target = 0;
    bool profiling = false;

    ptx::module& get(); // parses on first use
    void parse_outline();
    void prepare(kernel& k); // body, control flow, registers, shared memory
    const program_code& code_of(kernel& k, code_variant how);
    void place_variables();      // those defined here
    void join_variables();       // those that other units define
    void initialise_variables(); // when all are placed
    void write_initial(const ptx::variable& v, std::byte* at);

    // What a name of a function stands for: a definition here or in another unit, a builtin, or nothing that can be
    // called. nullptr where the name is not that of a function.
    const function_entry* find_function(std::string_view name);
    const function_entry* entry_of(ptx::function& f);
    // The shared variables that a body names get their places in the kernel's shared memory, of which `shared` bytes
    // are taken.
    void place_shared(kernel& k, const ptx::function& f, std::uint64_t& shared);
    const ptx::variable* shared_variable(const ptx::function& f, std::string_view name); // nullptr where it is none
    symbol_value shared_symbol(const kernel& k, const ptx::function& f, std::string_view name);
    callee& callee_of(kernel& k, const function_entry& f);
    const program_code& code_of(kernel& k, const function_entry& f, code_variant how);
    decode_context context_of(kernel& k, code_variant how); // all but resolve()
    symbol_value module_symbol(std::string_view name);      // a variable or a function
};

} // namespace softgpu::machine
