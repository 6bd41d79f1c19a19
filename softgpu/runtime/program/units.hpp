// SPDX-License-Identifier: MIT
// Units of PTX that are linked into one program.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/machine/launch.hpp"

namespace softgpu::runtime {

// Several units of PTX as one text, which add_text() takes. They are linked when they are loaded.
[[nodiscard]] std::string join_units(std::span<const std::string> units);

using module_maker = std::function<std::unique_ptr<machine::module>(std::string)>;

// Makes the modules of such a text, and links them. Throws ptx::error and machine::link_error.
void link_text(std::string_view joined, std::vector<std::unique_ptr<machine::module>>& modules,
               const module_maker& make);

// The architecture of .target: 90 for sm_90; 0: none.
[[nodiscard]] unsigned target_of(std::string_view ptx);

// What is wrong with such a text, found without a device; empty: nothing.
struct text_errors {
    std::string ptx;
    std::string link; // one line for each kernel without a function that it calls
};
[[nodiscard]] text_errors errors_of(std::string_view joined);

} // namespace softgpu::runtime
