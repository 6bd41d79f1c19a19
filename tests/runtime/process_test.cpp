// SPDX-License-Identifier: MIT
// What happens once per process: reading the environment, and writing the file of counters at the end.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/passing_folder.hpp"
#include "tests/contents_of.hpp"

namespace {

using nlohmann::json;

struct outcome {
    int status = 0;     // of the shell; 128 + signal after a signal
    std::string output; // stdout and stderr
};

class process_test : public testing::Test {
protected:
    outcome run(const std::string& environment, const std::string& how) {
        const std::string output = folder_.file("output");
        const std::string command = environment + " " EMBEDDING_PROGRAM " " + how + " > '" + output + "' 2>&1";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), warpfold::tests::contents_of(output)};
    }
    // Runs with SOFTGPU_COUNTERS and reads the file; null if there is none.
    json counters(const std::string& how, int status, const std::string& environment = "") {
        return written_to("SOFTGPU_COUNTERS", how, status, environment);
    }
    json written_to(const std::string& variable, const std::string& how, int status, const std::string& environment) {
        const std::filesystem::path path = folder_.file("written.json");
        const outcome o = run(environment + " " + variable + "='" + path.string() + "'", how);
        EXPECT_EQ(o.status, status) << o.output;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
            EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
        }
        std::ifstream in(path);
        return in ? json::parse(in) : json();
    }

    const warpfold::report::passing_folder folder_{"softgpu"};
};

TEST_F(process_test, the_card_is_chosen_by_name) {
    EXPECT_EQ(run("", "once").output, "cudaSuccess NVIDIA H100 80GB HBM3\n");
    EXPECT_EQ(run("SOFTGPU_DEVICE=T4", "once").output, "cudaSuccess Tesla T4\n");
    EXPECT_EQ(run("SOFTGPU_DEVICE=k40M", "once").output, "cudaSuccess Tesla K40m\n");
}

TEST_F(process_test, the_timeline_is_written_at_the_end) {
    const json trace = written_to("SOFTGPU_TIMELINE", "once", 0, "SOFTGPU_COUNT=0 SOFTGPU_DEVICE=T4");
    std::vector<json> kernels;
    for (const json& e : trace["traceEvents"]) {
        if (e["ph"] == "X" && e["cat"] == "compute" && e["args"]["engine"] == "compute") {
            kernels.push_back(e);
        }
    }
    ASSERT_EQ(kernels.size(), 2u) << "one launch, by engine and by stream: " << trace;
    EXPECT_GT(kernels[0]["dur"].get<double>(), 0);
    EXPECT_NE(trace["otherData"]["machines"]["Tesla T4"].get<std::string>().find("12 GB/s"), std::string::npos);
    EXPECT_EQ(
        run("SOFTGPU_TIMELINE=/nowhere/at/all.json", "once").output.find("softgpu: SOFTGPU_TIMELINE: cannot write"),
        0u);
}

TEST_F(process_test, an_unknown_card_is_an_error_of_the_first_call) {
    const outcome o = run("SOFTGPU_DEVICE=GTX580", "once");
    EXPECT_EQ(o.status, 1);
    EXPECT_EQ(o.output,
              "softgpu: SOFTGPU_DEVICE=GTX580 names no card; there are H100, A100, RTX5090, RTX4090, T4, K40m\n"
              "cudaErrorInvalidDevice \n");
    EXPECT_EQ(run("SOFTGPU_DEVICE=GTX580", "nothing").output, "");
}

TEST_F(process_test, workers_have_to_be_a_number) {
    EXPECT_EQ(run("SOFTGPU_WORKERS=2", "once").status, 0);
    const outcome o = run("SOFTGPU_WORKERS=2x", "once");
    EXPECT_EQ(o.status, 1);
    EXPECT_NE(o.output.find("SOFTGPU_WORKERS=2x"), std::string::npos) << o.output;
    EXPECT_EQ(run("SOFTGPU_WORKERS=-1", "once").status, 1);
}

TEST_F(process_test, instruction_sets_have_names) {
    EXPECT_EQ(run("SOFTGPU_INSTRUCTION_SET=foo", "once").output,
              "softgpu: SOFTGPU_INSTRUCTION_SET=foo is no instruction set; there are plain, avx2 and avx512\n"
              "cudaErrorInitializationError \n");
    EXPECT_EQ(run("SOFTGPU_INSTRUCTION_SET=", "once").status, 0);
}

TEST_F(process_test, devices_have_to_be_a_number_up_to_64) {
    EXPECT_EQ(run("SOFTGPU_DEVICES=16 SOFTGPU_DEVICE=T4", "once").status, 0);
    for (const char* const wrong : {"0", "-1", "x", "65", "2x", "99999999999"}) {
        const outcome o = run(std::string("SOFTGPU_DEVICES=") + wrong, "twice");
        EXPECT_EQ(o.output, std::string("softgpu: SOFTGPU_DEVICES=") + wrong +
                                " is no number of devices from 1 to 64\n"
                                "cudaErrorInitializationError cudaErrorInitializationError\n");
    }
#if !defined(__SANITIZE_THREAD__) // which leaves no room for the shadow of all
    EXPECT_EQ(run("SOFTGPU_DEVICES=64 SOFTGPU_CHECK=race,init", "once").output, "cudaSuccess NVIDIA H100 80GB HBM3\n");
#endif
}

