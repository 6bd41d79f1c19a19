// SPDX-License-Identifier: MIT
// The steps in their order, the machine of the model, and what other machines would make of the same calls.
#include <vector>

#include "ladder/streams/steps.hpp"
#include "ladder/streams/timeline_claims.hpp"

namespace warpfold::ladder::streams {

namespace {

using softgpu::observe::timeline_machine;

// A small GPU, on which the kernels here take about as long as their copies.
timeline_machine small_gpu() {
    timeline_machine m;
    m.name = "model of a small GPU: 24 multiprocessors with 9.8 warp instructions a nanosecond each, two copy engines, "
             "25 GB/s "
             "each way, 6 GB/s for pageable memory";
    m.call_seconds = 0.25e-6;
    m.copy_latency = m.kernel_latency = 1e-6;
    m.pinned_bytes_per_s = 25e9;
    m.pageable_bytes_per_s = 6e9;
    m.multiprocessors = 24;
    m.warp_instructions_per_s = 9.8e9;
    m.memory_bytes_per_s = 200e9;
    m.host_function_seconds = 10e-6;
    return m;
}

// The same calls on machines with one copy engine or two, that take what is ready or work in the order of issue.
std::vector<extra_table> on_other_machines(const ladder_report& report, const engine::stopwatch& /*seconds_of*/) {
    extra_table table{
        "The order of issue matters where one queue serves all streams: µs on machines with one copy engine or "
        "two, whose engines take what is ready, or work strictly in the order of issue (by the model)",
        {"machine"},
        {}};
    std::vector<const step_result*> steps;
    for (const step_result& s : report.steps) {
        if (s.operations && (s.id == "one" || s.id == "two" || s.id == "breadth" || s.id == "many")) {
            steps.push_back(&s);
            table.head.push_back(s.id);
        }
    }
    if (steps.empty()) {
        return {};
    }
    for (const unsigned engines : {2u, 1u}) {
        for (const bool in_order : {false, true}) {
            timeline_machine m = small_gpu();
            m.copy_engines = engines;
            m.in_order = in_order;
            std::vector<std::string> row{(engines == 2 ? "two copy engines, " : "one copy engine, ") +
                                         std::string(in_order ? "in order" : "what is ready")};
            for (const step_result* const s : steps) {
                row.push_back(number(softgpu::observe::model_of(*s->operations, m).seconds() * 1e6, 1));
            }
            table.rows.push_back(std::move(row));
        }
    }
    return {table};
}

} // namespace

const engine::ladder_definition& laboratory() {
    static const engine::ladder_definition all{
        .name = "streams",
        .data = "int32 copied to the device, worked on and copied back, at the same time as far as it goes",
        .n_counted = 1u << 17,
        .n_timed = 1u << 24,
        .most = 1u << 28,
        .steps = {blocking(), one_stream(), small_copies(), two_streams(), breadth_first(), many_streams(), pageable(),
                  wait_event(), no_wait(), default_stream(), non_blocking(), per_thread(), host_functions(),
                  in_between(), calls_in_between(), synchronisation(), destroyed(), blocking_launches()},
        .machine = small_gpu(),
        .tables = on_other_machines,
        .child_programs = child_programs()};
    return all;
}

} // namespace warpfold::ladder::streams

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::streams::laboratory();
}
