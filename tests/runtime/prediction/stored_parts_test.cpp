// SPDX-License-Identifier: MIT
// Stores that fill sectors or parts of them, and how much of L1 a kernel leaves.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>

#include "tests/runtime/prediction/lane_offsets.hpp"

namespace softgpu::runtime {
namespace {

// pairs(p, offsets): each lane stores two words at p + offsets[tid] bytes and loads them; bytes: likewise one byte.
// again(p): one block loads 256 lines twice. What is loaded decides of a trap: ptxas would leave out what nothing reads.
constexpr std::string_view ptx = PTX_HEAD R"(.visible .entry _Z5pairsPjPl(.param .u64 p, .param .u64 offsets)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
)" LANE_OFFSET R"(    add.s64 %rd5, %rd1, %rd4;
    st.global.v2.u32 [%rd5], {%r1, %r1};
    ld.global.v2.u32 {%r2, %r3}, [%rd5];
    setp.eq.u32 %p1, %r2, -1;
    @%p1 trap;
    ret;
}
.visible .entry _Z5bytesPhPl(.param .u64 p, .param .u64 offsets)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
)" LANE_OFFSET R"(    add.s64 %rd5, %rd1, %rd4;
    st.global.u8 [%rd5], %r1;
    membar.cta;
    ld.global.u8 %r2, [%rd5];
    setp.eq.u32 %p1, %r2, -1;
    @%p1 trap;
    ret;
}
.visible .entry _Z5againPj(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    mov.u32 %r2, 0;
LOOP:
    and.b32 %r3, %r2, 255;
    mad.lo.u32 %r3, %r3, 32, %r1;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r4, [%rd3];
    setp.eq.u32 %p1, %r4, -1;
    @%p1 trap;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 512;
    @%p1 bra LOOP;
    ret;
}
)";

class stored_parts_test : public lane_offsets_test {
protected:
    stored_parts_test() : lane_offsets_test(1 << 20), program_(ptx) {
        program_.kernel(&pairs_, "_Z5pairsPjPl");
        program_.kernel(&bytes_, "_Z5bytesPhPl");
        program_.kernel(&again_, "_Z5againPj");
    }

    // Sectors of which a part was stored to are read from DRAM.
    void expect_parts_read(const char& kernel, std::int64_t width,
                           const std::function<std::int64_t(unsigned)>& offset) {
        const offsets at = each(offset);
        std::map<std::int64_t, std::uint64_t> stored; // bytes of a sector, as a mask
        for (const std::int64_t begin : at) {
            for (std::int64_t b = begin; b < begin + width; ++b) {
                stored[b / 32] |= std::uint64_t{1} << b % 32;
            }
        }
        const auto parts = std::ranges::count_if(stored, [](const auto& s) { return s.second != 0xFFFF'FFFF; });
        EXPECT_EQ(sectors_read(&kernel, at), parts);
    }
    double l1_hits_of_again() { return predicted(&again_, 1, lanes, data_.get()).on("h200").l1_load_hit_rate; }

    embedded_program program_;
    const char pairs_ = 0;
    const char bytes_ = 0;
    const char again_ = 0;
};

TEST_F(stored_parts_test, the_rest_of_a_sector_is_read_where_stores_do_not_fill_it) {
    for (const std::int64_t begin : {0, 8, 96, 120, 4096 + 64}) {
        expect_parts_read(pairs_, 8, [&](unsigned l) { return begin + 8 * l; });
        expect_parts_read(pairs_, 8, [&](unsigned l) { return begin + 8 * (31 - l); });
        expect_parts_read(pairs_, 8, [&](unsigned l) { return begin + 16 * l; });
        expect_parts_read(pairs_, 8, [&](unsigned l) { return begin + 4096 * (l / 16) + 8 * (l * 7 % 16); });
        expect_parts_read(pairs_, 8, [&](unsigned) { return begin; });
    }
}

TEST_F(stored_parts_test, bytes_of_a_word_fill_it_together) {
    for (const std::int64_t begin : {0, 1, 32, 127}) {
        expect_parts_read(bytes_, 1, [&](unsigned l) { return begin + l; });
        expect_parts_read(bytes_, 1, [&](unsigned l) { return begin + l * 7 % 32; });
        expect_parts_read(bytes_, 1, [&](unsigned l) { return begin + 2 * l; });
    }
}

// They are 32 KiB. L1 has 256, or 28 where shared memory is preferred.
TEST_F(stored_parts_test, what_a_kernel_prefers_decides_how_much_l1_there_is) {
    EXPECT_DOUBLE_EQ(l1_hits_of_again(), 0.5);
    ASSERT_EQ(cudaFuncSetCacheConfig(&again_, cache_preference::shared), error::success);
    EXPECT_DOUBLE_EQ(l1_hits_of_again(), 0);
    ASSERT_EQ(cudaFuncSetCacheConfig(&again_, cache_preference::l1), error::success);
    EXPECT_DOUBLE_EQ(l1_hits_of_again(), 0.5);
    ASSERT_EQ(cudaFuncSetAttribute(&again_, function_attribute::preferred_shared_carveout, 100), error::success);
    EXPECT_DOUBLE_EQ(l1_hits_of_again(), 0);
    ASSERT_EQ(cudaFuncSetAttribute(&again_, function_attribute::preferred_shared_carveout, -1), error::success);
    EXPECT_DOUBLE_EQ(l1_hits_of_again(), 0.5);
}

} // namespace
} // namespace softgpu::runtime
