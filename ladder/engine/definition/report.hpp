// SPDX-License-Identifier: MIT
// A request to a ladder and its report: steps with their results, launches, times and claims. Plain C++20, no CUDA header.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ladder/engine/definition/parameters.hpp"
#include "ladder/engine/definition/verdict.hpp"
#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/timeline.hpp"

namespace warpfold::ladder {

// A request that cannot be met, in one clear line.
struct bad_request : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// One timing: device events around all launches of a step; seconds. Of a step that finishes on the host without the
// host's part.
struct timing {
    double median = 0;
    double low = 0;  // 5th percentile
    double high = 0; // 95th percentile
    unsigned samples = 0;
};

struct claim {
    std::string text;          // as the lecture has it, shortened
    std::string lecture;       // "759, slide 'Idle Threads'"
    std::optional<bool> holds; // empty: this device cannot show it; figure says why
    std::string figure;        // what was measured, with its unit
    std::string qualified{};   // as in verdict
    std::string refuted_by{};  // what its check is held against, in words; empty: nothing, so that it is a remark
    // The same check on that counter-example, where the request asked for it: a check that can fail says that it does not
    // hold.
    std::optional<verdict> refutation{};
};

struct device_description {
    std::string name;
    bool software = false;
    int compute_major = 0, compute_minor = 0;
    int multiprocessors = 0;
    std::uint64_t memory_bytes = 0, l2_bytes = 0;
    unsigned threads_per_block = 1024;
    std::string driver, runtime;         // versions, "13.0"
    std::optional<double> read_gb_per_s; // ceilings measured in this run, 1e9 bytes a second
    std::optional<double> copy_gb_per_s; // read + written
};

struct step_description {
    std::string id; // "3", "sum_warp", "cub"
    std::string title;
    std::string source; // path in the tree
    std::string idea;
    std::string lecture;
    bool peer = false;     // CUB, Thrust, a loop on the CPU
    std::string follows{}; // id of the step that this one takes further; empty: the one before it in the ladder's order
    std::string next{};    // id of the step that takes this one further; empty: the first that follows it

    [[nodiscard]] step_description leads_to(std::string step) && {
        next = std::move(step);
        return std::move(*this);
    }
};

// What a step's result is expected to be. Some steps are there for their fault.
enum class outcome {
    right,
    wrong,   // the lecture's point is that it is wrong
    by_luck, // nothing makes it right, though it may come out right
};

// A value of any element_type.
struct scalar {
    element_type type = element_type::int32;
    std::int64_t integer = 0; // of int32, int64
    double real = 0;          // of float32 (exactly), float64
};

// The result of a step that makes one value of many.
struct single_value {
    scalar result;
    scalar expected;
    double tolerance = 0; // absolute, of float types; 0: exact
};

struct ladder_request {
    std::string name;               // of the catalogue
    std::optional<std::uint64_t> n; // size of the problem, as the ladder counts it; empty: its own default
    step_parameters parameters;     // those that the ladder does not take are ignored
    std::vector<std::string> steps; // ids; empty: all
    std::uint64_t seed = 587;
    const void* data = nullptr; // n elements on the host, for a ladder that takes an element type; nullptr: from `seed`
    bool time = false;          // on a GPU only
    bool count = false;         // on the software GPU only
    bool check = false;         // on the software GPU only: every step once more, small, under all checks
    bool counterexamples = false; // every claim's check once more, on its counter-example
    unsigned samples = 31;        // of each timing
    // Bytes, 256 at most, between a 256-byte boundary and the step's arrays: a multiple of the element's size in a ladder
    // that takes an element type, else of 16.
    unsigned offset = 0;
    std::function<void(const std::string& what, std::size_t done, std::size_t of)> progress; // may be empty
};

struct step_result : step_description {
    bool on_device = true;
    bool in_child_process = false; // neither counted nor timed
    outcome expected = outcome::right;
    std::string lesson;  // why it is not simply right
    std::string skipped; // empty: it ran; else why not
    std::string error;   // what the device said, where it failed
    std::uint64_t n = 0; // on which it ran: a block's worth where the step is of one block
    bool correct = false;
    std::string difference;                                // where it is not correct: what was found
    std::optional<single_value> value;                     // where the result is one value
    std::vector<softgpu::observe::launch_record> launches; // counters zero on a GPU
    std::uint64_t least_bytes = 0;                         // that have to be read and written; 0: not said
    std::optional<timing> cold;                            // L2 flushed before each sample
    std::optional<timing> warm;
    std::vector<claim> claims;
    std::vector<std::string> missing; // steps that its claims would be compared with, and that did not run
    // In laboratories of streams: when each operation ran, on a GPU measured, on the software GPU by a model; there also what
    // the runtime was asked to do.
    std::optional<softgpu::observe::timeline> timeline;
    std::optional<softgpu::observe::operation_log> operations;
    // By predicted card what the predictions of its launches do not have.
    struct on_card {
        std::string card;
        double moves = 0;                 // seconds of its fills and copies, one after the other
        std::optional<double> timeline{}; // seconds of its timeline, where it has one
    };
    std::vector<on_card> on_cards;

    // It came out as expected.
    [[nodiscard]] bool as_expected() const {
        return skipped.empty() && (error.empty() || expected != outcome::right) &&
               (expected == outcome::by_luck || correct == (expected == outcome::right));
    }
    // Its times mean something: it ran, and its result is right or expected not to be.
    [[nodiscard]] bool timed() const {
        return skipped.empty() && (correct || expected != outcome::right) && cold && cold->median > 0;
    }
};

// Figures beside the steps: a sweep, a lecture's own table with ours.
struct extra_table {
    std::string title;
    std::vector<std::string> head;
    std::vector<std::vector<std::string>> rows;
};

struct ladder_report {
    device_description device;
    ladder_request request;
    std::uint64_t n = 0;       // asked for, or the ladder's default
    std::uint64_t n_timed = 0; // the ladder's default on a GPU
    std::string data;          // what the problem is, in words
    parameter_set takes;
    bool one_problem = false; // every step solves the whole problem, so that their times compare
    std::vector<step_result> steps;
    std::vector<extra_table> tables;
};

} // namespace warpfold::ladder
