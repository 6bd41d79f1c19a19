// SPDX-License-Identifier: MIT
// The ladder of reductions under all checks; and every faulty step of a ladder is wrong, or the checks find its fault.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "ladder/engine/definition/catalogue.hpp"
#include "tests/ladder/loaded_ladder.hpp"
#include "warpfold/testing/counters.hpp"

namespace warpfold::ladder {
namespace {

using ::warpfold::ladder::testing::loaded_engine;

class ReductionsUnderAllChecks : public ::testing::TestWithParam<unsigned> {};

// The checks find the race of a step that is right by luck if its block has a last warp to race in, and nothing in the others.
TEST_P(ReductionsUnderAllChecks, FindTheLuckyOnesOnly) {
    for (const step_description& step : loaded_engine().steps("reduce")) {
        if (step.peer) {
            continue;
        }
        for (const element_type type : {element_type::int32, element_type::float64}) {
            for (const std::uint64_t n : {1, 33, 1000, 4099}) {
                ladder_request request;
                request.name = "reduce";
                request.n = n;
                request.parameters.block = GetParam();
                request.parameters.type = type;
                request.steps = {step.id};
                ::warpfold::testing::recorder watch(::warpfold::testing::options().check("all").adversarial(n));
                const ladder_report report = loaded_engine().run(request);
                const auto seen = watch.stop();
                const std::string where = "step " + step.id + ", n " + std::to_string(n);
                EXPECT_TRUE(report.steps.at(0).skipped.empty()) << where;
                std::set<std::string> kinds;
                for (const auto& one : seen.findings()) {
                    kinds.insert(one.kind);
                }
                if (report.steps.at(0).expected == outcome::right) {
                    EXPECT_TRUE(report.steps.at(0).correct) << where;
                    EXPECT_TRUE(kinds.empty()) << where << ": " << *kinds.begin();
                } else {
                    EXPECT_EQ(kinds, std::set<std::string>{"race in shared memory"}) << where;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Blocks, ReductionsUnderAllChecks, ::testing::Values(64u, 256u, 1024u));

// Every fault shows here, except for stale caches: the software GPU has no caches.
TEST(FaultySteps, AreWrongOrFoundOut) {
    std::set<std::string> faulty;
    std::set<std::string> unseen;
    for (const auto& entry : catalogue) {
        ladder_request request;
        request.name = entry.name;
        request.n = 4099;
        request.count = request.check = true;
        const ladder_report report = loaded_engine().run(request);
        for (const step_result& step : report.steps) {
            if (step.expected == outcome::right) {
                continue;
            }
            const std::string name = std::string(entry.name) + "/" + step.id;
            faulty.insert(name);
            EXPECT_FALSE(step.lesson.empty()) << name;
            const bool wrong = step.expected == outcome::wrong && !step.correct;
            const claim& found = step.claims.back();
            if (!wrong && !(found.text.starts_with("the checks find the fault: ") && found.holds == true)) {
                unseen.insert(name);
            }
        }
    }
    EXPECT_GE(faulty.size(), 15u);
    EXPECT_EQ(unseen, std::set<std::string>{"memory/stale"});
}

} // namespace
} // namespace warpfold::ladder
