// SPDX-License-Identifier: MIT
// `warpfold ladder reduce` on the stand-in: table, JSON, exit status, bad requests.
#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;
using nlohmann::json;

class ladder_reduce : public with_folder {
protected:
    static outcome run(std::vector<std::string> options, const std::map<std::string, std::string>& environment = {}) {
        options.insert(options.begin(), {"ladder", "reduce"});
        return run_command(options, {.environment = environment, .folder = {}, .output = {}, .input = {}});
    }

    static json json_of(std::vector<std::string> options, const std::map<std::string, std::string>& environment = {}) {
        options.insert(options.end(), {"--json", "-"});
        return json::parse(run(options, environment).out);
    }

    static std::map<std::string, std::string> with_gpu(const std::string& more = "") {
        return {{"LD_LIBRARY_PATH", FAKE_FOLDER}, {"FAKE_LADDER", more}};
    }

    static void expect_in(const std::string& text, const std::vector<std::string>& parts) {
        for (const std::string& part : parts) {
            EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in\n" << text;
        }
    }
};

TEST_F(ladder_reduce, shows_counters_without_a_gpu) {
    const outcome seen = run({"--device", "softgpu", "--claims"});
    EXPECT_EQ(seen.status, 0) << seen.error;
    EXPECT_EQ(seen.error, "");
    expect_in(seen.out, {"sum of 4,194,304 int32 (16.8 MB)", "blocks of 256 threads", "finished on the device", "right",
                         "2.00", "16.0", "1.25", "4.00", "50.0 %", "3.0", "ladder/reduce/12.cu", "the idea",
                         "✓ half of the threads are idle → 128 of 256 [759, slide 'Idle Threads']",
                         "✗ no bank conflicts → 50 more wavefronts", "– twice as fast → no times here"});
    expect_in(seen.out, {"✓ 1 holds, ✗ 1 does not, – 1 cannot be seen here"});
    EXPECT_EQ(seen.out.find("GB/s"), std::string::npos);
    EXPECT_EQ(seen.out.find('\x1b'), std::string::npos);
}

TEST_F(ladder_reduce, shows_one_line_a_step) {
    const outcome seen = run({"--device", "softgpu"}, {{"FAKE_LADDER", "cautious"}});
    EXPECT_EQ(seen.status, 0) << seen.error;
    EXPECT_EQ(seen.error, "");
    expect_in(seen.out,
              {"sum of 4,194,304 int32 (16.8 MB)", "right by luck", "✓ 1 holds, ✗ 1 does not, – 1 cannot be seen here",
               "1     1  1  1  ladder/reduce/1.cu", "2     0  0  0  ladder/reduce/2.cu", "2  ! right only by luck"});
    EXPECT_EQ(seen.out.find("half of the threads are idle"), std::string::npos);
    EXPECT_EQ(seen.out.find("the idea"), std::string::npos);
    EXPECT_EQ(seen.out.find('\x1b'), std::string::npos);
}

TEST_F(ladder_reduce, shows_times_on_a_gpu) {
    const outcome seen = run({"--n", "1e6", "--type", "double"}, with_gpu());
    EXPECT_EQ(seen.status, 0) << seen.error;
    expect_in(seen.out, {"1,000,000 double (8.00 MB)", "read 3000 GB/s, copy 2900 GB/s", "80.00", "40.00", "72.0–88.0",
                         "100.0", "3.3 %", "0.50", "L2 flushed"});
}

TEST_F(ladder_reduce, can_leave_the_claims_out) {
    const outcome seen = run({"--device", "softgpu", "--no-claims"}, {{"FAKE_LADDER", "cautious"}});
    EXPECT_EQ(seen.out.find("✓"), std::string::npos) << seen.out;
    expect_in(seen.out, {"ladder/reduce/1.cu", "! right only by luck"});
}

