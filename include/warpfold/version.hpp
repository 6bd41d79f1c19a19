// SPDX-License-Identifier: MIT
// The library's version, as CMake's project() and the package have it (a test compares them).
#pragma once

#define WARPFOLD_VERSION_MAJOR 0
#define WARPFOLD_VERSION_MINOR 1
#define WARPFOLD_VERSION_PATCH 0
