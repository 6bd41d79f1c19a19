// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace warpfold::tests {

// The message of the exception of type E that `call` throws; empty where it throws none.
template <class E, class Call>
std::string message_of(const Call& call) {
    try {
        call();
    } catch (const E& e) {
        return e.what();
    }
    return "";
}

} // namespace warpfold::tests
