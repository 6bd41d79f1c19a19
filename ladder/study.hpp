// SPDX-License-Identifier: MIT
// A ladder or a laboratory of the lectures, beside the ladder of reductions: what the tool asks for and gets back. Plain
// C++20, no CUDA header.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ladder/report.hpp"
#include "softgpu/observe/timeline.hpp"

namespace warpfold::ladder {

// What a step's result ought to be. Some steps are there for their fault.
enum class fate {
    right,
    wrong,   // the lecture's point is that it is wrong
    by_luck, // nothing makes it right, though it may come out so
};

struct study_request {
    std::string name;               // of the catalogue
    std::uint64_t n = 0;            // size of the problem, as the study counts it; 0: its own choice for the device
    std::vector<std::string> steps; // ids; empty: all
    std::uint64_t seed = 587;
    bool time = false;     // on a GPU only
    bool count = false;    // on the software GPU only
    bool check = false;    // on the software GPU only: every step once more, small, under all checks
    unsigned samples = 31; // of each timing
    unsigned offset = 0;   // bytes (a multiple of 16, 256 at most) between a 256-byte boundary and the step's arrays
    std::function<void(const std::string& what, std::size_t done, std::size_t of)> progress; // may be empty
};

struct study_step : step_description {
    bool on_device = true;
    bool apart = false; // in a process of its own: neither counted nor timed
    fate ought = fate::right;
    std::string lesson;  // why it is not simply right
    std::string skipped; // empty: it ran; else why not
    std::string error;   // what the device said, where it failed
    std::uint64_t n = 0; // on which it ran: a block's worth where the step is of one block
    bool correct = false;
    std::string difference;                                // where it is not: what was found
    std::vector<softgpu::observe::launch_record> launches; // counters zero on a GPU
    std::uint64_t least_bytes = 0;                         // that have to be read and written; 0: not said
    std::optional<timing> cold;                            // L2 flushed before each sample
    std::optional<timing> warm;
    std::vector<claim> claims;
    std::vector<std::string> missing; // steps that its claims would be compared with, and that did not run
    // Of laboratories of streams: when each operation ran, on a GPU measured, on the software GPU by a model; there also what
    // the runtime was asked to do.
    std::optional<softgpu::observe::timeline> timeline;
    std::optional<softgpu::observe::operation_log> operations;

    // It came out as it ought to.
    [[nodiscard]] bool as_told() const {
        return skipped.empty() && (error.empty() || ought != fate::right) &&
               (ought == fate::by_luck || correct == (ought == fate::right));
    }
};

// Figures beside the steps: a sweep, a lecture's own table with ours.
struct study_table {
    std::string title;
    std::vector<std::string> head;
    std::vector<std::vector<std::string>> rows;
};

struct study_report {
    device_description device;
    study_request request; // with the n that was chosen
    std::string data;      // what the problem is, in words
    std::vector<study_step> steps;
    std::vector<study_table> tables;
};

} // namespace warpfold::ladder
