// SPDX-License-Identifier: MIT
// The one symbol of libwarpfold_mpi.so.
#pragma once

#include "tool/arrays/calls.hpp"

// Starts MPI at the first call. Sets *rank.
extern "C" warpfold::calls::target* warpfold_mpi_calls(int* rank);
