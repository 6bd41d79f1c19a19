// SPDX-License-Identifier: MIT
// cp.async.bulk between global memory and the block's shared memory.
#include <gtest/gtest.h>

#include <numeric>

#include "softgpu/machine/tensor_map.hpp"
#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

const std::string shared = ".shared .align 128 .b8 room[4096]; .shared .align 8 .b64 bar;";
const std::string begin = "mov.u32 %r4, room; mov.u32 %r5, bar; setp.eq.u32 %q0, %i, 0;\n"
                          "@%q0 mbarrier.init.shared.b64 [%r5], 1; bar.sync 0; cvt.u32.u64 %r9, %p2;\n";
const std::string expect = "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r5], %r9;\n";
const std::string load =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%p1], %r9, [%r5];\n";
const std::string wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %q1, [%r5], 0; @!%q1 bra WAIT;\n";
// Each of 64 threads writes the word of its number to p0.
const std::string write = "shl.b32 %r7, %i, 2; add.u32 %r7, %r7, %r4; ld.shared.u32 %r8, [%r7];\n"
                          "mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p0; st.global.u32 [%rd1], %r8;\n";

struct outcome {
    std::vector<std::uint32_t> out;
    machine::launch_result how;
};
outcome run(const std::string& body, std::uint32_t bytes, std::uint64_t skip = 0) {
    program p(kernel(begin + body + "ret;", shared));
    std::vector<std::uint32_t> numbers(256);
    std::iota(numbers.begin(), numbers.end(), 1u);
    launch_options how;
    how.block.x = 64;
    const std::uint64_t out = p.buffer<std::uint32_t>(256);
    outcome o;
    o.how = p.attempt(how, {out, p.buffer(numbers) + skip, bytes});
    o.out = p.contents<std::uint32_t>(out, 256);
    return o;
}
std::string by_first(const std::string& body) {
    std::string out = "@!%q0 bra REST;\n";
    return out.append(body).append("REST:\n");
}

TEST(BulkCopy, ArrivesWithItsBarrier) {
    for (const std::string& issue : {expect + load, load + expect}) {
        for (const std::uint32_t bytes : {16u, 144u, 256u}) {
            const outcome o = run(by_first(issue).append(wait).append(write), bytes);
            ASSERT_FALSE(o.how.error) << o.how.error.message;
            for (std::uint32_t t = 0; t < bytes / 4; ++t) {
                ASSERT_EQ(o.out[t], t + 1) << bytes;
            }
            if (!on_hardware()) {
                EXPECT_EQ(o.how.total.async_copy_requests, 1u);
                EXPECT_EQ(o.how.total.async_copy_bytes, bytes);
            }
        }
    }
    const outcome nothing = run(by_first(expect + load) + wait + write, 0);
    EXPECT_FALSE(nothing.how.error) << nothing.how.error.message;
}

// PTX promises nothing before the barrier's phase is over: the old contents are seen.
TEST(BulkCopy, IsLate) {
    if (on_hardware()) {
        GTEST_SKIP() << "hardware may be early";
    }
    const std::string seven =
        "mov.u32 %r10, 7; shl.b32 %r11, %i, 2; add.u32 %r11, %r11, %r4; st.shared.u32 [%r11], %r10;\n"
        "bar.sync 0;\n";
    const outcome o = run(seven + by_first(expect + load) + write, 256);
    ASSERT_FALSE(o.how.error) << o.how.error.message;
    EXPECT_EQ(o.out[0], 7u);
    EXPECT_EQ(o.out[63], 7u);
}

