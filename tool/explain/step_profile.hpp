// SPDX-License-Identifier: MIT
// One step of a ladder on the software GPU, its counters by line of the tree's own files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "ladder/engine/sources.hpp"
#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/profile.hpp"

namespace warpfold::tool {

struct step_place {
    std::string ladder; // "scan"
    std::string step;   // "3a"
    std::optional<std::uint64_t> n;
    std::optional<unsigned> block;
};

using line_number = std::uint32_t;

struct step_profile {
    std::uint64_t n = 0; // on which it ran
    std::vector<softgpu::observe::launch_record> launches;
    // By file of the tree and line. Code that was inlined from elsewhere counts where a file of the tree calls it.
    std::map<std::string, std::map<line_number, softgpu::observe::point_counts>> lines;
    softgpu::observe::point_counts elsewhere; // in no line of the tree
    softgpu::observe::point_counts all;
    std::vector<std::string> kernels; // demangled
    std::string why_none;             // not empty: the step did not run, or nothing was counted by line
};

// The software GPU's card and workers are those of the environment. Runs this command once more, as a child.
[[nodiscard]] step_profile profile_step(const step_place& place, std::span<const ladder::source_file> tree);

// A launch as `run --counters` and `ladder --json` write it. Throws nlohmann::json::exception where it is none.
[[nodiscard]] softgpu::observe::launch_record launch_of(const nlohmann::json& launch);

// The tree's file that the compiler knew by this path; nullptr where it is none of them.
[[nodiscard]] const ladder::source_file* file_of(std::string_view path, std::span<const ladder::source_file> tree);

} // namespace warpfold::tool
