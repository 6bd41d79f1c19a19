// SPDX-License-Identifier: MIT
// A command of the shell, and what it prints.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>

namespace warpfold::tests {

struct command_output {
    int status = -1; // its exit status; -1 if it could not be started or was ended by a signal
    std::string text;
};

inline command_output output_of(const std::string& command) {
    command_output out;
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) {
        return out;
    }
    std::array<char, 4096> part{};
    for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
        out.text.append(part.data(), n);
    }
    const int ended = ::pclose(pipe);
    out.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    return out;
}

} // namespace warpfold::tests
