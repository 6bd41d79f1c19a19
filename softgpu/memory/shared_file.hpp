// SPDX-License-Identifier: MIT
// A file in memory, without a name, whose pages several addresses and several processes can map. It lasts as long as one of
// them has it open or mapped.
#pragma once

#include <cstdint>

namespace softgpu::memory {

class shared_file {
public:
    // Zeros; memory is used at the first write. Throws std::system_error.
    explicit shared_file(std::uint64_t bytes);
    // Takes an open file over.
    static shared_file of_descriptor(int descriptor) noexcept { return shared_file(descriptor, 0); }
    // The file that a process of this user has open under this descriptor. Throws std::system_error.
    static shared_file of_process(int process, int descriptor);
    ~shared_file();
    shared_file(shared_file&& other) noexcept;
    shared_file& operator=(shared_file&&) = delete;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    // These tell files apart, and how long it is; 0 if it is no file.
    [[nodiscard]] std::uint64_t number() const noexcept;
    [[nodiscard]] std::uint64_t bytes() const noexcept;
    // All of [offset, offset + bytes). Return false if the file is shorter or cannot be accessed.
    bool write(const void* from, std::uint64_t bytes, std::uint64_t offset) const noexcept;
    bool read(void* to, std::uint64_t bytes, std::uint64_t offset) const noexcept;
    // Maps a part, for the host to read and write, at an address of the caller's or (0) at any. Throws std::system_error.
    std::uint64_t map(std::uint64_t at, std::uint64_t bytes, std::uint64_t offset) const;

private:
    shared_file(int descriptor, int /*taken*/) noexcept : descriptor_(descriptor) {}

    int descriptor_;
};

} // namespace softgpu::memory
