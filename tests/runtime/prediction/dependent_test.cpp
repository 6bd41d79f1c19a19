// SPDX-License-Identifier: MIT
// Predicted launches with programmatic dependent launch. prediction_test.cpp, of the same process, names the cards.
#include <gtest/gtest.h>

#include "tests/runtime/embedded.hpp"
#include "warpfold/testing/counters.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::string_view chain_ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z5firstv()
{
    griddepcontrol.launch_dependents;
    ret;
}
.visible .entry _Z4nextv()
{
    griddepcontrol.wait;
    ret;
}
)";

class dependent_launch_test : public testing::Test {
protected:
    dependent_launch_test() : program_(1, 90, chain_ptx) {
        program_.kernel(&first_, "_Z5firstv");
        program_.kernel(&next_, "_Z4nextv");
    }
    static void launch(const char& kernel, bool dependently) {
        launch_attribute early{};
        early.id = launch_attribute_id::programmatic_stream_serialization;
        early.value.programmatic_stream_serialization = dependently ? 1 : 0;
        launch_configuration how{};
        how.grid = {1, 1, 1};
        how.block = {32, 1, 1};
        how.attributes = &early;
        how.attribute_count = 1;
        ASSERT_EQ(cudaLaunchKernelExC(&how, &kernel, nullptr), error::success);
    }
    // Of the last launch.
    template <class Launches>
    static double microseconds(const Launches& launches) {
        const auto all = warpfold::testing::record(launches);
        return all.launches().back().predicted.on("h200").microseconds;
    }

    embedded_program program_;
    char first_ = 0;
    char next_ = 0;
};

// launch 2592, launch_next 1485.79 and launch_dependent 509.386 ns of h200.json.
TEST_F(dependent_launch_test, overlaps_the_kernel_before_only_where_that_one_lets_it) {
    const double alone = microseconds([&] { launch(next_, true); });
    const auto behind = [&](const char& before, bool dependently) {
        return alone - microseconds([&] {
                   launch(before, false);
                   launch(next_, dependently);
               });
    };
    EXPECT_NEAR(behind(first_, false), 2.592 - 1.48579, 1e-6);
    EXPECT_NEAR(behind(next_, true), 2.592 - 1.48579, 1e-6);
    EXPECT_NEAR(behind(first_, true), 2.592 - 0.509386, 1e-6);
    EXPECT_NEAR(alone - microseconds([&] {
                    launch(first_, false);
                    ASSERT_EQ(cudaStreamSynchronize(nullptr), error::success);
                    launch(next_, true);
                }),
                0, 1e-6);
}

} // namespace
} // namespace softgpu::runtime
