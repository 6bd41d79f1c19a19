// SPDX-License-Identifier: MIT
#include "tool/explain/profile_file.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/text.hpp"
#include "tool/error.hpp"

namespace warpfold::tool {
namespace {

using profile_json = nlohmann::json;
using softgpu::observe::point_counts;
using softgpu::observe::profile_point;

constexpr std::uint64_t most_lines = 1u << 30;

// get<>() makes something of negative numbers and of fractions.
std::uint64_t number_in(const profile_json& j) {
    if (!j.is_number_unsigned()) {
        throw failure("a number is missing, negative or no integer");
    }
    return j.get<std::uint64_t>();
}

std::uint32_t line_in(const profile_json& j) {
    const std::uint64_t line = number_in(j);
    if (line > most_lines) {
        throw failure(fmt::format("{} is no number of a line", line));
    }
    return static_cast<std::uint32_t>(line);
}

point_counts counts_of(const profile_json& j) {
    point_counts c;
    c.guarded_off = number_in(j.at("guarded_off"));
    const profile_json& counters = j.at("counters");
#define SOFTGPU_COUNTER(name, combine, meaning) c.counts.name = number_in(counters.value(#name, profile_json(0u)));
#include "softgpu/observe/counters.def"
#undef SOFTGPU_COUNTER
    return c;
}

profile_point point_of(const profile_json& j) {
    profile_point p;
    p.function = j.at("function").get<std::string>();
    p.ptx = j.at("ptx").get<std::string>();
    p.ptx_line = line_in(j.at("ptx_line"));
    for (const profile_json& at : j.at("at")) {
        p.at.push_back(
            {at.at(0).get<std::string>(), line_in(at.at(1)), line_in(at.at(2)), at.at(3).get<std::string>()});
    }
    return p;
}

profile_file profile_of(const profile_json& j) {
    profile_file file;
    file.card = j.at("device").at("name").get<std::string>();
    for (const auto& [path, lines] : j.at("sources").items()) {
        auto& known = file.sources[path];
        for (const auto& [number, text] : lines.items()) {
            std::uint32_t line = 0;
            const char* const end = number.data() + number.size();
            if (const auto [at, wrong] = std::from_chars(number.data(), end, line);
                at != end || wrong != std::errc{} || line > most_lines) {
                throw failure(fmt::format("'{}' is no number of a line", number));
            }
            known[line] = text.get<std::string>();
        }
    }
    for (const profile_json& k : j.at("kernels")) {
        profile_kernel& kernel = file.kernels.emplace_back();
        kernel.name = k.at("kernel").get<std::string>();
        kernel.launches = number_in(k.at("launches"));
        for (const profile_json& i : k.at("instructions")) {
            kernel.points.push_back(point_of(i));
            kernel.counts.push_back(counts_of(i));
        }
    }
    return file;
}

} // namespace

profile_file read_profile(const std::string& path) {
    const std::string name = report::printable(path);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        throw failure(fmt::format("cannot read {}: it is a folder", name));
    }
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw failure(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
    }
    const profile_json j = profile_json::parse(in, nullptr, false);
    if (j.is_discarded() || !j.is_object() || j.value("format", profile_json()) != "warpfold profile") {
        throw failure(fmt::format("{} is no profile; warpfold run --profile {} -- PROGRAM writes one", name, name));
    }
    if (j.value("version", profile_json()) != 1) {
        throw failure(fmt::format("{} is a profile of another version of warpfold", name));
    }
    try {
        return profile_of(j);
    } catch (const profile_json::exception& wrong) {
        throw failure(fmt::format("{} is a damaged profile: {}", name, report::printable(wrong.what())));
    } catch (const failure& wrong) {
        throw failure(fmt::format("{} is a damaged profile: {}", name, report::printable(wrong.what())));
    }
}

} // namespace warpfold::tool
