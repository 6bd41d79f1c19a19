// SPDX-License-Identifier: MIT
// Arrays in files, mapped into memory.
#include "report/array_file.hpp"

#include <bit>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace warpfold::report {

static_assert(std::endian::native == std::endian::little, "array files are little-endian, and read as they lie");

array_layout layout_of(std::span<const std::byte> begin, std::uint64_t file_bytes, const std::string& path,
                       std::optional<array_type> raw) {
    array_layout layout;
    if (is_npy(begin)) {
        layout = parse_npy(begin, file_bytes);
        if (raw && *raw != layout.type) {
            throw bad_array(fmt::format("the .npy file holds {}, not {}", name_of(layout.type), name_of(*raw)));
        }
    } else if (path.ends_with(".npy")) {
        throw bad_array("the file does not begin as a .npy file does");
    } else if (!raw) {
        throw bad_array("the file is no .npy file: say with --type what its bytes are");
    } else if (file_bytes % size_of(*raw) != 0) {
        throw bad_array(fmt::format("{} bytes are no whole number of {} elements", file_bytes, name_of(*raw)));
    } else {
        layout.type = *raw;
        layout.count = file_bytes / size_of(*raw);
        layout.shape = {layout.count};
    }
    return layout;
}

array_file::array_file(const std::string& path, std::optional<array_type> raw) {
    map(path);
    try {
        const std::span file(static_cast<const std::byte*>(mapping_), mapped_bytes_);
        npy_ = is_npy(file);
        layout_ = layout_of(file, mapped_bytes_, path, raw);
        const std::size_t bytes = layout_.count * size_of(layout_.type);
        data_ = bytes == 0 ? nullptr : static_cast<const std::byte*>(mapping_) + layout_.data_offset;
        if (bytes != 0 && layout_.data_offset % size_of(layout_.type) != 0) {
            aligned_copy_.resize((bytes + 7) / 8);
            std::memcpy(aligned_copy_.data(), data_, bytes);
            data_ = aligned_copy_.data();
        }
    } catch (...) {
        release();
        throw;
    }
}

array_file::~array_file() { release(); }

void array_file::map(const std::string& path) {
    // Non-blocking: open must not wait for the writer of a pipe.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        throw bad_array(std::strerror(errno));
    }
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        ::close(descriptor);
        throw bad_array(S_ISDIR(facts.st_mode) ? "it is a directory" : "it is no regular file");
    }
    mapped_bytes_ = static_cast<std::size_t>(facts.st_size);
    if (mapped_bytes_ > 0) {
        mapping_ = ::mmap(nullptr, mapped_bytes_, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (mapping_ == MAP_FAILED) {
            mapping_ = nullptr;
            const int error = errno;
            ::close(descriptor);
            throw bad_array(std::strerror(error));
        }
    }
    ::close(descriptor);
}

void array_file::release() noexcept {
    if (mapping_ != nullptr) {
        ::munmap(mapping_, mapped_bytes_);
        mapping_ = nullptr;
    }
}

} // namespace warpfold::report
