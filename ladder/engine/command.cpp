// SPDX-License-Identifier: MIT
#include "ladder/engine/command.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/passing_folder.hpp"

extern char** environ;

namespace warpfold::ladder::engine {

namespace {

constexpr std::chrono::minutes longest{5};

std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (std::string& text : texts) {
        all.push_back(text.data());
    }
    all.push_back(nullptr);
    return all;
}

pid_t start(std::vector<std::string> arguments, std::optional<std::vector<std::string>> environment,
            const std::string& standard_error) {
    const auto values = pointers(arguments);
    std::vector<char*> variables;
    if (environment) {
        variables = pointers(*environment);
    }
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, standard_error.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t child = 0;
    const int error =
        ::posix_spawn(&child, values[0], &files, nullptr, values.data(), environment ? variables.data() : environ);
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
        return "it did not end within five minutes";
    }
    if (WIFSIGNALED(status)) {
        return "signal " + std::to_string(WTERMSIG(status)) + " killed it";
    }
    return WEXITSTATUS(status) == 0 ? "" : "it ended with status " + std::to_string(WEXITSTATUS(status));
}

// Of the toolkit that compiled this, if it is still there, or of PATH.
std::string tool(const std::string& name) {
#ifdef WARPFOLD_TOOLKIT
    if (std::string path = std::string(WARPFOLD_TOOLKIT) + "/" + name; ::access(path.c_str(), X_OK) == 0) {
        return path;
    }
#endif
    return command_path(name);
}

} // namespace

std::string command_path(const std::string& command) {
    const char* const all = std::getenv("PATH");
    std::istringstream folders(all == nullptr ? "" : all);
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string path = folder;
        path.append("/").append(command);
        if (!folder.empty() && ::access(path.c_str(), X_OK) == 0) {
            return path;
        }
    }
    return {};
}

command_outcome run_command(const std::vector<std::string>& arguments,
                            const std::optional<std::vector<std::string>>& environment) {
    const report::passing_folder folder("warpfold-command");
    const std::string said = folder.file("said");
    const pid_t child = start(arguments, environment, said);
    std::string trouble = wait_for(child);
    return {std::move(trouble), content(said)};
}

const assembled& assemble(const std::string& ptx, const std::string& target, const std::vector<std::string>& options) {
    static std::mutex guard;
    static std::map<std::tuple<std::string, std::string, std::vector<std::string>>, assembled> kept;
    const std::lock_guard lock(guard);
    const auto [place, is_new] = kept.try_emplace({ptx, target, options});
    const std::string ptxas = is_new ? tool("ptxas") : "";
    if (ptxas.empty()) {
        return place->second;
    }
    const report::passing_folder folder("warpfold-ptxas");
    std::ofstream(folder.file("in.ptx")) << ptx;
    std::vector<std::string> arguments{ptxas, "-arch=" + target};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {folder.file("in.ptx"), "-o", folder.file("out.cubin")});
    const command_outcome outcome = run_command(arguments);
    place->second = {true, outcome.trouble.empty() ? content(folder.file("out.cubin")) : "", outcome.said};
    return place->second;
}

const std::string& ptx_of(const std::string& source) {
    static std::mutex guard;
    static std::map<std::string, std::string> kept;
    const std::lock_guard lock(guard);
    const auto [place, is_new] = kept.try_emplace(source);
    const std::string nvcc = is_new ? tool("nvcc") : "";
    if (nvcc.empty()) {
        return place->second;
    }
    const report::passing_folder folder("warpfold-nvcc");
    std::ofstream(folder.file("in.cu")) << source;
    const command_outcome outcome = run_command(
        {nvcc, "-std=c++17", "-arch=compute_75", "-ptx", folder.file("in.cu"), "-o", folder.file("out.ptx")});
    place->second = outcome.trouble.empty() ? content(folder.file("out.ptx")) : "";
    return place->second;
}

} // namespace warpfold::ladder::engine
