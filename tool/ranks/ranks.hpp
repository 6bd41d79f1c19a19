// SPDX-License-Identifier: MIT
// The command's calls at one rank, at the ranks that mpirun has started, or on several GPUs. Under mpirun each rank reads its
// part of a file, and rank 0 prints; of several GPUs each has a thread of this process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tool/arrays/calls.hpp"

namespace warpfold::tool {

// The library of a target, when it is loaded.
struct calls_library {
    calls::target* (*calls)(const calls::rank_setup*);
    int (*gpus)();
};

// True if mpirun or srun started more than one process, by what Open MPI and PMI set in the environment.
[[nodiscard]] bool started_as_ranks();

[[nodiscard]] std::unique_ptr<calls::target> target_alone(const calls_library& library);

// This process as a rank of MPI, with its standard output closed to /dev/null unless it is rank 0. Throws failure where the
// command was built without MPI.
[[nodiscard]] std::unique_ptr<calls::target> target_over_ranks(const calls_library& library);

// The number of this process among those that mpirun or srun started; 0 if it is alone.
[[nodiscard]] int rank_of_process();

// Ranks that fail alike make one line: the launcher ends them when rank 0 has failed, so those of a higher number wait a moment
// before they say why.
void let_first_rank_fail();

// Ends the other ranks, which may wait for this one, if MPI has started. Does not return then.
void end_all_ranks(int status);

// `gpus`: their number; none: all that there are. Throws failure where there are fewer.
[[nodiscard]] std::unique_ptr<calls::target> target_over_gpus(const calls_library& library, std::optional<int> gpus);

} // namespace warpfold::tool
