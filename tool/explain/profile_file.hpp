// SPDX-License-Identifier: MIT
// What `warpfold run --profile` has written, read back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "softgpu/observe/profile.hpp"

namespace warpfold::tool {

struct profile_kernel {
    std::string name;
    std::uint64_t launches = 0;
    std::vector<softgpu::observe::profile_point> points;
    std::vector<softgpu::observe::point_counts> counts; // of each point
};

struct profile_file {
    std::string card;
    std::map<std::string, std::map<std::uint32_t, std::string>> sources; // lines by file
    std::vector<profile_kernel> kernels;
};

// Throws failure where the file cannot be read or is no profile.
[[nodiscard]] profile_file read_profile(const std::string& path);

} // namespace warpfold::tool
