// SPDX-License-Identifier: MIT
// Ranks of MPI on GPUs and on the host, for nvcc: gpu{stream}.over(comm). See mpi.hpp and ranks.cuh. Where MPI's library is
// CUDA-aware (cuda_aware), halos of convolutions and integer counts of histograms go from device memory to device memory;
// elsewhere, and other values, through the host's memory.
#pragma once

#include "warpfold/mpi.hpp"
#include "warpfold/ranks.cuh"
#include "warpfold/ranks/mpi_halo_memory.cuh"
