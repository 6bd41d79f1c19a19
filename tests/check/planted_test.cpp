// SPDX-License-Identifier: MIT
// `warpfold run --check all` on programs with a mistake in them: each is found, once, at the line that says so, and the
// corrected twin runs without a finding.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace {

struct expectation {
    std::string name;
    std::string kind;
    unsigned line = 0; // 0: of the host
};

std::vector<expectation> read_expectations() {
    std::ifstream in(PLANTED_SOURCE);
    const std::regex marker("// (HOST_)?FINDING\\((\\w+)\\): (.+)$");
    std::vector<expectation> all;
    std::string text;
    for (unsigned line = 1; std::getline(in, text); ++line) {
        std::smatch found;
        if (std::regex_search(text, found, marker) && found[2] != "case") {
            all.push_back({found[2], found[3], found[1].matched ? 0 : line});
        }
    }
    return all;
}

struct outcome {
    int status = -1;
    nlohmann::json report;
    std::string text;
};

outcome run(const std::string& arguments, const std::string& options = "--check all") {
    const std::string json =
        (std::filesystem::temp_directory_path() / ("planted-" + std::to_string(::getpid()) + ".json")).string();
    const std::string command = std::string("'") + WARPFOLD + "' run " + options + " --check-json '" + json + "' -- '" +
                                PLANTED + "' " + arguments + " 2>&1";
    outcome o;
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
        o.text.append(buffer.data(), n);
    }
    o.status = WEXITSTATUS(::pclose(pipe));
    std::ifstream in(json);
    o.report = nlohmann::json::parse(in, nullptr, false);
    std::filesystem::remove(json);
    return o;
}

class Planted : public testing::TestWithParam<expectation> {};

TEST_P(Planted, IsFoundAtItsLine) {
    const expectation& e = GetParam();
    const outcome o = run(e.name);
    EXPECT_EQ(o.status, 1) << o.text;
    ASSERT_TRUE(o.report.is_object()) << o.text;
    const auto& list = o.report["findings"];
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
                   place["file"].get<std::string>().ends_with("planted.cu");
        };
        there = there || is(where);
        for (const auto& call : where.value("called_from", nlohmann::json::array())) {
            there = there || is(call);
        }
    }
    EXPECT_TRUE(there) << "not at line " << e.line << ":\n" << o.text;
    EXPECT_NE(o.text.find("planted.cu:" + std::to_string(e.line)), std::string::npos) << o.text;
    EXPECT_TRUE(list[0]["accesses"].at(0).contains("thread"));
}

TEST_P(Planted, TwinIsSilent) {
    const outcome o = run(GetParam().name + " fixed");
    EXPECT_EQ(o.status, 0) << o.text;
    ASSERT_TRUE(o.report.is_object()) << o.text;
    EXPECT_TRUE(o.report["findings"].empty()) << o.text;
}

INSTANTIATE_TEST_SUITE_P(All, Planted, testing::ValuesIn(read_expectations()),
                         [](const auto& which) { return which.param.name; });

TEST(PlantedOptions, StatusAndChoice) {
    EXPECT_EQ(run("race_warps", "--check race --error-exit 42").status, 42);
    const outcome other = run("race_warps", "--check memory,sync,leak");
    EXPECT_EQ(other.status, 0) << other.text;
    EXPECT_NE(other.text.find("0 findings"), std::string::npos) << other.text;
    EXPECT_EQ(run("race_warps", "--check races").status, 2);
    EXPECT_GE(read_expectations().size(), 23u);
}

} // namespace
