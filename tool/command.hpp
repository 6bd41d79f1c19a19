// SPDX-License-Identifier: MIT
// What a subcommand of `warpfold` is. Each has a file of its own, which defines one of the functions below; the table
// in main.cpp lists them all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tool/error.hpp"

namespace warpfold::tool {

// Exit statuses of the command itself.
inline constexpr int status_failure = 1;
inline constexpr int status_usage = 2;

// Does the work once the arguments are parsed; what it returns is the exit status.
using action = std::function<int()>;

struct subcommand {
    const char* name;
    const char* arguments; // for the overview
    const char* summary;   // for the overview and --help
    // Adds options to `app`, which bears the name and the summary already, and returns what to run if it was chosen.
    action (*add)(CLI::App& app);
};

action add_ladder(CLI::App& app);
action add_reduce(CLI::App& app);
action add_sum(CLI::App& app);
action add_scan(CLI::App& app);
action add_histogram(CLI::App& app);
action add_convolve(CLI::App& app);
action add_devices(CLI::App& app);
action add_run(CLI::App& app);
action add_annotate(CLI::App& app);
action add_explain(CLI::App& app);
action add_report(CLI::App& app);

// Everything after the first "--" of `warpfold run`: CLI11 is never shown it.
[[nodiscard]] const std::vector<std::string>& program_arguments();

} // namespace warpfold::tool
