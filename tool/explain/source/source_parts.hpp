// SPDX-License-Identifier: MIT
// A C++ file as a reader sees it: its top-level definitions one by one, each with the comment above it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::tool {

struct source_part {
    std::size_t first = 0; // line, from 1
    std::size_t last = 0;  // the last of its lines
    std::string code;      // without comments, literals and directives

    // The code has this identifier.
    [[nodiscard]] bool names(std::string_view identifier) const;
};

// Definitions, declarations and directives outside all braces but those of namespaces, in their order. By the braces
// alone: code that only a preprocessor can read is cut at the wrong places, and never left out.
[[nodiscard]] std::vector<source_part> parts_of(const std::vector<std::string>& lines);

// "two_paths" of "void lab::(anonymous namespace)::two_paths<1u>(float const*)".
[[nodiscard]] std::string bare_name(std::string_view demangled);

// "f.cu" of "a/b/f.cu".
[[nodiscard]] std::string base_name(std::string_view path);

} // namespace warpfold::tool
