// SPDX-License-Identifier: MIT
// The layout of arrays in files.
#include "report/array_file.hpp"

#include <bit>

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

} // namespace warpfold::report
