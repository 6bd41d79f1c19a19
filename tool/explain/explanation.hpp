// SPDX-License-Identifier: MIT
// A step of a ladder explained: its source with what each line did, its claims, and what the step after it changes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ladder/engine/engine.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "tool/explain/bounds.hpp"
#include "tool/explain/costly_lines.hpp"
#include "tool/explain/predicted_step.hpp"
#include "tool/explain/source/text_difference.hpp"
#include "tool/explain/step_profile.hpp"

namespace warpfold::tool {

struct shown_line {
    line_number number = 0;
    std::string text;
    bool heading = false; // of the comment that the file begins with
    bool host = false;    // of what launches kernels that are shown too; the text folds it
};

// Lines of one file, from the first on; between lines that are no neighbours something is left out.
struct shown_file {
    std::string path; // in the tree
    std::vector<shown_line> lines;
};

struct changed_line {
    change what = change::none;
    std::string text;
    std::string place; // "03_in_place.cu:17"; of the new step where it has the line
    bool opens_hunk = false;
};

struct changed_counter {
    std::string name;
    std::uint64_t here = 0;
    std::uint64_t next = 0;
    std::optional<double> ratio; // next to here; where the steps are of different n, for each element. Empty: here is 0
};

struct next_step {
    ladder::step_description about;
    step_profile profile{};
    std::vector<changed_line> source; // of the parts that are shown of both; empty: `note`
    std::vector<changed_counter> counters;
    std::string note; // why there is no difference of sources
};

struct explanation {
    std::string ladder;
    std::string data; // what the problem is
    ladder::device_description device;
    ladder::step_result step;
    step_profile profile{};
    bounds_of_step bounds{};
    std::vector<costly_line> costly{};
    std::vector<predicted_step> predicted{}; // by card
    std::vector<shown_file> files{};
    std::string note{}; // what is not shown, and why
    std::optional<next_step> next{};
    std::vector<std::string> others{}; // further steps that take this one further
};

// The parts of the step's files that matter: kernels that ran, what they call, what launches them. `whole`: the step's
// own file as it is.
[[nodiscard]] std::vector<shown_file> files_of(const ladder::step_result& step, const step_profile& profile,
                                               std::span<const ladder::source_file> tree, bool whole);

// What is not to be seen in `files`, in a sentence or two; empty where nothing is.
[[nodiscard]] std::string note_on(const ladder::step_result& step, const step_profile& profile);

// Fills in the difference of sources and counters.
void compare(const explanation& here, const std::vector<shown_file>& there, next_step& next);

[[nodiscard]] std::string text_of(const explanation& e, const report::style& look);
[[nodiscard]] report::json json_of(const explanation& e);
// null where nothing was counted.
[[nodiscard]] report::json json_of(const bounds_of_step& bounds, const std::vector<costly_line>& costly);
// The file's lines, each with its counters or null.
[[nodiscard]] report::json json_of(const shown_file& file, const step_profile& profile);

} // namespace warpfold::tool
