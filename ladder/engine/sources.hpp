// SPDX-License-Identifier: MIT
// The text of the ladders' files and of the library's headers, as they were when the engine was built.
#pragma once

#include <span>
#include <string_view>

namespace warpfold::ladder {

struct source_file {
    std::string_view path; // in the tree: "ladder/scan/03_in_place.cu"
    std::string_view text;
};

[[nodiscard]] std::span<const source_file> source_files();

} // namespace warpfold::ladder
