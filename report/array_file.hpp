// SPDX-License-Identifier: MIT
// Arrays in files: NumPy's .npy format (versions 1.0, 2.0 and 3.0) and raw little-endian elements.
// Format: "NEP 1 - A simple file format for NumPy arrays" and numpy.lib.format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::report {

enum class array_type { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

[[nodiscard]] std::size_t size_of(array_type type) noexcept;          // bytes
[[nodiscard]] std::string_view name_of(array_type type) noexcept;     // "int8", "uint64", "float", "double"
[[nodiscard]] std::string_view npy_name_of(array_type type) noexcept; // as a .npy file calls it: "<i4", "|u1"
// The inverse of name_of. Empty for an unknown name.
[[nodiscard]] std::optional<array_type> array_type_named(std::string_view name) noexcept;
[[nodiscard]] std::optional<array_type> array_type_in_npy(std::string_view descr) noexcept;

// The file cannot be read or is not a supported array. One line, without the file's name.
class bad_array : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct array_layout {
    array_type type = array_type::int32;
    std::vector<std::uint64_t> shape; // empty: a single value
    std::uint64_t count = 1;          // elements
    std::size_t data_offset = 0;      // of the first element, in bytes
};

// Whether the bytes begin with the magic of .npy files.
[[nodiscard]] bool is_npy(std::span<const std::byte> file) noexcept;

// Checks a whole .npy file: header, type, order, and exact size of the data. Throws bad_array.
[[nodiscard]] array_layout parse_npy(std::span<const std::byte> file);

// The same for the file's first bytes and its size. header_bytes of them are always enough.
inline constexpr std::size_t header_bytes = 64 * 1024 + 12;
[[nodiscard]] array_layout parse_npy(std::span<const std::byte> begin, std::uint64_t file_bytes);

// The header of a .npy file, format 1.0, or 2.0 if the shape needs it.
[[nodiscard]] std::string npy_header(array_type type, const std::vector<std::uint64_t>& shape);

// The layout that array_reader reads, of a .npy file or of raw elements of type `raw`, which must equal the type of a .npy file,
// if given. `begin` and `file_bytes` are as for parse_npy; `path` gives the kind. Throws bad_array.
[[nodiscard]] array_layout layout_of(std::span<const std::byte> begin, std::uint64_t file_bytes,
                                     const std::string& path, std::optional<array_type> raw);

// A file whose elements are read part by part.
class array_reader {
public:
    // `raw`: see layout_of(). Path "-" is standard input. A pipe is copied to an unnamed file. Throws bad_array.
    array_reader(const std::string& path, std::optional<array_type> raw);
    ~array_reader();
    array_reader(const array_reader&) = delete;
    array_reader& operator=(const array_reader&) = delete;

    [[nodiscard]] const array_layout& layout() const noexcept { return layout_; }
    // `count` existing elements from `first` on. Thread-safe. Throws bad_array.
    void read(std::uint64_t first, void* to, std::uint64_t count) const;

private:
    void read_bytes(std::uint64_t at, void* to, std::uint64_t bytes) const;

    int descriptor_ = -1;
    std::uint64_t bytes_ = 0; // of the file, when it was opened
    array_layout layout_;
};

} // namespace warpfold::report
