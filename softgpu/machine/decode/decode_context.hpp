// SPDX-License-Identifier: MIT
// What the decoder needs of the module that a body is in, and how the code is to be decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "softgpu/check/findings/checks.hpp"
#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/code/function_entry.hpp"
#include "softgpu/machine/decode/profile_points.hpp"
#include "softgpu/machine/decode/trace_points.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// The meaning of a name in a body.
struct symbol_value {
    enum class kind : std::uint8_t { unknown, shared, global, local, parameter, function };
    kind what = kind::unknown;
    std::uint64_t value = 0; // shared, local: offset; global, function: address; parameter: offset in the block
};

struct decode_context {
    std::function<symbol_value(std::string_view)> resolve;
    std::function<const function_entry*(std::string_view)> find_function; // of a name that resolve() calls a function
    // The offset of a function's parameter in local memory, or parameter_area::not_in_memory.
    std::function<std::uint32_t(std::size_t)> local_of_parameter;
    std::uint64_t local_window = 0;
    bool count = true;
    profile_points* profile = nullptr;   // nullptr: instructions are not counted one by one
    const ptx::module* home = nullptr;   // of the function
    const trace_points* trace = nullptr; // nullptr: launches are not traced
    bool adversarial = false;            // with a schedule_point before each effect that others can see
    site_table* sites = nullptr;         // the kernel's; nullptr: no checks
    check::check_set checks = 0;
};

} // namespace softgpu::machine
