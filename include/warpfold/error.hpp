// SPDX-License-Identifier: MIT
// The library's exceptions. A message is one line: the call, the argument and what is wrong with it.
#pragma once

#include <stdexcept>
#include <string>

#include "warpfold/detail/standard.hpp"

namespace warpfold {

// The base class of all of them.
struct error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An argument is invalid whatever the data are: too few elements, a null or misaligned pointer, sizes that do not
// match.
struct invalid_argument : error {
    using error::error;
};

// A file cannot be opened, read or written, or its size does not fit. The message begins with its name.
struct file_error : error {
    using error::error;
};

} // namespace warpfold
