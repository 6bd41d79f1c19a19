// SPDX-License-Identifier: MIT
// Programs that are run for what they say: the toolkit's compiler and assembler, of which some claims are, and processes
// apart (apart.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpfold::ladder::frame {

// Where PATH has the command; empty: nowhere.
[[nodiscard]] std::string command_path(const std::string& command);

struct command_outcome {
    std::string trouble; // how it ended, such as "it ended with status 3"; empty: well
    std::string said;    // on standard error
};
// Runs it to its end, and kills it where that takes more than a minute. `environment`: all its variables, as
// "NAME=VALUE"; without it they are ours. Throws std::runtime_error where it cannot be started.
[[nodiscard]] command_outcome run_command(const std::vector<std::string>& arguments,
                                          const std::optional<std::vector<std::string>>& environment = {});

// What ptxas makes of PTX: a cubin, or what it says against it.
struct assembled {
    bool there = false; // ptxas was found
    std::string cubin;  // its bytes; empty where it was refused
    std::string said;
};
// `target` as in "sm_90"; options as ptxas takes them. The same asked twice is assembled once.
[[nodiscard]] const assembled& assemble(const std::string& ptx, const std::string& target,
                                        const std::vector<std::string>& options);

// The PTX that nvcc makes of CUDA source; empty where there is no nvcc or it refuses.
[[nodiscard]] const std::string& ptx_of(const std::string& source);

} // namespace warpfold::ladder::frame
