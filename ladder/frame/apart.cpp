// SPDX-License-Identifier: MIT
// Starting the helper program, and reading what it leaves.
#include "ladder/frame/apart.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "ladder/frame/command.hpp"
#include "report/passing_folder.hpp"

extern char** environ;

namespace warpfold::ladder::frame {

namespace {

constexpr const char* helper = "warpfold-ladder-apart";

// The file that has the code at this address.
std::string file_with(const void* code) {
    Dl_info info{};
    if (::dladdr(code, &info) == 0 || info.dli_fname == nullptr) {
        throw std::runtime_error("the ladder does not find its own library");
    }
    return std::filesystem::absolute(info.dli_fname).string();
}

// Ours, without what would have the child write files, check, wait at launches or run in another order than this one; and
// what is wanted besides.
std::vector<std::string> environment(const std::string& wanted) {
    std::vector<std::string> kept{"SOFTGPU_DEADLOCK_SECONDS=1"};
    if (!wanted.empty()) {
        kept.push_back(wanted);
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

// One fact a line, what belongs to it behind tabulators: "code 700", "found KIND FILE LINE", "failed TEXT".
void read(const std::string& path, apart_outcome& out) {
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

apart_outcome run_one(const std::string& program, bool checked) {
    const std::string library = file_with(reinterpret_cast<const void*>(&warpfold_ladder_apart));
    const std::string executable = (std::filesystem::path(library).parent_path() / helper).string();
    if (!std::filesystem::exists(executable)) {
        throw std::runtime_error(executable + " is not there: it belongs to " + library);
    }
    const std::string runtime = file_with(reinterpret_cast<const void*>(&cudaGetLastError));
    const report::passing_folder folder("warpfold-apart");
    const std::string left = folder.file("left");
    const auto at = program.find('@');
    const std::string name = program.substr(0, at);
    const std::string how = at == std::string::npos ? "" : program.substr(at + 1);
    const bool variable = how.find('=') != std::string::npos;
    std::vector<std::string> arguments{executable, runtime, library, name, left, checked ? "checked" : ""};
    if (!how.empty() && !variable) {
        const std::string command = command_path(how);
        if (command.empty()) {
            throw std::runtime_error("there is no command " + how);
        }
        arguments.insert(arguments.begin(), command);
    }
    command_outcome outcome = run_command(arguments, environment(variable ? how : ""));
    apart_outcome out;
    out.said = std::move(outcome.said);
    read(left, out);
    if (!outcome.trouble.empty()) {
        throw std::runtime_error("the process of '" + program + "': " + outcome.trouble +
                                 (out.said.empty() ? "" : ": " + out.said));
    }
    return out;
}

} // namespace

const apart_outcome& run_apart(const std::string& programs, bool checked) {
    static std::mutex guard;
    static std::map<std::pair<std::string, bool>, apart_outcome> kept;
    const std::lock_guard lock(guard);
    const auto known = kept.find({programs, checked});
    if (known != kept.end()) {
        return known->second;
    }
    apart_outcome all;
    std::istringstream names(programs);
    for (std::string name; std::getline(names, name, ',');) {
        const apart_outcome one = run_one(name, checked);
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
    return kept.emplace(std::pair(programs, checked), std::move(all)).first->second;
}

} // namespace warpfold::ladder::frame

__attribute__((visibility("default"))) int warpfold_ladder_apart(const char* program, const char* file, int checked) {
    using namespace warpfold::ladder::frame;
    try {
        const auto& all = apart_programs();
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const auto& p) { return std::strcmp(p.name, program) == 0; });
        if (found == all.end()) {
            throw std::runtime_error(std::string("there is no program ") + program);
        }
        std::vector<std::int32_t> codes;
        findings seen;
        if (checked != 0) {
            seen = under_all_checks([&] { codes = found->run(); });
        } else {
            codes = found->run();
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
