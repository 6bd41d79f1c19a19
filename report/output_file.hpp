// SPDX-License-Identifier: MIT
// A file that is either written completely or left unchanged.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "report/temporary_files.hpp"

namespace warpfold::report {

// The file cannot be written; the message gives its name and the reason.
class write_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Nobody reads the pipe any more.
class closed_pipe : public write_error {
public:
    using write_error::write_error;
};

// Writes the text to the descriptor. Throws write_error with the file name `name`.
void write_all(int descriptor, std::string_view text, std::string_view name);

// Writes a temporary file beside `path` and renames it at the end: no reader sees half a file, and a failed run keeps
// the older file. A signal that ends the program removes the temporary file. Devices and pipes are written directly.
// Symbolic links are followed.
class output_file {
public:
    // Throws write_error if the file could not be written later.
    explicit output_file(std::string path);
    ~output_file();
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    // Call once. Throws write_error.
    void commit(std::string_view text);

    // Absolute path of the temporary file, for another writer. commit_file() renames it to the target.
    [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
    // Renames the file at temporary() to the target.
    void commit_file();

private:
    std::string path_;      // as given, for messages
    std::string target_;    // absolute, links followed
    std::string temporary_; // empty once committed
    std::optional<doomed_file> doomed_;
    bool direct_ = false;
};

} // namespace warpfold::report
