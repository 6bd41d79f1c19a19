// SPDX-License-Identifier: MIT
// `warpfold run --check all` on programs with a mistake in them: each is found, once, at the line that says so, and the
// corrected twin runs without a finding.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/passing_folder.hpp"
#include "tests/command_output.hpp"
#include "tests/contents_of.hpp"

namespace {

struct expectation {
    std::string name;
    std::string kind;
    unsigned line = 0; // 0: of the host
    std::string program = PLANTED;
    std::string file = "planted.cu";
};

std::vector<expectation> read_expectations(const char* program = PLANTED, const char* source = PLANTED_SOURCE) {
    std::ifstream in(source);
    const std::string file = std::filesystem::path(source).filename();
    const std::regex marker("// (HOST_)?FINDING\\((\\w+)\\): (.+)$");
    std::vector<expectation> all;
    std::string text;
    for (unsigned line = 1; std::getline(in, text); ++line) {
        std::smatch found;
        if (std::regex_search(text, found, marker) && found[2] != "case") {
            all.push_back({found[2], found[3], found[1].matched ? 0 : line, program, file});
        }
    }
    return all;
}

struct outcome {
    int status = -1;
    std::string text;
    nlohmann::json report = nullptr;
};

std::vector<expectation> all_expectations() {
    std::vector<expectation> all = read_expectations();
    for (const auto& [program, source] :
         {std::pair(PLANTED_ORDER, PLANTED_ORDER_SOURCE), std::pair(PLANTED_COPIES, PLANTED_COPIES_SOURCE),
          std::pair(PLANTED_WGMMA, PLANTED_WGMMA_SOURCE), std::pair(PLANTED_ENDS, PLANTED_ENDS_SOURCE),
          std::pair(PLANTED_CLUSTERS, PLANTED_CLUSTERS_SOURCE), std::pair(PLANTED_LAUNCHES, PLANTED_LAUNCHES_SOURCE),
          std::pair(PLANTED_PIPELINE, PLANTED_PIPELINE_SOURCE), std::pair(PLANTED_BYTES, PLANTED_BYTES_SOURCE),
          std::pair(PLANTED_VALUES, PLANTED_VALUES_SOURCE), std::pair(PLANTED_GRID, PLANTED_GRID_SOURCE)}) {
        const std::vector<expectation> more = read_expectations(program, source);
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

outcome run(const std::string& arguments, const std::string& options = "--check all",
            const std::string& program = PLANTED) {
    const warpfold::report::passing_folder folder("planted");
    const std::string json = folder.file("report.json");
    const std::string command = std::string("'") + WARPFOLD + "' run " + options + " --check-json '" + json + "' -- '" +
                                program + "' " + arguments + " 2>&1";
    auto [status, text] = warpfold::tests::output_of(command);
    outcome o{.status = status, .text = std::move(text)};
    o.report = nlohmann::json::parse(warpfold::tests::contents_of(json), nullptr, false);
    return o;
}

class Planted : public testing::TestWithParam<expectation> {};

TEST_P(Planted, IsFoundAtItsLine) {
    const expectation& e = GetParam();
    const outcome o = run(e.name, "--check all", e.program);
    EXPECT_EQ(o.status, 1) << o.text;
    ASSERT_TRUE(o.report.is_object()) << o.text;
    std::vector<nlohmann::json> list; // without notes: whether two blocks write the same value depends on the run
    std::copy_if(o.report["findings"].begin(), o.report["findings"].end(), std::back_inserter(list),
                 [](const nlohmann::json& f) { return f["severity"] == "error"; });
    ASSERT_EQ(list.size(), 1u) << o.text;
    EXPECT_EQ(list[0]["kind"], e.kind);
    EXPECT_EQ(o.report["count"], 1);
    if (e.line == 0) {
        return;
    }
    bool there = false;
    for (const auto& access : list[0]["accesses"]) {
        const auto& where = access["where"];
        const auto is = [&](const nlohmann::json& place) {
            return place.contains("line") && place["line"] == e.line &&
                   place["file"].get<std::string>().ends_with("/" + e.file);
        };
        there = there || is(where);
        for (const auto& call : where.value("called_from", nlohmann::json::array())) {
            there = there || is(call);
        }
    }
    EXPECT_TRUE(there) << "not at line " << e.line << ":\n" << o.text;
    EXPECT_NE(o.text.find("/" + e.file + ":" + std::to_string(e.line)), std::string::npos) << o.text;
    const auto& accesses = list[0]["accesses"];
    EXPECT_TRUE(std::any_of(accesses.begin(), accesses.end(), [](const auto& a) { return a.contains("thread"); }));
}

TEST_P(Planted, TwinIsSilent) {
    const outcome o = run(GetParam().name + " fixed", "--check all", GetParam().program);
    EXPECT_EQ(o.status, 0) << o.text;
    ASSERT_TRUE(o.report.is_object()) << o.text;
    EXPECT_TRUE(o.report["findings"].empty()) << o.text;
}

TEST_P(Planted, TwinRunsUnderEachCheckAlone) {
    for (const char* const check : {"memory", "race", "init", "sync"}) {
        const outcome o = run(GetParam().name + " fixed", std::string("--check ") + check, GetParam().program);
        EXPECT_EQ(o.status, 0) << check << ": " << o.text;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Planted, testing::ValuesIn(all_expectations()),
                         [](const auto& which) { return which.param.name; });

// What is said of a finding but for values, threads and how often.
std::set<std::string> essence(const nlohmann::json& report) {
    std::set<std::string> all;
    for (const auto& f : report["findings"]) {
        std::string text = f["kind"];
        for (const auto& a : f["accesses"]) {
            text += "; " + a["what"].get<std::string>() + " " + std::to_string(a["where"].value("line", 0));
        }
        all.insert(text);
    }
    return all;
}

class PlantedOrder : public testing::TestWithParam<expectation> {};

// It is the order that is missing, not the order that there was, which is reported.
TEST_P(PlantedOrder, IsTheSameInEverySchedule) {
    const expectation& e = GetParam();
    const std::set<std::string> fair = essence(run(e.name, "--check race", e.program).report);
    EXPECT_EQ(fair.size(), 1u);
    for (const char* const seed : {"1", "2", "3", "4"}) {
        const std::string options = std::string("--check race --schedule adversarial --seed ") + seed;
        const outcome o = run(e.name, options, e.program);
        EXPECT_EQ(essence(o.report), fair) << "seed " << seed << ":\n" << o.text;
        EXPECT_EQ(run(e.name + " fixed", options, e.program).status, 0) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(All, PlantedOrder, testing::ValuesIn(read_expectations(PLANTED_ORDER, PLANTED_ORDER_SOURCE)),
                         [](const auto& which) { return which.param.name; });

// One thread frees a stage for the four warps of its warpgroup: their products are over together.
TEST(PlantedPipeline, IsRightAndSilentInEverySchedule) {
    for (const std::string name : {"early_release fixed", "remote_early fixed"}) {
        for (const std::string seed : {"", "1", "2", "3", "4", "5", "6"}) {
            const std::string options =
                "--check all" + (seed.empty() ? seed : " --schedule adversarial --seed " + seed);
            const outcome o = run(name, options, PLANTED_PIPELINE);
            EXPECT_EQ(o.status, 0) << name << ", seed " << seed << ":\n" << o.text;
        }
    }
}

TEST(PlantedPipeline, WarpsThatWaitForTheirWarpgroupAreNamed) {
    const outcome o = run("three_warps", "--check sync", PLANTED_PIPELINE);
    EXPECT_EQ(o.status, 1) << o.text;
    EXPECT_NE(o.text.find("wait for the other warps of their warpgroup"), std::string::npos) << o.text;
}

// A stream that waits for a value holds nobody up, in the adversarial schedule neither.
TEST(PlantedValues, AreRightAndSilentInEverySchedule) {
    for (const expectation& e : read_expectations(PLANTED_VALUES, PLANTED_VALUES_SOURCE)) {
        for (const char* const seed : {"1", "2", "3"}) {
            const outcome o = run(e.name + " fixed", std::string("--check all --schedule adversarial --seed ") + seed,
                                  PLANTED_VALUES);
            EXPECT_EQ(o.status, 0) << e.name << ", seed " << seed << ":\n" << o.text;
        }
    }
}

TEST(PlantedValues, ADeadlockSaysWhatItWaitsFor) {
    const outcome o = run("no_value", "--check sync", PLANTED_VALUES);
    EXPECT_NE(o.text.find("cuStreamWaitValue32: deadlock: waits until the 4 bytes at"), std::string::npos) << o.text;
    EXPECT_NE(o.text.find("are 1; they are 2"), std::string::npos) << o.text;
}

std::size_t times(const std::string& part, const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++n;
    }
    return n;
}

// In whatever order children run.
TEST(PlantedLaunches, AreFoundInEverySchedule) {
    for (const expectation& e : read_expectations(PLANTED_LAUNCHES, PLANTED_LAUNCHES_SOURCE)) {
        for (const char* const seed : {"1", "2", "3", "4"}) {
            const std::string options = std::string("--check all --schedule adversarial --seed ") + seed;
            const outcome o = run(e.name, options, e.program);
            EXPECT_NE(o.text.find(e.kind), std::string::npos) << e.name << ", seed " << seed << ":\n" << o.text;
            EXPECT_EQ(run(e.name + " fixed", options, e.program).status, 0) << e.name << ", seed " << seed;
        }
    }
}

TEST(PlantedLaunches, AFaultNamesTheParent) {
    const outcome o = run("child_fault", "--check memory", PLANTED_LAUNCHES);
    EXPECT_NE(o.text.find("launched by child_fault(int*, bool)"), std::string::npos) << o.text;
}

TEST(PlantedEnds, NoFindingIsLostWithItsProcess) {
    for (const std::string how : {"abort", "terminate", "_exit", "quick_exit", "exec", "kill", "fork", "return"}) {
        const outcome o = run("lost " + how, "--check memory --error-exit 9", PLANTED_ENDS);
        EXPECT_EQ(o.status, 9) << how << ": " << o.text;
        ASSERT_TRUE(o.report.is_object()) << how << ": " << o.text;
        EXPECT_EQ(o.report["count"], 1) << how << ": " << o.text;
        EXPECT_FALSE(o.report.contains("not_printed")) << how;
        EXPECT_EQ(times("copy or fill out of bounds", o.text), 1u) << how << ": " << o.text;
        EXPECT_EQ(times("did not load", o.text), 0u) << how << ": " << o.text;
        EXPECT_EQ(times("warpfold: 1 finding", o.text), 1u) << how << ": " << o.text;
    }
}

TEST(PlantedEnds, FindingsOfAllProcessesCount) {
    const std::string program = std::string("'") + PLANTED_ENDS + "'";
    for (const auto& [script, count] : {std::pair(program + " lost; " + program + " refused fixed", 1),
                                        std::pair(program + " refused fixed; " + program + " lost", 1),
                                        std::pair(program + " lost & " + program + " refused & wait", 2),
                                        std::pair(program + " refused fixed; " + program + " refused fixed", 0)}) {
        const outcome o = run("-c \"" + script + "\"", "--check memory --error-exit 9", "/bin/sh");
        EXPECT_EQ(o.status, count == 0 ? 0 : 9) << o.text;
        ASSERT_TRUE(o.report.is_object()) << o.text;
        EXPECT_EQ(o.report["count"], count) << o.text;
        EXPECT_EQ(o.report["findings"].size(), static_cast<std::size_t>(count));
        for (const auto& f : o.report["findings"]) {
            EXPECT_GT(f["process"], 0);
            EXPECT_EQ(f["program"], "program_planted_ends");
        }
        EXPECT_NE(o.text.find("in 2 processes"), std::string::npos) << o.text;
    }
}

// Of the same two instructions the first pair is of one warp, and others are of several warps and blocks.
TEST(PlantedEnds, TheWarpsBarrierIsNamedOnlyWhereItMends) {
    for (const char* const workers : {"1", "4"}) {
        const outcome o = run("increments", std::string("--check race --workers ") + workers, PLANTED_ENDS);
        ASSERT_TRUE(o.report.is_object()) << o.text;
        ASSERT_GE(o.report["count"], 1) << o.text;
        EXPECT_EQ(o.text.find("__syncwarp"), std::string::npos) << o.text;
        EXPECT_NE(o.text.find("two blocks use one word"), std::string::npos) << o.text;
    }
}

TEST(PlantedEnds, WhateverCheckIsOn) {
    for (const char* const name : {"device_free", "trapped", "asserted"}) {
        const outcome o = run(name, "--check leak", PLANTED_ENDS);
        EXPECT_EQ(o.status, 1) << o.text;
        EXPECT_EQ(o.report["count"], 1) << o.text;
    }
    EXPECT_EQ(run("refused", "--check race", PLANTED_ENDS).status, 0);
}

TEST(PlantedOptions, StatusAndChoice) {
    EXPECT_EQ(run("race_warps", "--check race --error-exit 42").status, 42);
    const outcome other = run("race_warps", "--check memory,sync,leak");
    EXPECT_EQ(other.status, 0) << other.text;
    EXPECT_NE(other.text.find("0 findings"), std::string::npos) << other.text;
    EXPECT_EQ(run("race_warps", "--check races").status, 2);
    EXPECT_GE(read_expectations().size(), 23u);
    EXPECT_EQ(read_expectations(PLANTED_ORDER, PLANTED_ORDER_SOURCE).size(), 15u);
}

} // namespace
