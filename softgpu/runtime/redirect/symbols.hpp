// SPDX-License-Identifier: MIT
// The functions that an ELF file defines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace softgpu::redirect {

// A file in memory, to be read. Empty if it cannot be opened.
class mapped_file {
public:
    explicit mapped_file(const char* path);
    ~mapped_file();
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    // nullptr if the records are not inside the file.
    template <class Record>
    [[nodiscard]] const Record* at(std::uint64_t offset, std::uint64_t count) const {
        const bool inside = data_ != nullptr && offset <= bytes_ && count <= (bytes_ - offset) / sizeof(Record);
        return inside ? reinterpret_cast<const Record*>(data_ + offset) : nullptr;
    }

private:
    const char* data_ = nullptr;
    std::size_t bytes_ = 0;
};

struct symbol {
    std::uint64_t address; // before the file was moved to its place
    std::uint64_t bytes;
    std::string_view name; // in the file; ends with a zero
};

enum class symbol_table : std::uint8_t { all, exported };

// In the order of their addresses. None for a file without this table, or whose table does not name `one`.
[[nodiscard]] std::vector<symbol> functions_of(const mapped_file& file, symbol_table table,
                                               std::string_view one = "cudaGetErrorString");

[[nodiscard]] bool defines(const std::vector<symbol>& functions, std::string_view name);

} // namespace softgpu::redirect
