// SPDX-License-Identifier: MIT
// The command with the real ladder on the software GPU, where both are built.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;
using nlohmann::json;

using real_ladder = with_real_ladder;

TEST_F(real_ladder, is_right_in_every_step) {
    const outcome seen = run({"ladder", "reduce", "--device", "softgpu", "--n", "100000", "--json", "-"});
    ASSERT_EQ(seen.status, 0) << seen.error;
    const json document = json::parse(seen.out);
    EXPECT_GE(document["steps"].size(), 15u);
    for (const json& step : document["steps"]) {
        EXPECT_EQ(step["correct"], true) << step["id"];
        EXPECT_EQ(step["result"], step["expected"]) << step["id"];
    }
    // The multiple kernel calls of the lecture.
    const json& launches = document["steps"][0]["launches"];
    ASSERT_EQ(launches.size(), 3u);
    EXPECT_EQ(launches[0]["grid"][0], 391);
    EXPECT_EQ(launches[1]["grid"][0], 2);
    EXPECT_EQ(launches[2]["grid"][0], 1);
    EXPECT_GT(launches[0]["counters"]["thread_instructions"], 100'000);
}

TEST_F(real_ladder, predicts_times_by_a_model) {
    const outcome seen = run({"ladder", "reduce", "--device", "softgpu", "--n", "64Ki", "--steps", "1,3,cpu",
                              "--predict", "h200,T4", "--no-claims", "--json", "-"});
    ASSERT_EQ(seen.status, 0) << seen.error;
    const json document = json::parse(seen.out);
    for (const char* const card : {"h200", "t4"}) {
        const json& first = document["steps"][0]["predictions"][card];
        const json& third = document["steps"][1]["predictions"][card];
        EXPECT_GT(first["cold_nanoseconds"], third["cold_nanoseconds"]) << card;
        EXPECT_GE(third["cold_nanoseconds"], third["nanoseconds"]) << card;
        const json& launch = document["steps"][1]["launches"][0]["predictions"][card];
        EXPECT_EQ(launch["cold_dram_read_bytes"], 64 * 1024 * 4) << card;
        EXPECT_EQ(launch["bounds"].contains(launch["bound"].get<std::string>()) || launch["bound"] == "launch", true);
    }
    EXPECT_FALSE(document["steps"][2].contains("predictions"));
    EXPECT_EQ(document["steps"][1]["predictions"]["h200"]["fills_and_copies_nanoseconds"], 0);
    const outcome filled = run({"ladder", "histogram", "--device", "softgpu", "--n", "64Ki", "--steps", "3",
                                "--predict", "h200", "--no-claims", "--json", "-"});
    ASSERT_EQ(filled.status, 0) << filled.error;
    // It fills its seven bins with zeros: a launch in a row.
    EXPECT_NEAR(json::parse(filled.out)["steps"][0]["predictions"]["h200"]["fills_and_copies_nanoseconds"], 1486, 1);
    const outcome table = run({"ladder", "reduce", "--device", "softgpu", "--n", "1Ki", "--predict", "t4"});
    EXPECT_NE(table.out.find("by a model (docs/model.md), not measured"), std::string::npos);
    const outcome unknown = run({"ladder", "reduce", "--device", "softgpu", "--predict", "g81"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_NE(unknown.error.find("'g81' is none of a100, g80, h100"), std::string::npos) << unknown.error;
    const outcome absent = run({"ladder", "reduce", "--device", "softgpu", "--card-file", "/nowhere/my.json"});
    EXPECT_NE(absent.error.find("/nowhere/my.json: cannot be read"), std::string::npos) << absent.error;
}

// The laboratory of streams in the model of a card: kernels take what the launches' predictions say, and copies of one stream
// run beside kernels of another where the step lets them.
TEST_F(real_ladder, streams_overlap_in_the_model_of_a_card) {
    const outcome seen = run({"ladder", "streams", "--device", "softgpu", "--n", "1Mi", "--steps", "one,two,many",
                              "--predict", "h200,t4", "--json", "-"});
    ASSERT_EQ(seen.status, 0) << seen.error;
    const json document = json::parse(seen.out);
    std::map<std::string, double> both;
    for (const json& step : document["steps"]) {
        const json& timeline = step["timeline"];
        EXPECT_EQ(timeline["modelled"], true);
        const std::string machine = timeline["machine"];
        EXPECT_EQ(machine.find("predicted by the model of NVIDIA H200"), 0u) << machine; // the first card
        EXPECT_EQ(machine.find("without a prediction"), std::string::npos) << machine;
        std::vector<double> predicted;
        std::vector<double> took;
        for (const json& launch : step["launches"]) {
            predicted.push_back(launch["predictions"]["h200"]["nanoseconds"].get<double>() / 1000);
        }
        for (const json& a : timeline["operations"]) {
            if (a["engine"] == "compute") {
                took.push_back(a["end_us"].get<double>() - a["start_us"].get<double>());
            }
            for (const json& b : timeline["operations"]) {
                if (a["engine"] == "compute" && b["engine"] != "compute") {
                    both[step["id"]] +=
                        std::max(0.0, std::min(a["end_us"].get<double>(), b["end_us"].get<double>()) -
                                          std::max(a["start_us"].get<double>(), b["start_us"].get<double>()));
                }
            }
        }
        std::sort(predicted.begin(), predicted.end());
        std::sort(took.begin(), took.end());
        ASSERT_EQ(predicted.size(), took.size()) << step["id"];
        for (std::size_t k = 0; k < took.size(); ++k) {
            EXPECT_NEAR(took[k], predicted[k], 1e-6 * predicted[k]) << step["id"];
        }
    }
    EXPECT_EQ(both["one"], 0);
    EXPECT_GT(both["two"], 0);
    EXPECT_GT(both["many"], 0);
    const outcome text = run({"ladder", "streams", "--device", "softgpu", "--steps", "two", "--predict", "t4"});
    EXPECT_NE(text.out.find("Timelines: predicted by the model of NVIDIA T"), std::string::npos) << text.out;
}

// Steps 5 to 7 and sum_warp rely on an order between the lanes of a warp that nothing makes.
TEST_F(real_ladder, shows_the_verdict_of_the_checks) {
    for (const char* const block : {"128", "256"}) {
        const outcome seen =
            run({"ladder", "reduce", "--device", "softgpu", "--n", "16Ki", "--block", block, "--json", "-"});
        ASSERT_EQ(seen.status, 0) << seen.error;
        const json document = json::parse(seen.out);
        unsigned verdicts = 0;
        for (const json& step : document["steps"]) {
            for (const json& claim : step["claims"]) {
                if (claim["lecture"] != "the checks") {
                    continue;
                }
                ++verdicts;
                const std::string id = step["id"];
                const bool by_luck = id == "5" || id == "6" || id == "7" || id == "sum_warp";
                EXPECT_EQ(by_luck, !step["caution"].is_null()) << id;
                EXPECT_EQ(claim["holds"], true) << id << ": " << claim["figure"];
                EXPECT_EQ(claim["text"] == "the checks find the fault: race in shared memory", by_luck) << id;
                const std::string figure = claim["figure"];
                EXPECT_EQ(figure.find("race in shared memory: last_warp.cuh, lines ") != std::string::npos, by_luck)
                    << id << ": " << figure;
            }
        }
        EXPECT_EQ(verdicts, 14u);
    }
    // Without claims nothing is checked.
    const outcome without =
        run({"ladder", "reduce", "--device", "softgpu", "--n", "1Ki", "--steps", "5", "--no-claims", "--json", "-"});
    EXPECT_EQ(without.out.find("the checks\""), std::string::npos);
}

TEST_F(real_ladder, makes_a_table) {
    const outcome seen = run({"ladder", "reduce", "--device", "softgpu", "--n", "4Ki"});
    EXPECT_EQ(seen.status, 0) << seen.error;
    EXPECT_EQ(seen.error, "");
    EXPECT_NE(seen.out.find("✓"), std::string::npos);
}

TEST_F(real_ladder, reduces_a_file) {
    std::string numbers;
    for (std::int32_t i = 1; i <= 1000; ++i) {
        numbers.append(reinterpret_cast<const char*>(&i), sizeof(i));
    }
    const std::string file = write("a.bin", numbers);
    EXPECT_EQ(run({"reduce", file, "--type", "int32", "--device", "softgpu"}).out, "500500\n");
    EXPECT_EQ(run({"reduce", file, "--type", "int32", "--device", "softgpu", "--op", "max"}).out, "1000\n");
    EXPECT_EQ(run({"reduce", file, "--type", "int32", "--device", "host"}).out, "500500\n");
    EXPECT_EQ(run({"reduce", write("empty.bin", ""), "--type", "int32", "--device", "softgpu"}).out, "0\n");
}

// Files that this process's environment asks for are not written by child processes.
TEST_F(real_ladder, writes_nothing_for_child_processes) {
    const std::vector<std::string> arguments{"ladder",  "streams",  "--device",   "softgpu",
                                             "--steps", "launches", "--no-claims"};
    for (const char* const variable :
         {"SOFTGPU_COUNTERS", "SOFTGPU_PROFILE", "SOFTGPU_TIMELINE", "SOFTGPU_CHECK_JSON"}) {
        const std::size_t before = entries();
        const outcome seen = run_command(
            arguments, {.environment = {{variable, path("%p.json")}}, .folder = {}, .output = {}, .input = {}}, true);
        EXPECT_EQ(seen.status, 0) << seen.error;
        EXPECT_LE(entries() - before, 1u) << variable;
    }
}

TEST_F(real_ladder, refuses_what_the_device_does_not_take) {
    expect_complaint(run({"ladder", "reduce", "--device", "softgpu", "--block", "2048"}), 2, {"2048"});
    expect_complaint(run({"ladder", "reduce", "--device", "softgpu", "--steps", "none"}), 2, {"none"});
    expect_complaint(run({"ladder", "reduce", "--device", "softgpu", "--n", "2^60"}), 2, {});
}

} // namespace
