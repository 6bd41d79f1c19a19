// SPDX-License-Identifier: MIT
// Calls over ranks on GPUs and on the host, for nvcc. The calls are described in ranks.hpp.
//
// Calls on a GPU over ranks wait for the stream: values and halos pass through the host's memory, unless the communicator
// is an nccl_communicator (nccl.cuh). Operations are called on the host too, to fold the values of the ranks: a
// __device__ lambda is refused. Outputs of reductions are pointers.
#pragma once

#include "warpfold/ranks.hpp"
#include "warpfold/ranks/gpu_target.cuh"
#include "warpfold/ranks/reproducible/gpu.cuh"
