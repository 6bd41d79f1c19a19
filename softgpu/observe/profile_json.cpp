// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "softgpu/observe/json.hpp"
#include "softgpu/observe/json_parts.hpp"
#include "softgpu/observe/whole_file.hpp"

namespace softgpu::observe {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint32_t neighbours = 3;
constexpr std::size_t longest_line = 400;
constexpr std::uintmax_t largest_file = 32 << 20;

json meanings() {
    json all = json::object();
    for_each_counter(counters{}, [&](std::string_view name, std::uint64_t, std::string_view meaning) {
        all[std::string(name)] = meaning;
    });
    return all;
}

// The lines of interest of a file, as they are now; nothing where it cannot be read.
json lines_of(const std::string& path, const std::set<std::uint32_t>& wanted) {
    json lines = json::object();
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > largest_file) {
        return lines;
    }
    std::ifstream in(path);
    std::string text;
    for (std::uint32_t n = 1; n <= *wanted.rbegin() && std::getline(in, text); ++n) {
        if (wanted.contains(n)) {
            lines[std::to_string(n)] = text.substr(0, longest_line);
        }
    }
    return lines;
}

json sources_of(std::span<const kernel_profile> kernels) {
    std::map<std::string, std::set<std::uint32_t>> wanted;
    for (const kernel_profile& k : kernels) {
        for (const profile_point& p : k.points) {
            for (const source_place& at : p.at) {
                std::set<std::uint32_t>& lines = wanted[at.file];
                for (std::uint32_t n = at.line - std::min(at.line - 1, neighbours); n <= at.line + neighbours; ++n) {
                    lines.insert(n);
                }
            }
        }
    }
    json sources = json::object();
    for (const auto& [path, lines] : wanted) {
        sources[path] = lines_of(path, lines);
    }
    return sources;
}

json instruction_of(const profile_point& p, const point_counts& c) {
    json out;
    out["ptx"] = p.ptx;
    out["ptx_line"] = p.ptx_line;
    out["function"] = p.function;
    out["at"] = json::array();
    for (const source_place& at : p.at) {
        out["at"].push_back({at.file, at.line, at.column, at.function});
    }
    out["guarded_off"] = c.guarded_off;
    out["counters"] = json::object();
    for_each_counter(c.counts, [&](std::string_view name, std::uint64_t value, std::string_view) {
        if (value != 0) {
            out["counters"][std::string(name)] = value;
        }
    });
    return out;
}

} // namespace

void write_profile(const std::string& path, const device_facts& device, std::span<const kernel_profile> kernels,
                   bool finished) {
    whole_file file(path);
    file.put(R"({"format":"warpfold profile","version":1,)"
             "\n" +
             std::string(finished ? "" : "\"unfinished\":true,\n") + "\"device\":" + text_of(facts_json(device)) +
             ",\n\"counters\":" + text_of(meanings()) + ",\n\"sources\":" + text_of(sources_of(kernels)) +
             ",\n\"kernels\":[");
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const kernel_profile& kernel = kernels[k];
        file.put(std::string(k == 0 ? "\n" : ",\n") + "{\"kernel\":" + text_of(kernel.kernel) + ",\"symbol\":" +
                 text_of(kernel.symbol) + ",\"launches\":" + std::to_string(kernel.launches) + ",\"instructions\":[");
        for (std::size_t n = 0; n < kernel.points.size(); ++n) {
            const point_counts none;
            file.put((n == 0 ? "\n " : ",\n ") +
                     text_of(instruction_of(kernel.points[n], n < kernel.counts.size() ? kernel.counts[n] : none)));
        }
        file.put("]}");
    }
    file.put("\n]}\n");
    file.commit();
}

} // namespace softgpu::observe
