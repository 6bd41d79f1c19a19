// SPDX-License-Identifier: MIT
// A kernel of a loaded module, the functions that it calls, and their code in the variants that launches ask for.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "softgpu/check/session.hpp"
#include "softgpu/machine/decode/decode.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::machine {

// Code is decoded once for each variant.
struct code_variant {
    bool count = true;
    bool adversarial = false;
    check::check_set checks = 0; // those that need pseudo-instructions

    auto operator<=>(const code_variant&) const = default; // NOLINT(modernize-use-nullptr): no null here
};
using decoded_variants = std::map<code_variant, std::unique_ptr<program_code>>;
inline code_variant variant_of(const launch_request& r) {
    constexpr check::check_set in_code = check::race | check::init | check::sync;
    return {r.count, r.seed.has_value(), r.checks != nullptr ? r.checks->checks() & in_code : 0};
}

// A function as one kernel calls it: its shared variables have places in that kernel's shared memory.
class callee {
public:
    std::map<std::string, std::uint64_t, std::less<>> locals; // offsets of local variables and of parameters in memory
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
    bool uses_reserved_shared = false;                           // reads %reserved_smem_offset registers
    bool uses_parameter_address = false;
    program::control_flow flow;
    program::register_places places;
    std::map<const function_entry*, std::unique_ptr<callee>> callees;
    bool needs_stack = false;      // the depth of calls is known at run time only
    std::uint32_t stack_bytes = 0; // local memory of a thread, as far as known
    decoded_variants decoded;
    std::map<code_variant, std::unique_ptr<site_table>> sites; // of the checked code
    profile_points profiled;
};

} // namespace softgpu::machine
