// SPDX-License-Identifier: MIT
// The line of progress.
#include "tool/progress.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "report/text.hpp"
#include "tool/console.hpp"

namespace warpfold::tool {

progress::progress() : visible_(error_is_terminal()) {}

progress::~progress() {
    if (written_) {
        std::fputs("\r\x1b[K", stderr);
        std::fflush(stderr);
    }
}

void progress::show(const std::string& what, std::size_t done, std::size_t of) {
    if (!visible_ || std::chrono::steady_clock::now() - begun_ < std::chrono::seconds(1)) {
        return;
    }
    const std::string line =
        fmt::format("\r\x1b[K{}/{} {}", done, of, report::wrap(report::printable(what), 60).front());
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    written_ = true;
}

} // namespace warpfold::tool