// tile::gather4 and tile::scatter4: four rows of a tensor of 8 x 16, by their numbers. -1 and 9 are outside.
TEST(BulkCopy, FourRowsOfATensor) {
    if (on_hardware()) {
        GTEST_SKIP() << "compute capability 10.0";
    }
    program p(kernel(
        begin +
            by_first("mov.b64 %rd9, 0; mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r5], 128;\n"
                     "mov.b32 %r10, 4; mov.b32 %r11, 6; mov.b32 %r12, -1; mov.b32 %r13, 0; mov.b32 %r14, 9;\n"
                     "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::"
                     "bytes [%r4], [%p1, {%r10, %r11, %r12, %r13, %r14}], [%r5];\n") +
            wait +
            "@!%q0 bra LAST; mov.b32 %r10, 8; mov.b32 %r11, 1; mov.b32 %r12, 20; mov.b32 %r13, 3; mov.b32 %r14, 2;\n"
            "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%p2, {%r10, %r11, "
            "%r12, %r13, %r14}], [%r4];\n"
            "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
            "LAST:\n" +
            write + "ret;",
        shared));
    std::vector<std::uint32_t> numbers(16 * 8);
    std::iota(numbers.begin(), numbers.end(), 1u);
    machine::tensor_map m{};
    m.size = {16, 8};
    m.stride = {64};
    m.box = {8, 1};
    m.element_stride = {1, 1, 1, 1, 1};
    m.rank = 2;
    m.type = machine::tensor_type::u32;
    m.mark = machine::tensor_map_mark;
    m.address = p.buffer(numbers);
    machine::tensor_map to = m;
    to.address = p.buffer<std::uint32_t>(16 * 8);
    const std::uint64_t out = p.buffer<std::uint32_t>(64);
    p.run({.block = {64}}, {out, p.buffer(std::vector{m}), p.buffer(std::vector{to})});
    const auto read = p.contents<std::uint32_t>(out, 64);
    const auto written = p.contents<std::uint32_t>(to.address, 16 * 8);
    const auto row = [](const std::vector<std::uint32_t>& from, std::size_t first) {
        return std::vector<std::uint32_t>(from.begin() + static_cast<std::ptrdiff_t>(first),
                                          from.begin() + static_cast<std::ptrdiff_t>(first + 8));
    };
    const std::vector<std::uint32_t> zeros(8);
    EXPECT_EQ(row(read, 0), row(numbers, 6 * 16 + 4));
    EXPECT_EQ(row(read, 8), zeros);
    EXPECT_EQ(row(read, 16), row(numbers, 4));
    EXPECT_EQ(row(read, 24), zeros);
    EXPECT_EQ(row(written, 16 + 8), row(read, 0));
    EXPECT_EQ(row(written, 3 * 16 + 8), row(read, 16));
    EXPECT_EQ(row(written, 2 * 16 + 8), zeros);
    EXPECT_EQ(row(written, 8), zeros);
}

// As an H200 fills: one NaN for all types.
TEST(BulkCopy, NanOutsideOfATensor) {
    if (on_hardware()) {
        GTEST_SKIP() << "the tensor map is the software GPU's";
    }
    for (const machine::tensor_type type : {machine::tensor_type::f16, machine::tensor_type::bf16,
                                            machine::tensor_type::f32, machine::tensor_type::f64}) {
        program p(kernel(begin +
                             by_first("mov.b64 %rd9, 0; mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r5], 256;\n"
                                      "mov.b32 %r10, 0; mov.b32 %r11, 1;\n"
                                      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                                      "[%r4], [%p1, {%r10, %r11}], [%r5];\n") +
                             wait + write + "ret;",
                         shared));
        const std::uint32_t row = 128 / machine::bytes_of(type);
        machine::tensor_map m{};
        m.size = {row, 2};
        m.stride = {128};
        m.box = {static_cast<std::uint16_t>(row), 2};
        m.element_stride = {1, 1, 1, 1, 1};
        m.rank = 2;
        m.type = type;
        m.fill = machine::tensor_fill::nan;
        m.mark = machine::tensor_map_mark;
        m.address = p.buffer<std::uint32_t>(64, 3);
        const std::uint64_t out = p.buffer<std::uint32_t>(64);
        p.run({.block = {64}}, {out, p.buffer(std::vector{m})});
        const auto read = p.contents<std::uint32_t>(out, 64);
        for (std::size_t k = 0; k < 64; ++k) {
            EXPECT_EQ(read[k], k < 32 ? 3u : 0x7FF77FF7u) << k;
        }
    }
}

