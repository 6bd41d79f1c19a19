// SPDX-License-Identifier: MIT
// `warpfold report` and `warpfold run --report`: what is in the page's data, what is missing, and nothing half-written.
// tests/report reads the page as a browser does.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;
using nlohmann::json;

class report : public with_folder {
protected:
    [[nodiscard]] outcome start(const std::vector<std::string>& arguments,
                                std::map<std::string, std::string> environment = {}) const {
        environment.emplace("WARPFOLD_D3", library_);
        return run_command(arguments, {.environment = std::move(environment), .folder = {}, .output = {}, .input = {}});
    }

    static std::size_t count(const std::string& text, const std::string& part) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
            ++found;
        }
        return found;
    }

    // The data of the page at path("r.html").
    [[nodiscard]] json data() const {
        const std::string page = contents_of(path("r.html"));
        const std::string open = R"(<script type="application/json" id="data">)";
        const std::size_t first = page.find(open) + open.size();
        return json::parse(page.substr(first, page.find("</script>", first) - first));
    }

    const std::string library_ = write("d3.min.js", "// https://d3js.org v5.16.0 stand-in\n");
};

TEST_F(report, of_a_ladder) {
    const outcome seen = start({"report", "reduce", "-o", path("r.html")});
    ASSERT_EQ(seen.status, 0) << seen.error;
    EXPECT_EQ(seen.out + seen.error, "");
    const json all = data();
    ASSERT_EQ(all["ladders"].size(), 1u);
    const json& ladder = all["ladders"][0];
    EXPECT_EQ(ladder["ladder"], "reduce");
    EXPECT_EQ(ladder["steps"].size(), 5u);
    EXPECT_EQ(ladder["steps"][0]["claims"].size(), 3u);
    EXPECT_EQ(ladder["n"], 1u << 16); // as ladder all
    EXPECT_TRUE(ladder["steps"][0].contains("profile"));
    EXPECT_FALSE(ladder["steps"][4].contains("profile")); // on the CPU
    EXPECT_EQ(ladder["published"].size(), 2u);
    EXPECT_EQ(ladder["published"][0]["time_us"]["7"], 268.0);
    EXPECT_EQ(ladder["sweep"].size(), 0u); // no GPU
    EXPECT_EQ(all["meanings"]["shuffles"], "shfl executed, counted once a warp");
    EXPECT_NE(contents_of(path("r.html")).find("// https://d3js.org v5.16.0 stand-in\n"), std::string::npos);
}

TEST_F(report, of_several_ladders_in_the_order_of_the_catalogue) {
    const outcome seen = start({"report", "scan", "reduce", "--n", "500", "-o", path("r.html")});
    EXPECT_EQ(seen.status, 0) << seen.error;
    const json all = data();
    ASSERT_EQ(all["ladders"].size(), 2u);
    EXPECT_EQ(all["ladders"][0]["ladder"], "reduce");
    EXPECT_EQ(all["ladders"][1]["ladder"], "scan");
    EXPECT_EQ(all["ladders"][1]["n"], 500u);
    EXPECT_FALSE(all["ladders"][1].contains("published"));
}

TEST_F(report, on_a_gpu_has_ceilings_and_kernels_over_n) {
    const outcome seen = start({"report", "--device", "gpu", "-o", path("r.html")}, {{"LD_LIBRARY_PATH", FAKE_FOLDER}});
    ASSERT_EQ(seen.status, 0) << seen.error;
    const json ladder = data()["ladders"][0];
    EXPECT_EQ(ladder["device"]["read_gb_per_s"], 3000);
    EXPECT_EQ(ladder["n"], 1u << 24);
    EXPECT_DOUBLE_EQ(ladder["steps"][2]["time_us"].get<double>(), 20);
    ASSERT_EQ(ladder["sweep"].size(), 6u);
    EXPECT_EQ(ladder["sweep"][0]["n"], 1u << 17);
    EXPECT_EQ(ladder["sweep"][0]["card"], "Fake card");
    ASSERT_EQ(ladder["sweep"][5]["steps"].size(), 2u); // the stand-in has kernels 1 and 2
    EXPECT_DOUBLE_EQ(ladder["sweep"][5]["steps"][1]["time_us"].get<double>(), 40);
}

