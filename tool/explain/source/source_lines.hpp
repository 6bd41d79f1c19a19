// SPDX-License-Identifier: MIT
// Lines of source files: from a folder that the user names, from the profile, or from where the compiler found them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace warpfold::tool {

class source_lines {
public:
    // `folder` may be empty; `embedded` outlives this.
    source_lines(std::string folder, const std::map<std::string, std::map<std::uint32_t, std::string>>& embedded);

    // nullptr where the line is not to be had.
    [[nodiscard]] const std::string* line(const std::string& path, std::uint32_t number);

private:
    const std::map<std::uint32_t, std::string>& lines_of(const std::string& path);

    std::string folder_;
    const std::map<std::string, std::map<std::uint32_t, std::string>>& embedded_;
    std::map<std::string, std::map<std::uint32_t, std::string>> read_;
};

} // namespace warpfold::tool
