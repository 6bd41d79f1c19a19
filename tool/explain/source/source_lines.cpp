// SPDX-License-Identifier: MIT
#include "tool/explain/source/source_lines.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

namespace warpfold::tool {
namespace {

constexpr std::uintmax_t largest_file = 32 << 20;

bool read(const std::filesystem::path& path, std::map<std::uint32_t, std::string>& lines) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > largest_file) {
        return false;
    }
    std::ifstream in(path);
    std::string text;
    for (std::uint32_t n = 1; std::getline(in, text); ++n) {
        lines[n] = text;
    }
    return !lines.empty();
}

} // namespace

source_lines::source_lines(std::string folder,
                           const std::map<std::string, std::map<std::uint32_t, std::string>>& embedded)
    : folder_(std::move(folder)), embedded_(embedded) {}

const std::map<std::uint32_t, std::string>& source_lines::lines_of(const std::string& path) {
    if (const auto known = read_.find(path); known != read_.end()) {
        return known->second;
    }
    std::map<std::uint32_t, std::string>& lines = read_[path];
    if (!folder_.empty()) {
        // The longest end of the path that is there: a/b/c.cu, b/c.cu, c.cu.
        std::filesystem::path rest = std::filesystem::path(path).relative_path();
        while (!rest.empty()) {
            if (read(std::filesystem::path(folder_) / rest, lines)) {
                return lines;
            }
            std::filesystem::path shorter;
            for (auto part = std::next(rest.begin()); part != rest.end(); ++part) {
                shorter /= *part;
            }
            rest = shorter;
        }
    }
    if (const auto found = embedded_.find(path); found != embedded_.end() && !found->second.empty()) {
        lines = found->second;
    } else {
        read(path, lines);
    }
    return lines;
}

const std::string* source_lines::line(const std::string& path, std::uint32_t number) {
    const std::map<std::uint32_t, std::string>& lines = lines_of(path);
    const auto found = lines.find(number);
    return found == lines.end() ? nullptr : &found->second;
}

} // namespace warpfold::tool
