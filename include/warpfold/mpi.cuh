// SPDX-License-Identifier: MIT
// Ranks of MPI on GPUs and on the host, for nvcc: gpu{stream}.over(comm). See mpi.hpp and ranks.cuh. MPI's library need
// not be able to access device memory.
#pragma once

#include "warpfold/mpi.hpp"
#include "warpfold/ranks.cuh"
