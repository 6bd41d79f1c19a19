// SPDX-License-Identifier: MIT
// Every case of the counter program on the software GPU, beside what Nsight Compute counted for the same launch on a
// real GPU: equal on every counter that both define.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/passing_folder.hpp"
#include "tests/command_output.hpp"
#include "tests/contents_of.hpp"

namespace {

using nlohmann::json;

// Where both differ; docs/counters.md gives the reasons.
struct exception {
    const char* which;
    const char* counter;
};
constexpr exception exceptions[] = {
    // ptxas makes predicated instructions of these short ifs.
    {"global_load_even_lanes", "divergent_branches"},
    {"global_load_lower_half", "divergent_branches"},
    {"global_load_odd_lanes_stride_5", "divergent_branches"},
    {"global_load_last_lane", "divergent_branches"},
    {"global_reduction_even_lanes", "divergent_branches"},
    {"shared_load_4_bytes_stride_2_even_lanes", "divergent_branches"},
    {"shared_load_4_bytes_stride_2_lower_half", "divergent_branches"},
    {"shared_load_8_bytes_lower_half", "divergent_branches"},
    {"shared_load_8_bytes_even_lanes", "divergent_branches"},
    {"shared_load_8_bytes_even_lanes_packed", "divergent_branches"},
    {"shared_load_8_bytes_pairs_of_lanes", "divergent_branches"},
    {"shared_load_8_bytes_middle_half", "divergent_branches"},
    {"shared_load_8_bytes_outer_quarters", "divergent_branches"},
    {"shared_load_16_bytes_lower_half", "divergent_branches"},
    {"shared_load_16_bytes_even_lanes", "divergent_branches"},
    {"shared_load_16_bytes_even_lanes_packed", "divergent_branches"},
    {"shared_load_16_bytes_pairs_of_lanes", "divergent_branches"},
    {"shared_load_16_bytes_every_fourth_lane", "divergent_branches"},
    {"shared_load_16_bytes_two_quarters", "divergent_branches"},
    {"shared_load_16_bytes_middle_half", "divergent_branches"},
    // An access of 8 bytes to local memory is two requests of the same sectors.
    {"local_8_bytes_same_index", "local_load_requests"},
    {"local_8_bytes_same_index", "local_store_requests"},
    {"local_8_bytes_index_by_lane", "local_load_requests"},
    {"local_8_bytes_index_by_lane", "local_store_requests"},
    // The hardware's instruction counter is of loads that name shared memory; its wavefronts agree.
    {"generic_load_of_shared", "shared_load_requests"},
};

bool excepted(const std::string& name, const std::string& counter) {
    for (const exception& e : exceptions) {
        if (counter == e.counter && name == e.which) {
            return true;
        }
    }
    return false;
}

struct run_files {
    std::vector<std::string> lines;
    json counters;
    json profile; // null where none was asked for
};

run_files run_program(bool profiled) {
    const warpfold::report::passing_folder folder("counters");
    const std::string file = folder.file("counters");
    std::string environment = "LD_LIBRARY_PATH='" SOFTGPU_LIBRARY_FOLDER "' SOFTGPU_COUNTERS='" + file + "' ";
    environment += profiled ? "SOFTGPU_PROFILE='" + file + ".profile' " : "";
    run_files found;
    const auto [status, text] = warpfold::tests::output_of(environment + "'" COUNTER_PROGRAM "'");
    EXPECT_EQ(status, 0);
    std::istringstream printed(text);
    for (std::string line; std::getline(printed, line);) {
        found.lines.push_back(line);
    }
    for (auto& [name, into] : {std::pair(file, &found.counters), std::pair(file + ".profile", &found.profile)}) {
        if (std::filesystem::exists(name)) {
            *into = json::parse(warpfold::tests::contents_of(name), nullptr, false);
        }
    }
    return found;
}

// The program's launches by the names of its cases, run once.
const std::map<std::string, json>& launches() {
    static const std::map<std::string, json> all = [] {
        std::map<std::string, json> found;
        const run_files ran = run_program(false);
        if (ran.counters.is_discarded() || ran.counters["launches"].size() != ran.lines.size()) {
            ADD_FAILURE() << ran.lines.size() << " cases do not make as many launches";
            return found;
        }
        for (std::size_t i = 0; i < ran.lines.size(); ++i) {
            EXPECT_TRUE(ran.lines[i].ends_with(" ok")) << ran.lines[i];
            found[ran.lines[i].substr(0, ran.lines[i].find(' '))] = ran.counters["launches"][i];
        }
        return found;
    }();
    return all;
}

void add(std::map<std::string, std::uint64_t>& sums, const json& counters) {
    for (const auto& [name, value] : counters.items()) {
        if (name == "atomic_worst_multiplicity") {
            sums[name] = std::max(sums[name], value.get<std::uint64_t>());
        } else if (name != "average_active_lanes" && value != 0) {
            sums[name] += value.get<std::uint64_t>();
        }
    }
    std::erase_if(sums, [](const auto& entry) { return entry.second == 0; });
}

TEST(counters, profile_adds_up_to_the_launches) {
    const run_files ran = run_program(true);
    ASSERT_FALSE(ran.profile.is_discarded());
    std::map<std::string, std::map<std::string, std::uint64_t>> by_launch;
    for (const json& launch : ran.counters["launches"]) {
        add(by_launch[launch["symbol"]], launch["counters"]);
    }
    std::map<std::string, std::map<std::string, std::uint64_t>> by_line;
    std::uint64_t placed = 0;
    std::uint64_t all = 0;
    for (const json& kernel : ran.profile["kernels"]) {
        for (const json& i : kernel["instructions"]) {
            add(by_line[kernel["symbol"]], i["counters"]);
            placed += i["at"].empty() ? 0 : 1;
            ++all;
        }
    }
    EXPECT_EQ(by_line, by_launch);
    EXPECT_GT(placed, all / 2); // -lineinfo
    // The source is there, with the line of the conflicts.
    bool seen = false;
    for (const json& kernel : ran.profile["kernels"]) {
        for (const json& i : kernel["instructions"]) {
            if (i["counters"].contains("shared_load_bank_conflicts") && !i["at"].empty() &&
                kernel["kernel"].get<std::string>().find("transpose_by_tiles") != std::string::npos) {
                const std::string path = i["at"][0][0];
                const std::string line = std::to_string(i["at"][0][1].get<int>());
                seen = true;
                EXPECT_NE(ran.profile["sources"][path][line].get<std::string>().find("staged[threadIdx.x]"),
                          std::string::npos);
            }
        }
    }
    EXPECT_TRUE(seen);
}

TEST(counters, program_computes_what_it_should) { EXPECT_GE(launches().size(), 25u); }

class golden : public testing::TestWithParam<const char*> {};

TEST_P(golden, counters_equal_those_of_the_hardware) {
    const std::string path = std::string(GOLDEN_FOLDER "/") + GetParam() + ".json";
    ASSERT_TRUE(std::filesystem::exists(path))
        << "there is no " << path << "; `./dev gpu 9 counters` on a machine with a GPU makes it (counters.json)";
    const json taken = json::parse(warpfold::tests::contents_of(path), nullptr, false);
    ASSERT_FALSE(taken.is_discarded()) << path;
    EXPECT_GE(taken["cases"].size(), 25u);
    std::size_t compared = 0;
    std::set<std::string> names;
    for (const auto& [name, case_there] : taken["cases"].items()) {
        names.insert(name);
        const auto ours = launches().find(name);
        if (ours == launches().end()) {
            ADD_FAILURE() << name << " is in the golden file and not in the program";
            continue;
        }
        EXPECT_EQ(ours->second["grid"], case_there["grid"]) << name;
        EXPECT_EQ(ours->second["block"], case_there["block"]) << name;
        for (const auto& [counter, value] : case_there["counters"].items()) {
            if (!ours->second["counters"].contains(counter)) {
                continue; // the hardware counts what the software GPU does not
            }
            const json& mine = ours->second["counters"][counter];
            if (excepted(name, counter)) {
                EXPECT_NE(mine, value) << name << ", " << counter << ": equal now, no exception any more";
            } else {
                ++compared;
                EXPECT_EQ(mine, value) << name << ", " << counter << ": ours first, the hardware's second";
            }
        }
    }
    for (const auto& [name, launch] : launches()) {
        if (!names.contains(name)) {
            std::cerr << "NOT COMPARED: " << name << " is not in " << path << ", which is older; take it again\n";
        }
    }
    EXPECT_GE(compared, 25u * 10u);
}

INSTANTIATE_TEST_SUITE_P(cards, golden, testing::Values("h100"), [](const auto& card) { return card.param; });

} // namespace
