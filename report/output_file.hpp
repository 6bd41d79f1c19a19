// SPDX-License-Identifier: MIT
// A file that is either written whole or left as it was.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "report/temporary_files.hpp"

namespace warpfold::report {

// The file cannot be written; the message names it and says why.
class write_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Writes all of the text to the descriptor. Throws write_error, which calls the descriptor `name`.
void write_all(int descriptor, std::string_view text, std::string_view name);

// Writes beside `path` and renames at the end, so that no reader sees half a file and a failed run leaves an older file
// alone; what was written so far goes when a signal ends the program. A target that is no regular file (a device, a pipe) is written directly, a symbolic link is followed.
class output_file {
public:
    // Throws write_error at once where the file could not be written later.
    explicit output_file(std::string path);
    ~output_file();
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    // Once. Throws write_error.
    void commit(std::string_view text);

    // Absolute path of the file that commit_file() will make the target: somebody else may write it.
    [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
    // Makes what somebody else wrote to temporary() the file.
    void commit_file();

private:
    std::string path_;      // as given, for messages
    std::string target_;    // absolute, links followed
    std::string temporary_; // empty once committed
    std::optional<doomed_file> doomed_;
    bool direct_ = false;
};

} // namespace warpfold::report
