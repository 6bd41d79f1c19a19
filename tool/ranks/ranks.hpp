// SPDX-License-Identifier: MIT
// The command under mpirun: each rank reads its part of a file, and rank 0 prints.
#pragma once

#include "tool/arrays/calls.hpp"

namespace warpfold::tool {

// True if mpirun or srun started more than one process, by what Open MPI and PMI set in the environment.
[[nodiscard]] bool started_as_ranks();

// The target over all ranks; standard output of all but rank 0 is closed to /dev/null. Throws failure where the command
// was built without MPI.
[[nodiscard]] calls::target& target_over_ranks();

} // namespace warpfold::tool