TEST_F(process_test, several_devices_are_named) {
    const json of_two = counters("", 0, "SOFTGPU_DEVICES=2");
    for (const json& launch : of_two["launches"]) {
        EXPECT_EQ(launch["device"], 0);
    }
    const json of_one = counters("", 0);
    for (const json& launch : of_one["launches"]) {
        EXPECT_FALSE(launch.contains("device"));
    }
}

TEST_F(process_test, counters_of_every_launch) {
    const json written = counters("", 0);
    ASSERT_TRUE(written.is_object());
    EXPECT_EQ(written["device"]["name"], "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(written["device"]["multiprocessors"], 132);
    ASSERT_EQ(written["launches"].size(), 2u);
    const json& second = written["launches"][1];
    EXPECT_EQ(second["kernel"], "fill(unsigned int*, unsigned int)");
    EXPECT_EQ(second["symbol"], "_Z4fillPjj");
    EXPECT_EQ(second["grid"], json({2, 1, 1}));
    EXPECT_EQ(second["block"], json({32, 1, 1}));
    EXPECT_EQ(second["counters"]["global_store_requests"], 2);
    EXPECT_EQ(second["counters"]["global_store_sectors"], 8);
    EXPECT_EQ(second["counters"]["global_load_requests"], 0);
    EXPECT_EQ(second["counters"]["average_active_lanes"], 32.0);
    EXPECT_EQ(second["intervals"].size(), 1u);
    EXPECT_FALSE(second.contains("fault"));
}

TEST_F(process_test, counting_can_be_switched_off) {
    const json written = counters("", 0, "SOFTGPU_COUNT=0");
    ASSERT_EQ(written["launches"].size(), 2u);
    EXPECT_EQ(written["launches"][1]["counters"]["global_store_requests"], 0);
}

TEST_F(process_test, counters_are_written_however_the_program_ends) {
    EXPECT_EQ(counters("exit", 3)["launches"].size(), 2u);
    EXPECT_EQ(counters("nothing", 0)["launches"].size(), 0u);
    const json with_static = counters("static", 0);
    ASSERT_EQ(with_static["launches"].size(), 3u) << "a static object's destructor launches too";
    EXPECT_EQ(with_static["launches"][2]["grid"], json({5, 1, 1}));
}

TEST_F(process_test, counters_survive_a_fault) {
    for (const auto& [how, status] : {std::pair{"fault", 1}, std::pair{"abort", 128 + SIGABRT}}) {
        const json written = counters(how, status);
        ASSERT_EQ(written["launches"].size(), 3u) << how;
        EXPECT_NE(written["launches"][2]["fault"].get<std::string>().find("wild"), std::string::npos);
    }
}

// LeakSanitizer waits for ever in a child if a thread of the parent was allocating when it was forked.
const char* const without_leak_check = "ASAN_OPTIONS=detect_leaks=0";

TEST_F(process_test, a_forked_child_leaves_the_file_alone) {
    EXPECT_EQ(counters("fork", 0, without_leak_check)["launches"].size(), 3u);
}

TEST_F(process_test, a_child_forked_after_the_first_call_has_no_device) {
    const outcome o = run(without_leak_check, "child");
    EXPECT_EQ(o.status, 0) << o.output;
    const std::string no = "cudaErrorInitializationError";
    EXPECT_NE(o.output.find(no + " " + no + " " + no + " " + no + " " + no + "\n"), std::string::npos) << o.output;
    EXPECT_NE(o.output.find("cudaSuccess NVIDIA H100"), std::string::npos) << "the parent goes on: " << o.output;
    const std::string line = "softgpu: this process was forked";
    EXPECT_NE(o.output.find(line), std::string::npos);
    EXPECT_EQ(o.output.find(line, o.output.find(line) + 1), std::string::npos) << "said once: " << o.output;
}

TEST_F(process_test, an_adversarial_schedule_is_one_of_many_and_the_same_again) {
    std::set<std::string> seen;
    for (int seed = 1; seed <= 8; ++seed) {
        const std::string environment = "SOFTGPU_SCHEDULE=adversarial SOFTGPU_SEED=" + std::to_string(seed);
        const outcome first = run(environment, "unordered");
        EXPECT_EQ(first.status, 0);
        EXPECT_EQ(first.output.find("early"), std::string::npos);
        EXPECT_EQ(run(environment, "unordered").output, first.output) << "seed " << seed;
        seen.insert(first.output);
    }
    EXPECT_GE(seen.size(), 4u);
}

TEST_F(process_test, a_schedule_has_to_be_one) {
    EXPECT_NE(run("SOFTGPU_SCHEDULE=chaos", "once").output.find("SOFTGPU_SCHEDULE=chaos"), std::string::npos);
    EXPECT_NE(run("SOFTGPU_SCHEDULE=adversarial SOFTGPU_SEED=x", "once").output.find("SOFTGPU_SEED=x"),
              std::string::npos);
}

TEST_F(process_test, counters_are_there_too_where_the_process_does_not_end_by_exit) {
    EXPECT_FALSE(counters("quick_exit", 0).contains("unfinished"));
    for (const auto& [how, status] :
         {std::pair{"quick_exit", 0}, std::pair{"_exit", 0}, std::pair{"killed", 128 + SIGKILL}}) {
        EXPECT_EQ(counters(how, status)["launches"].size(), 2u) << how;
    }
    EXPECT_EQ(counters("_exit", 0)["unfinished"], true);
    EXPECT_FALSE(counters("", 0).contains("unfinished"));
    EXPECT_TRUE(written_to("SOFTGPU_TIMELINE", "_exit", 0, "")["unfinished"]);
    EXPECT_TRUE(written_to("SOFTGPU_PROFILE", "_exit", 0, "")["unfinished"]);
}

TEST_F(process_test, every_process_has_a_file_of_its_own_where_the_name_says_so) {
    const std::string path = folder_.file("100%%-%p-%t.json");
    EXPECT_EQ(run("SOFTGPU_COUNTERS='" + path + "'", "once").status, 0);
    EXPECT_EQ(run("SOFTGPU_COUNTERS='" + path + "'", "once").status, 0);
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
        const std::string name = entry.path().filename();
        files +=
            name.starts_with("100%-") && name.find_first_not_of("0123456789-.json", 5) == std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(files, 2);
}

// An existing path that is no regular file is written into, and a link stays a link.
TEST_F(process_test, a_pipe_a_device_and_a_link_stay_what_they_are) {
    const std::string pipe = folder_.file("pipe");
    const std::string copy = folder_.file("copy");
    for (const std::string variable :
         {"SOFTGPU_COUNTERS", "SOFTGPU_TIMELINE", "SOFTGPU_PROFILE", "SOFTGPU_CHECK_JSON"}) {
        std::string reader = "mkfifo '";
        reader.append(pipe).append("'; cat '").append(pipe).append("' > '").append(copy).append("' &");
        ASSERT_EQ(std::system(reader.c_str()), 0);
        std::string environment = "SOFTGPU_CHECK=leak ";
        environment.append(variable).append("='").append(pipe).append("'");
        EXPECT_EQ(run(environment, "exit").status, 3);
        EXPECT_TRUE(std::filesystem::is_fifo(pipe)) << variable;
        json document;
        for (int n = 0; n < 6000 && !document.is_object(); ++n) { // until cat is through
            ::usleep(10'000);
            document = json::parse(warpfold::tests::contents_of(copy), nullptr, false);
        }
        EXPECT_TRUE(document.is_object()) << variable;
        std::filesystem::remove(pipe);
        std::filesystem::remove(copy);

        std::filesystem::create_symlink("/dev/full", folder_.file("full"));
        const outcome full = run("SOFTGPU_CHECK=leak " + variable + "='" + folder_.file("full") + "'", "once");
        EXPECT_NE(full.output.find("softgpu: " + variable + ": cannot write"), std::string::npos) << full.output;
        EXPECT_NE(full.output.find("No space left on device"), std::string::npos) << full.output;
        EXPECT_TRUE(std::filesystem::is_symlink(folder_.file("full")));
        EXPECT_TRUE(std::filesystem::is_character_file(folder_.file("full")));
        std::filesystem::remove(folder_.file("full"));

        std::filesystem::create_symlink("target.json", folder_.file("link")); // not there the first time
        for (int n = 0; n < 2; ++n) {
            EXPECT_EQ(run("SOFTGPU_CHECK=leak " + variable + "='" + folder_.file("link") + "'", "once").status, 0);
            EXPECT_TRUE(std::filesystem::is_symlink(folder_.file("link"))) << variable;
            const std::string written = warpfold::tests::contents_of(folder_.file("target.json"));
            EXPECT_TRUE(json::parse(written, nullptr, false).is_object()) << variable;
        }
        std::filesystem::remove(folder_.file("link"));
        std::filesystem::remove(folder_.file("target.json"));
    }
}

TEST_F(process_test, what_is_wrong_with_the_environment_is_said_once) {
    const outcome o = run("SOFTGPU_DEVICE=GTX580", "twice");
    EXPECT_EQ(o.output,
              "softgpu: SOFTGPU_DEVICE=GTX580 names no card; there are H100, A100, RTX5090, RTX4090, T4, K40m\n"
              "cudaErrorInvalidDevice cudaErrorInvalidDevice\n");
}

TEST_F(process_test, a_file_that_cannot_be_written_is_one_line) {
    const outcome o = run("SOFTGPU_COUNTERS=/nowhere/at/all.json", "once");
    EXPECT_EQ(o.status, 0);
    EXPECT_EQ(o.output, "softgpu: SOFTGPU_COUNTERS: cannot write /nowhere/at/all.json: No such file or directory\n"
                        "cudaSuccess NVIDIA H100 80GB HBM3\n");
}

} // namespace
