// SPDX-License-Identifier: MIT
// Checks that compare times by their spreads, and checks of figures that they measure themselves, on made-up evidence.
#include <gtest/gtest.h>

#include "ladder/engine/definition/claims.hpp"

namespace warpfold::ladder::engine {
namespace {

timing around(double seconds) {
    return {.median = seconds, .low = 0.9 * seconds, .high = 1.1 * seconds, .samples = 31};
}

class TimesAndFigures : public ::testing::Test {
protected:
    TimesAndFigures() {
        report_.steps.resize(2);
        report_.steps[0].id = "1";
        report_.steps[1].id = "2";
        for (auto& step : report_.steps) {
            step.correct = true;
            step.n = 100;
        }
    }
    // Of step 2, with these times.
    verdict judged(const check& claim, double first, double second) {
        report_.steps[0].cold = around(first);
        report_.steps[1].cold = around(second);
        return claim(here());
    }
    evidence here() { return {.report = report_, .step = report_.steps[1], .data = data_, .result = result_}; }

    ladder_report report_;
    sample data_;
    bytes result_;
};

TEST_F(TimesAndFigures, SlowerNeedsMoreThanTheSpread) {
    const check slower = slower_than("1");
    EXPECT_FALSE(slower(here()).holds.has_value());
    EXPECT_EQ(judged(slower, 2, 3).holds, true);
    EXPECT_EQ(judged(slower, 3, 2).holds, false);
    EXPECT_EQ(judged(slower, 2, 2.2).holds, false);
    EXPECT_EQ(judged(slower, 2, 2.2).qualified, "no difference");
    report_.steps[0].n = 50;
    EXPECT_FALSE(judged(slower, 2, 3).holds.has_value());
}

TEST_F(TimesAndFigures, AtMostSoManyTimes) {
    const check nearly = at_most_times(1.2, "1");
    EXPECT_EQ(judged(nearly, 2, 2.3).holds, true);
    EXPECT_EQ(judged(nearly, 2, 2.5).holds, false);
}

// A model's times are told apart: the claim stays undecided.
TEST_F(TimesAndFigures, AModelIsNoVerdict) {
    const check faster = faster_than("1", "2x on the G80");
    EXPECT_EQ(faster(here()).figure, "needs times, so a GPU; 2x on the G80");
    for (auto& step : report_.steps) {
        step.launches.resize(2);
        for (auto& launch : step.launches) {
            launch.predictions.resize(1);
            launch.predictions[0].card = "h200";
            launch.predictions[0].cold_nanoseconds = step.id == "1" ? 400 : 300;
        }
    }
    const verdict v = faster(here());
    EXPECT_FALSE(v.holds.has_value());
    EXPECT_EQ(v.figure, "holds in the model of h200 (0.75 of the other's time); not measured; 2x on the G80");
    EXPECT_FALSE(slower_than("1")(here()).holds.has_value());
    EXPECT_EQ(slower_than("1")(here()).figure,
              "does not hold in the model of h200 (0.75 of the other's time); not measured");
    EXPECT_EQ(judged(faster, 3, 2).holds, true) << "measured";
}

struct cycles {
    double here = 0;
};

TEST_F(TimesAndFigures, FiguresAreMeasuredOrGiven) {
    const check four =
        measured<cycles>([](const evidence&) { return cycles{4}; },
                         [](const evidence&, const cycles& c) { return seen(c.here == 4, std::to_string(c.here)); });
    EXPECT_FALSE(four(here()).holds.has_value()) << "no clock";
    report_.steps[1].cold = around(1);
    EXPECT_EQ(four(here()).holds, true);
    evidence given = here();
    given.figures = cycles{5};
    EXPECT_EQ(four(given).holds, false);
    given.figures = 4.0; // of another claim
    EXPECT_EQ(four(given).holds, true);
}

} // namespace
} // namespace warpfold::ladder::engine
