// SPDX-License-Identifier: MIT
// `warpfold ladder`: lists the ladders, and runs one or all.
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ladder/engine/definition/catalogue.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/ladder/ladder_commands.hpp"

namespace warpfold::tool {
namespace {

constexpr const char* all_summary = "every ladder, and a summary";

int list() {
    std::string out = "The ladders (warpfold ladder NAME; warpfold ladder NAME --help):\n";
    const auto line = [&](const char* name, const char* summary) {
        out += fmt::format("  {:<12} {}\n", name, summary);
    };
    for (const auto& entry : ladder::catalogue) {
        line(entry.name, entry.summary);
    }
    line("all", all_summary);
    print(out);
    return 0;
}

} // namespace

action add_ladder(CLI::App& app) {
    app.require_subcommand(0, 1);
    std::vector<std::pair<CLI::App*, action>> actions;
    const auto add = [&](const char* name, const char* summary, const std::function<action(CLI::App&)>& options) {
        CLI::App* child = app.add_subcommand(name, summary);
        actions.emplace_back(child, options(*child));
    };
    for (const auto& entry : ladder::catalogue) {
        add(entry.name, entry.summary, [&](CLI::App& child) { return add_ladder_run(child, entry); });
    }
    add("all", all_summary, add_ladder_all);
    return [actions] {
        for (const auto& [child, run] : actions) {
            if (child->parsed()) {
                return run();
            }
        }
        return list();
    };
}

} // namespace warpfold::tool
