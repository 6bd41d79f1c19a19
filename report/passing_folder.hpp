// SPDX-License-Identifier: MIT
// A folder for files that pass between processes, among the system's temporary ones.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace warpfold::report {

// Gone in the end with all that is in it.
class passing_folder {
public:
    // `name` begins its name. Throws std::runtime_error.
    explicit passing_folder(const std::string& name)
        : path_((std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string()) {
        if (::mkdtemp(path_.data()) == nullptr) {
            throw std::runtime_error("cannot make a folder in " + std::filesystem::temp_directory_path().string());
        }
    }
    ~passing_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    passing_folder(const passing_folder&) = delete;
    passing_folder& operator=(const passing_folder&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

} // namespace warpfold::report
