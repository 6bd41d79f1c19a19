// SPDX-License-Identifier: MIT
// The page of a report: one HTML file with its style, its scripts and its data.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ladder/engine/sources.hpp"
#include "report/json.hpp"

namespace warpfold::tool {

// The page's own files (tool/report), the results of other cards and the errata, as they were at build time.
[[nodiscard]] std::span<const ladder::source_file> report_files();
// "" where there is no such file.
[[nodiscard]] std::string_view report_file(std::string_view path);

// The text of d3 5, which draws the charts: WARPFOLD_D3, or where Debian's node-d3 puts it. Throws failure, which says
// how to get it.
[[nodiscard]] std::string charts_library();

// What every document begins with: the command line, when and by which version it was made, the counters' meanings.
[[nodiscard]] report::json new_document(const std::string& title, const std::string& command);

// The document's "title" is the page's. `library`: of charts_library().
[[nodiscard]] std::string page_of(const report::json& document, std::string_view library);

} // namespace warpfold::tool
