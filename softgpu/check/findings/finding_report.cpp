// SPDX-License-Identifier: MIT
#include "softgpu/check/findings/finding_report.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace softgpu::check {

using json = nlohmann::ordered_json;

namespace {

json place_json(const source_place& p) {
    json out = json::object();
    if (!p.file.empty()) {
        out["file"] = p.file;
        out["line"] = p.line;
    }
    if (!p.called_from.empty()) {
        out["called_from"] = json::array();
        for (const auto& [file, line] : p.called_from) {
            out["called_from"].push_back({{"file", file}, {"line", line}});
        }
    }
    if (p.ptx_line != 0) {
        out["ptx_line"] = p.ptx_line;
    }
    if (!p.instruction.empty()) {
        out["ptx"] = p.instruction;
    }
    return out;
}

} // namespace

std::string to_json(const std::vector<finding>& list, std::string_view program,
                    const std::vector<std::string>& not_printed) {
    json out;
    if (!program.empty()) {
        out["program"] = program;
    }
    out["count"] = std::count_if(list.begin(), list.end(), [](const finding& f) { return !f.is_note; });
    out["findings"] = json::array();
    for (const finding& f : list) {
        json one;
        one["check"] = name_of(f.check);
        one["kind"] = f.kind;
        one["severity"] = f.is_note ? "note" : "error";
        one["message"] = f.message;
        if (!f.kernel.empty()) {
            one["kernel"] = f.kernel;
        }
        if (!f.address.empty()) {
            one["address"] = f.address;
        }
        if (!f.allocation.empty()) {
            one["allocation"] = f.allocation;
        }
        one["accesses"] = json::array();
        for (const finding_access& a : f.accesses) {
            json access;
            access["what"] = a.what;
            if (a.has_thread) {
                access["block"] = a.block;
                access["thread"] = a.thread;
            }
            if (a.value) {
                access["value"] = *a.value;
            }
            access["where"] = place_json(a.where);
            one["accesses"].push_back(std::move(access));
        }
        one["times"] = f.times;
        out["findings"].push_back(std::move(one));
    }
    if (!not_printed.empty()) {
        out["not_printed"] = not_printed;
    }
    return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace softgpu::check
