// SPDX-License-Identifier: MIT
// What the commands on arrays share (sum, scan, histogram, convolve): their files, the target, the results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "calls/calls.hpp"
#include "report/array_file.hpp"
#include "report/output_file.hpp"
#include "tool/runtime_choice.hpp"

namespace warpfold::tool {

inline constexpr const char* array_help =
    "a .npy array of integers of 8 to 64 bits, float or double (C order, any shape), or raw little-endian elements";
inline constexpr const char* array_type_names =
    "int8, uint8, int16, uint16, int32, uint32, int64, uint64, float, double";

// --type, --device, --card and --workers.
struct array_options {
    std::optional<std::string> type; // of raw files
    device_options device;
};
void add_array_options(CLI::App& app, array_options& options);

// Throws usage_error for an unknown type, failure for a file that holds no array; the message names the file.
[[nodiscard]] std::unique_ptr<report::array_file> open_array(const std::string& path, const array_options& options);
[[nodiscard]] calls::array_view view_of(const report::array_file& array);

// The host's cores, a GPU or the software GPU. Throws as choose_device() does.
[[nodiscard]] calls::target& choose_target(const device_options& options);

// Results of a call: elements behind the header of a .npy file, which can be written as they stand.
class result_array {
public:
    result_array(report::array_type type, std::vector<std::uint64_t> shape);

    [[nodiscard]] void* data() noexcept { return file_.data() + header_; }
    // One element a line.
    [[nodiscard]] std::string lines() const;
    [[nodiscard]] const std::string& npy() const noexcept { return file_; }

private:
    report::array_type type_;
    std::size_t header_;
    std::string file_;
};

// --out: a .npy file, or lines on standard output where it is not given.
class result_place {
public:
    // Throws report::write_error at once where the file could not be written later.
    explicit result_place(const std::optional<std::string>& path);
    void put(const result_array& result);

private:
    std::optional<report::output_file> file_;
};

inline constexpr const char* out_help = "write a .npy file (default: one element a line, on standard output)";

// One element as text that reads back to the same value.
[[nodiscard]] std::string element_text(report::array_type type, const void* data, std::uint64_t index);

} // namespace warpfold::tool
