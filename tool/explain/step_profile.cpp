// SPDX-License-Identifier: MIT
#include "tool/explain/step_profile.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "report/passing_folder.hpp"
#include "tool/error.hpp"
#include "tool/explain/profile_file.hpp"
#include "tool/run/program.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warpfold::tool {
namespace {

using profile_json = nlohmann::json;
using softgpu::observe::launch_record;

// What the child has written of the step: n, launches.
bool read_step(const std::string& path, step_profile& profile) {
    std::ifstream in(path);
    const profile_json document = profile_json::parse(in, nullptr, false);
    if (!document.is_object() || document.value("steps", profile_json::array()).size() != 1) {
        return false;
    }
    const profile_json& step = document["steps"][0];
    profile.n = step.value("n", document.value("n", std::uint64_t{0}));
    for (const profile_json& launch : step.value("launches", profile_json::array())) {
        profile.launches.push_back(launch_of(launch));
    }
    return true;
}

void add_lines(const profile_kernel& kernel, std::span<const ladder::source_file> tree, step_profile& profile) {
    for (std::size_t k = 0; k < kernel.points.size(); ++k) {
        profile.all.add(kernel.counts[k]);
        softgpu::observe::point_counts* to = &profile.elsewhere;
        for (const auto& at : kernel.points[k].at) {
            if (const ladder::source_file* const file = file_of(at.file, tree); file != nullptr && at.line != 0) {
                to = &profile.lines[std::string(file->path)][at.line];
                break;
            }
        }
        to->add(kernel.counts[k]);
    }
}

softgpu::observe::prediction prediction_of(const std::string& card, const profile_json& j) {
    softgpu::observe::prediction p;
    p.card = card;
    p.nanoseconds = j.at("nanoseconds").get<double>();
    p.cold_nanoseconds = j.at("cold_nanoseconds").get<double>();
    p.bound = j.at("bound").get<std::string>();
    p.share_of_roof = j.at("share_of_roof").get<double>();
    p.next_bound = j.at("next_bound").get<std::string>();
    for (const auto& [name, nanoseconds] : j.at("bounds").items()) {
        p.bounds.push_back({name, nanoseconds.get<double>()});
    }
    std::stable_sort(p.bounds.begin(), p.bounds.end(),
                     [](const auto& a, const auto& b) { return a.nanoseconds > b.nanoseconds; });
    p.l1_load_hit_rate = j.at("l1_load_hit_rate").get<double>();
    p.l2_read_hit_rate = j.at("l2_read_hit_rate").get<double>();
    p.dram_read_bytes = j.at("dram_read_bytes").get<std::uint64_t>();
    p.dram_write_bytes = j.at("dram_write_bytes").get<std::uint64_t>();
    p.cold_dram_read_bytes = j.at("cold_dram_read_bytes").get<std::uint64_t>();
    p.cold_dram_write_bytes = j.at("cold_dram_write_bytes").get<std::uint64_t>();
    return p;
}

} // namespace

launch_record launch_of(const profile_json& j) {
    launch_record launch;
    launch.kernel = j.at("kernel").get<std::string>();
    launch.grid = j.at("grid").get<std::array<std::uint32_t, 3>>();
    launch.block = j.at("block").get<std::array<std::uint32_t, 3>>();
    launch.dynamic_shared_bytes = j.at("dynamic_shared_bytes").get<std::uint64_t>();
    launch.static_shared_bytes = j.at("static_shared_bytes").get<std::uint64_t>();
    if (const profile_json& counters = j.at("counters"); counters.is_object()) {
#define SOFTGPU_COUNTER(name, combine, meaning) launch.total.name = counters.value(#name, std::uint64_t{0});
#include "softgpu/observe/counters.def"
#undef SOFTGPU_COUNTER
    }
    const profile_json predictions = j.value("predictions", profile_json::object());
    for (const auto& [card, p] : predictions.items()) {
        launch.predictions.push_back(prediction_of(card, p));
    }
    return launch;
}

const ladder::source_file* file_of(std::string_view path, std::span<const ladder::source_file> tree) {
    for (const ladder::source_file& file : tree) {
        if (path.ends_with(file.path) &&
            (path.size() == file.path.size() || path[path.size() - file.path.size() - 1] == '/')) {
            return &file;
        }
    }
    return nullptr;
}

step_profile profile_step(const step_place& place, std::span<const ladder::source_file> tree) {
    const auto environment = find_program("env");
    if (!environment) {
        throw failure("there is no program env, by which steps are run");
    }
    const report::passing_folder folder("warpfold-explain");
    const std::string figures = folder.file("step.json");
    const std::string lines = folder.file("profile.json");
    std::vector<std::string> arguments{*environment,
                                       "-u",
                                       "SOFTGPU_COUNTERS",
                                       "-u",
                                       "SOFTGPU_CHECK",
                                       "-u",
                                       "SOFTGPU_CHECK_JSON",
                                       "SOFTGPU_PROFILE=" + lines,
                                       std::filesystem::read_symlink("/proc/self/exe"),
                                       "ladder",
                                       place.ladder,
                                       "--device",
                                       "softgpu",
                                       "--no-claims",
                                       "--json",
                                       figures,
                                       "--steps",
                                       place.step};
    if (place.n) {
        arguments.insert(arguments.end(), {"--n", std::to_string(*place.n)});
    }
    if (place.block) {
        arguments.insert(arguments.end(), {"--block", std::to_string(*place.block)});
    }
    const program_end end = run_program(arguments, true); // a step that is wrong is no failure of ours
    if (end.signal == SIGINT || end.signal == SIGTERM || end.signal == SIGHUP || end.signal == SIGQUIT) {
        throw interrupted{end.signal};
    }
    step_profile profile;
    if (!read_step(figures, profile)) {
        profile.why_none = end.signal != 0 ? fmt::format("its process was killed by signal {}", end.signal)
                                           : fmt::format("its process ended with status {}", end.status);
        return profile;
    }
    if (!std::filesystem::exists(lines)) {
        profile.why_none = "this runtime writes no profile";
        return profile;
    }
    for (const profile_kernel& kernel : read_profile(lines).kernels) {
        profile.kernels.push_back(kernel.name);
        add_lines(kernel, tree, profile);
    }
    return profile;
}

} // namespace warpfold::tool
