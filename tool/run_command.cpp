// SPDX-License-Identifier: MIT
// `warpfold run`: any program that is linked with the shared CUDA runtime, on the software GPU.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "report/output_file.hpp"
#include "report/text.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/elf_facts.hpp"
#include "tool/locate.hpp"
#include "tool/program.hpp"
#include "tool/runtime_choice.hpp"

namespace warpfold::tool {
namespace {

constexpr int status_failure = 1;
constexpr int status_not_executable = 126; // as shells have it
constexpr int status_not_found = 127;

struct options {
    std::optional<std::string> counters;
    std::optional<std::string> schedule;
    std::optional<std::uint64_t> seed;
    device_options device;
    CLI::App* app = nullptr;
};

void prepend(const char* variable, const std::string& value) {
    const char* before = std::getenv(variable);
    const bool some = before != nullptr && *before != '\0';
    ::setenv(variable, (some ? value + ":" + before : value).c_str(), 1);
}

// The dynamic linker finds our runtime by its name; where a program brings its own search path, by having it loaded
// first.
void set_linker_environment() {
    std::string preload;
    std::string folder;
    for (const int major : {13, 12}) {
        if (const auto path = find_software_runtime(major)) {
            preload += (preload.empty() ? "" : ":") + *path;
            folder = folder.empty() ? std::filesystem::path(*path).parent_path().string() : folder;
        }
    }
    if (preload.empty()) {
        throw failure("the software GPU (libcudart.so.13) is not where this command was built or installed");
    }
    if (folder.find_first_of(":;") != std::string::npos) {
        throw failure(
            fmt::format("the dynamic linker takes no folder with a colon or semicolon in its name: {}", folder));
    }
    prepend("LD_LIBRARY_PATH", folder);
    if (preload.find(' ') == std::string::npos) { // LD_PRELOAD is separated by blanks too
        prepend("LD_PRELOAD", preload);
    }
}

// A seed alone asks for the schedule that takes one.
void set_schedule(const options& o) {
    if (o.schedule && *o.schedule != "fair" && *o.schedule != "adversarial") {
        throw usage_error(fmt::format("--schedule: '{}' is none of fair, adversarial", *o.schedule));
    }
    if (o.seed && o.schedule == "fair") {
        throw usage_error("--seed: the fair schedule takes none");
    }
    if (o.schedule || o.seed) {
        ::setenv("SOFTGPU_SCHEDULE", o.schedule.value_or("adversarial").c_str(), 1);
    }
    if (o.seed) {
        ::setenv("SOFTGPU_SEED", std::to_string(*o.seed).c_str(), 1);
    }
}

int cannot_start(const std::string& program, int error) {
    complain(fmt::format("cannot run {}: {}", report::printable(program), std::strerror(error)));
    return error == ENOENT || error == ENOTDIR ? status_not_found : status_not_executable;
}

std::string not_reached(const std::string& program, const std::optional<elf_facts>& facts) {
    const std::string name = report::printable(program);
    if (facts && !facts->dynamic) {
        return fmt::format("{} is linked statically; build it against shared libraries, with -cudart shared", name);
    }
    return fmt::format("{} did not load the shared CUDA runtime; build it with -cudart shared", name);
}

int run_counted(const std::string& target, const std::vector<std::string>& arguments,
                const std::optional<elf_facts>& facts) {
    report::output_file file(target);
    // Only what the program writes shall be there afterwards.
    std::filesystem::remove(file.temporary());
    ::setenv("SOFTGPU_COUNTERS", file.temporary().c_str(), 1);
    const program_end end = run_program(arguments);
    if (end.start_error != 0) {
        return cannot_start(arguments.front(), end.start_error);
    }
    std::error_code error;
    if (std::filesystem::exists(file.temporary(), error)) {
        file.commit_file();
    } else if (end.signal != 0) {
        complain(fmt::format("{} was killed by signal {} ({}) before its counters were written",
                             report::printable(arguments.front()), end.signal, ::strsignal(end.signal)));
    } else {
        complain(fmt::format("no counters: {}", not_reached(arguments.front(), facts)));
        return end.status != 0 ? end.status : status_failure;
    }
    return end.status;
}

int run(const options& o) {
    std::vector<std::string> arguments = o.app->remaining();
    if (!arguments.empty() && arguments.front().starts_with('-')) {
        throw usage_error(fmt::format("unknown option {} (see warpfold run --help)", arguments.front()));
    }
    const std::vector<std::string>& after = program_arguments();
    if (!arguments.empty() && !after.empty()) {
        arguments.emplace_back("--"); // it belongs to the program, which was named before it
    }
    arguments.insert(arguments.end(), after.begin(), after.end());
    if (arguments.empty()) {
        throw usage_error("which program? warpfold run [OPTIONS] -- PROGRAM ARGUMENTS");
    }
    if (o.counters == "-") {
        throw usage_error("--counters: give a file; standard output is the program's own");
    }
    if (arguments.front().empty()) {
        return cannot_start("''", ENOENT);
    }
    set_software_environment(o.device);
    set_schedule(o);
    set_linker_environment();
    std::optional<elf_facts> facts;
    if (const auto path = find_program(arguments.front())) {
        facts = read_elf(*path);
    }
    if (o.counters) {
        return run_counted(*o.counters, arguments, facts);
    }
    if (facts && facts->embeds_cuda && !facts->needs_shared_cuda_runtime()) {
        complain(fmt::format(
            "{} is not linked with the shared CUDA runtime, so its CUDA calls do not reach the software GPU; "
            "build it with -cudart shared",
            report::printable(arguments.front())));
    }
    return cannot_start(arguments.front(), become_program(arguments));
}

} // namespace

action add_run(CLI::App& app) {
    const auto o = std::make_shared<options>();
    o->app = &app;
    app.prefix_command();
    app.footer(
        "The program and its arguments follow after --: warpfold run --counters counters.json -- ./program 1 2 3\n"
        "Its own exit status is returned; 127 if it is not found, 126 if it cannot be run, 128 + the signal if one "
        "killed it.");
    app.add_option("--counters", o->counters, "write what every launch did to this file, as JSON, at the program's end")
        ->type_name("FILE");
    app.add_option("--schedule", o->schedule,
                   "fair (default), or adversarial: lanes, warps, blocks and streams in any order that CUDA allows, drawn "
                   "from --seed")
        ->type_name("NAME");
    app.add_option("--seed", o->seed, "the adversarial schedule's seed; the same one gives the same order again")
        ->type_name("NUMBER");
    add_software_options(app, o->device);
    return [o] { return run(*o); };
}

} // namespace warpfold::tool
