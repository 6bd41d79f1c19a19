// SPDX-License-Identifier: MIT
// The ways in which a command fails; each is one line on stderr.
#pragma once

#include <stdexcept>

namespace warpfold::tool {

// What was asked makes no sense: exit status 2.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// What was asked cannot be done, or went wrong: exit status 1.
class failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A signal has ended a step that runs in a process of its own: the command ends by it, too. No std::exception, as nobody but
// main() shall catch it.
struct interrupted {
    int signal;
};

} // namespace warpfold::tool
