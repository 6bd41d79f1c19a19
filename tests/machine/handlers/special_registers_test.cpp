// SPDX-License-Identifier: MIT
// Special registers, and the shared memory that is reserved beside the program's.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using words = std::vector<std::uint32_t>;

// A block that was launched without a cluster is one of its own.
TEST(SpecialRegisters, ClusterOfOneBlock) {
    launch_options how{.grid = {3, 2, 1}, .block = {32, 1, 1}};
    program p(kernel("mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.x; mad.lo.u32 %r3, %r3, %r4, %r1;\n"
                     "mul.wide.u32 %rd0, %r3, 48; add.u64 %rd0, %rd0, %p0;\n"
                     "mov.u32 %r4, %clusterid.x; mov.u32 %r5, %clusterid.y; mov.u32 %r6, %nclusterid.x;\n"
                     "mov.u32 %r7, %cluster_ctaid.x; st.global.v4.u32 [%rd0], {%r4, %r5, %r6, %r7};\n"
                     "mov.u32 %r4, %cluster_nctaid.y; mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank;\n"
                     "mov.pred %q0, %is_explicit_cluster; selp.u32 %r7, 1, 0, %q0;\n"
                     "st.global.v4.u32 [%rd0+16], {%r4, %r5, %r6, %r7};\n"
                     "mov.u32 %r8, s; mapa.shared::cluster.u32 %r9, %r8, %cluster_ctarank; sub.u32 %r9, %r9, %r8;\n"
                     "st.shared::cluster.u32 [%r8], 5; ld.shared.u32 %r10, [%r8];\n"
                     "getctarank.shared::cluster.u32 %r11, %r8;\n"
                     "st.global.v2.u32 [%rd0+40], {%r10, %r11}; ret;",
                     ".shared .align 4 .b32 s;"));
    const std::uint64_t out = p.buffer<std::uint32_t>(12 * 6);
    p.run(how, {out});
    const auto d = p.contents<std::uint32_t>(out, 12 * 6);
    for (std::uint32_t b = 0; b < 6; ++b) {
        const words expected{b % 3, b / 3, 3, 0, 1, 0, 1, 0, 0, 0, 5, 0};
        EXPECT_EQ(words(d.begin() + 12 * b, d.begin() + 12 * b + 12), expected) << "block " << b;
    }
}

// Memory that the system and cooperative groups have in every block, apart from the program's: zeros at first, also where
// a block before has written there.
TEST(SpecialRegisters, ReservedSharedMemory) {
    if (on_hardware()) {
        GTEST_SKIP() << "where it lies is the driver's affair, and so is what stands there";
    }
    for (const std::uint32_t dynamic : {0u, 1000u}) {
        program p(
            kernel("mul.lo.u32 %r2, %i, 32; cvt.u64.u32 %rd0, %r2; add.u64 %rd0, %rd0, %p0; mov.u32 %r20, %tid.x;\n"
                   "mov.u32 %r3, %reserved_smem_offset_begin; mov.u32 %r4, %reserved_smem_offset_1;\n"
                   "mov.u32 %r5, %reserved_smem_offset_end; mov.u32 %r6, %reserved_smem_offset_0;\n"
                   "mov.u32 %r7, %total_smem_size; mov.u32 %r8, %aggr_smem_size;\n"
                   "mad.lo.u32 %r9, %r20, 4, %r4; ld.shared.u32 %r10, [%r9];\n"
                   "mad.lo.u32 %r12, %r20, -4, %r5; ld.shared.u32 %r11, [%r12+-4]; add.u32 %r11, %r11, %r10;\n"
                   "st.shared.u32 [%r9], 7; st.shared.u32 [%r12+-4], 7;\n"
                   "mov.u32 %r13, s; mad.lo.u32 %r13, %r20, 4, %r13; st.shared.u32 [%r13], %r20;\n"
                   "bar.sync 0; ld.shared.u32 %r14, [%r13];\n"
                   "st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6};\n"
                   "st.global.v4.u32 [%rd0+16], {%r7, %r8, %r11, %r14}; ret;",
                   ".shared .align 4 .b8 s[292];"));
        constexpr std::size_t threads = 72; // of which each takes one word of the 288 bytes
        const std::uint64_t out = p.buffer<std::uint32_t>(8 * 3 * threads);
        p.run({.grid = {3}, .block = {threads}, .dynamic_shared_bytes = dynamic}, {out});
        const auto d = p.contents<std::uint32_t>(out, 8 * 3 * threads);
        const std::uint32_t total = dynamic == 0 ? 384 : 1408; // whole units of 128 bytes
        for (std::size_t k = 0; k < 3 * threads; ++k) {
            const std::uint32_t* const w = d.data() + 8 * k;
            EXPECT_GE(w[0], 292 + dynamic);
            EXPECT_GE(w[1], w[0]);
            EXPECT_EQ(w[2] - w[0], 1024u);
            EXPECT_EQ(w[3], w[0]);
            EXPECT_EQ(w[4], total);
            EXPECT_EQ(w[5], total + 1024);
            EXPECT_EQ(w[6], 0u) << "thread " << k;
            EXPECT_EQ(w[7], k % threads);
        }
    }
}

