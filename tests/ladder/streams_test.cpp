// SPDX-License-Identifier: MIT
// The laboratory of streams: its timelines hold their rules, as traces too, and say of speed what the claims say.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "softgpu/observe/timeline_trace.hpp"
#include "tests/ladder/loaded_ladder.hpp"

namespace warpfold::ladder {
namespace {

using nlohmann::json;
using softgpu::observe::engine;
using softgpu::observe::timeline;
using softgpu::observe::timeline_event;
using ::warpfold::ladder::testing::loaded_engine;

const ladder_report& laboratory() {
    static const ladder_report report = [] {
        ladder_request request;
        request.name = "streams";
        request.n = 1u << 17; // with less, many small copies cost more than they hide
        request.count = true;
        return loaded_engine().run(request);
    }();
    return report;
}

const step_result& step_of(const std::string& id) {
    for (const step_result& step : laboratory().steps) {
        if (step.id == id) {
            return step;
        }
    }
    throw std::out_of_range("no step " + id);
}

double seconds_of(const std::string& id) { return step_of(id).timeline->seconds(); }

// Seconds in which two of the engines work at the same time.
double overlap(const timeline& t) {
    double both = 0;
    for (const timeline_event& a : t.events) {
        for (const timeline_event& b : t.events) {
            if (a.on < b.on) {
                both += std::max(0.0, std::min(a.end, b.end) - std::max(a.start, b.start));
            }
        }
    }
    return both;
}

TEST(StreamsLaboratory, HasATimelineOfEveryStep) {
    for (const step_result& step : laboratory().steps) {
        EXPECT_TRUE(step.as_expected()) << step.id << step.error << step.difference;
        if (step.in_child_process) { // the operations of other processes
            continue;
        }
        ASSERT_TRUE(step.timeline) << step.id;
        EXPECT_TRUE(step.timeline->modelled);
        std::size_t kernels = 0;
        for (const timeline_event& e : step.timeline->events) {
            kernels += e.on == engine::compute && e.bytes == 0 ? 1 : 0;
        }
        EXPECT_EQ(kernels, step.launches.size()) << step.id;
    }
}

TEST(StreamsLaboratory, ClaimsHoldButForTwo) {
    std::size_t hold = 0;
    for (const step_result& step : laboratory().steps) {
        for (const claim& one : step.claims) {
            const bool wrong_today =
                one.text.find("cudaStreamDestroy() waits") == 0 || one.text.find("asynchronous: host to device") == 0;
            EXPECT_NE(one.holds, std::optional(wrong_today)) << step.id << ": " << one.text << ": " << one.figure;
            hold += one.holds.value_or(false) ? 1 : 0;
        }
    }
    EXPECT_GE(hold, 30u);
}

TEST(StreamsLaboratory, OverlapsWhereItOught) {
    EXPECT_EQ(overlap(*step_of("blocking").timeline), 0);
    EXPECT_EQ(overlap(*step_of("one").timeline), 0);
    EXPECT_EQ(overlap(*step_of("pageable").timeline), 0);
    EXPECT_EQ(overlap(*step_of("default").timeline), 0);
    EXPECT_LT(seconds_of("two"), 0.9 * seconds_of("one"));
    EXPECT_DOUBLE_EQ(seconds_of("two"), seconds_of("breadth"));
    EXPECT_LT(seconds_of("many"), seconds_of("two"));
    EXPECT_GT(seconds_of("pageable"), 1.5 * seconds_of("two"));
    EXPECT_LT(seconds_of("non-blocking"), 0.9 * seconds_of("default"));
    // Without the wait the kernel does not come later.
    EXPECT_LE(seconds_of("no wait"), seconds_of("wait"));
}

TEST(StreamsLaboratory, TheKernelWaitsForTheEvent) {
    // The example's copies and kernel: new input, previous result, kernel on the new input.
    const auto& with = step_of("wait").timeline->events;
    EXPECT_GE(with.at(4).start, with.at(2).end);
    EXPECT_EQ(with.at(4).after, (std::vector<std::size_t>{2, 3}));
    const auto& without = step_of("no wait").timeline->events;
    EXPECT_EQ(without.at(4).after, (std::vector<std::size_t>{3}));
}

// The order of issue, on machines of four kinds, from what the runtime was asked to do.
TEST(StreamsLaboratory, OneQueueMakesTheOrderOfIssueMatter) {
    ASSERT_EQ(laboratory().tables.size(), 1u);
    const extra_table& table = laboratory().tables.front();
    ASSERT_EQ(table.head, (std::vector<std::string>{"machine", "one", "two", "breadth", "many"}));
    std::map<std::string, std::vector<double>> rows;
    for (const auto& row : table.rows) {
        for (std::size_t k = 1; k < row.size(); ++k) {
            rows[row[0]].push_back(std::stod(row[k]));
        }
    }
    const auto& worst = rows.at("one copy engine, in order");
    EXPECT_GE(worst[1], worst[0]) << "depth first gains nothing there";
    EXPECT_LT(worst[2], 0.95 * worst[1]) << "breadth first does";
    const auto& best = rows.at("two copy engines, what is ready");
    EXPECT_EQ(best[1], best[2]);
    EXPECT_LT(best[1], 0.9 * best[0]);
}

TEST(StreamsLaboratory, ItsTraceHoldsTheRules) {
    std::vector<softgpu::observe::traced> all;
    for (const step_result& step : laboratory().steps) {
        if (!step.in_child_process) {
            all.push_back({step.id, &*step.timeline});
        }
    }
    const json trace = json::parse(softgpu::observe::trace_of(all));
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> rows; // of engines and of streams
    std::map<int, std::map<std::size_t, std::pair<double, double>>> operations; // of a process
    std::map<int, std::string> processes;
    for (const json& e : trace["traceEvents"]) {
        if (e["name"] == "process_name") {
            processes[e["pid"]] = e["args"]["name"];
        }
        if (e["ph"] == "X") {
            const std::pair<double, double> times{e["ts"], e["ts"].get<double>() + e["dur"].get<double>()};
            rows[{e["pid"], e["tid"]}].push_back(times);
            operations[e["pid"]][e["args"]["operation"]] = times;
            EXPECT_LE(e["args"]["issued_us"].get<double>(), times.first + 1e-6);
        }
    }
    EXPECT_EQ(processes.size(), 2 * all.size());
    constexpr double rounding = 1e-6; // µs
    for (auto& [place, events] : rows) {
        std::sort(events.begin(), events.end());
        for (std::size_t k = 1; k < events.size(); ++k) {
            EXPECT_GE(events[k].first + rounding, events[k - 1].second) << processes[place.first];
        }
    }
    for (const json& e : trace["traceEvents"]) {
        if (e["ph"] == "X") {
            for (const std::size_t before : e["args"]["after"]) {
                EXPECT_GE(e["ts"].get<double>() + rounding, operations[e["pid"]].at(before).second);
            }
        }
    }
}

} // namespace
} // namespace warpfold::ladder
