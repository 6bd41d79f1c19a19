// SPDX-License-Identifier: MIT
// Regular files: reading and writing at a position, and which bytes of which file a source or a sink uses.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "warpfold/error.hpp"

namespace warpfold::detail {

// A file, however many names it has.
struct file_id {
    dev_t device{};
    ino_t inode{};

    friend bool operator==(const file_id&, const file_id&) = default;
};

// Bytes [begin, end) of a file, and, if it `follows`, what is appended behind them.
struct file_range {
    file_id file;
    std::uint64_t begin = 0, end = 0;
    bool follows = false;
};

// What is still to be read from a descriptor; nothing if it is no regular file.
inline std::optional<file_range> rest_of_file(int descriptor) noexcept {
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return std::nullopt;
    }
    const off_t at = ::lseek(descriptor, 0, SEEK_CUR);
    if (at < 0) {
        return std::nullopt;
    }
    const off_t end = std::max(at, facts.st_size);
    return file_range{
        {facts.st_dev, facts.st_ino}, static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(end), true};
}

// An open regular file. All functions throw file_error.
class file_handle {
public:
    file_handle(std::string path, int flags) : path_(std::move(path)) {
        // O_NONBLOCK: opening a pipe without a writer must not block.
        descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666);
        if (descriptor_ < 0) {
            fail(std::strerror(errno));
        }
        struct stat facts {};
        if (::fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
            ::close(descriptor_);
            fail(S_ISDIR(facts.st_mode) ? "it is a directory" : "it is no regular file");
        }
        id_ = {facts.st_dev, facts.st_ino};
        bytes_ = static_cast<std::uint64_t>(facts.st_size);
    }
    file_handle(file_handle&& other) noexcept
        : path_(std::move(other.path_)),
          descriptor_(std::exchange(other.descriptor_, -1)),
          id_(other.id_),
          bytes_(other.bytes_) {}
    file_handle& operator=(file_handle&&) = delete;
    ~file_handle() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    // Fails if the file has bytes although its size is 0, as files of /proc have.
    void check_size() const {
        unsigned char byte = 0;
        if (bytes_ == 0 && ::pread(descriptor_, &byte, 1, 0) > 0) {
            fail("its size is 0, and it has bytes: descriptor_source reads it");
        }
    }
    [[nodiscard]] const file_id& id() const noexcept { return id_; }
    [[noreturn]] void fail(const std::string& what) const { throw file_error("warpfold: " + path_ + ": " + what); }

    void read(std::uint64_t at, void* to, std::uint64_t bytes) const {
        auto* place = static_cast<unsigned char*>(to);
        while (bytes != 0) {
            const ssize_t got = ::pread(descriptor_, place, bytes, static_cast<off_t>(at));
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got < 0) {
                fail(std::strerror(errno));
            }
            if (got == 0) {
                fail("it ends after " + std::to_string(at) + " of " + std::to_string(bytes_) +
                     " bytes: it became shorter while it was read");
            }
            place += got;
            at += static_cast<std::uint64_t>(got);
            bytes -= static_cast<std::uint64_t>(got);
        }
    }
    void write(std::uint64_t at, const void* from, std::uint64_t bytes) const {
        const auto* place = static_cast<const unsigned char*>(from);
        while (bytes != 0) {
            const ssize_t done = ::pwrite(descriptor_, place, bytes, static_cast<off_t>(at));
            if (done < 0 && errno == EINTR) {
                continue;
            }
            if (done < 0) {
                fail(std::strerror(errno));
            }
            place += done;
            at += static_cast<std::uint64_t>(done);
            bytes -= static_cast<std::uint64_t>(done);
        }
    }
    void cut(std::uint64_t bytes) const {
        if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
            fail(std::strerror(errno));
        }
    }

private:
    std::string path_;
    int descriptor_ = -1;
    file_id id_;
    std::uint64_t bytes_ = 0; // at opening
};

} // namespace warpfold::detail
