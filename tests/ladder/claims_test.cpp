// SPDX-License-Identifier: MIT
// The checks behind claims, on made-up launches: they must be able to fail.
#include "ladder/reduce/definition/claims.hpp"

#include <gtest/gtest.h>

#include "ladder/reduce/definition/published.hpp"

namespace warpfold::ladder::reduce {
namespace {

using engine::check;
using engine::compared;
using engine::comparison;
using engine::counted;
using engine::evidence;
using engine::faster_than;
using engine::launched;

bool modulo(unsigned tid, unsigned stride, unsigned size) { return tid % (2 * stride) == 0 && tid + stride < size; }

using values = std::vector<std::uint64_t>;

TEST(ExpectedIterations, AreThoseOfTheLecture) {
    const auto all = rising_strides(128, modulo);
    EXPECT_EQ(each(all, &iteration::threads), (values{64, 32, 16, 8, 4, 2, 1}));
    EXPECT_EQ(each(all, &iteration::warps), (values{4, 4, 4, 4, 4, 2, 1}));
    EXPECT_EQ(each(all, &iteration::divergent_warps), (values{4, 4, 4, 4, 4, 2, 1}));
    EXPECT_TRUE(rising_strides(1, modulo).empty());
    EXPECT_EQ(each(rising_strides(3, modulo), &iteration::threads), (values{1, 1}));
}

TEST(ExpectedIterations, AFullyActiveWarpDoesNotDiverge) {
    const auto all = falling_strides(128, [](unsigned tid, unsigned stride, unsigned) { return tid < stride; });
    EXPECT_EQ(each(all, &iteration::threads), (values{64, 32, 16, 8, 4, 2, 1}));
    EXPECT_EQ(each(all, &iteration::warps), (values{2, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(each(all, &iteration::divergent_warps), (values{0, 0, 1, 1, 1, 1, 1}));
}

// Two blocks of four threads: intervals load, stride, stride, write.
ladder_report made_up() {
    ladder_report report;
    report.n = 8;
    report.request.parameters.block = 4;
    step_result step;
    step.n = 8;
    step.id = "1";
    step.correct = true;
    auto& launch = step.launches.emplace_back();
    launch.grid[0] = 2;
    launch.block[0] = 4;
    launch.by_interval.resize(4);
    launch.by_interval[1].shared_store_bytes = 2 * 2 * 4;
    launch.by_interval[1].shared_store_requests = 2;
    launch.by_interval[1].shared_load_wavefronts = 6;
    launch.by_interval[1].shared_store_wavefronts = 2;
    launch.by_interval[1].shared_load_bank_conflicts = 4;
    launch.by_interval[2].shared_store_bytes = 2 * 4;
    launch.total.barriers = 6;
    report.steps.push_back(step);
    return report;
}

timing exactly(double seconds) { return {.median = seconds, .low = seconds, .high = seconds, .samples = 31}; }

evidence of(const ladder_report& report, const step_result& step, bool counted = true) {
    static const engine::sample no_data;
    static const engine::bytes no_result;
    return {report, step, no_data, no_result, counted};
}

TEST(Readings, AreOfOneBlock) {
    const ladder_report report = made_up();
    const evidence e = of(report, report.steps[0]);
    EXPECT_EQ(active_threads(e), (values{2, 1}));
    EXPECT_EQ(active_warps(e), (values{1, 0}));
    EXPECT_EQ(conflict_degrees(e), (std::vector<double>{2, 1}));
    EXPECT_EQ(engine::barriers_per_warp(e.first()), 3);
    EXPECT_EQ(elements_per_thread(e), 1);
}

TEST(Readings, MissingIntervalsCountAsNothing) {
    ladder_report report = made_up();
    report.steps[0].launches[0].by_interval.clear();
    const evidence e = of(report, report.steps[0]);
    EXPECT_EQ(active_threads(e), (values{0, 0}));
}

TEST(Races, AreShownByTheRaceCheckOrByAWrongResult) {
    ladder_report report = made_up();
    const check races = engine::races("race in shared memory", "2");
    const auto verdict_with = [&](const engine::findings* found) {
        evidence e = of(report, report.steps[0], true);
        e.found = found;
        return races(e).holds;
    };
    engine::findings none;
    engine::findings race;
    race.kinds["race in shared memory"];
    EXPECT_EQ(verdict_with(nullptr), std::nullopt) << "right, and nobody has looked";
    EXPECT_EQ(verdict_with(&none), std::optional(false));
    EXPECT_EQ(verdict_with(&race), std::optional(true));
    report.steps[0].correct = false;
    EXPECT_EQ(verdict_with(nullptr), std::optional(true));
    ASSERT_TRUE(races.against());
    EXPECT_EQ(races.against()->step, "2");
}

TEST(Launches, MustShrinkToOne) {
    ladder_report report = made_up();
    const evidence e = of(report, report.steps[0]);
    EXPECT_EQ(launches_shrink_by(e, 4).holds, false); // 8 elements, 2 blocks, and then nothing
    auto& next = report.steps[0].launches.emplace_back();
    next.grid[0] = 1;
    EXPECT_EQ(launches_shrink_by(e, 4).holds, true);
    EXPECT_EQ(launches_shrink_by(e, 4).figure, "blocks launched: 2, 1");
    report.steps[0].launches[0].grid[0] = 3;
    EXPECT_EQ(launches_shrink_by(e, 4).holds, false);
}

TEST(Guards, SayWhyNothingIsSeen) {
    ladder_report report = made_up();
    const check yes = [](const evidence&) { return seen(true, "seen"); };
    const auto verdict_of = [&](const check& c, bool are_counted) {
        return c(of(report, report.steps[0], are_counted));
    };
    EXPECT_EQ(verdict_of(counted(yes), true).holds, true);
    EXPECT_FALSE(verdict_of(counted(yes), false).holds.has_value());
    EXPECT_FALSE(verdict_of(counted_power_of_two(8, yes), true).holds.has_value());
    EXPECT_EQ(verdict_of(counted_power_of_two(4, yes), true).holds, true);
    const comparison same = [](const evidence&, const step_result&) { return seen(true, ""); };
    EXPECT_FALSE(verdict_of(compared("2", same), true).holds.has_value());
    EXPECT_EQ(verdict_of(compared("1", same), true).holds, true);
    report.steps[0].launches.clear();
    EXPECT_FALSE(verdict_of(launched(yes), true).holds.has_value());
}

TEST(Lockstep, IsDecidedByTheRaceCheck) {
    const ladder_report report = made_up();
    evidence e = of(report, report.steps[0]);
    EXPECT_FALSE(lockstep_is_enough()(e).holds.has_value());
    engine::findings found;
    e.found = &found;
    EXPECT_EQ(lockstep_is_enough()(e).holds, true);
    found.kinds["race in shared memory"]["last_warp.cuh"] = {20};
    EXPECT_EQ(lockstep_is_enough()(e).holds, false);
}

TEST(Times, AreComparedByTheirColdMedians) {
    ladder_report report = made_up();
    report.steps.push_back(report.steps[0]);
    report.steps[1].id = "2";
    const auto faster = [&] { return faster_than("1", "as published")(of(report, report.steps[1], false)); };
    EXPECT_FALSE(faster().holds.has_value());
    report.steps[0].cold = exactly(3);
    report.steps[1].cold = exactly(2);
    EXPECT_EQ(faster().holds, true);
    EXPECT_EQ(faster().figure, "1.50x here; as published");
    report.steps[1].cold = exactly(4);
    EXPECT_EQ(faster().holds, false);
    report.steps[1].cold->low = 2;
    EXPECT_EQ(faster().qualified, "no difference");
}

TEST(Times, AreSharesOfTheReadCeiling) {
    ladder_report report = made_up();
    const auto share = [&] { return share_of_reading(0.5, 1, "as published")(of(report, report.steps[0], false)); };
    report.steps[0].cold = exactly(1);
    EXPECT_FALSE(share().holds.has_value());
    const double bytes = static_cast<double>(report.n) * 4;
    report.device.read_gb_per_s = bytes * 1e-9 / 0.6;
    EXPECT_EQ(share().holds, true);
    EXPECT_NE(share().figure.find(" 60 % of the read ceiling; as published"), std::string::npos) << share().figure;
    report.device.read_gb_per_s = bytes * 1e-9 / 0.4;
    EXPECT_EQ(share().holds, false);
    report.steps[0].cold->low = 0.7;
    EXPECT_EQ(share().qualified, "no difference");
    report.steps[0].cold.reset();
    EXPECT_FALSE(share().holds.has_value());
}

TEST(Times, ShowWhatTheAlgorithmBroughtAndWhatTheCodeDid) {
    ladder_report report = made_up();
    report.steps.resize(1);
    for (const char* const id : {"1", "2", "3", "4", "5", "6", "7"}) {
        if (report.steps.back().id != id) {
            report.steps.push_back(report.steps.back());
            report.steps.back().id = id;
        }
        report.steps.back().cold = exactly(published::g80_ms[report.steps.size() - 1]);
    }
    const auto look = [&] { return algorithm_before_code("as published")(of(report, report.steps.back(), false)); };
    EXPECT_EQ(look().holds, true);
    EXPECT_EQ(look().figure, "11.87x by the algorithm, 2.53x by the code, 30.05x in all; as published");
    report.steps[3].cold->high = 3 * report.steps[3].cold->median;
    EXPECT_EQ(look().qualified, "no difference");
    report.steps[3].cold = report.steps[0].cold;
    EXPECT_EQ(look().holds, false);
    report.steps[3].cold.reset();
    EXPECT_FALSE(look().holds.has_value());
}

TEST(Published, SpeedupsAreThoseOnTheSlides) {
    EXPECT_EQ(published::step_speedup(2).substr(0, 5), "2.33x");
    EXPECT_EQ(published::step_speedup(7).substr(0, 5), "1.42x");
    EXPECT_EQ(published::t4_speedup(published::t4_sum_mod, published::t4_sum_idx).substr(0, 14), "1.20x to 1.61x");
}

} // namespace
} // namespace warpfold::ladder::reduce
