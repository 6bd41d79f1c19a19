// SPDX-License-Identifier: MIT
// `warpfold devices`: the GPUs of this machine, the software GPU, and the cards that it can be.
#include <cstdint>
#include <memory>

#include <fmt/format.h>

#include "report/json.hpp"
#include "report/number.hpp"
#include "report/output_file.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/run/gpu_driver.hpp"
#include "tool/run/locate.hpp"
#include "tool/run/software_gpu.hpp"

namespace warpfold::tool {
namespace {

using report::json;

json facts(std::string_view name, int major, int minor, int multiprocessors, std::uint64_t memory, std::uint64_t l2) {
    json out;
    out["name"] = name;
    out["compute_capability"] = fmt::format("{}.{}", major, minor);
    out["multiprocessors"] = multiprocessors;
    out["memory_bytes"] = memory;
    out["l2_bytes"] = l2;
    return out;
}

json all_devices() {
    const driver_report& driver = installed_gpus();
    json out;
    out["gpus"] = json::array();
    for (const gpu& g : driver.gpus) {
        out["gpus"].push_back(
            facts(g.name, g.compute_major, g.compute_minor, g.multiprocessors, g.memory_bytes, g.l2_bytes));
    }
    out["driver_cuda_version"] = driver.cuda_version.empty() ? json(nullptr) : json(driver.cuda_version);
    out["no_gpu_because"] = driver.why_none.empty() ? json(nullptr) : json(driver.why_none);
    json software;
    const auto runtime = find_software_runtime();
    const auto* chosen = chosen_card();
    software["available"] = runtime.has_value();
    software["card"] = chosen != nullptr ? json(chosen->key) : json(nullptr);
    software["instruction_set"] = instruction_set();
    software["workers"] = workers();
    software["cards"] = json::array();
    for (const auto& c : softgpu::runtime::all_cards()) {
        json one =
            facts(c.name, c.major, c.minor, c.multiprocessors, c.memory_bytes, static_cast<std::uint64_t>(c.l2_bytes));
        one["key"] = c.key;
        software["cards"].push_back(std::move(one));
    }
    out["software_gpu"] = std::move(software);
    return out;
}

void add_facts(report::table& table, const json& device, std::string key) {
    table.add_row({{"  " + std::move(key)},
                   {device["name"].get<std::string>()},
                   {device["compute_capability"].get<std::string>()},
                   {std::to_string(device["multiprocessors"].get<int>())},
                   {report::bytes(device["memory_bytes"].get<std::uint64_t>())},
                   {report::bytes(device["l2_bytes"].get<std::uint64_t>())}});
}

report::table device_table(const char* head) {
    return report::table({{head, report::align::left},
                          {"name", report::align::left},
                          {"compute\ncapability"},
                          {"multi-\nprocessors"},
                          {"memory"},
                          {"L2"}});
}

std::string devices_text(const json& devices) {
    std::string out;
    const report::style look = output_style();
    if (devices["gpus"].empty()) {
        out += fmt::format("GPUs: none; {}\n", devices["no_gpu_because"].get<std::string>());
    } else {
        report::table table = device_table("GPU");
        for (std::size_t i = 0; i < devices["gpus"].size(); ++i) {
            add_facts(table, devices["gpus"][i], std::to_string(i));
        }
        out += table.text(look);
    }
    const json& software = devices["software_gpu"];
    if (!software["available"].get<bool>()) {
        out += "\nSoftware GPU: not there (its libcudart.so.13 is not where this command was built or installed)\n";
        return out;
    }
    const auto threads = software["workers"].get<unsigned>();
    out += fmt::format("\nSoftware GPU: runs kernels on {} thread{} of this host with {} instructions\n", threads,
                       threads == 1 ? "" : "s", software["instruction_set"].get<std::string>());
    out += software["card"].is_null() ? fmt::format("It is no card: SOFTGPU_DEVICE names none of {}\n", card_names())
                                      : fmt::format("It is the {} now; --card or SOFTGPU_DEVICE chooses another of\n",
                                                    software["card"].get<std::string>());
    report::table table = device_table("card");
    for (const json& c : software["cards"]) {
        add_facts(table, c, c["key"].get<std::string>());
    }
    return out + "\n" + table.text(look);
}

int run_devices(const std::string& target) {
    if (target.empty()) {
        print(devices_text(all_devices()));
    } else if (target == "-") {
        print_exactly(report::text_of(all_devices()));
    } else {
        report::output_file(target).commit(report::text_of(all_devices()));
    }
    return 0;
}

} // namespace

action add_devices(CLI::App& app) {
    const auto target = std::make_shared<std::string>();
    app.add_option("--json", *target, "as JSON, to standard output or to this file")
        ->type_name("[FILE]")
        ->expected(0, 1)
        ->default_str("-");
    return [target] { return run_devices(*target); };
}

} // namespace warpfold::tool
