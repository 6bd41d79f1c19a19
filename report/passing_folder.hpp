// SPDX-License-Identifier: MIT
// A temporary folder for files that processes exchange.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace warpfold::report {

// Removed with its content by the destructor.
class passing_folder {
public:
    // `name`: prefix of the folder's name. Throws std::runtime_error.
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