// st.bulk: each of four threads clears 40 bytes of its own, by an address in shared memory and by a generic one.
TEST(BulkCopy, StoresZeros) {
    if (on_hardware()) {
        GTEST_SKIP() << "compute capability 10.0";
    }
    const auto clear = [](const std::string& store) {
        return "shl.b32 %r7, %i, 2; add.u32 %r7, %r7, %r4; st.shared.u32 [%r7], 7; bar.sync 0;\n"
               "setp.ge.u32 %q2, %i, 4; @%q2 bra REST; mad.lo.u32 %r10, %i, 64, %r4; cvt.u64.u32 %rd5, %r10;\n"
               "cvta.shared.u64 %rd5, %rd5; mov.b64 %rd6, 40; mov.b32 %r11, 40;\n" +
               store + "\nREST: bar.sync 0;\n" + write;
    };
    for (const std::string store : {"st.bulk.weak.shared::cta [%r10+8], 40, 0;", "st.bulk [%rd5+8], %rd6, 0;",
                                    "st.bulk.weak.shared::cta [%r10+8], %r11, 0;"}) {
        const outcome o = run(clear(store), 0);
        ASSERT_FALSE(o.how.error) << o.how.error.message;
        for (std::uint32_t t = 0; t < 64; ++t) {
            EXPECT_EQ(o.out[t], t % 16 >= 2 && t % 16 < 12 ? 0u : 7u) << store << t;
        }
    }
    EXPECT_EQ(run(clear("st.bulk.shared::cta [%r10], 36, 0;"), 0).how.error.kind, machine::fault_kind::trap);
    EXPECT_EQ(run(clear("st.bulk.shared::cta [%r10+4], 8, 0;"), 0).how.error.kind,
              machine::fault_kind::misaligned_address);
    EXPECT_EQ(run(clear("st.bulk.shared::cta [%r10], 8192, 0;"), 0).how.error.kind,
              machine::fault_kind::illegal_address);
    EXPECT_EQ(run(clear("st.bulk [%p0], 64, 0;"), 0).how.error.kind, machine::fault_kind::illegal_address);
    EXPECT_EQ(run(clear("st.bulk.shared::cta [%r10], 64, 1;"), 0).how.error.kind, machine::fault_kind::invalid_ptx);
}

TEST(BulkCopy, ToGlobalMemory) {
    const std::string fill = "shl.b32 %r7, %i, 2; add.u32 %r7, %r7, %r4; st.shared.u32 [%r7], %i;\n"
                             "fence.proxy.async.shared::cta; bar.sync 0;\n";
    const outcome o = run(fill + by_first("cp.async.bulk.global.shared::cta.bulk_group [%p0+64], [%r4+32], %r9;\n"
                                          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"),
                          128);
    ASSERT_FALSE(o.how.error) << o.how.error.message;
    for (std::uint32_t t = 0; t < 64; ++t) {
        ASSERT_EQ(o.out[t], t >= 16 && t < 48 ? t - 8 : 0) << t;
    }
}

TEST(BulkCopy, WrongOnesAreFaults) {
    if (on_hardware()) {
        GTEST_SKIP() << "faults";
    }
    const auto fault = [](std::uint32_t bytes, std::uint64_t skip) {
        return run(by_first(expect + load), bytes, skip).how.error.kind;
    };
    EXPECT_EQ(fault(256, 0), machine::fault_kind::none);
    EXPECT_EQ(fault(24, 0), machine::fault_kind::trap);
    EXPECT_EQ(fault(256, 8), machine::fault_kind::misaligned_address);
    EXPECT_EQ(fault(256, 1024), machine::fault_kind::illegal_address);
    EXPECT_EQ(fault(8192, 0), machine::fault_kind::illegal_address);
}

// clang and Triton name shared memory by 64-bit registers.
TEST(BulkCopy, AddressesMayBeWide) {
    const std::string wide = "cvt.u64.u32 %rd4, %r4; cvt.u64.u32 %rd5, %r5;\n"
                             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd4], [%p1], %r9, "
                             "[%rd5];\n";
    const outcome o = run(by_first(expect + wide) + wait + write, 256);
    ASSERT_FALSE(o.how.error) << o.how.error.message;
    EXPECT_EQ(o.out[0], 1u);
    EXPECT_EQ(o.out[63], 64u);
}

