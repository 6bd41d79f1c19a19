// SPDX-License-Identifier: MIT
// Starting the helper program, and reading what it leaves.
#include "ladder/frame/apart.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ladder/frame/command.hpp"
#include "report/passing_folder.hpp"

extern char** environ;

namespace warpfold::ladder::frame {

namespace {

constexpr const char* helper = "warpfold-ladder-apart";
constexpr std::chrono::seconds longest{60};

// The file that has the code at this address.
std::string file_with(const void* code) {
    Dl_info info{};
    if (::dladdr(code, &info) == 0 || info.dli_fname == nullptr) {
        throw std::runtime_error("the ladder does not find its own library");
    }
    return std::filesystem::absolute(info.dli_fname).string();
}

std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
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
        constexpr std::array<std::string_view, 8> left_out{
            "SOFTGPU_COUNTERS=", "SOFTGPU_PROFILE=", "SOFTGPU_CHECK=",           "SOFTGPU_CHECK_JSON=",
            "SOFTGPU_SCHEDULE=", "SOFTGPU_SEED=",    "SOFTGPU_DEADLOCK_SECONDS=", "CUDA_LAUNCH_BLOCKING="};
        if (std::none_of(left_out.begin(), left_out.end(), [&](auto name) { return entry.starts_with(name); })) {
            kept.emplace_back(entry);
        }
    }
    return kept;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) {
        all.push_back(text.data());
    }
    all.push_back(nullptr);
    return all;
}

pid_t start(std::vector<std::string> arguments, const std::string& variable, const std::string& standard_error) {
    auto variables = environment(variable);
    const auto values = pointers(arguments);
    const auto surroundings = pointers(variables);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, standard_error.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, values[0], &files, nullptr, values.data(), surroundings.data());
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) {
        throw std::runtime_error("cannot run " + arguments[0] + ": " + std::strerror(error));
    }
    return child;
}

// How it ended, in words; empty: well.
std::string wait_for(pid_t child) {
    const auto end = std::chrono::steady_clock::now() + longest;
    int status = 0;
    bool killed = false;
    for (;;) {
        const pid_t done = ::waitpid(child, &status, killed ? 0 : WNOHANG);
        if (done == child || (done < 0 && errno != EINTR)) {
            break;
        }
        if (!killed && std::chrono::steady_clock::now() > end) {
            ::kill(child, SIGKILL);
            killed = true;
        } else if (!killed) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    if (killed) {
        return "it did not end within a minute";
    }
    if (WIFSIGNALED(status)) {
        return "signal " + std::to_string(WTERMSIG(status)) + " killed it";
    }
    return WEXITSTATUS(status) == 0 ? "" : "it ended with status " + std::to_string(WEXITSTATUS(status));
}

// One fact a line, what belongs to it behind tabulators: "code 700", "found KIND FILE LINE", "failed TEXT".
void read(const std::string& path, apart_outcome& out) {
    std::istringstream in(content(path));
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
    const pid_t child = start(std::move(arguments), variable ? how : "", folder.file("said"));
    const std::string trouble = wait_for(child);
    apart_outcome out;
    out.said = content(folder.file("said"));
    read(left, out);
    if (!trouble.empty()) {
        throw std::runtime_error("the process of '" + program + "': " + trouble +
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
