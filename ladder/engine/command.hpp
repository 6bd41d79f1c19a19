// SPDX-License-Identifier: MIT
// Runs other programs: the toolkit's compiler and assembler, which some claims are about, and child processes
// (child_process.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpfold::ladder::engine {

// The command's path, found by PATH; empty: not found.
[[nodiscard]] std::string command_path(const std::string& command);

struct command_outcome {
    std::string trouble; // "it ended with status 3"; empty: status 0
    std::string said;    // on standard error
};
// Runs it to its end, and kills it after five minutes. `environment`: all its variables, as "NAME=VALUE"; without it, those of
// this process. Throws std::runtime_error where it cannot be started.
[[nodiscard]] command_outcome run_command(const std::vector<std::string>& arguments,
                                          const std::optional<std::vector<std::string>>& environment = {});

// The output of ptxas: a cubin, or its complaint.
struct assembled {
    bool there = false; // ptxas was found
    std::string cubin;  // its bytes; empty where it was refused
    std::string said;
};
// `target` as in "sm_90"; options as ptxas takes them. Results are cached.
[[nodiscard]] const assembled& assemble(const std::string& ptx, const std::string& target,
                                        const std::vector<std::string>& options);

// The PTX that nvcc makes of CUDA source; empty where there is no nvcc or it refuses.
[[nodiscard]] const std::string& ptx_of(const std::string& source);

} // namespace warpfold::ladder::engine
