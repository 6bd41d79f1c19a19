// SPDX-License-Identifier: MIT
#include "tool/run/run_files.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "report/json.hpp"
#include "tool/error.hpp"

namespace warpfold::tool {
namespace {

using report::json;

constexpr std::size_t head = 4096; // where a document says that it is unfinished

std::string escaped(const std::string& path) {
    std::string out;
    for (const char c : path) {
        out += c == '%' ? "%%" : std::string(1, c);
    }
    return out;
}

// "counters-TIME-PROCESS.json"; who does not know of such names has written to the one that it was given.
process_file read(const std::filesystem::path& path, const std::string& what) {
    process_file file;
    unsigned long long began = 0;
    unsigned long long process = 0;
    const std::string stem = path.stem().string();
    if (std::sscanf(stem.c_str() + what.size(), "-%llu-%llu", &began, &process) == 2) {
        file.began = began;
        file.process = process;
    }
    std::ifstream in(path, std::ios::binary);
    file.text.assign(std::istreambuf_iterator<char>(in), {});
    return file;
}

bool has(const process_file& file, std::string_view part) { return file.text.find(part) != std::string::npos; }

bool is_unfinished(const process_file& file) {
    return std::string_view(file.text).substr(0, head).find("\"unfinished\":true") != std::string_view::npos;
}

std::vector<const process_file*> those_with(const std::vector<process_file>& files, std::string_view part) {
    std::vector<const process_file*> all;
    for (const process_file& f : files) {
        if (has(f, part)) {
            all.push_back(&f);
        }
    }
    return all;
}

void remark_on_ends(const std::vector<process_file>& files, merged& out) {
    for (const process_file& f : files) {
        if (is_unfinished(f)) {
            out.remarks.push_back(fmt::format(
                "process {} did not end by exit(): what it did after its last synchronisation may be missing",
                f.process));
        }
    }
}

constexpr std::string_view launches = "\"launches\":[";

} // namespace

run_files::run_files(const std::string& folder, const char* what, const char* variable,
                     const std::optional<std::string>& target)
    : folder_(folder), what_(what), path_(target.value_or("")) {
    if (target) {
        target_ = std::make_unique<report::output_file>(*target);
    }
    ::setenv(variable, (escaped(folder) + "/" + what_ + "-%t-%p.json").c_str(), 1);
}

std::vector<process_file> run_files::left() const {
    std::vector<process_file> files;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(what_ + "-") && name.ends_with(".json")) {
            files.push_back(read(entry.path(), what_));
        }
    }
    std::sort(files.begin(), files.end(), [](const process_file& a, const process_file& b) {
        return std::tie(a.began, a.process) < std::tie(b.began, b.process);
    });
    return files;
}

void run_files::write(const std::string& text) {
    if (target_) {
        target_->commit(text);
    }
}

merged merge_counters(const std::vector<process_file>& files) {
    merged out;
    remark_on_ends(files, out);
    const auto some = those_with(files, "\"launches\":[\n{");
    if (some.size() < 2) {
        out.text = some.empty() ? files.front().text : some.front()->text;
        return out;
    }
    const auto device_of = [](const process_file& f) { return f.text.substr(0, f.text.find(",\n")); };
    out.text = device_of(*some.front()) + ",\n" + std::string(launches);
    const char* separator = "\n";
    bool alike = true;
    for (const process_file* const f : some) {
        alike = alike && device_of(*f) == device_of(*some.front());
        std::string_view rest = f->text;
        rest.remove_prefix(rest.find(launches) + launches.size() + 1);
        while (rest.starts_with("{")) { // a launch a line
            const std::size_t end = rest.find('\n');
            std::string_view line = rest.substr(0, end);
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
            line.remove_suffix(line.ends_with(',') ? 1 : 0);
            out.text += fmt::format("{}{{\"process\":{},{}", separator, f->process, line.substr(1));
            separator = ",\n";
        }
    }
    out.text += "\n]}\n";
    if (!alike) {
        out.remarks.emplace_back("the processes had several cards: \"device\" is the first one's");
    }
    return out;
}

merged merge_profiles(const std::vector<process_file>& files) {
    merged out;
    const auto some = those_with(files, "\"kernels\":[\n{");
    const process_file& chosen = some.empty() ? files.back() : *some.back();
    out.text = chosen.text;
    remark_on_ends({chosen}, out);
    if (some.size() > 1) {
        out.remarks.push_back(
            fmt::format("{} processes have launched kernels: the profile is that of process {}, the last to "
                        "begin; SOFTGPU_PROFILE=profile-%p.json gives each a file of its own",
                        some.size(), chosen.process));
    }
    return out;
}

merged merge_timelines(const std::vector<process_file>& files) {
    merged out;
    remark_on_ends(files, out);
    const auto some = those_with(files, "\"traceEvents\":[\n{");
    if (some.size() < 2) {
        out.text = some.empty() ? files.front().text : some.front()->text;
        return out;
    }
    json machines = json::object();
    std::string events;
    int before = 0;
    for (const process_file* const f : some) {
        const json document = json::parse(f->text, nullptr, false);
        if (!document.is_object()) {
            throw failure("the software GPU left a timeline that cannot be read");
        }
        machines.update(document["otherData"]["machines"]);
        int last = before;
        for (json event : document["traceEvents"]) {
            const int place = before + event.value("pid", 0);
            last = std::max(last, place);
            event["pid"] = place;
            if (event["name"] == "process_name") {
                event["args"]["name"] = fmt::format("{}, process {}", event["args"].value("name", ""), f->process);
            } else if (event["name"] == "process_sort_index") {
                event["args"]["sort_index"] = place;
            }
            events += (events.empty() ? "\n" : ",\n") + event.dump();
        }
        before = last;
    }
    out.text = "{\"displayTimeUnit\":\"ns\",\n\"otherData\":" + json({{"machines", machines}}).dump() +
               ",\n\"traceEvents\":[" + events + "\n]}\n";
    return out;
}

merged_findings merge_findings(const std::vector<process_file>& files) {
    merged_findings out;
    json all;
    all["count"] = 0;
    all["findings"] = json::array();
    std::vector<json> documents;
    for (const process_file& f : files) {
        json document = json::parse(f.text, nullptr, false);
        if (!document.is_object() || !document.contains("count") || !document["count"].is_number_unsigned() ||
            !document.contains("findings") || !document["findings"].is_array()) {
            throw failure("the software GPU left no list of findings");
        }
        out.count += document["count"].get<std::uint64_t>();
        for (const json& paragraph : document.value("not_printed", json::array())) {
            out.not_printed.push_back(paragraph.get<std::string>());
        }
        document.erase("not_printed");
        for (json finding : document["findings"]) {
            finding["process"] = f.process;
            finding["program"] = document.value("program", "");
            all["findings"].push_back(std::move(finding));
        }
        documents.push_back(std::move(document));
    }
    all["count"] = out.count;
    out.text = (files.size() == 1 ? documents.front() : all).dump(1) + "\n";
    return out;
}

} // namespace warpfold::tool
