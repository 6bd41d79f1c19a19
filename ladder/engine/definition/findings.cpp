// SPDX-License-Identifier: MIT
#include "ladder/engine/definition/findings.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>

#include "warpfold/testing/counters.hpp"

namespace warpfold::ladder::engine {

bool findings::has(const std::string& part) const {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const auto& k) { return k.first.find(part) != std::string::npos; });
}

std::string findings::in_words() const {
    std::string text;
    for (const auto& [kind, files] : kinds) {
        text += (text.empty() ? "" : "; ") + kind;
        const char* separator = ": ";
        for (const auto& [file, lines] : files) {
            text += separator + file + (lines.size() == 1 ? ", line " : ", lines ");
            separator = "";
            for (const long line : lines) {
                text += separator + std::to_string(line);
                separator = ", ";
            }
            separator = "; ";
        }
    }
    if (!failed.empty()) {
        text += (text.empty() ? "" : "; ") + failed;
    }
    return text.empty() ? "no finding" : text;
}

findings under_all_checks(const std::function<void()>& body) {
    findings found;
    testing::recorder watch(testing::options().check("all"));
    try {
        body();
    } catch (const std::exception& problem) {
        found.failed = problem.what();
    }
    const testing::recording seen = watch.stop();
    for (const testing::finding& f : seen.findings()) {
        auto& files = found.kinds[f.kind];
        if (!f.file.empty()) {
            files[std::filesystem::path(f.file).filename()].insert(static_cast<long>(f.line));
        }
    }
    return found;
}

} // namespace warpfold::ladder::engine