TEST_F(ladder_reduce, writes_json_with_every_figure) {
    const json document = json_of({"--device", "softgpu", "--n", "1000000", "--block", "128", "--finish", "host"});
    EXPECT_EQ(document["ladder"], "reduce");
    EXPECT_EQ(document["device"]["software"], true);
    EXPECT_EQ(document["n"], 1'000'000);
    EXPECT_EQ(document["block"], 128);
    EXPECT_EQ(document["type"], "int32");
    EXPECT_EQ(document["op"], "sum");
    EXPECT_EQ(document["finish"], "host");
    ASSERT_EQ(document["steps"].size(), 5u);
    const json& step = document["steps"][0];
    EXPECT_EQ(step["id"], "1");
    EXPECT_EQ(step["correct"], true);
    EXPECT_EQ(step["result"].get<std::int64_t>(), 9'007'199'254'740'993);
    EXPECT_TRUE(step["skipped"].is_null());
    EXPECT_TRUE(step["time_us"].is_null());
    EXPECT_TRUE(step["gb_per_s"].is_null());
    EXPECT_EQ(step["counters"]["thread_instructions"], 2'000'000); // a sum over two launches
    EXPECT_EQ(step["counters"]["atomic_worst_multiplicity"], 7);   // a maximum
    EXPECT_EQ(step["counters"]["average_active_lanes"], 16.0);
    ASSERT_EQ(step["launches"].size(), 2u);
    EXPECT_EQ(step["launches"][0]["kernel"], "reduce<int>");
    EXPECT_EQ(step["launches"][0]["grid"], json({10, 1, 1}));
    EXPECT_EQ(step["launches"][0]["block"], json({128, 1, 1}));
    EXPECT_EQ(step["launches"][0]["counters"]["shared_load_wavefronts"], 150);
    ASSERT_EQ(step["claims"].size(), 3u);
    EXPECT_EQ(step["claims"][0]["text"], "half of the threads are idle");
    EXPECT_EQ(step["claims"][0]["figure"], "128 of 256");
    EXPECT_EQ(step["claims"][0]["holds"], true);
    EXPECT_EQ(step["claims"][1]["holds"], false);
    EXPECT_TRUE(step["claims"][2]["holds"].is_null());
    EXPECT_TRUE(document["steps"][4]["counters"].is_null()); // the CPU
}

TEST_F(ladder_reduce, writes_times_of_a_gpu) {
    const json document = json_of({"--n", "1000000"}, with_gpu());
    const json& second = document["steps"][1];
    EXPECT_EQ(document["device"]["read_gb_per_s"], 3000.0);
    EXPECT_DOUBLE_EQ(second["time_us"].get<double>(), 40);
    EXPECT_DOUBLE_EQ(second["warm_time_us"].get<double>(), 20);
    EXPECT_DOUBLE_EQ(second["time_us_low"].get<double>(), 36);
    EXPECT_DOUBLE_EQ(second["time_us_high"].get<double>(), 44);
    EXPECT_EQ(second["samples"], 31);
    EXPECT_DOUBLE_EQ(second["gb_per_s"].get<double>(), 100);
    EXPECT_DOUBLE_EQ(second["share_of_read"].get<double>(), 100.0 / 3000);
    EXPECT_DOUBLE_EQ(second["speed_up_over_step_before"].get<double>(), 2);
    EXPECT_DOUBLE_EQ(second["speed_up_in_all"].get<double>(), 2);
    EXPECT_DOUBLE_EQ(second["speed_of_cub"].get<double>(), 0.25);
    EXPECT_TRUE(second["counters"].is_null());
    EXPECT_TRUE(second["launches"][0]["counters"].is_null());
    EXPECT_TRUE(document["steps"][0]["speed_up_over_step_before"].is_null());
}

TEST_F(ladder_reduce, gives_no_time_for_a_wrong_result) {
    const json document = json_of({}, with_gpu("wrong"));
    const json& second = document["steps"][1];
    EXPECT_EQ(second["correct"], false);
    EXPECT_TRUE(second["time_us"].is_null());
    EXPECT_TRUE(second["gb_per_s"].is_null());
    // The next step is compared with the last one that was right.
    EXPECT_DOUBLE_EQ(document["steps"][2]["speed_up_over_step_before"].get<double>(), 4);
}

TEST_F(ladder_reduce, fails_where_a_step_is_wrong) {
    const outcome wrong = run({"--device", "softgpu"}, {{"FAKE_LADDER", "wrong"}});
    EXPECT_EQ(wrong.status, 1);
    EXPECT_EQ(wrong.error_lines(), 1u);
    expect_in(wrong.out, {"WRONG", "gave 9007199254740994 where 9007199254740993 is right"});
    expect_in(wrong.error, {"warpfold: these steps did not give the expected result: 2\n"});
    // A step that is right only by luck may be wrong.
    const outcome unlucky = run({"--device", "softgpu"}, {{"FAKE_LADDER", "wrong,cautious"}});
    EXPECT_EQ(unlucky.status, 0);
    expect_in(unlucky.out, {"wrong, as expected", "right only by luck"});
    const outcome failed = run({"--device", "softgpu"}, {{"FAKE_LADDER", "fault"}});
    EXPECT_EQ(failed.status, 1);
    expect_in(failed.out, {"FAILED", "failed: illegal address"});
    const outcome skipped = run({"--device", "softgpu"}, {{"FAKE_LADDER", "skipped"}});
    EXPECT_EQ(skipped.status, 0);
    expect_in(skipped.out, {"skipped: needs a larger block"});
}

TEST_F(ladder_reduce, writes_json_to_a_file_beside_the_table) {
    const outcome seen = run({"--device", "softgpu", "--json", path("a.json")});
    EXPECT_EQ(seen.status, 0);
    expect_in(seen.out, {"right"});
    EXPECT_EQ(json::parse(contents_of(path("a.json")))["steps"].size(), 5u);
    EXPECT_EQ(entries(), 1u);
    expect_complaint(run({"--json", path("none/a.json")}), 1, {"cannot write", "none/a.json"});
    expect_complaint(run({"--json", folder_.path()}), 1, {"cannot write", "directory"});
}

TEST_F(ladder_reduce, leaves_an_older_json_alone_where_it_fails) {
    const std::string file = write("a.json", "before");
    expect_complaint(run({"--json", file}, {{"FAKE_LADDER", "cuda-error"}}), 1, {"cudaMalloc: out of\\nmemory"});
    EXPECT_EQ(contents_of(file), "before");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(ladder_reduce, writes_infinities_as_text) {
    const json document = json_of({"--device", "softgpu", "--type", "float"}, {{"FAKE_LADDER", "infinite"}});
    EXPECT_EQ(document["steps"][0]["result"], "inf");
}

TEST_F(ladder_reduce, runs_the_steps_asked_for) {
    const json document = json_of({"--device", "softgpu", "--steps", "2,cub"});
    ASSERT_EQ(document["steps"].size(), 2u);
    EXPECT_EQ(document["steps"][0]["id"], "2");
    EXPECT_EQ(document["steps"][1]["id"], "cub");
    expect_complaint(run({"--steps", "99"}), 2, {"there is no step 99"});
    expect_complaint(run({"--steps", "1,,2"}), 2, {"--steps"});
    expect_complaint(run({"--steps", ""}), 2, {"--steps"});
}

TEST_F(ladder_reduce, lists_its_steps) {
    const outcome seen = run({"--list"});
    EXPECT_EQ(seen.status, 0) << seen.error;
    expect_in(seen.out, {"interleaved addressing", "ladder/reduce/01.cu", "CUB's DeviceReduce"});
}

TEST_F(ladder_reduce, takes_counts_as_people_write_them) {
    for (const auto& [text, value] : std::map<std::string, std::uint64_t>{
             {"1", 1}, {"100000", 100'000}, {"2^10", 1024}, {"4Ki", 4096}, {"1Mi", 1 << 20}, {"1e6", 1'000'000}}) {
        EXPECT_EQ(json_of({"--device", "softgpu", "--n", text})["n"], value);
    }
}

TEST_F(ladder_reduce, refuses_bad_requests_in_one_line) {
    expect_complaint(run({"--n", "0"}), 2, {"--n", "too small"});
    expect_complaint(run({"--n", "-5"}), 2, {"--n", "'-5'"});
    expect_complaint(run({"--n", "many"}), 2, {"--n", "'many'"});
    expect_complaint(run({"--n", "1.5"}), 2, {"--n"});
    expect_complaint(run({"--n", ""}), 2, {"--n"});
    expect_complaint(run({"--n", "2^64"}), 2, {"--n", "2^64 - 1"});
    expect_complaint(run({"--n", "2^63"}), 2, {"--n", "too large"});
    expect_complaint(run({"--block", "0"}), 2, {"--block"});
    expect_complaint(run({"--block", "-1"}), 2, {"--block"});
    expect_complaint(run({"--block", "4096"}), 2, {"1024"});
    expect_complaint(run({"--block", "2^40"}), 2, {"--block"});
    expect_complaint(run({"--type", "int16"}), 2, {"--type", "int16", "int32, int64, float, double"});
    expect_complaint(run({"--op", "mean"}), 2, {"--op", "mean", "largest-magnitude"});
    expect_complaint(run({"--finish", "moon"}), 2, {"--finish", "moon"});
    expect_complaint(run({"--device", "tpu"}), 2, {"--device", "tpu"});
    expect_complaint(run({"--card", "B999"}), 2, {"--card", "B999", "H100"});
    expect_complaint(run({"--workers", "0"}), 2, {"--workers"});
    expect_complaint(run({"--workers", "x"}), 2, {"--workers"});
    expect_complaint(run({"--samples", "0"}), 2, {"--samples"});
    expect_complaint(run({"--seed", "x"}), 2, {"--seed"});
    expect_complaint(run({"--claims", "--no-claims"}), 2, {"--claims"});
    expect_complaint(run({"--device", "gpu", "--card", "T4"}, with_gpu()), 2, {"--card"});
}

TEST_F(ladder_reduce, says_why_there_is_no_gpu) {
    std::map<std::string, std::string> without = with_gpu();
    without["FAKE_DRIVER"] = "none";
    expect_complaint(run({"--device", "gpu"}, without), 1, {"no GPU", "--device softgpu"});
    EXPECT_EQ(json_of({}, without)["device"]["software"], true);
    EXPECT_EQ(json_of({}, with_gpu())["device"]["software"], false);
    EXPECT_EQ(json_of({"--card", "T4"}, with_gpu())["device"]["software"], true);
}

TEST_F(ladder_reduce, says_what_it_cannot_load) {
    expect_complaint(run({}, {{"WARPFOLD_LADDER_LIBRARY", "/none"}}), 1, {"WARPFOLD_LADDER_LIBRARY", "/none"});
    const std::string broken = write("broken.so", "not a library");
    expect_complaint(run({"--device", "softgpu"}, {{"WARPFOLD_LADDER_LIBRARY", broken}}), 1,
                     {"cannot load", "broken.so"});
    expect_complaint(run({"--device", "softgpu"}, {{"WARPFOLD_LADDER_LIBRARY", FAKE_RUNTIME_LIBRARY}}), 1,
                     {"no library of ladders"});
}

} // namespace
