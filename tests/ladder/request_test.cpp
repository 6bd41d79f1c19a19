// SPDX-License-Identifier: MIT
// Requests that cannot be met, and what a report says besides results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "tests/ladder/loaded_ladder.hpp"

namespace warpfold::ladder {
namespace {

using testing::loaded_engine;

ladder_request small() {
    ladder_request request;
    request.name = "reduce";
    request.n = 1000;
    return request;
}

TEST(Requests, BadOnesAreRefusedInOneLine) {
    auto& engine = loaded_engine();
    const auto expect_refused = [&](const ladder_request& request, const std::string& part) {
        try {
            (void)engine.run(request);
            ADD_FAILURE() << "not refused: " << part;
        } catch (const bad_request& refused) {
            EXPECT_NE(std::string(refused.what()).find(part), std::string::npos) << refused.what();
            EXPECT_EQ(std::string(refused.what()).find('\n'), std::string::npos);
        }
    };
    auto request = small();
    request.steps = {"1", "nonsense"};
    expect_refused(request, "unknown step 'nonsense'");
    request = small();
    request.parameters.block = 0;
    expect_refused(request, "a block of 0 threads");
    request.parameters.block = 1025;
    expect_refused(request, "a block of 1025 threads");
    request = small();
    request.n = std::uint64_t{1} << 60;
    expect_refused(request, "MiB free");
    request.n = ~std::uint64_t{0};
    expect_refused(request, "more than any device holds");
    request = small();
    request.samples = 0;
    expect_refused(request, "0 samples");
    request = small();
    request.offset = 260;
    expect_refused(request, "offset");
}

TEST(Requests, StepsComeInTheLaddersOrderOnce) {
    auto request = small();
    request.steps = {"3", "1", "3"};
    const auto report = loaded_engine().run(request);
    ASSERT_EQ(report.steps.size(), 2u);
    EXPECT_EQ(report.steps[0].id, "1");
    EXPECT_EQ(report.steps[1].id, "3");
}

TEST(Requests, BlocksOfOneThreadCannotFinishWhereARoundLeavesAllValues) {
    auto request = small();
    request.parameters.block = 1;
    request.steps = {"1", "4", "12"};
    const auto report = loaded_engine().run(request);
    EXPECT_FALSE(report.steps[0].skipped.empty());
    EXPECT_TRUE(report.steps[1].skipped.empty());
    EXPECT_TRUE(report.steps[1].correct);
    EXPECT_TRUE(report.steps[2].correct);
}

TEST(Requests, NoElementsGiveTheIdentityWithoutALaunch) {
    auto request = small();
    request.n = 0;
    request.parameters.op = operation::product;
    for (const auto& step : loaded_engine().run(request).steps) {
        EXPECT_TRUE(step.correct) << step.id;
        EXPECT_EQ(step.value.value().result.integer, 1) << step.id;
        EXPECT_TRUE(step.launches.empty()) << step.id;
    }
}

TEST(Requests, GivenDataIsReducedAndNanIgnoredInAnyOrder) {
    std::vector<float> data(1000, std::numeric_limits<float>::quiet_NaN());
    auto request = small();
    request.parameters.type = element_type::float32;
    request.parameters.op = operation::maximum;
    request.data = data.data();
    for (const auto& step : loaded_engine().run(request).steps) {
        EXPECT_TRUE(step.correct) << step.id << ": " << step.value.value().result.real << " " << step.error;
        EXPECT_EQ(step.value.value().result.real, -std::numeric_limits<double>::infinity()) << step.id;
    }
    data[777] = -4;
    for (const auto& step : loaded_engine().run(request).steps) {
        EXPECT_EQ(step.value.value().result.real, -4.0) << step.id;
    }
}

TEST(Requests, NothingIsTimedOnTheSoftwareGpu) {
    auto request = small();
    request.time = true;
    const auto report = loaded_engine().run(request);
    EXPECT_FALSE(report.device.read_gb_per_s.has_value());
    for (const auto& step : report.steps) {
        EXPECT_FALSE(step.cold.has_value() || step.warm.has_value()) << step.id;
    }
}

TEST(Requests, ProgressIsTold) {
    auto request = small();
    std::vector<std::size_t> told;
    request.progress = [&](const std::string&, std::size_t done, std::size_t of) {
        told.push_back(done);
        EXPECT_LE(done, of);
    };
    const auto report = loaded_engine().run(request);
    ASSERT_FALSE(told.empty());
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), report.steps.size());
}

TEST(Description, IsOfTheSoftwareGpu) {
    const auto device = loaded_engine().device();
    EXPECT_TRUE(device.software);
    EXPECT_FALSE(device.name.empty());
    EXPECT_GE(device.multiprocessors, 1);
    EXPECT_GE(device.threads_per_block, 1024u);
}

TEST(Description, EveryStepIsThereWithAllThatIsSaidOfIt) {
    std::set<std::string> ids;
    for (const auto& step : loaded_engine().steps("reduce")) {
        EXPECT_TRUE(ids.insert(step.id).second) << step.id;
        EXPECT_FALSE(step.title.empty() || step.source.empty() || step.idea.empty()) << step.id;
        EXPECT_TRUE(step.peer || !step.lecture.empty()) << step.id;
    }
    for (const char* id : {"1", "2", "3", "4", "5", "6", "7", "sum_unroll", "sum_warp", "8", "9", "10", "11", "12",
                           "cub", "thrust", "cpu"}) {
        EXPECT_EQ(ids.count(id), 1u) << id;
    }
}

} // namespace
} // namespace warpfold::ladder
