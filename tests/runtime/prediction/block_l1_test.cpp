// SPDX-License-Identifier: MIT
// What of L1 a launch tells its trace: the order in which warps ask, and which blocks follow others.
#include <cstddef>

#include "tests/runtime/prediction/predicted_launch.hpp"

namespace softgpu::runtime {
namespace {

// columns(p): each warp walks down a column of words of its own, 32 rows of 1 KiB at a time, 128 times. fragment(p): a warp loads
// a 16 x 16 matrix of halves side by side, by wmma. shifted(p): each thread loads its word and the next one. same(p): each block
// loads one line. ahead(p): four lanes ask L2 for a line
// each, all lanes of a warp load these lines. What is loaded decides of a trap:
// ptxas would leave out what nothing reads.
constexpr std::string_view ptx = PTX_HEAD R"(.visible .entry _Z7columnsPj(.param .u64 p)
{
    .reg .pred %p<3>;
    .reg .b32 %r<7>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    shr.u32 %r3, %r1, 5;
    ld.param.u64 %rd1, [p];
    mul.wide.u32 %rd2, %r2, 1024;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd2;
    add.s64 %rd5, %rd4, %rd3;
    mov.u32 %r4, 0;
    mov.u32 %r6, 0;
ROUND:
    ld.global.u32 %r5, [%rd5];
    add.u32 %r6, %r6, %r5;
    add.s64 %rd5, %rd5, 32768;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 128;
    @%p1 bra ROUND;
    setp.eq.u32 %p2, %r6, -1;
    @%p2 trap;
    ret;
}
.visible .entry _Z8fragmentPj(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r10, 16;
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r10;
    xor.b32 %r1, %r1, %r2;
    xor.b32 %r3, %r3, %r4;
    xor.b32 %r1, %r1, %r3;
    setp.eq.u32 %p1, %r1, -1;
    @%p1 trap;
    ret;
}
.visible .entry _Z7shiftedPj(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    ld.global.u32 %r3, [%rd3+4];
    add.u32 %r4, %r2, %r3;
    setp.eq.u32 %p1, %r4, -1;
    @%p1 trap;
    ret;
}
.visible .entry _Z4samePj(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    setp.eq.u32 %p1, %r2, -1;
    @%p1 trap;
    ret;
}
.visible .entry _Z5aheadPj(.param .u64 p)
{
    .reg .pred %p<3>;
    .reg .b32 %r<7>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    mul.wide.u32 %rd2, %r1, 128;
    add.s64 %rd3, %rd1, %rd2;
    setp.lt.u32 %p1, %r1, 4;
    @%p1 prefetch.global.L2 [%rd3];
    mul.wide.u32 %rd4, %r1, 16;
    add.s64 %rd5, %rd1, %rd4;
    ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd5];
    add.u32 %r2, %r2, %r3;
    add.u32 %r4, %r4, %r5;
    add.u32 %r6, %r2, %r4;
    setp.eq.u32 %p2, %r6, -1;
    @%p2 trap;
    ret;
}
)";

constexpr unsigned threads = 256;
constexpr std::size_t used = 128 * 32 * 1024;
constexpr std::size_t untouched = 50 << 20; // the other tests of the process leave lines in L2 before that

class block_l1_test : public testing::Test {
protected:
    block_l1_test() : program_(ptx) {
        program_.kernel(&columns_, "_Z7columnsPj");
        program_.kernel(&fragment_, "_Z8fragmentPj");
        program_.kernel(&shifted_, "_Z7shiftedPj");
        program_.kernel(&same_, "_Z4samePj");
        program_.kernel(&ahead_, "_Z5aheadPj");
    }
    void SetUp() override { ASSERT_EQ(cudaMemset(words(), 0, used), error::success); }

    [[nodiscard]] void* words() const { return static_cast<char*>(data_.get()) + untouched; }
    warpfold::testing::prediction of(const char& kernel, unsigned blocks, unsigned threads_of_block,
                                     unsigned shared_bytes, std::size_t offset = 0) {
        return warpfold::testing::predict([&] {
                   void* at = static_cast<char*>(words()) + offset;
                   void* arguments[] = {&at};
                   ASSERT_EQ(cudaLaunchKernel(&kernel, {blocks, 1, 1}, {threads_of_block, 1, 1}, arguments,
                                              shared_bytes, nullptr),
                             error::success);
               })
            .on("h200");
    }

    embedded_program program_;
    const char columns_ = 0;
    const char fragment_ = 0;
    const char shifted_ = 0;
    const char same_ = 0;
    const char ahead_ = 0;
    const device_bytes data_{untouched + used};
};

// All warps ask for their own line before one asks for the next one's first sector.
TEST_F(block_l1_test, warps_ask_for_their_lines_in_the_order_of_their_clocks) {
    const auto p = of(shifted_, 1, threads, 0);
    EXPECT_EQ(p.l2_read_hit_rate, 0);
    EXPECT_NEAR(p.l1_load_hit_rate, 1 - 33. / 72, 1e-9); // of eight warps, each with four sectors and five
}

// Eight columns are a sector of each row. A warp walks down 4,096 lines of 128 bytes, twice as many as L1 has.
TEST_F(block_l1_test, warps_side_by_side_share_what_they_load_in_a_round) {
    EXPECT_NEAR(of(columns_, 1, 256, 0).l1_load_hit_rate, 7. / 8, 0.01);
}

// 512 bytes: 16 sectors, a row each. Each of four registers has halves of eight rows, so that every sector is loaded twice.
TEST_F(block_l1_test, fragments_go_through_the_caches) {
    const auto p = of(fragment_, 1, 32, 0);
    EXPECT_EQ(p.cold_dram_read_bytes, 512);
    EXPECT_EQ(p.l1_load_hit_rate, 0.5);
}

// A sector of each line, and the one that DRAM sends with it.
TEST_F(block_l1_test, a_prefetch_brings_half_of_a_line) {
    const auto p = of(ahead_, 1, 32, 0, 4 * threads);
    EXPECT_EQ(p.l2_read_hit_rate, 0.5);
    EXPECT_EQ(p.cold_dram_read_bytes, 512);
}

// One block fits a multiprocessor: of 264 the second 132 find what the first ones have loaded.
TEST_F(block_l1_test, a_block_finds_in_l1_what_one_before_has_left) {
    constexpr unsigned shared_bytes = 200 << 10;
    ASSERT_EQ(cudaFuncSetAttribute(&same_, function_attribute::max_dynamic_shared_bytes, shared_bytes), error::success);
    EXPECT_EQ(of(same_, 132, 32, shared_bytes).l1_load_hit_rate, 0);
    EXPECT_EQ(of(same_, 264, 32, shared_bytes).l1_load_hit_rate, 0.5);
}

} // namespace
} // namespace softgpu::runtime
