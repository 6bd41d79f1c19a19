// SPDX-License-Identifier: MIT
// What the command says about itself, and about a command line that makes no sense.
#include <algorithm>
#include <csignal>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;

TEST(usage, says_what_it_can_do) {
    const outcome seen = run_command({});
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(seen.error, "");
    for (const char* command : {"warpfold ladder", "warpfold reduce", "warpfold devices", "warpfold run"}) {
        EXPECT_NE(seen.out.find(command), std::string::npos) << command;
    }
    EXPECT_LE(std::count(seen.out.begin(), seen.out.end(), '\n'), 17);
}

TEST(usage, has_version_and_help_everywhere) {
    EXPECT_EQ(run_command({"--version"}).out, "warpfold " WARPFOLD_VERSION "\n");
    const std::vector<std::vector<std::string>> all{{},         {"ladder"},  {"ladder", "reduce"},
                                                    {"reduce"}, {"devices"}, {"run"}};
    for (std::vector<std::string> command : all) {
        command.emplace_back("--help");
        const outcome seen = run_command(command);
        EXPECT_EQ(seen.status, 0);
        EXPECT_EQ(seen.error, "");
        EXPECT_NE(seen.out.find("--help"), std::string::npos);
        EXPECT_NE(seen.out.find("Usage: warpfold"), std::string::npos) << seen.out;
    }
}

TEST(usage, lists_the_ladders) {
    const outcome seen = run_command({"ladder"});
    EXPECT_EQ(seen.status, 0);
    EXPECT_NE(seen.out.find("reduce"), std::string::npos);
}

TEST(usage, is_clear_about_what_is_unknown) {
    expect_complaint(run_command({"bogus"}), 2, {"unknown command 'bogus'", "warpfold --help"});
    expect_complaint(run_command({"--bogus"}), 2, {"unknown option '--bogus'"});
    expect_complaint(run_command({"ladder", "bogus"}), 2, {"unknown command 'bogus'", "warpfold ladder --help"});
    expect_complaint(run_command({"ladder", "reduce", "--bogus"}), 2, {"--bogus", "warpfold ladder reduce --help"});
    expect_complaint(run_command({"ladder", "reduce", "bogus"}), 2, {"unknown argument 'bogus'"});
    expect_complaint(run_command({"reduce", "a", "b"}), 2, {"unknown argument 'b'"});
    expect_complaint(run_command({"devices", "a"}), 2, {"unknown argument 'a'"});
    expect_complaint(run_command({"devices", "--bogus"}), 2, {"unknown option '--bogus'"});
    expect_complaint(run_command({"run", "--bogus", "true"}), 2, {"--bogus"});
    expect_complaint(run_command({"line\nbreak"}), 2, {"line\\nbreak"});
}

TEST(usage, is_clear_about_what_is_missing) {
    expect_complaint(run_command({"reduce"}), 2, {"FILE"});
    expect_complaint(run_command({"run"}), 2, {"PROGRAM"});
    expect_complaint(run_command({"run", "--"}), 2, {"PROGRAM"});
    expect_complaint(run_command({"ladder", "reduce", "--n"}), 2, {"--n"});
}

TEST(usage, fails_where_output_cannot_be_written) {
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{}, {"--version"}, {"ladder", "reduce"}, {"devices", "--json"}}) {
        expect_complaint(run_command(command, {.environment = {}, .folder = {}, .output = "/dev/full", .input = {}}), 1,
                         {"cannot write standard output", "No space left"});
    }
}

TEST(usage, ends_quietly_where_nobody_reads) {
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{}, {"--version"}, {"ladder", "reduce"}, {"devices", "--json"}}) {
        const outcome seen = run_command(
            command, {.environment = {}, .folder = {}, .output = {}, .input = {}, .milliseconds = 0, .unread = true});
        EXPECT_EQ(seen.status, 128 + SIGPIPE);
        EXPECT_EQ(seen.error, "");
    }
}

TEST(usage, is_ascii_where_the_locale_is) {
    const outcome seen =
        run_command({"ladder", "reduce"}, {.environment = {{"LC_ALL", "C"}}, .folder = {}, .output = {}, .input = {}});
    EXPECT_EQ(seen.status, 0);
    EXPECT_TRUE(
        std::all_of(seen.out.begin(), seen.out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

} // namespace
