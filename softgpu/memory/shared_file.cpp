// SPDX-License-Identifier: MIT
#include "softgpu/memory/shared_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace softgpu::memory {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

} // namespace

shared_file::shared_file(std::uint64_t bytes) : descriptor_(memfd_create("softgpu", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
        const int why = errno;
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
        errno = why;
        fail("cannot create shared memory");
    }
}

shared_file shared_file::of_process(int process, int descriptor) {
    const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
    const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (opened < 0) {
        fail("cannot open the memory of process " + std::to_string(process));
    }
    return of_descriptor(opened);
}

shared_file::~shared_file() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

shared_file::shared_file(shared_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

std::uint64_t shared_file::number() const noexcept {
    struct stat facts {};
    return fstat(descriptor_, &facts) == 0 ? facts.st_ino : 0;
}

std::uint64_t shared_file::bytes() const noexcept {
    struct stat facts {};
    return fstat(descriptor_, &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

bool shared_file::write(const void* from, std::uint64_t bytes, std::uint64_t offset) const noexcept {
    const auto* next = static_cast<const char*>(from);
    while (bytes != 0) {
        const ssize_t done = pwrite(descriptor_, next, bytes, static_cast<off_t>(offset));
        if (done <= 0) {
            return false;
        }
        next += done;
        offset += static_cast<std::uint64_t>(done);
        bytes -= static_cast<std::uint64_t>(done);
    }
    return true;
}

bool shared_file::read(void* to, std::uint64_t bytes, std::uint64_t offset) const noexcept {
    return pread(descriptor_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

std::uint64_t shared_file::map(std::uint64_t at, std::uint64_t bytes, std::uint64_t offset) const {
    void* const got =
        mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_NORESERVE | (at != 0 ? MAP_FIXED : 0), descriptor_, static_cast<off_t>(offset));
    if (got == MAP_FAILED) {
        fail("cannot map shared memory");
    }
    return reinterpret_cast<std::uint64_t>(got);
}

} // namespace softgpu::memory
