// SPDX-License-Identifier: MIT
// The verdict on a claim, and text for its figures.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpfold::ladder {

// `holds` is empty where this run cannot show it; `figure` then says why.
struct verdict {
    std::optional<bool> holds;
    std::string figure;
    std::string qualified{}; // where it does not hold as claimed: "no difference", "only for ..."
};

[[nodiscard]] inline verdict seen(bool holds, std::string figure) { return {holds, std::move(figure)}; }
[[nodiscard]] inline verdict unseen(std::string why) { return {std::nullopt, std::move(why)}; }
// Of two measurements that their spread does not tell apart.
[[nodiscard]] inline verdict no_difference(std::string figure) { return {false, std::move(figure), "no difference"}; }
// `what` completes "holds only for".
[[nodiscard]] inline verdict holds_only_for(const std::string& what, std::string figure) {
    return {false, std::move(figure), "only for " + what};
}

[[nodiscard]] inline std::string number(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

// "1 launch", "2 launches".
[[nodiscard]] inline std::string count_of(std::uint64_t n, const char* one, const char* many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
}

// "3, 1, 4", or "none".
[[nodiscard]] inline std::string list(const std::vector<std::uint64_t>& values) {
    std::string text;
    for (const std::uint64_t value : values) {
        text += (text.empty() ? "" : ", ") + std::to_string(value);
    }
    return text.empty() ? "none" : text;
}

[[nodiscard]] inline std::string list(const std::vector<double>& values, int decimals) {
    std::string text;
    for (const double value : values) {
        text += (text.empty() ? "" : ", ") + number(value, decimals);
    }
    return text.empty() ? "none" : text;
}

} // namespace warpfold::ladder
