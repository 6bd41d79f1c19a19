// SPDX-License-Identifier: MIT
// What libwarpfold_mpi.so exports.
#pragma once

#include "tool/arrays/calls.hpp"

// This process as a rank of MPI, which the first call starts.
extern "C" const warpfold::calls::rank_setup* warpfold_mpi_rank();
// Ends all ranks.
extern "C" void warpfold_mpi_abort(int status);
