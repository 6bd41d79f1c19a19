// SPDX-License-Identifier: MIT
// `warpfold explain`: names and options on the stand-in; every step of every ladder with the real one.
#include <algorithm>
#include <csignal>
#include <map>

#include <nlohmann/json.hpp>

#include "ladder/engine/definition/catalogue.hpp"
#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;
using nlohmann::json;

void expect_in(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in\n" << text;
    }
}

class explain : public with_folder {
protected:
    static outcome run(std::vector<std::string> options, bool real = false) {
        options.insert(options.begin(), "explain");
        return run_command(options, {}, real);
    }
};

TEST_F(explain, lists_the_steps_of_a_ladder) {
    for (const char* const what : {"scan", "scan/", "Scan"}) {
        const outcome seen = run({what});
        EXPECT_EQ(seen.status, 0) << seen.error;
        expect_in(seen.out, {"ladder/scan/a.cu", "759, another slide", "the peer"});
    }
    expect_in(run({"reduce"}).out, {"ladder/reduce/01.cu"});
}

TEST_F(explain, shows_source_and_claims_where_nothing_is_counted) {
    const outcome seen = run({"scan/a"});
    EXPECT_EQ(seen.status, 0) << seen.error;
    EXPECT_EQ(seen.error, "");
    expect_in(seen.out, {"scan/a  right", "the idea", "n = 1,000: right", "__global__ void kernel_a(int* out)",
                         "✓ as many as elements → 1000 [759, a slide]", "✗ more than before → only for n > 5",
                         "· worth knowing → 12 of 13", "Nothing was counted by line: this runtime writes no profile",
                         "What step b changes: wrong", "warpfold explain 'scan/b'"});
}

TEST_F(explain, is_clear_about_unknown_names) {
    expect_complaint(run({"scam/a"}), 2, {"there is no ladder 'scam'", "nearest: scan"});
    expect_complaint(run({"scan/cup"}), 2, {"there is no step of scan 'cup'", "nearest: cub"});
    expect_complaint(run({"/a"}), 2, {"there is no ladder ''"});
    expect_complaint(run({"scan/\x1b[2J"}), 2, {"\\x1b"});
}

TEST_F(explain, is_clear_about_bad_requests) {
    expect_complaint(run({}), 2, {"STEP", "warpfold explain --help"});
    expect_complaint(run({"scan/a", "--n", "0"}), 2, {"--n"});
    expect_complaint(run({"scan/a", "--block", "32"}), 2, {"--block", "only reduce takes it"});
    expect_complaint(run({"reduce/1", "--block", "x"}), 2, {"--block"});
    expect_complaint(run({"scan/a", "--card", "bogus"}), 2, {"--card"});
    expect_complaint(run({"scan/a", "--bogus"}), 2, {"--bogus", "warpfold explain --help"});
}

TEST_F(explain, writes_json) {
    const outcome seen = run({"scan/a", "--json", path("a.json")});
    EXPECT_EQ(seen.status, 0) << seen.error;
    const json document = json::parse(contents_of(path("a.json")));
    EXPECT_EQ(document["ladder"], "scan");
    EXPECT_EQ(document["step"]["id"], "a");
    EXPECT_EQ(document["next"]["id"], "b");
    EXPECT_EQ(document["files"][0]["path"], "ladder/scan/a.cu");
    EXPECT_EQ(json::parse(run({"scan/a", "--json", "-"}).out), document);
}

#ifdef WITH_REAL_LADDER

using sums = std::map<std::string, std::uint64_t>;

void add(sums& to, const json& counters) {
    for (const auto& [name, value] : counters.items()) {
        if (value.is_number_unsigned()) {
            auto& sum = to[name];
            sum = name == "atomic_worst_multiplicity" ? std::max(sum, value.get<std::uint64_t>())
                                                      : sum + value.get<std::uint64_t>();
        }
    }
    to.erase("guarded_off");
    std::erase_if(to, [](const auto& one) { return one.second == 0; });
}

// The counters of the lines and of what is in no line are those of all, and all are those of the launches.
void expect_counters_add_up(const json& document, const std::string& what) {
    sums lines;
    for (const json& file : document["files"]) {
        for (const json& line : file["lines"]) {
            if (!line["counters"].is_null()) {
                add(lines, line["counters"]);
            }
        }
    }
    add(lines, document["counters"]["in_no_line"]);
    sums all;
    add(all, document["counters"]["all"]);
    EXPECT_EQ(lines, all) << what;
    sums launches;
    for (const json& launch : document["launches"]) {
        add(launches, launch["counters"]);
    }
    EXPECT_EQ(all, launches) << what;
}

