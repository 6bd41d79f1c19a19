// SPDX-License-Identifier: MIT
// Progress on stderr.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace warpfold::tool {

// One line that is overwritten, on a terminal only; the destructor erases it.
class progress {
public:
    progress();
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    // At once: "3/17 step".
    void show(const std::string& what, std::size_t done, std::size_t of);
    // A bar of how much of `what` is done: after the first second, ten times a second.
    void show_share(const std::string& what, std::uint64_t done, std::uint64_t of);
    [[nodiscard]] bool visible() const noexcept { return visible_; }

private:
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point shown_{};
    bool visible_ = false; // stderr is a terminal
    bool written_ = false;
};

} // namespace warpfold::tool
