// SPDX-License-Identifier: MIT
// `warpfold run`: the environment, the exit status, the counters' file, and programs that cannot be run.
#include <csignal>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::test;

class run : public with_folder {
protected:
    static outcome start(std::vector<std::string> options, const surroundings& where = {}) {
        options.insert(options.begin(), {"run"});
        return run_command(options, where);
    }
    static outcome shell(const std::string& script, std::vector<std::string> options = {},
                         const surroundings& where = {}) {
        options.insert(options.end(), {"--", "/bin/sh", "-c", script});
        return start(options, where);
    }
};

TEST_F(run, hands_on_streams_arguments_and_status) {
    outcome seen = shell("cat; echo to stderr >&2; exit 7", {},
                         {.environment = {}, .folder = {}, .output = {}, .input = "from stdin"});
    EXPECT_EQ(seen.status, 7);
    EXPECT_EQ(seen.out, "from stdin");
    EXPECT_EQ(seen.error, "to stderr\n");
    seen = start({"--", "/bin/echo", "--help", "--", "-x", "ladder"});
    EXPECT_EQ(seen.out, "--help -- -x ladder\n");
    seen = start({"/bin/echo", "a", "--", "b"});
    EXPECT_EQ(seen.out, "a -- b\n");
    EXPECT_EQ(start({"--", "echo", "found on PATH"}).out, "found on PATH\n");
}

TEST_F(run, puts_the_software_gpu_first) {
    const surroundings where{.environment = {{"LD_LIBRARY_PATH", "/before"}, {"SOFTGPU_DEVICE", "A100"}},
                             .folder = {},
                             .output = {},
                             .input = {}};
    EXPECT_EQ(shell("echo $LD_LIBRARY_PATH", {}, where).out, FAKE_FOLDER ":/before\n");
    EXPECT_TRUE(shell("echo $LD_PRELOAD").out.starts_with(FAKE_RUNTIME_LIBRARY));
    EXPECT_EQ(shell("echo $SOFTGPU_DEVICE", {}, where).out, "A100\n");
    EXPECT_EQ(shell("echo $SOFTGPU_DEVICE $SOFTGPU_WORKERS", {"--card", "T4", "--workers", "3"}, where).out, "T4 3\n");
}

TEST_F(run, sets_the_schedule) {
    const std::string show = "echo $SOFTGPU_SCHEDULE $SOFTGPU_SEED";
    EXPECT_EQ(shell(show).out, "\n");
    EXPECT_EQ(shell(show, {"--schedule", "adversarial", "--seed", "12"}).out, "adversarial 12\n");
    EXPECT_EQ(shell(show, {"--seed", "3"}).out, "adversarial 3\n");
    EXPECT_EQ(shell(show, {"--schedule", "fair"}).out, "fair\n");
    for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
             {"--schedule", "random"}, {"--seed", "-1"}, {"--seed", "x"}, {"--schedule", "fair", "--seed", "1"}}) {
        const outcome seen = shell("echo ran", wrong);
        EXPECT_NE(seen.status, 0);
        EXPECT_EQ(seen.out, "");
        EXPECT_NE(seen.error.find("--se") != std::string::npos ? seen.error.find("--se") : seen.error.find("--schedule"),
                  std::string::npos)
            << seen.error;
    }
}

TEST_F(run, tells_a_killed_program_by_its_status) {
    EXPECT_EQ(shell("kill -SEGV $$").status, 128 + SIGSEGV);
    const outcome seen = shell("kill -KILL $$", {"--counters", path("a.json")});
    EXPECT_EQ(seen.status, 128 + SIGKILL);
    EXPECT_NE(seen.error.find("killed by signal 9"), std::string::npos) << seen.error;
}

TEST_F(run, does_not_hand_on_its_ignored_signals) {
    EXPECT_EQ(shell("kill -PIPE $$").status, 128 + SIGPIPE);
    EXPECT_EQ(shell("kill -PIPE $$", {"--counters", path("a.json")}).status, 128 + SIGPIPE);
    EXPECT_EQ(shell("kill -INT $$", {"--counters", path("a.json")}).status, 128 + SIGINT);
}