// What a kernel does not ask for it does not get: behind its own memory is nothing.
TEST(SpecialRegisters, NoReservedSharedMemoryUnasked) {
    if (on_hardware()) {
        GTEST_SKIP() << "a fault there ends the context";
    }
    program p(kernel("ld.shared.u32 %r3, [s+100]; ret;", ".shared .align 4 .b8 s[100];"));
    const auto r = p.attempt({.block = {1}}, {});
    EXPECT_EQ(r.error.kind, machine::fault_kind::illegal_address);
    EXPECT_NE(r.error.message.find("the block has 100 bytes"), std::string::npos) << r.error.message;
}

TEST(SpecialRegisters, GlobalTimeIsUnixTime) {
    const auto now = [] {
        const auto since = std::chrono::system_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
    };
    constexpr std::uint64_t apart = 60'000'000'000; // a GPU's clock is not the host's
    program p(kernel("mov.u64 %rd1, %globaltimer; mov.u32 %r3, %globaltimer_lo; mov.u32 %r4, %globaltimer_hi;\n"
                     "mov.b64 %rd2, {%r3, %r4}; st.global.v2.u64 [%p0], {%rd1, %rd2}; ret;"));
    const std::uint64_t out = p.buffer<std::uint64_t>(2);
    const std::uint64_t before = now();
    p.run({.block = {1}}, {out});
    for (const std::uint64_t time : p.contents<std::uint64_t>(out, 2)) {
        EXPECT_GT(time, before - apart);
        EXPECT_LT(time, now() + apart);
    }
}

TEST(SpecialRegisters, IndicesInThreeDimensions) {
    launch_options how{.grid = {3, 2, 4}, .block = {5, 3, 4}, .workers = 2};
    program p(kernel("mov.u32 %r3, %tid.x; mov.u32 %r4, %tid.y; mov.u32 %r5, %tid.z; mov.u32 %r6, %ctaid.x; mov.u32 "
                     "%r7, %ctaid.y; mov.u32 %r8, %ctaid.z;\n"
                     "mov.u32 %r9, %ntid.x; mov.u32 %r10, %ntid.y; mov.u32 %r11, %ntid.z; mov.u32 %r12, %nctaid.x; "
                     "mov.u32 %r13, %nctaid.y; mov.u32 %r14, %nctaid.z;\n"
                     "mad.lo.u32 %r15, %r5, %r10, %r4; mad.lo.u32 %r15, %r15, %r9, %r3; mad.lo.u32 %r16, %r8, %r13, "
                     "%r7; mad.lo.u32 %r16, %r16, %r12, %r6;\n"
                     "mad.lo.u32 %r17, %r16, 60, %r15; mul.wide.u32 %rd0, %r17, 80; add.u64 %rd0, %rd0, %p0;\n"
                     "st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6}; st.global.v4.u32 [%rd0+16], {%r7, %r8, %r9, "
                     "%r10}; st.global.v4.u32 [%rd0+32], {%r11, %r12, %r13, %r14};\n"
                     "mov.u32 %r3, %laneid; mov.u32 %r4, %lanemask_eq; mov.u32 %r5, %lanemask_lt; mov.u32 %r6, "
                     "%lanemask_le; mov.u32 %r7, %lanemask_gt; mov.u32 %r8, %lanemask_ge;\n"
                     "st.global.v4.u32 [%rd0+48], {%r3, %r4, %r5, %r6}; st.global.v2.u32 [%rd0+64], {%r7, %r8};\n"
                     "mov.u16 %h0, %tid.x; cvt.u32.u16 %r9, %h0; mov.u32 %r10, %warpid; st.global.v2.u32 [%rd0+72], "
                     "{%r9, %r10}; ret;"));
    const std::size_t count = 24 * 60;
    const std::uint64_t out = p.buffer<std::uint32_t>(20 * count);
    p.run(how, {out});
    const auto d = p.contents<std::uint32_t>(out, 20 * count);
    for (std::uint32_t n = 0; n < count; ++n) {
        const std::uint32_t t = n % 60;
        const std::uint32_t b = n / 60;
        const std::uint32_t l = t % 32;
        const std::uint32_t lower = (1u << l) - 1;
        const words expected{t % 5,
                             t / 5 % 3,
                             t / 15,
                             b % 3,
                             b / 3 % 2,
                             b / 6,
                             5,
                             3,
                             4,
                             3,
                             2,
                             4,
                             l,
                             1u << l,
                             lower,
                             lower | 1u << l,
                             ~(lower | 1u << l),
                             ~lower,
                             t % 5,
                             on_hardware() ? d[20 * n + 19] : t / 32}; // %warpid is free to change there
        EXPECT_EQ(words(d.begin() + 20 * n, d.begin() + 20 * n + 20), expected) << "block " << b << " thread " << t;
    }
}

} // namespace
} // namespace softgpu::test
