// SPDX-License-Identifier: MIT
// A program of several units with checks and a profile: each instruction is attributed to its unit's source file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "report/passing_folder.hpp"
#include "tests/command_output.hpp"
#include "tests/contents_of.hpp"

namespace {

// The number of the source line with this text.
unsigned line_with(const std::string& file, const std::string& text) {
    std::ifstream in(std::string(SOURCES) + "/" + file);
    std::string line;
    for (unsigned n = 1; std::getline(in, line); ++n) {
        if (line.find(text) != std::string::npos) {
            return n;
        }
    }
    ADD_FAILURE() << file << " has no line with " << text;
    return 0;
}

struct outcome {
    int status = -1;
    std::string text;
    nlohmann::json written = nullptr;
};

// With one variable of the software GPU set to `value`, and another to a file that is read afterwards.
outcome run(const std::string& arguments, const std::string& setting, const std::string& variable_of_file) {
    const warpfold::report::passing_folder folder("linked");
    const std::string file = folder.file("written.json");
    const std::string command = "env LD_LIBRARY_PATH='" SOFTGPU_FOLDER "' " + setting + " " + variable_of_file + "='" +
                                file + "' '" PROGRAM "' " + arguments + " 2>&1";
    auto [status, text] = warpfold::tests::output_of(command);
    outcome o{.status = status, .text = std::move(text)};
    o.written = nlohmann::json::parse(warpfold::tests::contents_of(file), nullptr, false);
    return o;
}

TEST(Linked, ChecksAreSilent) {
    const outcome o = run("", "SOFTGPU_CHECK=memory,race,init,sync", "SOFTGPU_CHECK_JSON");
    EXPECT_EQ(o.status, 0) << o.text;
    ASSERT_TRUE(o.written.is_object()) << o.text;
    EXPECT_TRUE(o.written["findings"].empty()) << o.text;
}

TEST(Linked, AFindingNamesTheUnitThatItIsIn) {
    const outcome o = run("fault", "SOFTGPU_CHECK=memory", "SOFTGPU_CHECK_JSON");
    EXPECT_EQ(o.status, 1) << o.text;
    ASSERT_TRUE(o.written.is_object()) << o.text;
    ASSERT_EQ(o.written["findings"].size(), 1u) << o.text;
    const auto& where = o.written["findings"][0]["accesses"].at(0)["where"];
    EXPECT_TRUE(where["file"].get<std::string>().ends_with("linked/shapes.cu")) << where;
    EXPECT_EQ(where["line"], line_with("shapes.cu", "the planted fault"));
}

TEST(Linked, AFaultNamesTheUnitsOfTheCalls) {
    const outcome o = run("fault", "SOFTGPU_COUNT=1", "SOFTGPU_COUNTERS");
    EXPECT_EQ(o.status, 1);
    for (const auto& [file, text] : {std::pair<std::string, std::string>("shapes.cu", "the planted fault"),
                                     {"main.cu", "p[0] = read_at(p, at)"}}) {
        const std::string place = "linked/" + file + ":" + std::to_string(line_with(file, text));
        EXPECT_NE(o.text.find(place), std::string::npos) << place << " is not in " << o.text;
    }
}

TEST(Linked, AProfileCountsEachLineInItsFile) {
    const outcome o = run("", "SOFTGPU_COUNT=1", "SOFTGPU_PROFILE");
    EXPECT_EQ(o.status, 0) << o.text;
    ASSERT_TRUE(o.written.is_object()) << o.text;
    std::map<std::string, std::set<std::string>>
        files_of; // of functions, without the namespace that is each unit's own
    for (const auto& kernel : o.written["kernels"]) {
        for (const auto& instruction : kernel["instructions"]) {
            std::string function = instruction["function"];
            const std::size_t last = function.rfind("::", function.find('('));
            function = last == std::string::npos ? function : function.substr(last + 2);
            for (const auto& place : instruction["at"]) {
                const std::filesystem::path file = place[0].get<std::string>();
                if (file.parent_path().filename() == "linked") { // else of CUDA's headers
                    files_of[function].insert(file.filename());
                }
            }
        }
    }
    const auto only = [](const char* file) { return std::set<std::string>{file}; };
    EXPECT_EQ(files_of["by_name(int*)"], only("main.cu"));
    EXPECT_EQ(files_of["sum_of_block(int)"], only("shapes.cu"));
    EXPECT_EQ(files_of["factorial(int)"], only("shapes.cu"));
    // Two kernels and two functions have the same names in two units.
    EXPECT_EQ(files_of["count(int*)"], (std::set<std::string>{"data.cu", "main.cu", "shapes.cu"}));
    EXPECT_EQ(files_of["hidden(int)"], (std::set<std::string>{"main.cu", "shapes.cu"}));
}

} // namespace
