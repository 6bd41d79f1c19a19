// SPDX-License-Identifier: MIT
// `warpfold devices`.
#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;
using nlohmann::json;

class devices : public with_folder {
protected:
    static outcome run(std::vector<std::string> options, const std::map<std::string, std::string>& environment = {}) {
        options.insert(options.begin(), {"devices"});
        return run_command(options, {.environment = environment, .folder = {}, .output = {}, .input = {}});
    }
};

TEST_F(devices, lists_the_cards_of_the_software_gpu) {
    const outcome seen = run({});
    EXPECT_EQ(seen.status, 0) << seen.error;
    for (const char* card : {"H100", "A100", "RTX5090", "RTX4090", "T4", "K40m"}) {
        EXPECT_NE(seen.out.find(card), std::string::npos) << card;
    }
    const json software = json::parse(run({"--json"}).out)["software_gpu"];
    EXPECT_EQ(software["available"], true);
    EXPECT_EQ(software["card"], "H100");
    EXPECT_GE(software["workers"], 1);
    ASSERT_EQ(software["cards"].size(), 6u);
    EXPECT_EQ(software["cards"][0]["key"], "H100");
    EXPECT_EQ(software["cards"][0]["compute_capability"], "9.0");
    EXPECT_EQ(software["cards"][0]["multiprocessors"], 132);
}

TEST_F(devices, follows_the_environment) {
    json software =
        json::parse(run({"--json"}, {{"SOFTGPU_DEVICE", "T4"}, {"SOFTGPU_WORKERS", "3"}}).out)["software_gpu"];
    EXPECT_EQ(software["card"], "T4");
    EXPECT_EQ(software["workers"], 3);
    EXPECT_TRUE(json::parse(run({"--json"}, {{"SOFTGPU_DEVICE", "none"}}).out)["software_gpu"]["card"].is_null());
    EXPECT_NE(run({}, {{"SOFTGPU_DEVICE", "none"}}).out.find("It is no card"), std::string::npos);
}

TEST_F(devices, lists_gpus) {
    const std::map<std::string, std::string> with_gpu{{"LD_LIBRARY_PATH", FAKE_FOLDER}};
    EXPECT_NE(run({}, with_gpu).out.find("Fake GPU"), std::string::npos);
    const json document = json::parse(run({"--json"}, with_gpu).out);
    ASSERT_EQ(document["gpus"].size(), 1u);
    EXPECT_EQ(document["gpus"][0]["name"], "Fake GPU");
    EXPECT_EQ(document["gpus"][0]["memory_bytes"], 80'000'000'000);
    EXPECT_EQ(document["driver_cuda_version"], "13.0");
    EXPECT_TRUE(document["no_gpu_because"].is_null());
}

TEST_F(devices, says_why_there_is_no_gpu) {
    const std::map<std::string, std::string> without{{"LD_LIBRARY_PATH", FAKE_FOLDER}, {"FAKE_DRIVER", "none"}};
    EXPECT_NE(run({}, without).out.find("GPUs: none; the NVIDIA driver sees no GPU"), std::string::npos);
    EXPECT_TRUE(json::parse(run({"--json"}, without).out)["gpus"].empty());
}

TEST_F(devices, writes_json_to_a_file) {
    EXPECT_EQ(run({"--json", path("a.json")}).out, "");
    EXPECT_TRUE(json::parse(contents_of(path("a.json"))).contains("gpus"));
    expect_complaint(run({"--json", path("none/a.json")}), 1, {"cannot write"});
}

} // namespace
