// SPDX-License-Identifier: MIT
// Running another program as a child, and what became of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpfold::tool {

// The file that the shell would run for this name: itself if it has a slash, else the first of that name on PATH that
// can be executed. Empty where there is none.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);

struct program_end {
    int start_error = 0; // errno of the exec that failed; 0: it ran
    int status = 0;      // what it returned, or 128 + the signal that killed it
    int signal = 0;      // 0: it ended by itself
};

// Runs the program with our standard streams and environment and waits for its end. A SIGTERM or SIGHUP to us is handed
// on; an interrupt from the terminal reaches it anyway. Throws failure where no process can be made. quiet: what it
// writes to standard output and standard error is lost.
[[nodiscard]] program_end run_program(const std::vector<std::string>& arguments, bool quiet = false);

// Becomes the program. Comes back only where that fails, with errno.
[[nodiscard]] int become_program(const std::vector<std::string>& arguments);

} // namespace warpfold::tool