bool is_of_the_library(const json& step) {
    const std::string title = step["title"];
    return step["peer"] || title.find("warpfold::") != std::string::npos;
}

class explain_all : public testing::TestWithParam<const char*> {};

TEST_P(explain_all, steps) {
    const std::string ladder = GetParam();
    const json listed = json::parse(
        run_command({"ladder", ladder, "--device", "softgpu", "--no-claims", "--n", "64", "--json", "-"}, {}, true)
            .out);
    ASSERT_FALSE(listed["steps"].empty());
    for (const json& step : listed["steps"]) {
        const std::string what = ladder + "/" + step["id"].get<std::string>();
        const outcome seen = run_command({"explain", what, "--json", "-"}, {}, true);
        ASSERT_EQ(seen.status, 0) << what << ": " << seen.error;
        const json document = json::parse(seen.out);
        EXPECT_EQ(document["step"]["id"], step["id"]);
        ASSERT_FALSE(document["files"].empty()) << what;
        EXPECT_EQ(document["files"][0]["path"], step["source"]) << what;
        EXPECT_FALSE(document["files"][0]["lines"].empty()) << what;
        expect_counters_add_up(document, what);
        const bool kernels = !document["launches"].empty();
        if (kernels && !is_of_the_library(step)) {
            EXPECT_TRUE(document["note"].is_null()) << what << ": " << document["note"];
            EXPECT_FALSE(document["counters"]["all"].empty()) << what;
        } else {
            EXPECT_FALSE(document["note"].is_null()) << what;
        }
        for (const json& claim : document["step"]["claims"]) {
            const std::string figure = claim["figure"]; // a step that it is compared with has run too
            EXPECT_TRUE(figure.starts_with("needs times") || figure.find("in the same run") == std::string::npos)
                << what << ": " << figure;
        }
        EXPECT_TRUE(step["peer"] || document["step"]["claims"].size() > 0) << what;
    }
}

