// SPDX-License-Identifier: MIT
// Runs one step after the other: data, result against the reference, counters or times, checks, claims.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ladder/engine/definition/step.hpp"
#include "measure/device.hpp"
#include "measure/timer.hpp"

namespace warpfold::ladder::engine {

class step_runner {
public:
    // Both outlive this; `resident_blocks` as in stage.
    step_runner(const ladder_definition& ladder, ladder_report& report, unsigned resident_blocks);

    // Adds the step's result to the report. False where the device can no longer be used.
    bool run(const step_definition& step);
    // After all steps: holds every claim's check against its counter-example. The request has to ask for it.
    void run_counterexamples();
    // From then on steps are timed.
    void measure_ceilings();
    // The cold median of a step on n elements; empty without measure_ceilings() or where the result is not right.
    [[nodiscard]] std::optional<double> seconds_of(const std::string& id, std::uint64_t n);

private:
    // A step that has run, and what the checks of its claims look at.
    struct performed {
        step_result step;
        const sample* data = nullptr;
        bytes result;
        std::optional<findings> found;
        std::string said;
        bool device_usable = true;
    };
    // The step on a problem of n, without its claims.
    performed perform(const step_definition& step, std::uint64_t n);
    [[nodiscard]] evidence evidence_of(const ladder_report& report, const performed& of,
                                       std::vector<std::string>* missing) const;
    verdict refute(const step_definition& step, const performed& here, const claim_check& claim);
    // Of the request's element type; 0 in a ladder that takes none.
    [[nodiscard]] std::size_t element_bytes() const;
    [[nodiscard]] problem problem_of(std::uint64_t n) const;
    const sample& data_of(const step_definition& step, std::uint64_t n);
    // A stage without memory.
    [[nodiscard]] stage empty_stage(const sample& data) const;
    void on_device(const step_definition& step, const sample& data, step_result& out, bytes& result);
    void add_predicted(softgpu::observe::operation_log operations, step_result& out) const;
    void on_host(const step_definition& step, const sample& data, step_result& out, bytes& result) const;
    // Returns what the processes said on standard error.
    std::string in_child_processes(const step_definition& step, const sample& data, step_result& out,
                                   bytes& result) const;
    // The step once more, small, under all checks.
    findings check(const step_definition& step);

    const ladder_definition& ladder_;
    ladder_report& report_;
    unsigned resident_blocks_;
    measure::stream stream_;
    std::optional<measure::timer> clock_;
    struct kept_sample {
        data_source source;
        std::uint64_t n; // asked for
        std::unique_ptr<sample> data;
    };
    std::vector<kept_sample> kept_;
    std::vector<performed> performed_; // where the request asks for counter-examples
};

} // namespace warpfold::ladder::engine
