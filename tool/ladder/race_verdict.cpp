// SPDX-License-Identifier: MIT
#include "tool/ladder/race_verdict.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tool/ladder/reduce_options.hpp"
#include "tool/run/program.hpp"

namespace warpfold::tool {
namespace {

using json = nlohmann::json;

constexpr std::uint64_t most_elements = 1u << 14; // every warp of a block does the same

// A file that is gone in the end.
struct passing_file {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("warpfold-races-{}.json", ::getpid());
    ~passing_file() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

bool is_checked(const ladder::reduce_step& step) {
    return step.on_device && !step.peer && step.skipped.empty() && step.error.empty();
}

// What was found in each kernel, by its name: kinds, with the lines of each file.
using lines_of_file = std::map<std::string, std::set<unsigned>>;
using found_in_kernel = std::map<std::string, lines_of_file>;

std::map<std::string, found_in_kernel> by_kernel(const json& document) {
    std::map<std::string, found_in_kernel> all;
    for (const json& f : document.at("findings")) {
        if (f.at("severity") != "error") {
            continue;
        }
        lines_of_file& lines = all[f.value("kernel", "")][f.at("kind")];
        for (const json& access : f.at("accesses")) {
            const json& where = access.at("where");
            if (where.contains("line")) {
                const std::filesystem::path file(where.at("file").get<std::string>());
                lines[file.filename()].insert(where.at("line").get<unsigned>());
            }
        }
    }
    return all;
}

// "race in shared memory: last_warp.cuh, lines 18, 21"
std::string in_words(const found_in_kernel& found) {
    std::string text;
    for (const auto& [kind, files] : found) {
        text += (text.empty() ? "" : "; ") + kind;
        const char* separator = ": ";
        for (const auto& [file, lines] : files) {
            text +=
                fmt::format("{}{}, line{} {}", separator, file, lines.size() == 1 ? "" : "s", fmt::join(lines, ", "));
            separator = "; ";
        }
    }
    return text;
}

json findings_of(const ladder::reduce_report& report, const std::string& steps, const std::string& file) {
    const ladder::reduce_request& q = report.request;
    const auto environment = find_program("env");
    if (!environment) {
        return {};
    }
    static_cast<void>(run_program({*environment,
                                   "-u",
                                   "SOFTGPU_COUNTERS",
                                   "-u",
                                   "SOFTGPU_PROFILE",
                                   "SOFTGPU_CHECK=race",
                                   "SOFTGPU_CHECK_JSON=" + file,
                                   std::filesystem::read_symlink("/proc/self/exe"),
                                   "ladder",
                                   "reduce",
                                   "--device",
                                   "softgpu",
                                   "--no-claims",
                                   "--json",
                                   "-",
                                   "--n",
                                   std::to_string(std::min(q.n, most_elements)),
                                   "--block",
                                   std::to_string(q.block),
                                   "--type",
                                   std::string(name_of(q.type)),
                                   "--op",
                                   std::string(name_of(q.op)),
                                   "--finish",
                                   std::string(name_of(q.finish_on)),
                                   "--seed",
                                   std::to_string(q.seed),
                                   "--steps",
                                   steps},
                                  true));
    std::ifstream in(file);
    return json::parse(in, nullptr, false);
}

} // namespace

void add_race_verdicts(ladder::reduce_report& report) {
    std::string steps;
    for (const ladder::reduce_step& step : report.steps) {
        if (is_checked(step)) {
            steps += (steps.empty() ? "" : ",") + step.id;
        }
    }
    if (steps.empty() || report.request.n == 0) {
        return;
    }
    const passing_file file;
    const json document = findings_of(report, steps, file.path);
    if (!document.is_object() || !document.contains("findings")) {
        return;
    }
    const std::map<std::string, found_in_kernel> found = by_kernel(document);
    for (ladder::reduce_step& step : report.steps) {
        if (!is_checked(step)) {
            continue;
        }
        found_in_kernel of_step;
        for (const auto& launch : step.launches) {
            if (const auto at = found.find(launch.kernel); at != found.end()) {
                of_step.insert(at->second.begin(), at->second.end());
            }
        }
        const bool fine = of_step.empty();
        step.claims.push_back({"no two threads touch a word without an order between them", "the race check", fine,
                               fine ? "no finding" : in_words(of_step)});
    }
}

} // namespace warpfold::tool