// Lanes that wait at two barriers each find the bytes of theirs.
TEST(BulkCopy, LanesWaitAtTwoBarriers) {
    const std::string two = "mov.u32 %r12, two; @%q0 mbarrier.init.shared.b64 [%r12], 1; bar.sync 0;\n";
    const std::string second = "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r12], 128; add.u32 %r13, %r4, 128;\n"
                               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%p1+128], "
                               "128, [%r12];\n";
    // Every other lane waits at `two`, and then all at both.
    const std::string choose = "and.b32 %r14, %i, 1; setp.eq.u32 %q2, %r14, 0; selp.b32 %r5, %r5, %r12, %q2;\n";
    program p(kernel(begin + two + by_first(expect + load + second) + choose + wait + "bar.sync 0;\n" + write + "ret;",
                     shared + ".shared .align 8 .b64 two;"));
    std::vector<std::uint32_t> numbers(64);
    std::iota(numbers.begin(), numbers.end(), 1u);
    const std::uint64_t out = p.buffer<std::uint32_t>(64);
    p.run({.block = {64}}, {out, p.buffer(numbers), 128});
    EXPECT_EQ(p.contents<std::uint32_t>(out, 64), numbers);
}

TEST(BulkCopy, WaitsForBytesThatNeverComeAreDeadlocks) {
    if (on_hardware()) {
        GTEST_SKIP() << "deadlocks";
    }
    // One with a loop of one branch, one as CUTLASS writes it.
    for (const std::string& loop :
         {wait, std::string("WAIT: mbarrier.test_wait.parity.shared::cta.b64 %q1, [%r5], 0;\n@%q1 bra DONE;\n"
                            "bra WAIT;\nDONE:\n")}) {
        const outcome o = run(by_first(expect) + loop, 64);
        EXPECT_EQ(o.how.error.kind, machine::fault_kind::deadlock) << o.how.error.message;
        EXPECT_NE(o.how.error.message.find("wait for a change of shared memory"), std::string::npos)
            << o.how.error.message;
    }
}

// One warp loads a stage as soon as the other has emptied it, 200 times; nobody is to be called stuck meanwhile.
TEST(BulkCopy, ProducerAndConsumerAreNoDeadlock) {
    const std::string body =
        "mov.u32 %r4, room; mov.u32 %r5, bar; mov.u32 %r12, empty; setp.eq.u32 %q0, %i, 0; mov.u32 %r10, 0;\n"
        "mov.u32 %r11, 0; @!%q0 bra SET;\n"
        "mbarrier.init.shared.b64 [%r5], 1; mbarrier.init.shared.b64 [%r12], 32;\nSET: bar.sync 0;\n"
        "setp.ge.u32 %q2, %i, 32; @%q2 bra CONSUME;\n@!%q0 bra END;\n"
        "PRODUCE: mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r5], 128;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%p1], 128, [%r5];\n"
        "and.b32 %r6, %r10, 1;\n"
        "WAITE: mbarrier.try_wait.parity.shared.b64 %q1, [%r12], %r6; @!%q1 bra WAITE;\n"
        "add.u32 %r10, %r10, 1; setp.lt.u32 %q3, %r10, 200; @%q3 bra PRODUCE;\nbra END;\n"
        "CONSUME: and.b32 %r6, %r10, 1;\n"
        "WAITF: mbarrier.try_wait.parity.shared.b64 %q1, [%r5], %r6; @!%q1 bra WAITF;\n"
        "ld.shared.u32 %r8, [%r4]; add.u32 %r11, %r11, %r8; mbarrier.arrive.shared.b64 %rd9, [%r12];\n"
        "add.u32 %r10, %r10, 1; setp.lt.u32 %q3, %r10, 200; @%q3 bra CONSUME;\n"
        "mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p0; st.global.u32 [%rd1], %r11;\nEND: ret;";
    program p(kernel(body, shared + ".shared .align 8 .b64 empty;"));
    const std::uint64_t out = p.buffer<std::uint32_t>(64);
    p.run({.block = {64}, .deadlock_seconds = 1e-6}, {out, p.buffer<std::uint32_t>(32, 3)});
    EXPECT_EQ(p.contents<std::uint32_t>(out, 64)[40], 600u);
}

} // namespace
} // namespace softgpu::test
