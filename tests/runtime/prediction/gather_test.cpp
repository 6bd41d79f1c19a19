// SPDX-License-Identifier: MIT
// Which sectors predicted caches see of lanes that gather.
#include <cstdint>
#include <random>
#include <set>

#include "tests/runtime/prediction/lane_offsets.hpp"

namespace softgpu::runtime {
namespace {

// gather(p, offsets): each lane loads the two words at p + offsets[tid] bytes; none where the offset is negative.
constexpr std::string_view gather_ptx = PTX_HEAD R"(.visible .entry _Z6gatherPjPl(.param .u64 p, .param .u64 offsets)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
)" LANE_OFFSET R"(    setp.lt.s64 %p1, %rd4, 0;
    add.s64 %rd5, %rd1, %rd4;
    @%p1 bra NONE;
    ld.global.v2.u32 {%r2, %r3}, [%rd5];
    st.global.v2.u32 [%rd5], {%r3, %r2};
NONE:
    ret;
}
)";

// again(p, offsets): each lane loads the two words there 256 times. What is loaded decides of a trap: ptxas would leave out what
// nothing reads, and a loop at one address would wait.
constexpr std::string_view again_ptx = PTX_HEAD R"(.visible .entry _Z5againPjPl(.param .u64 p, .param .u64 offsets)
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %laneid;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [offsets];
    mul.wide.u32 %rd3, %r1, 8;
    add.s64 %rd3, %rd2, %rd3;
    ld.global.u64 %rd4, [%rd3];
    add.s64 %rd5, %rd1, %rd4;
    mov.u32 %r5, 0;
ROUND:
    ld.global.v2.u32 {%r2, %r3}, [%rd5];
    xor.b32 %r4, %r2, %r3;
    setp.eq.u32 %p1, %r4, -1;
    @%p1 trap;
    add.s64 %rd5, %rd5, 0;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, 256;
    @%p2 bra ROUND;
    ret;
}
)";

constexpr std::int64_t bytes = std::int64_t{3} << 30; // the host gives what is touched alone

class gather_test : public lane_offsets_test {
protected:
    gather_test() : lane_offsets_test(bytes) {}

    void expect_sectors_of(const offsets& at) {
        std::set<std::int64_t> sectors;
        for (const std::int64_t offset : at) {
            if (offset >= 0) {
                sectors.insert(offset / 32);
            }
        }
        EXPECT_EQ(sectors_read(&gather_, at), static_cast<std::int64_t>(sectors.size()));
    }

    const embedded_kernel gather_{gather_ptx, "_Z6gatherPjPl"};
};

// Patterns from different places of a line, each more than once.
TEST_F(gather_test, patterns_touch_the_sectors_where_they_are) {
    for (int twice = 0; twice < 2; ++twice) {
        for (const std::int64_t begin : {0, 8, 16, 24, 96, 120, 4096 + 64}) {
            expect_sectors_of(each([&](unsigned) { return begin; }));
            expect_sectors_of(each([&](unsigned l) { return begin + 8 * l; }));
            expect_sectors_of(each([&](unsigned l) { return begin + 8 * (31 - l); }));
            expect_sectors_of(each([&](unsigned l) { return begin + 128 * l; }));
            expect_sectors_of(each([&](unsigned l) { return begin + 4096 * (l / 16) + 8 * (l % 16); }));
            expect_sectors_of(each([&](unsigned l) { return begin + 4096 * (1 - l / 16) + 8 * (l % 16); }));
            expect_sectors_of(each([&](unsigned l) { return begin + 40 * (l * 7 % 32); }));
        }
    }
}

TEST_F(gather_test, lanes_that_do_not_take_part_touch_nothing) {
    for (const std::int64_t begin : {0, 24, 120}) {
        expect_sectors_of(each([&](unsigned l) { return l % 3 == 1 ? begin + 256 * l : -1; }));
        expect_sectors_of(each([&](unsigned l) { return l == 31 ? begin : -1; }));
        expect_sectors_of(each([&](unsigned) { return -1; }));
    }
}

TEST_F(gather_test, lanes_may_be_further_apart_than_32_bits_say) {
    for (const std::int64_t far : {(std::int64_t{1} << 31) - 128, std::int64_t{1} << 31, bytes - 32 * 64}) {
        expect_sectors_of(each([&](unsigned l) { return l % 2 == 0 ? 8 * l : far + 64 * l; }));
        expect_sectors_of(each([&](unsigned l) { return l % 2 == 1 ? 8 * l : far + 64 * l; }));
    }
}

// Of 32 banks of a word, and of lines, four a turn.
TEST_F(gather_test, a_load_takes_turns_of_l1) {
    const embedded_kernel again(again_ptx, "_Z5againPjPl");
    ASSERT_EQ(cudaMemset(data_.get(), 0, 16384), error::success);
    const auto time_of = [&](std::int64_t step) {
        const offsets at = each([&](unsigned l) { return step * l; });
        EXPECT_EQ(cudaMemcpy(offsets_.get(), at.data(), sizeof at, copy_kind::automatic), error::success);
        const auto p = predicted(&again, 1, 1024, data_.get(), offsets_.get()).on("h200");
        EXPECT_EQ(p.bound, warpfold::testing::bound::l1) << step;
        return p.share_of_roof * p.microseconds;
    };
    const double quarter = time_of(16) / (256 * 16 + 8); // four words of a bank, four lines; the turns of the offsets
    EXPECT_NEAR(time_of(128) / quarter, 256 * 128 + 8, 0.01); // 32 words of two banks
    EXPECT_NEAR(time_of(136) / quarter, 256 * 32 + 8, 0.01);  // two words of a bank, 32 lines
}

TEST_F(gather_test, any_addresses) {
    std::mt19937_64 random(20);
    for (int k = 0; k < 300; ++k) {
        const std::int64_t within = std::int64_t{64} << random() % 14; // up to 512 KiB
        expect_sectors_of(each([&](unsigned) {
            return random() % 8 == 0 ? -1
                                     : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(within)) / 8 * 8;
        }));
    }
}

} // namespace
} // namespace softgpu::runtime
