// SPDX-License-Identifier: MIT
// Atomic replacement of files.
#include "report/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/text.hpp"

namespace warpfold::report {
namespace {

[[noreturn]] void cannot_write(std::string_view name, int error) {
    const std::string what = fmt::format("cannot write {}: {}", printable(name), std::strerror(error));
    if (error == EPIPE) {
        throw closed_pipe(what);
    }
    throw write_error(what);
}

} // namespace

void write_all(int descriptor, std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            cannot_write(name, errno);
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

output_file::output_file(std::string path) : path_(std::move(path)) {
    if (path_.empty()) {
        throw write_error("cannot write a file without a name");
    }
    struct stat facts {};
    std::error_code error;
    if (::stat(path_.c_str(), &facts) == 0) {
        if (S_ISDIR(facts.st_mode)) {
            cannot_write(path_, EISDIR);
        }
        if (::access(path_.c_str(), W_OK) != 0) {
            cannot_write(path_, errno);
        }
        direct_ = !S_ISREG(facts.st_mode);
        target_ = std::filesystem::canonical(path_, error).string();
    } else if (errno != ENOENT) {
        cannot_write(path_, errno);
    }
    if (target_.empty()) {
        target_ = std::filesystem::absolute(path_, error).string();
    }
    const std::string pattern =
        direct_ ? (std::filesystem::temp_directory_path() / "warpfold.XXXXXX").string() : target_ + ".XXXXXX";
    temporary_ = pattern;
    const int descriptor = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (descriptor < 0) {
        temporary_.clear();
        cannot_write(path_, errno);
    }
    doomed_.emplace(temporary_);
    if (!direct_) {
        // The permissions of the replaced file, or those that open() would set.
        const mode_t mask = ::umask(0);
        ::umask(mask);
        ::fchmod(descriptor, facts.st_mode != 0 ? facts.st_mode & 0777 : 0666 & ~mask);
    }
    ::close(descriptor);
}

output_file::~output_file() {
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
    }
}

void output_file::commit(std::string_view text) {
    const std::string& into = direct_ ? target_ : temporary_;
    const int descriptor = ::open(into.c_str(), O_WRONLY | O_CLOEXEC | (direct_ ? 0 : O_TRUNC));
    if (descriptor < 0) {
        cannot_write(path_, errno);
    }
    try {
        write_all(descriptor, text, path_);
    } catch (...) {
        ::close(descriptor);
        throw;
    }
    if (::close(descriptor) != 0) {
        cannot_write(path_, errno);
    }
    if (!direct_) {
        commit_file();
    }
}

void output_file::commit_file() {
    if (direct_) {
        std::ifstream in(temporary_, std::ios::binary);
        commit(std::string(std::istreambuf_iterator<char>(in), {}));
        return;
    }
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
        cannot_write(path_, errno);
    }
    doomed_.reset();
    temporary_.clear();
}

} // namespace warpfold::report
