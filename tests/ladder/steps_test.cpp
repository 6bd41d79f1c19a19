// SPDX-License-Identifier: MIT
// Every step on the software GPU: lengths, types, operations and block sizes of every kind.
#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>

#include "tests/ladder/loaded_ladder.hpp"

namespace warpfold::ladder {
namespace {

using testing::loaded_engine;

// Steps that cannot finish on the device with one thread a block.
bool needs_two_threads(const std::string& id) {
    return id == "1" || id == "2" || id == "3" || id == "sum_unroll" || id == "sum_warp";
}

void expect_all_right(const ladder_request& request) {
    const auto report = loaded_engine().run(request);
    EXPECT_EQ(report.steps.size(),
              request.steps.empty() ? loaded_engine().steps("reduce").size() : request.steps.size());
    for (const auto& step : report.steps) {
        const auto where = [&] {
            return "step " + step.id + ", n " + std::to_string(*request.n) + ", block " +
                   std::to_string(request.parameters.block) + ", type " +
                   std::to_string(static_cast<int>(request.parameters.type)) + ", operation " +
                   std::to_string(static_cast<int>(request.parameters.op)) + ": " + step.error + step.skipped;
        };
        if (request.parameters.block == 1 && *request.n > 1 && needs_two_threads(step.id) &&
            request.parameters.finish_on == finish::device) {
            EXPECT_FALSE(step.skipped.empty()) << where();
            continue;
        }
        EXPECT_TRUE(step.skipped.empty()) << where();
        EXPECT_TRUE(step.correct) << where() << " " << step.difference;
    }
}

constexpr unsigned all_blocks[]{1, 2, 3, 31, 32, 33, 64, 96, 100, 128, 200, 256, 512, 1000, 1024};

class AllBlocks : public ::testing::TestWithParam<unsigned> {};

TEST_P(AllBlocks, AnyLength) {
    for (const std::uint64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 4099, 10007}) {
        ladder_request request;
        request.name = "reduce";
        request.n = n;
        request.parameters.block = GetParam();
        expect_all_right(request);
    }
}

TEST_P(AllBlocks, HostFinish) {
    ladder_request request;
    request.name = "reduce";
    request.n = 5000;
    request.parameters.block = GetParam();
    request.parameters.finish_on = finish::host;
    expect_all_right(request);
    request.parameters.type = element_type::float32;
    expect_all_right(request);
}

INSTANTIATE_TEST_SUITE_P(Steps, AllBlocks, ::testing::ValuesIn(all_blocks));

class AllKinds : public ::testing::TestWithParam<std::tuple<element_type, operation>> {
protected:
    static ladder_request request(std::uint64_t n, unsigned block) {
        ladder_request r;
        r.name = "reduce";
        std::tie(r.parameters.type, r.parameters.op) = GetParam();
        r.n = n;
        r.parameters.block = block;
        return r;
    }
};

TEST_P(AllKinds, SmallBlocksAndLarge) {
    for (const unsigned block : {1u, 3u, 32u, 96u, 128u, 1000u}) {
        for (const std::uint64_t n : {1, 100, 1000, 4099}) {
            expect_all_right(request(n, block));
        }
    }
}

TEST_P(AllKinds, LongerArrays) {
    expect_all_right(request(65'537, 256));
    expect_all_right(request(100'000, 512));
}

TEST_P(AllKinds, UnalignedArrays) {
    for (const unsigned offset : {1u, 2u, 3u, 5u}) {
        for (const std::uint64_t n : {1, 2, 3, 7, 8, 513, 4099}) {
            auto r = request(n, 64);
            r.offset = offset * static_cast<unsigned>(bytes_of(r.parameters.type));
            r.steps = {"7", "11", "12", "cub"};
            expect_all_right(r);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Steps, AllKinds,
                         ::testing::Combine(::testing::Values(element_type::int32, element_type::int64,
                                                              element_type::float32, element_type::float64),
                                            ::testing::Values(operation::sum, operation::minimum, operation::maximum,
                                                              operation::product, operation::largest_magnitude)));

} // namespace
} // namespace warpfold::ladder
