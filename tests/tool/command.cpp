// SPDX-License-Identifier: MIT
// Running the built command.
#include "tests/tool/command.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace warpfold::tests {
namespace {

[[noreturn]] void become(const std::vector<std::string>& arguments, const surroundings& where, bool real,
                         const std::string& in, const std::string& out, const std::string& error) {
    ::dup2(::open(in.c_str(), O_RDONLY), STDIN_FILENO);
    ::dup2(::open(where.output.empty() ? out.c_str() : where.output.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    if (int ends[2]; where.unread && ::pipe(ends) == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
    }
    ::dup2(::open(error.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    // The signals as a terminal's foreground has them: a shell's background job ignores some.
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM}) {
        std::signal(signal, SIG_DFL);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG", "SOFTGPU_DEVICE", "SOFTGPU_WORKERS", "SOFTGPU_COUNTERS"}) {
        ::unsetenv(name);
    }
    if (!real) {
        ::setenv("WARPFOLD_LADDER_LIBRARY", FAKE_LADDER_LIBRARY, 1);
        ::setenv("WARPFOLD_SOFTGPU_RUNTIME", FAKE_RUNTIME_LIBRARY, 1);
    }
    for (const auto& [name, value] : where.environment) {
        ::setenv(name.c_str(), value.c_str(), 1);
    }
    if (!where.folder.empty() && ::chdir(where.folder.c_str()) != 0) {
        ::_exit(98);
    }
    std::vector<char*> values{const_cast<char*>("warpfold")};
    for (const std::string& argument : arguments) {
        values.push_back(const_cast<char*>(argument.c_str()));
    }
    values.push_back(nullptr);
    ::alarm(600); // stays over the exec
    ::execv(WARPFOLD_COMMAND, values.data());
    ::_exit(97);
}

} // namespace

std::size_t outcome::error_lines() const {
    return static_cast<std::size_t>(std::count(error.begin(), error.end(), '\n'));
}

outcome run_command(const std::vector<std::string>& arguments, const surroundings& where, bool real) {
    const report::passing_folder folder("warpfold_test");
    const std::string in = folder.file("in");
    const std::string out = folder.file("out");
    const std::string error = folder.file("error");
    std::ofstream(in, std::ios::binary) << where.input;
    const pid_t child = ::fork();
    if (child == 0) {
        become(arguments, where, real, in, out, error);
    }
    if (where.milliseconds != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(where.milliseconds));
        ::kill(child, SIGTERM);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    outcome seen;
    seen.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    seen.out = contents_of(out);
    seen.error = contents_of(error);
    return seen;
}

void expect_complaint(const outcome& seen, int status, const std::vector<std::string>& parts) {
    EXPECT_EQ(seen.status, status) << seen.error;
    EXPECT_EQ(seen.out, "");
    EXPECT_EQ(seen.error_lines(), 1u) << seen.error;
    EXPECT_TRUE(seen.error.starts_with("warpfold: ")) << seen.error;
    for (const std::string& part : parts) {
        EXPECT_NE(seen.error.find(part), std::string::npos) << "'" << part << "' is not in " << seen.error;
    }
}

std::string with_folder::write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
}

std::size_t with_folder::entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), std::filesystem::directory_iterator()));
}

} // namespace warpfold::tests
