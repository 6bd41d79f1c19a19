// SPDX-License-Identifier: MIT
// `warpfold run`: the environment, the exit status, the counters' file, and programs that cannot be run.
#include <csignal>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;

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
    for (const std::vector<std::string>& wrong :
         std::vector<std::vector<std::string>>{{"--schedule", "random"},
                                               {"--seed", "-1"},
                                               {"--seed", "x"},
                                               {"--seed", "18446744073709551616"},
                                               {"--seed", ""},
                                               {"--schedule", "fair", "--seed", "1"}}) {
        const outcome seen = shell("echo ran", wrong);
        EXPECT_NE(seen.status, 0);
        EXPECT_EQ(seen.out, "");
        EXPECT_NE(seen.error.find("--se") != std::string::npos ? seen.error.find("--se")
                                                               : seen.error.find("--schedule"),
                  std::string::npos)
            << seen.error;
    }
}

TEST_F(run, tells_a_killed_program_by_its_status) {
    EXPECT_EQ(shell("kill -SEGV $$").status, 128 + SIGSEGV);
    const outcome seen = shell("kill -KILL $$", {"--counters", path("a.json")});
    expect_complaint(seen, 128 + SIGKILL, {"/bin/sh was killed by signal 9 (Killed); lost with it: its counters"});
    expect_complaint(shell("kill -SEGV $$", {"--predict", "h200"}), 128 + SIGSEGV,
                     {"killed by signal 11 (Segmentation fault); lost with it: its predictions"});
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
    expect_complaint(start({"--", folder_.path()}), 126, {"cannot run"});
    expect_complaint(start({"--", ""}), 127, {"cannot run"});
    EXPECT_EQ(entries(), 1u);
}

TEST_F(run, writes_counters) {
    outcome seen = start({"--counters", path("a.json"), "--", COUNTING_PROGRAM, "3"});
    EXPECT_EQ(seen.status, 3) << seen.error;
    EXPECT_EQ(seen.out, "output of the program\n");
    EXPECT_EQ(seen.error, "");
    EXPECT_TRUE(nlohmann::json::parse(contents_of(path("a.json"))).contains("launches"));
    EXPECT_EQ(entries(), 1u);
}

TEST_F(run, writes_counters_where_they_were_asked_for_wherever_the_program_goes) {
    std::filesystem::create_directory(path("here"));
    const surroundings here{.environment = {}, .folder = path("here"), .output = {}, .input = {}};
    EXPECT_EQ(start({"--counters", "a.json", "--", COUNTING_PROGRAM, "0", "/"}, here).status, 0);
    EXPECT_NE(contents_of(path("here/a.json")), "");
}

TEST_F(run, has_a_timeline_written) {
    const std::string file = path("t.json");
    EXPECT_EQ(shell("echo '{}' > $SOFTGPU_TIMELINE; exit 4", {"--timeline", file}).status, 4);
    EXPECT_EQ(contents_of(file), "{}\n");
    expect_complaint(shell("exit 0", {"--timeline", path("u.json")}), 1, {"no timeline"});
    expect_complaint(shell("echo ran", {"--timeline", "-"}), 2, {"--timeline", "file"});
    for (const char* const other : {"--counters", "--profile", "--report"}) {
        expect_complaint(shell("echo ran", {"--timeline", file, other, file}), 2, {"--timeline", other, "two files"});
    }
    expect_complaint(shell("echo ran", {"--timeline", file, "--check", "all", "--check-json", file}), 2,
                     {"--timeline", "--check-json", "two files"});
    EXPECT_EQ(entries(), 1u);
}

// What processes leave behind, as the software GPU names and writes it.
std::string left(const char* variable, int began, int process, const std::string& text) {
    return "printf '" + text + "' > $(echo $" + variable + " | sed s/%t/" + std::to_string(began) + "/\\;s/%p/" +
           std::to_string(process) + "/); ";
}

