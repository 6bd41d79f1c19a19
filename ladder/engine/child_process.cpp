// SPDX-License-Identifier: MIT
// Starting child processes and reading their outcomes; the child's own side.
#include "ladder/engine/child_process.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include <cuda_runtime_api.h>

#include "ladder/engine/command.hpp"
#include "ladder/engine/installed.hpp"
#include "report/passing_folder.hpp"

extern char** environ;

namespace warpfold::ladder::engine {

namespace {

constexpr const char* child = "warpfold-ladder-child";

// The environment of this process and one more variable, without those that make the child write files, check, block at
// launches or run in another order.
std::vector<std::string> environment(const std::string& variable) {
    std::vector<std::string> kept{"SOFTGPU_DEADLOCK_SECONDS=1"};
    if (!variable.empty()) {
        kept.push_back(variable);
    }
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string_view entry = *one;
        constexpr std::array<std::string_view, 9> left_out{
            "SOFTGPU_COUNTERS=", "SOFTGPU_PROFILE=",          "SOFTGPU_TIMELINE=",
            "SOFTGPU_CHECK=",    "SOFTGPU_CHECK_JSON=",       "SOFTGPU_SCHEDULE=",
            "SOFTGPU_SEED=",     "SOFTGPU_DEADLOCK_SECONDS=", "CUDA_LAUNCH_BLOCKING="};
        if (std::none_of(left_out.begin(), left_out.end(), [&](auto name) { return entry.starts_with(name); })) {
            kept.emplace_back(entry);
        }
    }
    return kept;
}

// One fact a line, its fields separated by tabs: "code 700", "found KIND FILE LINE", "failed TEXT".
void read(const std::string& path, child_outcome& out) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        std::vector<std::string> words;
        std::istringstream rest(line);
        for (std::string word; std::getline(rest, word, '\t');) {
            words.push_back(word);
        }
        if (words.size() == 2 && words[0] == "code") {
            out.codes.push_back(std::stoi(words[1]));
        } else if (words.size() == 2 && words[0] == "failed") {
            out.found.failed = words[1];
        } else if (words.size() >= 2 && words[0] == "found") {
            auto& files = out.found.kinds[words[1]];
            if (words.size() == 4) {
                files[words[2]].insert(std::stol(words[3]));
            }
        }
    }
}

child_outcome run_one(const std::string& ladder, const std::string& program, bool checked) {
    const std::string engine = library_of(reinterpret_cast<const void*>(&warpfold_ladder_child));
    const std::string executable = engine_folder() + "/" + child;
    if (!std::filesystem::exists(executable)) {
        throw std::runtime_error(executable + " is not there: it belongs to " + engine);
    }
    const std::string runtime = library_of(reinterpret_cast<const void*>(&cudaGetLastError));
    const report::passing_folder folder("warpfold-child");
    const std::string left = folder.file("left");
    const auto at = program.find('@');
    const std::string name = program.substr(0, at);
    const std::string how = at == std::string::npos ? "" : program.substr(at + 1);
    const bool variable = how.find('=') != std::string::npos;
    std::vector<std::string> arguments{executable,          runtime, engine,
                                       ladder + "/" + name, left,    checked ? "checked" : ""};
    if (!how.empty() && !variable) {
        const std::string command = command_path(how);
        if (command.empty()) {
            throw std::runtime_error("there is no command " + how);
        }
        arguments.insert(arguments.begin(), command);
    }
    command_outcome outcome = run_command(arguments, environment(variable ? how : ""));
    child_outcome out;
    out.said = std::move(outcome.said);
    read(left, out);
    if (!outcome.trouble.empty()) {
        throw std::runtime_error("the process of '" + program + "': " + outcome.trouble +
                                 (out.said.empty() ? "" : ": " + out.said));
    }
    return out;
}

} // namespace

const child_outcome& run_child_processes(const std::string& ladder, const std::string& programs, bool checked) {
    static std::mutex guard;
    static std::map<std::tuple<std::string, std::string, bool>, child_outcome> kept;
    const std::lock_guard lock(guard);
    const auto known = kept.find({ladder, programs, checked});
    if (known != kept.end()) {
        return known->second;
    }
    child_outcome all;
    std::istringstream names(programs);
    for (std::string name; std::getline(names, name, ',');) {
        const child_outcome one = run_one(ladder, name, checked);
        all.codes.insert(all.codes.end(), one.codes.begin(), one.codes.end());
        all.said += one.said;
        for (const auto& [kind, files] : one.found.kinds) {
            for (const auto& [file, lines] : files) {
                all.found.kinds[kind][file].insert(lines.begin(), lines.end());
            }
            all.found.kinds.try_emplace(kind);
        }
        all.found.failed += one.found.failed;
    }
    return kept.emplace(std::tuple(ladder, programs, checked), std::move(all)).first->second;
}

namespace {

// "errors/crash"
const child_program& find_program(const std::string& name) {
    const std::size_t slash = name.find('/');
    const ladder_definition& ladder = find_ladder(name.substr(0, slash));
    const auto& all = ladder.child_programs;
    const auto found = std::find_if(all.begin(), all.end(), [&](const child_program& p) {
        return slash != std::string::npos && name.substr(slash + 1) == p.name;
    });
    if (found == all.end()) {
        throw std::runtime_error("there is no program " + name);
    }
    return *found;
}

} // namespace

} // namespace warpfold::ladder::engine

int warpfold_ladder_child(const char* program, const char* file, int checked) {
    using namespace warpfold::ladder::engine;
    try {
        const child_program& chosen = find_program(program);
        std::vector<std::int32_t> codes;
        findings seen;
        if (checked != 0) {
            seen = under_all_checks([&] { codes = chosen.run(); });
        } else {
            codes = chosen.run();
        }
        std::ofstream out(file);
        for (const std::int32_t code : codes) {
            out << "code\t" << code << '\n';
        }
        for (const auto& [kind, files] : seen.kinds) {
            out << "found\t" << kind << '\n';
            for (const auto& [name, lines] : files) {
                for (const long line : lines) {
                    out << "found\t" << kind << '\t' << name << '\t' << line << '\n';
                }
            }
        }
        if (!seen.failed.empty()) {
            out << "failed\t" << seen.failed << '\n';
        }
        return out.flush() ? 0 : 1;
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
