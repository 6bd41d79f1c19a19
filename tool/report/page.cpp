// SPDX-License-Identifier: MIT
#include "tool/report/page.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "report/text.hpp"
#include "softgpu/observe/counters.hpp"
#include "tool/error.hpp"

namespace warpfold::tool {
namespace {

constexpr const char* packaged_library = "/usr/share/nodejs/d3/dist/d3.min.js";
constexpr std::string_view library_head = "// https://d3js.org v5.";

std::string replaced(std::string_view text, char what, std::string_view by) {
    std::string out;
    for (const char c : text) {
        c == what ? out.append(by) : out.append(1, c);
    }
    return out;
}

std::string escaped(std::string_view text) { return replaced(replaced(text, '&', "&amp;"), '<', "&lt;"); }

// No "</script>" and no "<!--" in it.
std::string data_text(const report::json& document) {
    return replaced(document.dump(-1, ' ', false, report::json::error_handler_t::replace), '<', "\\u003c");
}

std::string part(std::string_view name, const report::json& document, std::string_view library) {
    if (name == "title") {
        // As the data has it: bytes that are no UTF-8 become U+FFFD.
        return escaped(report::json::parse(data_text(document.at("title"))).get<std::string>());
    }
    if (name == "data") {
        return data_text(document);
    }
    if (name == "d3") {
        return std::string(library);
    }
    return std::string(report_file(fmt::format("tool/report/{}", name)));
}

} // namespace

std::string_view report_file(std::string_view path) {
    for (const ladder::source_file& file : report_files()) {
        if (file.path == path) {
            return file.text;
        }
    }
    return {};
}

std::string charts_library() {
    const char* const named = std::getenv("WARPFOLD_D3");
    const std::string path = named != nullptr && *named != '\0' ? named : packaged_library;
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw failure(
            fmt::format("a report needs d3 5 for its charts, and {} cannot be read: apt-get install node-d3, or "
                        "name a d3.min.js of version 5 in WARPFOLD_D3",
                        report::printable(path)));
    }
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (!text.starts_with(library_head) || text.find("</script") != std::string::npos) {
        throw failure(fmt::format("{} is no d3.min.js of version 5", report::printable(path)));
    }
    return text;
}

report::json new_document(const std::string& title, const std::string& command) {
    report::json out;
    out["title"] = title;
    out["command"] = command;
    out["version"] = WARPFOLD_VERSION;
    out["date"] = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::now()));
    softgpu::observe::for_each_counter(softgpu::observe::counters{},
                                       [&](std::string_view name, std::uint64_t, std::string_view meaning) {
                                           out["meanings"][std::string(name)] = meaning;
                                       });
    return out;
}

// {{name}} of page.html becomes that part; parts are not searched again.
std::string page_of(const report::json& document, std::string_view library) {
    std::string_view rest = report_file("tool/report/page.html");
    std::string out;
    for (std::size_t open = 0; (open = rest.find("{{")) != std::string_view::npos;) {
        const std::size_t close = rest.find("}}", open);
        out.append(rest.substr(0, open));
        out += part(rest.substr(open + 2, close - open - 2), document, library);
        rest.remove_prefix(close + 2);
    }
    return out.append(rest);
}

} // namespace warpfold::tool
