// SPDX-License-Identifier: MIT
// A kernel's profile as people read it: the source with the counters beside each line, and what stands out.
#pragma once

#include <optional>
#include <string>

#include "report/table.hpp"
#include "tool/explain/profile_file.hpp"
#include "tool/explain/source/source_lines.hpp"

namespace warpfold::tool {

struct annotation_options {
    bool ptx = false;                // the instructions below each line
    bool outermost = false;          // inlined code counts where the kernel calls it
    std::optional<std::string> sort; // lines by this counter, most first, instead of the source
    report::style look;
};

// Throws usage_error where `sort` names no counter.
[[nodiscard]] std::string annotated(const profile_kernel& kernel, source_lines& sources,
                                    const annotation_options& options);

} // namespace warpfold::tool
