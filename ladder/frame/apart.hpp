// SPDX-License-Identifier: MIT
// What must not happen in a process that goes on: kernels that leave it without a device, or that never end. Each is a
// program, a function by name, which the helper program warpfold-ladder-apart runs in a process of its own, with the
// CUDA runtime and the ladder's library of this one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ladder/frame/findings.hpp"

namespace warpfold::ladder::frame {

struct apart_program {
    const char* name;
    std::vector<std::int32_t> (*run)(); // what it leaves, such as the codes that the runtime answered
};
// All there are.
[[nodiscard]] const std::vector<apart_program>& apart_programs();

struct apart_outcome {
    std::vector<std::int32_t> codes;
    std::string said; // on standard error
    findings found;   // by the checks, where they were asked for; on the software GPU only
};

// Runs the programs, names with commas between, each in a process of its own and one after the other; their codes are
// joined. "NAME@VARIABLE=VALUE" sets a variable of the process's environment, "NAME@COMMAND" has another program start it,
// such as a profiler, to be found by PATH. What a process leaves is kept: asked again, no other is started. What takes more
// than a minute is killed.
// Throws std::runtime_error where a process cannot be started, is killed or ends without its codes.
[[nodiscard]] const apart_outcome& run_apart(const std::string& programs, bool checked);

} // namespace warpfold::ladder::frame

// In the process apart: runs the program and writes what it leaves to the file. 0 where that was done.
extern "C" int warpfold_ladder_apart(const char* program, const char* file, int checked);
