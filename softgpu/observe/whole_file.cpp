// SPDX-License-Identifier: MIT
#include "softgpu/observe/whole_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace softgpu::observe {
namespace {

constexpr int most_links = 40; // as Linux has it

// Where a file of this name comes to stand, which need not be there yet.
std::string behind_links(const std::string& path) {
    std::filesystem::path at = path;
    for (int n = 0; n < most_links; ++n) {
        std::error_code none;
        const std::filesystem::path to = std::filesystem::read_symlink(at, none);
        if (none) {
            break;
        }
        at = to.is_absolute() ? to : at.parent_path() / to;
    }
    return at.string();
}

} // namespace

bool whole_file::is_direct(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
}

whole_file::whole_file(std::string path) : path_(std::move(path)), target_(behind_links(path_)) {
    if (is_direct(path_)) {
        const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        file_.reset(descriptor < 0 ? nullptr : ::fdopen(descriptor, "w"));
    } else {
        unfinished_ = target_ + ".part" + std::to_string(::getpid());
        file_.reset(std::fopen(unfinished_.c_str(), "we"));
    }
    if (file_ == nullptr) {
        complain("write");
    }
    if (struct stat before{}; !unfinished_.empty() && ::stat(target_.c_str(), &before) == 0) {
        ::fchmod(::fileno(file_.get()), before.st_mode & 0777);
    }
}

whole_file::~whole_file() {
    if (!unfinished_.empty()) {
        std::remove(unfinished_.c_str());
    }
}

void whole_file::complain(const char* what) {
    const std::string reason = std::strerror(errno);
    if (!unfinished_.empty()) {
        std::remove(unfinished_.c_str()); // a constructor's failure has no destructor
    }
    throw std::runtime_error(std::string("cannot ") + what + " " + path_ + ": " + reason);
}

void whole_file::put(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
        complain("write");
    }
}

void whole_file::commit() {
    if (std::fclose(file_.release()) != 0) {
        complain("write");
    }
    if (!unfinished_.empty() && std::rename(unfinished_.c_str(), target_.c_str()) != 0) {
        complain("rename a file to");
    }
    unfinished_.clear();
}

} // namespace softgpu::observe
