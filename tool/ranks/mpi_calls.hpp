// SPDX-License-Identifier: MIT
// The one symbol of libwarpfold_mpi.so.
#pragma once

#include "tool/arrays/calls.hpp"

// This process as a rank of MPI, which the first call starts.
extern "C" const warpfold::calls::rank_setup* warpfold_mpi_rank();