TEST_F(run, counts_the_findings_of_all_processes) {
    const std::string none = R"({"program":"b","count":0,"findings":[]})";
    const std::string some =
        R"({"program":"a","count":1,"findings":[{"kind":"race"},{"kind":"note"}],"not_printed":["said\\n"]})";
    for (const auto& [first, second] : {std::pair(none, some), std::pair(some, none)}) {
        const outcome seen = shell(left("SOFTGPU_CHECK_JSON", 1, 11, first) + left("SOFTGPU_CHECK_JSON", 2, 12, second),
                                   {"--check", "all", "--check-json", path("f.json"), "--error-exit", "5"});
        EXPECT_EQ(seen.status, 5) << seen.error;
        EXPECT_EQ(seen.error, "said\nwarpfold: 1 finding in 2 processes\n");
        const auto all = nlohmann::json::parse(contents_of(path("f.json")));
        EXPECT_EQ(all["count"], 1);
        ASSERT_EQ(all["findings"].size(), 2u);
        EXPECT_EQ(all["findings"][0]["program"], "a");
        EXPECT_EQ(all["findings"][0]["process"], first == some ? 11 : 12);
    }
    EXPECT_EQ(shell(left("SOFTGPU_CHECK_JSON", 1, 11, none) + left("SOFTGPU_CHECK_JSON", 2, 12, none) + "exit 4",
                    {"--check", "all"})
                  .status,
              4);
    expect_complaint(shell(left("SOFTGPU_CHECK_JSON", 1, 11, "[]"), {"--check", "all"}), 1, {"no list of findings"});
    EXPECT_EQ(entries(), 1u);
    for (const char* const wrong : {"x", "-1", "256", ""}) {
        expect_complaint(shell("echo ran", {"--check", "all", "--error-exit", wrong}), 2,
                         {"--error-exit", "0 to 255", std::string("'") + wrong + "'"});
    }
}

TEST_F(run, has_the_launches_of_all_processes) {
    const auto launches = [](const char* kernel) {
        return R"({"device":{"name":"x"},\n"launches":[\n{"kernel":")" + std::string(kernel) +
               R"(","n":1},\n{"kernel":"b"}\n]}\n)";
    };
    const std::string nothing = R"({"device":{"name":"x"},\n"launches":[\n]}\n)";
    const outcome seen =
        shell(left("SOFTGPU_COUNTERS", 20, 2, launches("second")) + left("SOFTGPU_COUNTERS", 3, 1, launches("first")) +
                  left("SOFTGPU_COUNTERS", 21, 3, nothing),
              {"--counters", path("c.json")});
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(seen.error, "");
    EXPECT_EQ(contents_of(path("c.json")),
              "{\"device\":{\"name\":\"x\"},\n\"launches\":[\n"
              "{\"process\":1,\"kernel\":\"first\",\"n\":1},\n{\"process\":1,\"kernel\":\"b\"},\n"
              "{\"process\":2,\"kernel\":\"second\",\"n\":1},\n{\"process\":2,\"kernel\":\"b\"}\n]}\n");
    const outcome cut =
        shell(left("SOFTGPU_COUNTERS", 1, 7, R"({"device":{},\n"unfinished":true,\n"launches":[\n]}\n)"),
              {"--counters", path("c.json")});
    EXPECT_EQ(cut.status, 0);
    EXPECT_NE(cut.error.find("process 7 did not end by exit()"), std::string::npos) << cut.error;
}

TEST_F(run, says_whose_profile_it_is_and_puts_timelines_side_by_side) {
    const std::string profile = R"({"device":{},\n"kernels":[\n{"launches":1}\n]}\n)";
    const outcome seen = shell(left("SOFTGPU_PROFILE", 1, 11, profile) + left("SOFTGPU_PROFILE", 2, 12, profile),
                               {"--profile", path("p.json")});
    EXPECT_NE(seen.error.find("2 processes have launched kernels: the profile is that of process 12"),
              std::string::npos)
        << seen.error;
    const std::string trace =
        R"({"otherData":{"machines":{"x":"y"}},"traceEvents":[\n{"name":"process_name","pid":1,"args":{"name":"x"}},\n{"name":"k","pid":2}\n]}\n)";
    const outcome timelines = shell(left("SOFTGPU_TIMELINE", 1, 11, trace) + left("SOFTGPU_TIMELINE", 2, 12, trace),
                                    {"--timeline", path("t.json")});
    EXPECT_EQ(timelines.error, "");
    const auto all = nlohmann::json::parse(contents_of(path("t.json")));
    ASSERT_EQ(all["traceEvents"].size(), 4u);
    EXPECT_EQ(all["traceEvents"][0]["args"]["name"], "x, process 11");
    EXPECT_EQ(all["traceEvents"][1]["pid"], 2);
    EXPECT_EQ(all["traceEvents"][2]["pid"], 3);
    EXPECT_EQ(all["traceEvents"][2]["args"]["name"], "x, process 12");
    EXPECT_EQ(all["traceEvents"][3]["pid"], 4);
}

