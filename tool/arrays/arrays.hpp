// SPDX-License-Identifier: MIT
// What the commands on arrays share (reduce, sum, scan, histogram, convolve): their files, the target, the results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "report/array_file.hpp"
#include "report/output_file.hpp"
#include "tool/arrays/calls.hpp"
#include "tool/progress.hpp"
#include "tool/run/runtime_choice.hpp"

namespace warpfold::tool {

inline constexpr const char* input_help = "a .npy array of integers of 8 to 64 bits, float or double (C order, any "
                                          "shape), or raw little-endian elements; - is "
                                          "standard input";
inline constexpr const char* array_help =
    "a .npy array of integers of 8 to 64 bits, float or double (C order, any shape), or raw little-endian elements";
inline constexpr const char* array_type_names =
    "int8, uint8, int16, uint16, int32, uint32, int64, uint64, float, double";

// --type, --device, --gpus, --card and --workers.
struct array_options {
    std::optional<std::string> type; // of raw files
    std::optional<std::string> chunk;
    device_options device;
    std::optional<std::string> gpus; // a number, or "all"; else one
};
void add_array_options(CLI::App& app, array_options& options, const char* types = array_type_names);

// A file that is read part by part, of any size; "-" is standard input.
class array_input final : public calls::array_source {
public:
    // Throws usage_error for an unknown type, failure for a file that holds no array; the message names the file.
    array_input(std::string path, const array_options& options);

    [[nodiscard]] const report::array_layout& layout() const noexcept { return reader_->layout(); }
    [[nodiscard]] report::array_type type() const override { return layout().type; }
    [[nodiscard]] std::uint64_t size() const override { return layout().count; }
    // Throws failure, which names the file.
    void read(std::uint64_t first, void* to, std::uint64_t count) const override;

private:
    std::string path_;
    std::unique_ptr<report::array_reader> reader_;
};

// --chunk, for what is read part by part.
void add_chunk_option(CLI::App& app, array_options& options);
// Portions of an array as --chunk says, and a bar on `line` that is `what` is done with.
[[nodiscard]] calls::passage passage_of(const array_options& options, progress& line, const std::string& what);

// The host's cores, GPUs or the software GPU; at one rank under mpirun. Throws as choose_device() does.
[[nodiscard]] std::unique_ptr<calls::target> choose_target(const array_options& options);

// Results of a call: elements behind the header of a .npy file, which can be written as they stand.
class result_array {
public:
    result_array(report::array_type type, const std::vector<std::uint64_t>& shape);

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
    // A .npy file is to be written, part by part: to temporary(), and then this makes it the file.
    [[nodiscard]] bool to_file() const noexcept { return file_.has_value(); }
    [[nodiscard]] const std::string& temporary() const noexcept { return file_->temporary(); }
    void commit() { file_->commit_file(); }

private:
    std::optional<report::output_file> file_;
};

inline constexpr const char* out_help = "write a .npy file (default: one element a line, on standard output)";

// One element as text that reads back to the same value.
[[nodiscard]] std::string element_text(report::array_type type, const void* data, std::uint64_t index);

} // namespace warpfold::tool