TEST_F(run, hands_on_a_signal_to_end) {
    // The program's parent is the command.
    EXPECT_EQ(shell("kill -TERM $PPID; sleep 30", {"--counters", path("a.json")}).status, 128 + SIGTERM);
}

TEST_F(run, says_what_cannot_be_run) {
    expect_complaint(start({"--", path("none")}), 127, {"cannot run", "none", "No such file"});
    expect_complaint(start({"--", "no-such-program-anywhere"}), 127, {"no-such-program-anywhere"});
    expect_complaint(start({"--counters", path("a.json"), "--", path("none")}), 127, {"cannot run"});
    expect_complaint(start({"--", write("plain", "text")}), 126, {"Permission denied"});
    expect_complaint(start({"--", folder_}), 126, {"cannot run"});
    expect_complaint(start({"--", ""}), 127, {"cannot run"});
    EXPECT_EQ(entries(), 1u);
}

TEST_F(run, writes_counters) {
    outcome seen = start({"--counters", path("a.json"), "--", COUNTING_PROGRAM, "3"});
    EXPECT_EQ(seen.status, 3) << seen.error;
    EXPECT_EQ(seen.out, "output of the program\n");
    EXPECT_EQ(seen.error, "");
    EXPECT_TRUE(nlohmann::json::parse(content(path("a.json"))).contains("launches"));
    EXPECT_EQ(entries(), 1u);
}

TEST_F(run, writes_counters_where_they_were_asked_for_wherever_the_program_goes) {
    std::filesystem::create_directory(path("here"));
    const surroundings here{.environment = {}, .folder = path("here"), .output = {}, .input = {}};
    EXPECT_EQ(start({"--counters", "a.json", "--", COUNTING_PROGRAM, "0", "/"}, here).status, 0);
    EXPECT_NE(content(path("here/a.json")), "");
}

TEST_F(run, has_a_timeline_written) {
    const std::string file = path("t.json");
    EXPECT_EQ(shell("echo '{}' > $SOFTGPU_TIMELINE; exit 4", {"--timeline", file}).status, 4);
    EXPECT_EQ(content(file), "{}\n");
    expect_complaint(shell("exit 0", {"--timeline", path("u.json")}), 1, {"no timeline"});
    expect_complaint(shell("echo ran", {"--timeline", "-"}), 2, {"--timeline", "file"});
    expect_complaint(shell("echo ran", {"--timeline", file, "--counters", file}), 2, {"--timeline", "file of its own"});
    EXPECT_EQ(entries(), 1u);
}

TEST_F(run, says_that_a_program_does_not_use_the_runtime) {
    const std::string file = write("a.json", "before");
    const outcome seen = shell("exit 0", {"--counters", file});
    expect_complaint(seen, 1, {"no counters", "/bin/sh did not load the shared CUDA runtime", "-cudart shared"});
    EXPECT_EQ(shell("exit 5", {"--counters", file}).status, 5);
    EXPECT_EQ(content(file), "before");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(run, says_before_the_run_that_counters_cannot_be_written) {
    expect_complaint(shell("echo ran", {"--counters", path("none/a.json")}), 1, {"cannot write", "none/a.json"});
    expect_complaint(shell("echo ran", {"--counters", folder_}), 1, {"cannot write"});
    expect_complaint(shell("echo ran", {"--counters", ""}), 1, {"cannot write"});
}

TEST_F(run, refuses_bad_options_in_one_line) {
    expect_complaint(shell("echo ran", {"--card", "B999"}), 2, {"--card", "B999"});
    expect_complaint(shell("echo ran", {"--workers", "-1"}), 2, {"--workers"});
    expect_complaint(start({"--counters"}), 2, {"--counters"});
    expect_complaint(shell("echo ran", {"--counters", "-"}), 2, {"--counters", "file"});
    expect_complaint(
        shell("echo ran", {}, {.environment = {{"SOFTGPU_DEVICE", "B999"}}, .folder = {}, .output = {}, .input = {}}),
        2, {"SOFTGPU_DEVICE", "B999", "H100"});
}

} // namespace
