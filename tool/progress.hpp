// SPDX-License-Identifier: MIT
// What is being done, on stderr, for somebody who waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace warpfold::tool {

// One line that is written over, only on a terminal and only once a second has passed; gone when the object is.
class progress {
public:
    progress();
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    void show(const std::string& what, std::size_t done, std::size_t of);

private:
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    bool visible_ = false; // stderr is a terminal
    bool written_ = false;
};

} // namespace warpfold::tool
