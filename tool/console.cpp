// SPDX-License-Identifier: MIT
// Standard output and standard error.
#include "tool/console.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/output_file.hpp"
#include "report/text.hpp"

namespace warpfold::tool {
namespace {

// Unicode unless somebody said otherwise: an unset locale is common where the terminal knows UTF-8 all the same.
bool locale_is_ascii() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value != nullptr && *value != '\0') {
            return std::string_view(value) == "C" || std::string_view(value) == "POSIX";
        }
    }
    return false;
}

} // namespace

void open_console() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) == -1) {
            // The lowest free number is this one; in the wrong direction, so that its use fails as before.
            static_cast<void>(::open("/dev/null", (descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC));
        }
    }
    std::signal(SIGPIPE, SIG_IGN);
}

void restore_signals() { std::signal(SIGPIPE, SIG_DFL); }

report::style output_style() {
    report::style look;
    if (::isatty(STDOUT_FILENO) != 0) {
        winsize size{};
        if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
            look.width = std::clamp<std::size_t>(size.ws_col, 40, 160);
        }
        const char* no_colour = std::getenv("NO_COLOR");
        const char* terminal = std::getenv("TERM");
        look.colour = (no_colour == nullptr || *no_colour == '\0') &&
                      (terminal == nullptr || std::string_view(terminal) != "dumb");
    }
    return look;
}

void print_exactly(std::string_view bytes) { report::write_all(STDOUT_FILENO, bytes, "standard output"); }

void print(std::string_view text) { print_exactly(locale_is_ascii() ? report::to_ascii(text) : std::string(text)); }

void complain(std::string_view message) {
    constexpr std::string_view who = "warpfold: "; // errors of the library begin with it
    const std::string line =
        (message.starts_with(who) ? std::string() : std::string(who)) + report::printable(message) + "\n";
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

bool error_is_terminal() { return ::isatty(STDERR_FILENO) != 0; }

} // namespace warpfold::tool