TEST_F(report, of_a_program) {
    const outcome seen = start({"run", "--report", path("r.html"), "--", COUNTING_PROGRAM, "7", ".", "</script><b>"});
    EXPECT_NE(seen.status, 0);
    EXPECT_EQ(seen.out, "output of the program\n");
    const json all = data();
    EXPECT_EQ(all["run"]["launches"].size(), 0u);
    EXPECT_TRUE(all["run"]["findings"].is_null());
    EXPECT_NE(all["command"].get<std::string>().find("</script><b>"), std::string::npos);
    const std::string page = contents_of(path("r.html"));
    EXPECT_EQ(count(page, "</script>"), 3u); // data, d3, ours
    EXPECT_EQ(count(page, "<b>"), 0u);
}

TEST_F(report, of_a_program_whose_arguments_are_no_utf8) {
    static_cast<void>(start({"run", "--report", path("r.html"), "--", COUNTING_PROGRAM, "7", ".", "a\xff<"}));
    EXPECT_EQ(count(contents_of(path("r.html")), " 7 . a\uFFFD&lt;</title>"), 1u);
}

TEST_F(report, bad_input_gets_one_line_and_leaves_no_file) {
    const std::string page = path("r.html");
    expect_complaint(start({"report", "reduse", "-o", page}), 2, {"no ladder 'reduse'", "reduce, scan", "all"});
    expect_complaint(start({"report", "reduce", "--n", "0", "-o", page}), 2, {"--n"});
    expect_complaint(start({"report", "reduce", "-o", "-"}), 2, {"--output"});
    expect_complaint(start({"report", "reduce", "-o", path("none/r.html")}), 1, {"cannot write", "none/r.html"});
    expect_complaint(start({"report", "reduce", "-o", folder_.path()}), 1, {"cannot write", "directory"});
    expect_complaint(start({"report", "reduce", "-o", page}, {{"FAKE_LADDER", "cuda-error"}}), 1, {"out of"});
    expect_complaint(start({"run", "--report", "-", "--", "/bin/true"}), 2, {"--report"});
    expect_complaint(start({"run", "--report", page, "--counters", page, "--", "/bin/true"}), 2, {"--report"});
    expect_complaint(start({"run", "--report", path("none/r.html"), "--", "/bin/true"}), 1, {"cannot write"});
    expect_complaint(start({"run", "--report", page, "--", "/bin/true"}), 1, {"no report", "/bin/true"});
    EXPECT_EQ(entries(), 1u); // the stand-in of d3
}

TEST_F(report, says_where_the_charts_come_from) {
    const std::string page = path("r.html");
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"report", "reduce", "-o", page}, {"run", "--report", page, "--", "/bin/echo", "ran"}}) {
        expect_complaint(start(command, {{"WARPFOLD_D3", path("none.js")}}), 1, {"none.js", "node-d3", "WARPFOLD_D3"});
        expect_complaint(start(command, {{"WARPFOLD_D3", write("7.js", "// https://d3js.org v7.8.5 Copyright\n")}}), 1,
                         {"7.js", "no d3.min.js of version 5"});
    }
    EXPECT_FALSE(std::filesystem::exists(page));
}

TEST_F(report, keeps_the_older_page_where_a_ladder_fails) {
    const std::string page = write("r.html", "older");
    EXPECT_NE(start({"report", "reduce", "-o", page}, {{"FAKE_LADDER", "cuda-error"}}).status, 0);
    EXPECT_EQ(contents_of(page), "older");
}

TEST_F(report, tells_unexpected_results_by_its_status) {
    const outcome seen = start({"report", "reduce", "-o", path("r.html")}, {{"FAKE_LADDER", "wrong"}});
    EXPECT_EQ(seen.status, 1);
    EXPECT_NE(seen.error.find("reduce 2"), std::string::npos) << seen.error;
    EXPECT_FALSE(data()["ladders"][0]["steps"][1]["correct"].get<bool>());
}

} // namespace
