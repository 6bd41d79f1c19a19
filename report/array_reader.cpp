// SPDX-License-Identifier: MIT
// Arrays in files, read part by part.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/array_file.hpp"
#include "report/output_file.hpp"

namespace warpfold::report {
namespace {

// Owns a descriptor until release().
class open_file {
public:
    explicit open_file(int descriptor) : descriptor_(descriptor) {
        if (descriptor < 0) {
            throw bad_array(std::strerror(errno));
        }
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    ~open_file() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }
    [[nodiscard]] int get() const { return descriptor_; }
    int release() { return std::exchange(descriptor_, -1); }

private:
    int descriptor_;
};

// Copies everything from `from` to an unnamed file.
int copy_of_pipe(int from) {
    std::string name = (std::filesystem::temp_directory_path() / "warpfold.XXXXXX").string();
    open_file to(::mkostemp(name.data(), O_CLOEXEC));
    ::unlink(name.c_str());
    std::vector<char> buffer(std::size_t{1} << 20);
    for (;;) {
        const ssize_t got = ::read(from, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw bad_array(std::strerror(errno));
        }
        if (got == 0) {
            return to.release();
        }
        try {
            write_all(to.get(), {buffer.data(), static_cast<std::size_t>(got)},
                      "a copy in the folder for temporary files");
        } catch (const write_error& error) {
            throw bad_array(error.what());
        }
    }
}

} // namespace

array_reader::array_reader(const std::string& path, std::optional<array_type> raw) {
    // Non-blocking: open must not wait for the writer of a pipe.
    open_file file(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                               : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts {};
    const bool known = ::fstat(file.get(), &facts) == 0;
    if (known && path == "-" && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
        open_file copy(copy_of_pipe(file.get()));
        if (::fstat(copy.get(), &facts) != 0) {
            throw bad_array(std::strerror(errno));
        }
        descriptor_ = copy.release();
    } else if (!known || !S_ISREG(facts.st_mode)) {
        throw bad_array(known && S_ISDIR(facts.st_mode) ? "it is a directory"
                                                        : "it is no regular file; a pipe is read as standard input, -");
    } else {
        descriptor_ = file.release();
    }
    try {
        bytes_ = static_cast<std::uint64_t>(facts.st_size);
        std::vector<std::byte> begin(std::min<std::uint64_t>(bytes_, header_bytes));
        read_bytes(0, begin.data(), begin.size());
        layout_ = layout_of(begin, bytes_, path, raw);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

array_reader::~array_reader() { ::close(descriptor_); }

void array_reader::read(std::uint64_t first, void* to, std::uint64_t count) const {
    const std::size_t each = size_of(layout_.type);
    read_bytes(layout_.data_offset + first * each, to, count * each);
}

void array_reader::read_bytes(std::uint64_t at, void* to, std::uint64_t bytes) const {
    auto* place = static_cast<char*>(to);
    while (bytes != 0) {
        const ssize_t got = ::pread(descriptor_, place, bytes, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw bad_array(std::strerror(errno));
        }
        if (got == 0) {
            throw bad_array(
                fmt::format("the file ends after {} of {} bytes: it became shorter while it was read", at, bytes_));
        }
        place += got;
        at += static_cast<std::uint64_t>(got);
        bytes -= static_cast<std::uint64_t>(got);
    }
}

} // namespace warpfold::report
