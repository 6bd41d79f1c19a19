// SPDX-License-Identifier: MIT
// The line of progress.
#include "tool/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

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
    if (!visible_) {
        return;
    }
    const std::string line =
        fmt::format("\r\x1b[K{}/{} {}", done, of, report::wrap(report::printable(what), 60).front());
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    written_ = true;
}

void progress::show_share(const std::string& what, std::uint64_t done, std::uint64_t of) {
    const auto now = std::chrono::steady_clock::now();
    if (!visible_ || of == 0 || now - begun_ < std::chrono::seconds(1) ||
        now - shown_ < std::chrono::milliseconds(100)) {
        return;
    }
    shown_ = now;
    constexpr std::size_t width = 24;
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(of));
    const auto full = static_cast<std::size_t>(share * width);
    const std::string line =
        fmt::format("\r\x1b[K[{}{}] {:3.0f} % {}", std::string(full, '#'), std::string(width - full, '.'), 100 * share,
                    report::wrap(report::printable(what), 40).front());
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    written_ = true;
}

} // namespace warpfold::tool