std::vector<const char*> names() {
    std::vector<const char*> all;
    for (const auto& entry : warpfold::ladder::catalogue) {
        all.push_back(entry.name);
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(catalogue, explain_all, testing::ValuesIn(names()),
                         [](const auto& one) { return std::string(one.param); });

// Conflicts of the strided index, and that the next step is without them.
TEST_F(explain, shows_what_the_next_step_changes) {
    const outcome seen = run({"reduce/2", "--n", "64Ki"}, true);
    EXPECT_EQ(seen.status, 0) << seen.error;
    expect_in(seen.out, {"02_strided_index.cu", "conflct", "What step 3 changes: sequential addressing",
                         "+    for (unsigned stride = size / 2; stride > 0; stride /= 2) {",
                         "shared_load_bank_conflicts", "warpfold explain 'reduce/3'"});
    const json document = json::parse(run({"reduce/2", "--n", "64Ki", "--json", "-"}, true).out);
    bool found = false;
    for (const json& one : document["next"]["counters"]) {
        if (one["name"] == "shared_load_bank_conflicts") {
            found = true;
            EXPECT_GT(one["this"], 0);
            EXPECT_EQ(one["next"], 0);
            EXPECT_EQ(one["ratio"], 0.0);
        }
    }
    EXPECT_TRUE(found);
    expect_in(run({"reduce/3"}, true).out, {"and beside it 'reduce/sum_unroll'"});
    expect_in(run({"reduce/3", "--block", "64"}, true).out, {"blocks of 64 threads"});
}

// Not the demonstrations that stand between two steps.
TEST_F(explain, names_the_step_that_really_follows) {
    const std::map<std::string, std::string> next{
        {"scan/2", "3"}, {"scan/3", "4"}, {"scan/5", "6"}, {"histogram/3", "4"}, {"warps/unrolled", "by shuffles"}};
    for (const auto& [step, follower] : next) {
        EXPECT_EQ(json::parse(run({step, "--json", "-"}, true).out)["next"]["id"], follower) << step;
    }
}

// The strided index costs instructions, 16-byte loads wait for memory; the texts name lines of the step.
TEST_F(explain, names_what_bounds_a_step) {
    const json strided = json::parse(run({"reduce/2", "--n", "64Ki", "--json", "-"}, true).out)["bounds"];
    EXPECT_EQ(strided["resources"][0]["name"], "instruction issue");
    EXPECT_EQ(strided["lines"][0]["path"], "ladder/reduce/02_strided_index.cu");
    const json once = json::parse(run({"reduce/12", "--n", "64Ki", "--json", "-"}, true).out)["bounds"];
    EXPECT_EQ(once["resources"][0]["name"], "DRAM");
    for (const json& bounds : {strided, once}) {
        for (std::size_t k = 1; k < bounds["resources"].size(); ++k) {
            EXPECT_GE(bounds["resources"][k - 1]["seconds"], bounds["resources"][k]["seconds"]);
        }
    }
    expect_in(run({"reduce/2"}, true).out, {"What bounds it on", "The lines that cost most", "host code: lines"});
    EXPECT_TRUE(json::parse(run({"reduce/cpu", "--json", "-"}, true).out)["bounds"].is_null());
}

// Sums over the launches; the text tells them from measured times.
TEST_F(explain, predicts_what_bounds_a_step_on_a_card) {
    const json document =
        json::parse(run({"reduce/2", "--n", "64Ki", "--predict", "h200,T4", "--json", "-"}, true).out);
    const json& all = document["predictions"];
    ASSERT_EQ(all.size(), 2u);
    for (const char* const card : {"h200", "t4"}) {
        const json& p = all[card];
        EXPECT_GE(p["cold_nanoseconds"], p["nanoseconds"]);
        EXPECT_GT(p["share_of_roof"], 0);
        EXPECT_LE(p["share_of_roof"], 1);
        double sum = 0;
        for (const json& launch : document["launches"]) {
            sum += launch["predictions"][card]["nanoseconds"].get<double>();
        }
        EXPECT_DOUBLE_EQ(p["nanoseconds"], sum);
        EXPECT_FALSE(p["longest_launch"]["kernel"].get<std::string>().empty());
    }
    EXPECT_FALSE(document["step"].contains("lines"));
    const outcome text = run({"reduce/2", "--n", "64Ki", "--predict", "t4"}, true);
    expect_in(text.out, {"Predicted by the model of t4 (docs/model.md), not measured, at n = 65,536",
                         " bounds it, with ", "µs  issue", "µs  latency",
                         "The lines that cost most of latency, by cycles waited", "of latency in the model"});
    EXPECT_EQ(run({"reduce/2", "--n", "64Ki"}, true).out.find("Predicted"), std::string::npos);
    expect_complaint(run({"reduce/2", "--predict", "g81"}, true), 2, {"'g81' is none of a100"});
}

// A card with one wavefront in ten thousand cycles: the lines with shared memory have the whole of what bounds it.
TEST_F(explain, ranks_lines_by_what_binds) {
    json card = json::parse(contents_of(CARDS_FOLDER "/t4.json"));
    card["key"] = "banks";
    card["figures"]["shared_wavefronts"]["value"] = 0.01;
    const std::string file = write("banks.json", card.dump());
    const json p = json::parse(
        run({"reduce/3", "--n", "64Ki", "--card-file", file, "--json", "-"}, true).out)["predictions"]["banks"];
    EXPECT_EQ(p["bound"], "shared");
    EXPECT_EQ(p["lines_of"], "shared");
    EXPECT_EQ(p["lines_by"], "wavefronts");
    ASSERT_FALSE(p["lines"].empty());
    double shares = 0;
    for (const json& line : p["lines"]) {
        EXPECT_NE(line["why"].get<std::string>().find("shared memory"), std::string::npos) << line;
        shares += line["share"].get<double>();
    }
    EXPECT_GT(shares, 0.8);
    expect_in(run({"reduce/3", "--n", "64Ki", "--card-file", file}, true).out,
              {"The lines that cost most of shared, by wavefronts",
               "banks: the part that the line has of shared in the model"});
}

// The signal is handed on to the process of the step, and ends the command as well. The step takes minutes.
TEST_F(explain, ends_by_a_signal) {
    surroundings where;
    where.milliseconds = 1500;
    const outcome seen = run_command({"explain", "scan/18", "--n", "2^27"}, where, true);
    EXPECT_EQ(seen.status, 128 + SIGTERM);
    EXPECT_EQ(seen.out, "");
}

TEST_F(explain, shows_shared_headers_and_says_what_is_not_shown) {
    expect_in(run({"reduce/7"}, true).out,
              {"ladder/reduce/device/last_warp.cuh", "ladder/reduce/device/unrolled_tree.cuh"});
    expect_in(run({"reduce/cub"}, true).out, {"of their source nothing is shown"});
    expect_in(run({"reduce/cpu"}, true).out, {"It runs on the host"});
    expect_in(run({"scan/12"}, true).out, {"include/warpfold/"});
}

#endif

} // namespace
