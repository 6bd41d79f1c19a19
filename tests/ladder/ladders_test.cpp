// SPDX-License-Identifier: MIT
// Every step of every ladder on the software GPU: many sizes, other orders of warps and blocks, and all checks on. Where a
// step is there for its fault, the fault is found.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "ladder/engine/definition/catalogue.hpp"
#include "tests/ladder/loaded_ladder.hpp"
#include "warpfold/testing/counters.hpp"

namespace warpfold::ladder {
namespace {

using ::warpfold::ladder::testing::loaded_engine;

class Ladders : public ::testing::TestWithParam<const char*> {
protected:
    static ladder_report run(std::optional<std::uint64_t> n, bool check = false, unsigned offset = 0) {
        ladder_request request;
        request.name = GetParam();
        request.n = n;
        request.count = true;
        request.check = check;
        request.offset = offset;
        return loaded_engine().run(request);
    }

    static void expect_as_expected(const ladder_report& report) {
        for (const step_result& step : report.steps) {
            EXPECT_TRUE(step.as_expected()) << report.request.name << ", step " << step.id << ", n " << report.n << ": "
                                            << step.skipped << step.error << step.difference;
        }
    }
};

TEST_P(Ladders, AreAsExpected) {
    for (const std::uint64_t n : {1,   2,   3,    7,    31,   32,   33,   63,   64,   65,   100,   127,
                                  128, 129, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4099, 10007, 65536}) {
        expect_as_expected(run(n));
    }
}

TEST_P(Ladders, AreAsExpectedFromOtherAddresses) {
    for (const unsigned offset : {16u, 48u, 256u}) {
        expect_as_expected(run(5000, false, offset));
    }
}

TEST_P(Ladders, AreAsExpectedInAnyOrder) {
    static_cast<void>(loaded_engine());
    for (const std::uint64_t seed : {1, 2, 3}) {
        ::warpfold::testing::recorder order(::warpfold::testing::options().adversarial(seed));
        for (const std::uint64_t n : {33, 1000, 10007}) {
            expect_as_expected(run(n));
        }
    }
}

// Of a right step nothing is found; where one is faulty, what its claim names.
TEST_P(Ladders, AreFoundOutByTheChecks) {
    for (const std::uint64_t n : {100, 4099}) {
        const ladder_report report = run(n, true);
        for (const step_result& step : report.steps) {
            if (step.peer || !step.on_device) {
                continue;
            }
            ASSERT_FALSE(step.claims.empty()) << step.id;
            const claim& found = step.claims.back();
            EXPECT_EQ(found.lecture, "the checks") << step.id;
            EXPECT_EQ(found.holds, true) << step.id << ": " << found.text << ": " << found.figure;
            if (step.expected == outcome::right &&
                !step.in_child_process) { // what crashes in a process of its own answers as expected
                EXPECT_EQ(found.figure, "no finding") << step.id;
            }
        }
    }
}

TEST_P(Ladders, SayWhatTheyAre) {
    const auto steps = loaded_engine().steps(GetParam());
    EXPECT_GE(steps.size(), 4u);
    std::set<std::string> ids;
    for (const auto& step : steps) {
        EXPECT_TRUE(ids.insert(step.id).second) << step.id;
        EXPECT_FALSE(step.title.empty() || step.idea.empty() || step.source.empty()) << step.id;
        EXPECT_TRUE(step.peer || !step.lecture.empty()) << step.id;
    }
    const ladder_report report = run(std::nullopt);
    EXPECT_GT(report.n, 0u);
    std::size_t claims = 0;
    for (const step_result& step : report.steps) {
        for (const claim& one : step.claims) {
            ++claims;
            EXPECT_FALSE(one.text.empty() || one.lecture.empty() || one.figure.empty()) << step.id;
        }
    }
    EXPECT_GE(claims, steps.size());
}

TEST_P(Ladders, RefuseWhatTheyCannotDo) {
    ladder_request request;
    request.name = GetParam();
    request.n = 100;
    request.steps = {"bogus"};
    EXPECT_THROW(static_cast<void>(loaded_engine().run(request)), bad_request);
    request.steps.clear();
    request.n = ~std::uint64_t{0};
    EXPECT_THROW(static_cast<void>(loaded_engine().run(request)), bad_request);
    request.n = 100;
    request.offset = 2;
    EXPECT_THROW(static_cast<void>(loaded_engine().run(request)), bad_request);
    request.offset = 0;
    request.samples = 0;
    EXPECT_THROW(static_cast<void>(loaded_engine().run(request)), bad_request);
    EXPECT_THROW(static_cast<void>(loaded_engine().steps("bogus")), bad_request);
}

const step_result& step_of(const ladder_report& report, const std::string& id) {
    for (const step_result& step : report.steps) {
        if (step.id == id) {
            return step;
        }
    }
    throw std::out_of_range("no step " + id);
}

// What the parallel-patterns lecture says of its first two implementations, and that the race check says where.
TEST(HistogramLadder, LosesCountsWithoutAtomics) {
    ladder_request request;
    request.name = "histogram";
    request.n = 4099;
    request.count = request.check = true;
    const ladder_report report = loaded_engine().run(request);
    for (const char* const id : {"1", "2"}) {
        const step_result& step = step_of(report, id);
        EXPECT_FALSE(step.correct) << id;
        EXPECT_NE(step.difference.find("of 7 values are wrong"), std::string::npos) << step.difference;
        const std::string& found = step.claims.back().figure;
        EXPECT_NE(found.find(id == std::string("1") ? "01_sections.cu, line" : "02_interleaved.cu, line"),
                  std::string::npos)
            << found;
    }
    EXPECT_TRUE(step_of(report, "3").correct);
}

TEST(ScanLadder, GoesWrongWithOneBarrier) {
    ladder_request request;
    request.name = "scan";
    request.n = 1000;
    const ladder_report report = loaded_engine().run(request);
    EXPECT_FALSE(step_of(report, "3a").correct);
    EXPECT_TRUE(step_of(report, "3").correct);
}

std::vector<const char*> names() {
    std::vector<const char*> all;
    for (const auto& entry : catalogue) {
        all.push_back(entry.name);
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Ladders, ::testing::ValuesIn(names()),
                         [](const auto& one) { return std::string(one.param); });

} // namespace
} // namespace warpfold::ladder
