// SPDX-License-Identifier: MIT
// Kernels that leave their process without a device, or never end, run in child processes: the program
// warpfold-ladder-child loads the CUDA runtime and the engine of this process, and calls one child_program of a ladder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ladder/engine/definition/findings.hpp"

namespace warpfold::ladder::engine {

struct child_outcome {
    std::vector<std::int32_t> codes;
    std::string said; // on standard error
    findings found;   // of the checks, where `checked`; on the software GPU only
};

// Runs the ladder's programs, names with commas between, each in a process of its own and one after the other; their codes
// are joined. "NAME@VARIABLE=VALUE" sets a variable of the process's environment; "NAME@COMMAND" starts it by a command of
// PATH, such as a profiler. Outcomes are cached: the same call starts no second process. A process that takes more than
// five minutes is killed.
// Throws std::runtime_error where a process cannot be started, is killed or ends without its codes.
[[nodiscard]] const child_outcome& run_child_processes(const std::string& ladder, const std::string& programs,
                                                       bool checked);

} // namespace warpfold::ladder::engine

// In the child process: runs LADDER/PROGRAM and writes its outcome to the file. Returns 0 where that was done.
extern "C" int warpfold_ladder_child(const char* program, const char* file, int checked);
