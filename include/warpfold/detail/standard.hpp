// SPDX-License-Identifier: MIT
// The oldest C++ standard.
#pragma once

#if __cplusplus <= 201703L // GCC 10 has less than 202002 for C++20
#error "warpfold needs C++20: compile with -std=c++20"
#endif
