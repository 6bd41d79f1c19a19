// SPDX-License-Identifier: MIT
// The lectures' claims on the software GPU: at the lectures' own settings each is what it is known to be, and none is
// contradicted by the size of a block where it should hold for all.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "tests/ladder/loaded_ladder.hpp"

namespace warpfold::ladder {
namespace {

using testing::loaded_engine;

ladder_report counted_report(std::uint64_t n, unsigned block, element_type type = element_type::int32) {
    ladder_request request;
    request.name = "reduce";
    request.n = n;
    request.parameters.block = block;
    request.parameters.type = type;
    request.count = true;
    return loaded_engine().run(request);
}

const step_result& step_of(const ladder_report& report, const std::string& id) {
    for (const auto& step : report.steps) {
        if (step.id == id) {
            return step;
        }
    }
    throw std::out_of_range(id);
}

// The claim whose text has that part.
const claim& claim_of(const step_result& step, const std::string& part) {
    for (const auto& one : step.claims) {
        if (one.text.find(part) != std::string::npos) {
            return one;
        }
    }
    throw std::out_of_range(step.id + ": " + part);
}

constexpr const char* fewer_levels = "reduces levels in tree of recursive kernel invocations";

// Known not to hold: a warp with one active thread diverges; and with large blocks step 6 needs no more launches than step 7.
bool known_wrong(const ladder_report& report, const step_result& step, const claim& one) {
    return (step.id == "1" && one.text == "after the 5th iteration there is no divergence") ||
           (one.text == fewer_levels && step.launches.size() == step_of(report, "6").launches.size());
}

TEST(StepClaims, HoldAtTheLecturesSettings) {
    for (const unsigned block : {128u, 256u, 512u, 1024u}) {
        const auto report = counted_report(1 << 18, block);
        for (const auto& step : report.steps) {
            for (const auto& one : step.claims) {
                EXPECT_FALSE(one.figure.empty()) << step.id << ": " << one.text;
                if (known_wrong(report, step, one)) {
                    EXPECT_EQ(one.holds, false) << one.figure;
                } else {
                    EXPECT_NE(one.holds, false)
                        << "block " << block << ", step " << step.id << ": " << one.text << " -> " << one.figure;
                }
            }
        }
    }
}

TEST(StepClaims, AsManyLevelsAreNoDifference) {
    EXPECT_EQ(claim_of(step_of(counted_report(1 << 18, 128), "7"), fewer_levels).figure, "2 launches, 3 in step 6");
    const auto report = counted_report(1 << 18, 1024);
    const claim& same = claim_of(step_of(report, "7"), fewer_levels);
    EXPECT_EQ(same.figure, "2 launches, 2 in step 6");
    EXPECT_EQ(same.qualified, "no difference");
}

TEST(StepClaims, AreNotRefutedByATinyProblem) {
    for (const std::uint64_t n : {1, 1000}) {
        for (const auto& step : counted_report(n, 128).steps) {
            for (const auto& one : step.claims) {
                EXPECT_NE(one.holds, false) << "n = " << n << ", step " << step.id << ": " << one.text;
            }
        }
    }
    EXPECT_EQ(claim_of(step_of(counted_report(1, 128), "7"), fewer_levels).figure,
              "n = 1 is too small to refute it: 1 launch, 1 in step 6");
}

TEST(StepClaims, OnlyTimesAndRacesCannotBeSeen) {
    const auto report = counted_report(1 << 18, 128);
    std::size_t seen_claims = 0;
    for (const auto& step : report.steps) {
        for (const auto& one : step.claims) {
            if (one.holds) {
                ++seen_claims;
                continue;
            }
            EXPECT_TRUE(one.text.find("faster") != std::string::npos ||
                        one.figure.find("needs times") != std::string::npos ||
                        one.figure.find("needs the checks") != std::string::npos)
                << step.id << ": " << one.text << " -> " << one.figure;
        }
    }
    EXPECT_GE(seen_claims, 35u);
}

TEST(StepClaims, ShowTheLecturesFigures) {
    const auto report = counted_report(1 << 16, 128);
    EXPECT_EQ(claim_of(step_of(report, "1"), "active threads shrink").figure,
              "active threads per stride: 64, 32, 16, 8, 4, 2, 1; in warps: 4, 4, 4, 4, 4, 2, 1");
    EXPECT_EQ(claim_of(step_of(report, "1"), "no divergence").figure.substr(0, 48),
              "divergent warps per stride: 4, 4, 4, 4, 4, 2, 1;");
    EXPECT_EQ(claim_of(step_of(report, "2"), "as few warps").figure,
              "warps with active threads per stride: 2, 1, 1, 1, 1, 1, 1");
    EXPECT_EQ(claim_of(step_of(report, "2"), "two-way").figure, "2.00 passes at stride 1 where one would do");
    EXPECT_EQ(claim_of(step_of(report, "2"), "larger strides").figure,
              "passes over passes without conflicts, per stride: 2.00, 4.00, 4.00, 4.00, 4.00, 2.00, 1.00");
    EXPECT_EQ(claim_of(step_of(report, "3"), "last 5").figure,
              "divergent warps per stride, the largest first: 0, 0, 1, 1, 1, 1, 1");
    EXPECT_EQ(claim_of(step_of(report, "3"), "conflict free").figure, "0 bank conflicts in all launches");
}

TEST(StepClaims, MultipleKernelCallsOfTheLecture) {
    const auto report = counted_report(100'000, 256);
    for (const char* id : {"1", "2", "3", "sum_unroll", "sum_warp"}) {
        const auto& launches = step_of(report, id).launches;
        ASSERT_EQ(launches.size(), 3u) << id;
        EXPECT_EQ(launches[0].grid[0], 391u) << id;
        EXPECT_EQ(launches[1].grid[0], 2u) << id;
        EXPECT_EQ(launches[2].grid[0], 1u) << id;
        EXPECT_EQ(launches[0].block[0], 256u) << id;
    }
    EXPECT_EQ(claim_of(step_of(report, "1"), "multiple kernels").figure, "blocks launched: 391, 2, 1");
    EXPECT_EQ(claim_of(step_of(report, "1"), "multiple kernels").holds, true);
    EXPECT_EQ(step_of(report, "12").launches.size(), 1u);
}

// Claims that the block's size or the type may make false or invisible are none of these.
TEST(StepClaims, NoneIsContradictedByOddBlocksOrWideTypes) {
    const std::set<std::string> may_fail{"on average, less than 1/4 of the threads will be activated", // few threads
                                         "after the 5th iteration there is no divergence", fewer_levels};
    for (const unsigned block : {2u, 3u, 31u, 33u, 64u, 100u, 1000u}) {
        for (const auto type : {element_type::int32, element_type::float64}) {
            const auto report = counted_report(100'000, block, type);
            for (const auto& step : report.steps) {
                for (const auto& one : step.claims) {
                    if (may_fail.count(one.text) != 0) {
                        continue;
                    }
                    EXPECT_NE(one.holds, false)
                        << "block " << block << ", step " << step.id << ": " << one.text << " -> " << one.figure;
                }
            }
        }
    }
}

TEST(StepClaims, WithoutCountersLittleIsSeen) {
    ladder_request request;
    request.name = "reduce";
    request.n = 10'000;
    const auto report = loaded_engine().run(request);
    EXPECT_EQ(claim_of(step_of(report, "1"), "active threads shrink").holds, std::nullopt);
    EXPECT_EQ(claim_of(step_of(report, "1"), "multiple kernels").holds, true);
    for (const auto& step : report.steps) {
        for (const auto& launch : step.launches) {
            EXPECT_EQ(launch.total.warp_instructions, 0u) << step.id;
        }
    }
}

} // namespace
} // namespace warpfold::ladder
