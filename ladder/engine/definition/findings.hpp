// SPDX-License-Identifier: MIT
// Findings of the software GPU's checks.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

namespace warpfold::ladder::engine {

struct findings {
    // By kind ("race in shared memory"): lines of each file, by its name alone.
    std::map<std::string, std::map<std::string, std::set<long>>> kinds;
    std::string failed; // why the checked code did not end normally

    [[nodiscard]] bool none() const { return kinds.empty() && failed.empty(); }
    // A kind whose name has this part.
    [[nodiscard]] bool has(const std::string& part) const;
    [[nodiscard]] std::string in_words() const; // "race in shared memory: scan.cu, lines 18, 21"; "no finding"
};

// Runs `body` with all checks on. On the software GPU only.
[[nodiscard]] findings under_all_checks(const std::function<void()>& body);

} // namespace warpfold::ladder::engine
