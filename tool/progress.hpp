// SPDX-License-Identifier: MIT
// What is being done, on stderr, for somebody who waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
    // A bar of how much of `what` is done; a few times a second.
    void show_share(const std::string& what, std::uint64_t done, std::uint64_t of);
    [[nodiscard]] bool visible() const noexcept { return visible_; }

private:
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point shown_{};
    bool visible_ = false; // stderr is a terminal
    bool written_ = false;
};

} // namespace warpfold::tool
