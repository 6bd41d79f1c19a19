// SPDX-License-Identifier: MIT
// `warpfold ladder NAME` and `warpfold ladder all` on the stand-in: table, JSON, exit status, bad requests.
#include <nlohmann/json.hpp>

#include "ladder/engine/definition/catalogue.hpp"
#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;
using nlohmann::json;

class ladder : public with_folder {
protected:
    static outcome run(std::vector<std::string> options, const std::map<std::string, std::string>& environment = {}) {
        options.insert(options.begin(), "ladder");
        return run_command(options, {.environment = environment, .folder = {}, .output = {}, .input = {}});
    }
    static std::map<std::string, std::string> with_gpu() { return {{"LD_LIBRARY_PATH", FAKE_FOLDER}}; }

    static void expect_in(const std::string& text, const std::vector<std::string>& parts) {
        for (const std::string& part : parts) {
            EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in\n" << text;
        }
    }
};

TEST_F(ladder, are_all_listed) {
    const outcome seen = run({});
    EXPECT_EQ(seen.status, 0);
    expect_in(seen.out, {"reduce", "scan", "all"});
    for (const auto& entry : warpfold::ladder::catalogue) {
        expect_in(seen.out, {entry.name, entry.summary});
    }
}

TEST_F(ladder, shows_counters_claims_and_tables) {
    const outcome seen = run({"scan", "--device", "softgpu", "--n", "2Ki", "--claims"});
    EXPECT_EQ(seen.status, 0) << seen.error;
    EXPECT_EQ(seen.error, "");
    expect_in(seen.out,
              {"scan: what is done; n = 2,048", "right", "wrong, as expected", "7.00", "Then and now", "2.5",
               "✓ 4 hold, ✗ 1 does not, – 0 cannot be seen here", "✓ as many as elements → 1000 [759, a slide]",
               "✗ more than before → only for n > 5: fewer", "· worth knowing → 12 of 13", "! nothing makes it right",
               "ladder/scan/a.cu", "no finding", "b    3 of 1000 values are wrong"});
}

TEST_F(ladder, fails_where_a_check_cannot_fail) {
    const outcome seen = run({"scan", "--device", "softgpu", "--counterexamples"});
    EXPECT_EQ(seen.status, 1);
    expect_in(seen.out, {"✗ against step b in its place: 999", "✓ against n = 5: fewer again"});
    expect_in(seen.error, {"not refuted by their counter-examples: step a, 'more than before'"});
    expect_complaint(run({"scan", "--device", "softgpu", "--counterexamples", "--no-claims"}), 2,
                     {"--counterexamples"});
}

TEST_F(ladder, shows_times_with_a_gpu) {
    const outcome seen = run({"scan", "--device", "gpu"}, with_gpu());
    EXPECT_EQ(seen.status, 0) << seen.error;
    expect_in(seen.out, {"5.00", "4.00–6.00", "1.60", "– 0 cannot"}); // 8000 bytes in 5 us
    EXPECT_EQ(seen.out.find("no finding"), std::string::npos);
}

TEST_F(ladder, leaves_claims_and_checks_out) {
    const outcome seen = run({"scan", "--device", "softgpu", "--no-claims"});
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(seen.out.find("as many as elements"), std::string::npos);
    EXPECT_EQ(seen.out.find("no finding"), std::string::npos);
}

TEST_F(ladder, writes_json) {
    const outcome seen = run({"scan", "--device", "softgpu", "--json", path("scan.json")});
    EXPECT_EQ(seen.status, 0) << seen.error;
    const json document = json::parse(contents_of(path("scan.json")));
    EXPECT_EQ(document["ladder"], "scan");
    EXPECT_EQ(document["n"], 1000);
    ASSERT_EQ(document["steps"].size(), 3u);
    EXPECT_EQ(document["steps"][0]["ought_to_be"], "right");
    EXPECT_EQ(document["steps"][1]["ought_to_be"], "wrong");
    EXPECT_EQ(document["steps"][1]["correct"], false);
    EXPECT_EQ(document["steps"][1]["as_told"], true);
    EXPECT_EQ(document["steps"][1]["difference"], "3 of 1000 values are wrong");
    EXPECT_EQ(document["steps"][0]["claims"][1]["holds"], false);
    EXPECT_EQ(document["steps"][0]["claims"][1]["qualified"], "only for n > 5");
    EXPECT_EQ(document["steps"][0]["claims"][1]["refuted_by"], "n = 5");
    EXPECT_TRUE(document["steps"][0]["claims"][2]["refuted_by"].is_null());
    EXPECT_EQ(document["steps"][0]["launches"][0]["counters"]["thread_instructions"], 7000);
    EXPECT_EQ(document["tables"][0]["rows"][0][1], "2.5");
    EXPECT_EQ(json::parse(run({"scan", "--device", "softgpu", "--json", "-"}).out), document);
}

TEST_F(ladder, fails_where_a_step_is_not_as_expected) {
    const outcome seen = run({"scan", "--device", "softgpu"}, {{"FAKE_LADDER", "unlike"}});
    EXPECT_EQ(seen.status, 1);
    EXPECT_EQ(seen.error, "warpfold: these steps did not give the expected result: a, b, cub\n");
    expect_in(seen.out, {"WRONG", "RIGHT?", "came out right, and is expected to be wrong"});
}

TEST_F(ladder, runs_all) {
    const outcome seen = run({"all", "--device", "softgpu", "--json", path("all.json")});
    EXPECT_EQ(seen.status, 0) << seen.error;
    const json document = json::parse(contents_of(path("all.json")));
    ASSERT_EQ(document.size(), warpfold::ladder::catalogue.size());
    for (std::size_t k = 0; k < warpfold::ladder::catalogue.size(); ++k) {
        EXPECT_EQ(document[k]["ladder"], warpfold::ladder::catalogue[k].name);
    }
    expect_in(seen.out, {"not as\n", "claims", "none"});
    const outcome unlike = run({"all", "--device", "softgpu"}, {{"FAKE_LADDER", "unlike"}});
    EXPECT_EQ(unlike.status, 1);
    expect_in(unlike.error, {"did not give the expected result", "scan a, b, cub"});
}

TEST_F(ladder, lists_steps) {
    const outcome seen = run({"scan", "--device", "softgpu", "--list"});
    EXPECT_EQ(seen.status, 0);
    expect_in(seen.out, {"ladder/scan/a.cu", "759, another slide"});
}

TEST_F(ladder, is_clear_about_bad_requests) {
    expect_complaint(run({"scan", "--n", "0"}), 2, {"--n"});
    expect_complaint(run({"scan", "--n", "x"}), 2, {"--n"});
    expect_complaint(run({"scan", "--samples", "0"}), 2, {"--samples"});
    expect_complaint(run({"scan", "--steps", "1,,2"}), 2, {"--steps"});
    expect_complaint(run({"scan", "--bogus"}), 2, {"--bogus", "warpfold ladder scan --help"});
    expect_complaint(run({"all", "--samples", "0"}), 2, {"--samples"});
    expect_complaint(run({"all", "--device", "bogus"}), 2, {"--device"});
}

} // namespace