TEST_F(run, says_what_cannot_be_written_and_counts_all_the_same) {
    std::filesystem::create_symlink("/dev/full", path("full"));
    const outcome seen = shell(left("SOFTGPU_CHECK_JSON", 1, 11, R"({"count":1,"findings":[{}]})"),
                               {"--check", "all", "--check-json", path("full"), "--error-exit", "5"});
    EXPECT_EQ(seen.status, 5);
    EXPECT_NE(seen.error.find("1 finding"), std::string::npos) << seen.error;
    EXPECT_NE(seen.error.find("No space left on device"), std::string::npos) << seen.error;
    EXPECT_EQ(shell(left("SOFTGPU_COUNTERS", 1, 11, "{}"), {"--counters", path("full")}).status, 1);
    EXPECT_TRUE(std::filesystem::is_symlink(path("full")));
}

TEST_F(run, says_that_a_program_does_not_use_the_runtime) {
    const std::string file = write("a.json", "before");
    const outcome seen = shell("exit 0", {"--counters", file});
    expect_complaint(seen, 1, {"no counters", "/bin/sh made no call of CUDA's runtime or driver"});
    EXPECT_EQ(shell("exit 5", {"--counters", file}).status, 5);
    EXPECT_EQ(contents_of(file), "before");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(run, says_that_nothing_is_predicted_without_a_launch) {
    expect_complaint(shell("exit 0", {"--predict", "h200"}), 1,
                     {"nothing is predicted, as no kernel was launched", "/bin/sh made no call of CUDA"});
    const outcome seen = start({"--predict", "h200", "--", COUNTING_PROGRAM, "0"});
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(seen.error, "nothing is predicted: the program launched no kernel\n");
    const outcome ended =
        shell(left("SOFTGPU_COUNTERS", 1, 7, R"({"device":{},\n"launches":[\n]}\n)") + "kill -TERM $$",
              {"--predict", "h200"});
    EXPECT_EQ(ended.status, 128 + SIGTERM);
    EXPECT_EQ(ended.error, "nothing is predicted: a signal ended the program before a kernel was over\n");
}

TEST_F(run, says_before_the_run_that_counters_cannot_be_written) {
    expect_complaint(shell("echo ran", {"--counters", path("none/a.json")}), 1, {"cannot write", "none/a.json"});
    expect_complaint(shell("echo ran", {"--counters", folder_.path()}), 1, {"cannot write"});
    expect_complaint(shell("echo ran", {"--counters", ""}), 1, {"cannot write"});
}

TEST_F(run, refuses_bad_options_in_one_line) {
    expect_complaint(shell("echo ran", {"--card", "B999"}), 2, {"--card", "B999"});
    for (const char* const cards : {"", "h200,", ",h200", "h200,,a100"}) {
        expect_complaint(shell("echo ran", {"--predict", cards}), 2, {"--predict", "'' is none of"});
    }
    expect_complaint(shell("echo ran", {"--card-file", folder_.path()}), 1, {"--card-file", folder_.path()});
    expect_complaint(shell("echo ran", {"--workers", "-1"}), 2, {"--workers"});
    expect_complaint(start({"--counters"}), 2, {"--counters"});
    expect_complaint(shell("echo ran", {"--counters", "-"}), 2, {"--counters", "file"});
    expect_complaint(
        shell("echo ran", {}, {.environment = {{"SOFTGPU_DEVICE", "B999"}}, .folder = {}, .output = {}, .input = {}}),
        2, {"SOFTGPU_DEVICE", "B999", "H100"});
}

} // namespace
