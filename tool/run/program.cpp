// SPDX-License-Identifier: MIT
// Child processes.
#include "tool/run/program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tool/console.hpp"
#include "tool/error.hpp"

namespace warpfold::tool {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& arguments) {
    std::vector<char*> out;
    for (const std::string& argument : arguments) {
        out.push_back(const_cast<char*>(argument.c_str())); // exec does not write to them
    }
    out.push_back(nullptr);
    return out;
}

volatile std::sig_atomic_t child = 0;

extern "C" void hand_on(int signal) {
    if (child > 0) {
        static_cast<void>(::kill(static_cast<pid_t>(child), signal));
    }
}

bool executable_file(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// Signal handling of a parent that waits: as the shell does it. Signals to hand on are held back until deliver(), when
// it is known to whom.
class waiting_signals {
public:
    waiting_signals() {
        sigset_t held;
        ::sigemptyset(&held);
        for (const int signal : signals) {
            ::sigaddset(&held, signal);
        }
        ::sigprocmask(SIG_BLOCK, &held, &mask_before_);
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        struct sigaction forward {};
        forward.sa_handler = hand_on;
        for (std::size_t i = 0; i < signals.size(); ++i) {
            const bool from_terminal = signals[i] == SIGINT || signals[i] == SIGQUIT;
            ::sigaction(signals[i], from_terminal ? &ignore : &forward, &before_[i]);
        }
    }
    ~waiting_signals() { restore(); }
    waiting_signals(const waiting_signals&) = delete;
    waiting_signals& operator=(const waiting_signals&) = delete;

    void deliver() const { ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr); }

    void restore() const {
        for (std::size_t i = 0; i < signals.size(); ++i) {
            ::sigaction(signals[i], &before_[i], nullptr);
        }
        deliver();
    }

private:
    static constexpr std::array<int, 4> signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    std::array<struct sigaction, signals.size()> before_{};
    sigset_t mask_before_{};
};

} // namespace

std::optional<std::string> find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        return executable_file(name) ? std::optional(name) : std::nullopt;
    }
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        const std::size_t colon = rest.find(':');
        const std::string_view folder = rest.substr(0, colon);
        const std::string candidate = folder.empty() ? name : fmt::format("{}/{}", folder, name);
        if (executable_file(candidate)) {
            return candidate;
        }
        if (colon == std::string_view::npos) {
            return std::nullopt;
        }
        rest.remove_prefix(colon + 1);
    }
}

int become_program(const std::vector<std::string>& arguments) {
    const std::vector<char*> values = pointers(arguments);
    restore_signals();
    ::execvp(values[0], values.data());
    return errno;
}

program_end run_program(const std::vector<std::string>& arguments, bool quiet) {
    std::array<int, 2> report{}; // errno of a failed exec; closed unwritten by one that succeeds
    if (::pipe2(report.data(), O_CLOEXEC) != 0) {
        throw failure(fmt::format("cannot run a program: {}", std::strerror(errno)));
    }
    const waiting_signals signals;
    const pid_t pid = ::fork();
    if (pid < 0) {
        throw failure(fmt::format("cannot run a program: {}", std::strerror(errno)));
    }
    if (pid == 0) {
        signals.restore();
        if (const int nowhere = quiet ? ::open("/dev/null", O_WRONLY | O_CLOEXEC) : -1; nowhere >= 0) {
            ::dup2(nowhere, STDOUT_FILENO);
            ::dup2(nowhere, STDERR_FILENO);
        }
        const int error = become_program(arguments);
        static_cast<void>(!::write(report[1], &error, sizeof(error)));
        ::_exit(127);
    }
    child = pid;
    signals.deliver();
    ::close(report[1]);
    program_end end;
    while (::read(report[0], &end.start_error, sizeof(end.start_error)) < 0 && errno == EINTR) {
    }
    ::close(report[0]);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    child = 0;
    if (WIFSIGNALED(status)) {
        end.signal = WTERMSIG(status);
        end.status = 128 + end.signal;
    } else {
        end.status = WEXITSTATUS(status);
    }
    return end;
}

} // namespace warpfold::tool
