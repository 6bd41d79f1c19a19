// SPDX-License-Identifier: MIT
// The command `warpfold`: its table of subcommands, and what becomes of errors.
#include <array>
#include <csignal>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "ladder/engine/definition/report.hpp"
#include "report/output_file.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/error.hpp"
#include "tool/ranks/ranks.hpp"
#include "warpfold/communicator.hpp"

namespace warpfold::tool {
namespace {

constexpr std::array<subcommand, 11> subcommands{{
    {"ladder", "[NAME ...]", "run every step of a ladder of kernels, checked, and counted or timed", add_ladder},
    {"explain", "LADDER/STEP", "show a step's source with what each line did, its claims, and what the next changes",
     add_explain},
    {"report", "[LADDER ...] [-o FILE]", "write ladders as one HTML page: charts, source with heat, claims",
     add_report},
    {"reduce", "FILE [--op OP]", "reduce an array from a .npy or raw file", add_reduce},
    {"sum", "FILE ...", "add up arrays, exactly", add_sum},
    {"scan", "FILE [--op OP]", "running sums, products, minima or maxima of an array", add_scan},
    {"histogram", "FILE [--bins N]", "count the elements of an array in bins", add_histogram},
    {"convolve", "FILE --mask FILE", "filter an array or images", add_convolve},
    {"devices", "[--json]", "list the GPUs there are, and the cards that the software GPU can be", add_devices},
    {"run", "[--counters FILE] -- PROGRAM ...", "run a CUDA program, unchanged, on the software GPU", add_run},
    {"annotate", "FILE", "show the source with the counters of run --profile beside each line", add_annotate},
}};

std::vector<std::string>& arguments_after_dashes() {
    static std::vector<std::string> arguments;
    return arguments;
}

std::string overview() {
    std::string out =
        "warpfold " WARPFOLD_VERSION ": CUDA's data-parallel primitives, every step to them runnable, checked and "
        "explained,\non a GPU or without one.\n\n";
    for (const subcommand& s : subcommands) {
        out += fmt::format("  warpfold {:<40} {}\n", fmt::format("{} {}", s.name, s.arguments), s.summary);
    }
    out += "\nStart with: warpfold ladder reduce\nOptions of each: warpfold COMMAND --help\n";
    return out;
}

struct place {
    const CLI::App* app;
    std::string command; // "warpfold ladder reduce"
};

// How far the command line was understood.
place deepest(const CLI::App& app) {
    place at{&app, "warpfold"};
    for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = at.app->get_subcommands()) {
        at.app = chosen.front();
        at.command += " " + at.app->get_name();
    }
    return at;
}

int parse_error(const CLI::App& app, const CLI::ParseError& error) {
    const place at = deepest(app);
    std::string what = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        const std::vector<std::string> rest = app.remaining(true);
        const std::string first = rest.empty() ? std::string() : rest.front();
        const bool takes_command = !at.app->get_subcommands(nullptr).empty();
        what = fmt::format("unknown {} '{}'",
                           first.starts_with('-') ? "option"
                           : takes_command        ? "command"
                                                  : "argument",
                           first);
    }
    complain(fmt::format("{} (see {} --help)", what, at.command));
    return status_usage;
}

int run(std::vector<std::string> arguments) {
    CLI::App app(
        "CUDA's data-parallel primitives, every step to them runnable, checked and explained, on a GPU or without one.",
        "warpfold");
    app.set_version_flag("--version", "warpfold " WARPFOLD_VERSION);
    app.require_subcommand(0, 1);
    std::vector<std::pair<CLI::App*, action>> actions;
    for (const subcommand& s : subcommands) {
        CLI::App* child = app.add_subcommand(s.name, s.summary);
        actions.emplace_back(child, s.add(*child));
    }
    try {
        app.parse(std::move(arguments)); // in reverse, as CLI11 wants them
    } catch (const CLI::CallForHelp&) {
        print(app.help());
        return 0;
    } catch (const CLI::CallForAllHelp&) {
        print(app.help("", CLI::AppFormatMode::All));
        return 0;
    } catch (const CLI::CallForVersion&) {
        print("warpfold " WARPFOLD_VERSION "\n");
        return 0;
    } catch (const CLI::ParseError& error) {
        return parse_error(app, error);
    }
    for (const auto& [child, act] : actions) {
        if (child->parsed()) {
            return act();
        }
    }
    print(overview());
    return 0;
}

} // namespace

const std::vector<std::string>& program_arguments() { return arguments_after_dashes(); }

// The arguments in reverse. Of `warpfold run`, only what stands before "--": what comes after it is put aside.
std::vector<std::string> split_arguments(int count, char** values) {
    std::vector<std::string> ours;
    const bool runs_program = count > 1 && std::string_view(values[1]) == "run";
    int i = 1;
    for (; i < count && !(runs_program && std::string_view(values[i]) == "--"); ++i) {
        ours.emplace(ours.begin(), values[i]);
    }
    for (++i; i < count; ++i) {
        arguments_after_dashes().emplace_back(values[i]);
    }
    return ours;
}

int guarded_run(int count, char** values) {
    int status = status_failure;
    const auto fail = [](std::string_view why) {
        let_first_rank_fail();
        complain(why);
    };
    try {
        return run(split_arguments(count, values));
    } catch (const rank_error& error) { // the other ranks have it, too
        if (rank_of_process() == 0) {
            complain(error.what());
        }
        return status;
    } catch (const usage_error& error) {
        fail(error.what());
        status = status_usage;
    } catch (const ladder::bad_request& error) {
        fail(error.what());
        status = status_usage;
    } catch (const interrupted& by) {
        static_cast<void>(std::signal(by.signal, SIG_DFL));
        static_cast<void>(std::raise(by.signal));
    } catch (const report::closed_pipe&) { // its reader has read enough
        restore_signals();
        static_cast<void>(std::raise(SIGPIPE));
    } catch (const std::bad_alloc&) {
        fail("not enough memory");
    } catch (const std::exception& error) {
        fail(error.what());
    }
    end_all_ranks(status);
    return status;
}

} // namespace warpfold::tool

int main(int count, char** values) {
    warpfold::tool::open_console();
    return warpfold::tool::guarded_run(count, values);
}
