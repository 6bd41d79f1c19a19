// SPDX-License-Identifier: MIT
// What the parts of the program of arrays share; see array_facts.cu.
#pragma once

#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "tests/runtime/programs/facts/show.hpp"

using desc = cudaChannelFormatDesc;

static const desc f1 = {32, 0, 0, 0, cudaChannelFormatKindFloat};
static const desc u4 = {8, 8, 8, 8, cudaChannelFormatKindUnsigned};
static const desc i1 = {32, 0, 0, 0, cudaChannelFormatKindSigned};
static const desc s2 = {16, 16, 0, 0, cudaChannelFormatKindSigned};

void textures();
