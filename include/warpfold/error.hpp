// SPDX-License-Identifier: MIT
// What the library throws. Every message is one line that names the call, and says what is wrong with which argument.
#pragma once

#include <stdexcept>
#include <string>

namespace warpfold {

// The root of all of them.
struct error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An argument that no data can make right: no elements where one is needed, an address that is not aligned as its type.
struct invalid_argument : error {
    using error::error;
};

} // namespace warpfold
