// SPDX-License-Identifier: MIT
// Which sectors predicted caches see of lanes that gather.
#include <cstdint>
#include <random>
#include <set>

#include "tests/runtime/prediction/lane_offsets.hpp"

namespace softgpu::runtime {
namespace {

// gather(p, offsets): each lane loads the two words at p + offsets[tid] bytes; none where the offset is negative.
constexpr std::string_view gather_ptx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry _Z6gatherPjPl(.param .u64 p, .param .u64 offsets)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [offsets];
    mul.wide.u32 %rd3, %r1, 8;
    add.s64 %rd3, %rd2, %rd3;
    ld.global.u64 %rd4, [%rd3];
    setp.lt.s64 %p1, %rd4, 0;
    add.s64 %rd5, %rd1, %rd4;
    @%p1 bra NONE;
    ld.global.v2.u32 {%r2, %r3}, [%rd5];
    st.global.v2.u32 [%rd5], {%r3, %r2};
NONE:
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
