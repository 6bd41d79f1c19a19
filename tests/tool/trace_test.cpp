// SPDX-License-Identifier: MIT
// Files for ui.perfetto.dev, as the command writes them: `ladder streams --trace` and `run --timeline`, with the real ladder
// on the software GPU.
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;
using nlohmann::json;

using trace_files = with_real_ladder;

// The Trace Event Format: complete events with a beginning, a length, and a named process and thread. Returns how many.
std::size_t expect_a_trace(const json& document) {
    std::set<std::pair<int, int>> named;
    std::set<int> processes;
    std::size_t complete = 0;
    for (const json& event : document.at("traceEvents")) {
        const std::string kind = event.at("ph");
        const int process = event.at("pid");
        const int thread = event.at("tid");
        EXPECT_FALSE(event.at("name").get<std::string>().empty());
        if (kind == "M") {
            EXPECT_TRUE(event.at("args").is_object());
            if (event["name"] == "process_name") {
                processes.insert(process);
            } else if (event["name"] == "thread_name") {
                named.insert({process, thread});
            }
        } else {
            ++complete;
            EXPECT_EQ(kind, "X");
            EXPECT_GE(event.at("ts").get<double>(), 0);
            EXPECT_GE(event.at("dur").get<double>(), 0);
            EXPECT_TRUE(processes.count(process) == 1 && named.count({process, thread}) == 1) << event;
        }
    }
    return complete;
}

#ifdef WITH_REAL_LADDER

TEST_F(trace_files, of_streams) {
    const outcome seen = run(
        {"ladder", "streams", "--device", "softgpu", "--steps", "one,two", "--no-claims", "--trace", path("t.json")});
    ASSERT_EQ(seen.status, 0) << seen.error;
    const json document = json::parse(contents_of(path("t.json")));
    // A copy, a kernel and a copy back; then two of each. Every operation stands with its engine and with its stream.
    EXPECT_EQ(expect_a_trace(document), 2u * (3 + 6));
    std::set<std::string> processes;
    for (const json& event : document["traceEvents"]) {
        if (event["name"] == "process_name") {
            processes.insert(event["args"]["name"]);
        }
    }
    EXPECT_EQ(processes, (std::set<std::string>{"one: engines (model)", "one: streams (model)", "two: engines (model)",
                                                "two: streams (model)"}));
}

TEST_F(trace_files, of_a_program) {
    const outcome seen = run({"run", "--timeline", path("t.json"), "--", CHILD_PROGRAM, SOFTWARE_RUNTIME, LADDER_ENGINE,
                              "errors/good", path("left"), ""});
    ASSERT_EQ(seen.status, 0) << seen.error;
    const json document = json::parse(contents_of(path("t.json")));
    EXPECT_EQ(expect_a_trace(document), 2u * 2); // a kernel and a copy back
    EXPECT_EQ(contents_of(path("left")), "code\t0\ncode\t0\ncode\t7\n");
}

// One for each predicted card instead of the one of the software GPU's own card.
TEST_F(trace_files, of_a_program_on_predicted_cards) {
    const outcome seen = run({"run", "--predict", "h200,t4", "--timeline", path("t.json"), "--", CHILD_PROGRAM,
                              SOFTWARE_RUNTIME, LADDER_ENGINE, "errors/good", path("left"), ""});
    ASSERT_EQ(seen.status, 0) << seen.error;
    const json document = json::parse(contents_of(path("t.json")));
    EXPECT_EQ(expect_a_trace(document), 2u * 2 * 2);
    const json& machines = document["otherData"]["machines"];
    ASSERT_EQ(machines.size(), 2u);
    for (const auto& [card, link] : {std::pair{"h200", "55 GB/s each way"}, std::pair{"t4", "12 GB/s each way"}}) {
        const std::string machine = machines[card];
        EXPECT_EQ(machine.find("predicted by the model of "), 0u) << machine;
        EXPECT_NE(machine.find(link), std::string::npos) << machine;
        EXPECT_EQ(machine.find("without a prediction"), std::string::npos) << machine;
    }
}

TEST_F(trace_files, bad_paths_get_one_line) {
    const std::vector<std::string> streams{"ladder", "streams", "--device", "softgpu", "--steps", "one", "--trace"};
    const auto with = [&](const std::string& file) {
        std::vector<std::string> all = streams;
        all.push_back(file);
        return run(all);
    };
    expect_complaint(with(path("none/t.json")), 1, {"cannot write", "none/t.json"});
    expect_complaint(with(folder_.path()), 1, {"cannot write", "directory"});
    expect_complaint(with("-"), 2, {"--trace", "file"});
    expect_complaint(run({"ladder", "scan", "--device", "softgpu", "--steps", "1", "--trace", path("u.json")}), 2,
                     {"--trace", "scan have no timelines"});
    expect_complaint(run({"run", "--timeline", path("none/t.json"), "--", "/bin/true"}), 1, {"cannot write"});
    EXPECT_EQ(entries(), 0u);
}

#endif

} // namespace
