// SPDX-License-Identifier: MIT
// Every claim's check fails on the claim's counter-example. On the software GPU, times are planted.
#include <gtest/gtest.h>

#include "ladder/engine/definition/catalogue.hpp"
#include "tests/ladder/loaded_ladder.hpp"

namespace warpfold::ladder {
namespace {

class Counterexamples : public ::testing::TestWithParam<catalogue_entry> {};

TEST_P(Counterexamples, AreRefutedByTheCheckOfTheClaim) {
    ladder_request request;
    request.name = GetParam().name;
    request.count = true;
    request.check = true;
    request.counterexamples = true;
    const ladder_report report = testing::loaded_engine().run(request);
    for (const step_result& step : report.steps) {
        for (const claim& one : step.claims) {
            if (one.refutation) {
                EXPECT_EQ(one.refutation->holds, false) << "step " << step.id << ": " << one.text << ", against "
                                                        << one.refuted_by << " -> " << one.refutation->figure;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Of, Counterexamples, ::testing::ValuesIn(catalogue),
                         [](const auto& ladder) { return std::string(ladder.param.name); });

} // namespace
} // namespace warpfold::ladder
