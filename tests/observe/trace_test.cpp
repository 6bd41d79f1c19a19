// SPDX-License-Identifier: MIT
// Timelines as traces: the file is JSON of the trace event format, and holds what the timeline does.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "report/passing_folder.hpp"
#include "softgpu/observe/timeline_trace.hpp"
#include "tests/contents_of.hpp"
#include "tests/observe/logs.hpp"

namespace softgpu::observe {
namespace {

using nlohmann::json;

timeline two_streams() {
    testing::program p;
    for (int s = 1; s <= 2; ++s) {
        p.copy_in(s, 2);
        p.kernel(s);
        p.copy_out(s, 2);
    }
    return model_of(p.log, testing::slow_machine());
}

TEST(Trace, HoldsTheTimelineTwice) {
    const timeline t = two_streams();
    const traced one{"program", &t};
    const json j = json::parse(trace_of({&one, 1}));
    EXPECT_EQ(j["otherData"]["machines"]["program"], "a slow one");
    std::map<int, std::string> processes;
    std::map<std::pair<int, int>, std::string> threads;
    std::map<int, std::vector<json>> operations; // by process
    for (const json& e : j["traceEvents"]) {
        if (e["name"] == "process_name") {
            processes[e["pid"]] = e["args"]["name"];
        } else if (e["name"] == "thread_name") {
            threads[{e["pid"], e["tid"]}] = e["args"]["name"];
        } else if (e["ph"] == "X") {
            operations[e["pid"]].push_back(e);
        } else {
            EXPECT_EQ(e["ph"], "M");
        }
    }
    ASSERT_EQ(processes.size(), 2u);
    EXPECT_EQ(processes[1], "program: engines (model)");
    EXPECT_EQ(processes[2], "program: streams (model)");
    for (const auto& [process, all] : operations) {
        ASSERT_EQ(all.size(), t.events.size());
        for (std::size_t k = 0; k < all.size(); ++k) {
            const json& e = all[k];
            EXPECT_EQ(e["args"]["operation"], k);
            EXPECT_EQ(e["name"], t.events[k].name);
            EXPECT_EQ(e["ts"].get<double>(), t.events[k].start * 1e6);
            EXPECT_EQ(e["dur"].get<double>(), (t.events[k].end - t.events[k].start) * 1e6);
            const std::string thread = threads.at({process, e["tid"]});
            EXPECT_EQ(thread, process == 1 ? name_of(t.events[k].on) : t.events[k].stream);
            EXPECT_EQ(e["args"]["after"].get<std::vector<std::size_t>>(), t.events[k].after);
        }
    }
    EXPECT_EQ(operations[1][0]["args"]["bytes"], 2);
    EXPECT_EQ(operations[1][0]["args"]["pageable"], false);
    EXPECT_FALSE(operations[1][1]["args"].contains("bytes"));
}

TEST(Trace, OfSeveralAndOfNone) {
    EXPECT_TRUE(json::parse(trace_of({}))["traceEvents"].empty());
    timeline measured = two_streams();
    measured.modelled = false;
    measured.events[0].name = "with \"quotes\" and \xff no UTF-8";
    const traced both[] = {{"a", &measured}, {"b", &measured}};
    const json j = json::parse(trace_of(both));
    EXPECT_EQ(j["traceEvents"][0]["args"]["name"], "a: engines");
    EXPECT_EQ(j["otherData"]["machines"].size(), 2u);
}

TEST(Trace, IsWrittenWholeOrNotAtAll) {
    const timeline t = two_streams();
    const traced one{"program", &t};
    const warpfold::report::passing_folder folder("trace");
    write_trace(folder.file("trace.json"), {&one, 1});
    EXPECT_EQ(warpfold::tests::contents_of(folder.file("trace.json")), trace_of({&one, 1}));
    EXPECT_THROW(write_trace("/nowhere/at/all.json", {&one, 1}), std::runtime_error);
}

TEST(Trace, SeveralDevicesAreProcessesOfTheirOwn) {
    testing::program p;
    for (const int device : {0, 2, 2}) {
        p.log.operations[p.kernel(device)].device = device;
    }
    const timeline t = model_of(p.log, testing::slow_machine());
    EXPECT_EQ(t.devices(), 3);
    const traced one{"program", &t};
    const json j = json::parse(trace_of({&one, 1}));
    std::map<int, std::string> processes;
    std::map<std::string, std::vector<std::size_t>> operations;
    for (const json& e : j["traceEvents"]) {
        if (e["name"] == "process_name") {
            processes[e["pid"]] = e["args"]["name"];
        } else if (e["ph"] == "X") {
            operations[processes[e["pid"]]].push_back(e["args"]["operation"]);
        }
    }
    ASSERT_EQ(processes.size(), 6u);
    EXPECT_EQ(processes[1], "program, device 0: engines (model)");
    EXPECT_EQ(processes[6], "program, device 2: streams (model)");
    EXPECT_EQ(operations["program, device 0: engines (model)"], std::vector<std::size_t>{0});
    EXPECT_EQ(operations["program, device 2: engines (model)"], (std::vector<std::size_t>{1, 2}));
    EXPECT_FALSE(operations.contains("program, device 1: engines (model)"));
}

} // namespace
} // namespace softgpu::observe
