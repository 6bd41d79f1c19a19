// SPDX-License-Identifier: MIT
// Atomics under the checks: beside plain accesses of their own thread, and to memory that nobody has written.
#include "tests/check/check_fixture.hpp"

namespace softgpu::test {
namespace {

const std::string unwritten_kind = "read of unwritten memory";
const std::string tid =
    "mov.u32 %r3, %tid.x; setp.eq.u32 %q0, %r3, 0; mov.u32 %r7, s; shl.b32 %r6, %r3, 2; add.u32 %r6, "
    "%r6, %r7;\n";

// __shared__ int c; if (t == 0) c = 0; (order) atomicAdd(&c, 1);
TEST_F(Check, CounterSetWithoutBarrier) {
    const auto shared = [](const std::string& order) {
        return tid + "@%q0 st.shared.u32 [%r7], 0;\n" + order + "atom.shared.add.u32 %r8, [%r7], 1;";
    };
    for (const unsigned threads : {32u, 256u}) {
        const finding f = expect_one(shared_race, shared(""), {.block = {threads}}, {}, shared_array);
        ASSERT_EQ(f.accesses.size(), 2u);
        EXPECT_NE(f.accesses[1].where.instruction.find("st.shared"), std::string::npos) << text({f});
        EXPECT_NE(f.accesses[0].where.instruction.find("atom.shared"), std::string::npos) << text({f});
        expect_none(shared("bar.sync 0;\n"), {.block = {threads}}, {}, shared_array);
    }
    expect_none(shared("bar.warp.sync -1;\n"), {.block = {32}}, {}, shared_array);
    const auto global = [](const std::string& order) {
        return "mov.u32 %r3, %tid.x; setp.eq.u32 %q0, %r3, 0;\n@%q0 st.global.u32 [%p0], 0;\n" + order +
               "atom.global.add.u32 %r8, [%p0], 1;";
    };
    expect_one(global_race, global(""), {.block = {64}}, {zeros(4)});
    expect_none(global("bar.sync 0;\n"), {.block = {64}}, {zeros(4)});
    // With a barrier the block itself is in order; the other blocks are not.
    EXPECT_FALSE(run(global(""), {.grid = {2}, .block = {1}, .workers = 1}, {zeros(4)}).empty());
}

// Also where the store's value is what the atomic has left.
TEST_F(Check, StoreBesideAnAtomicOfTheSameValue) {
    const finding blocks = expect_one(global_race,
                                      "mov.u32 %r3, %ctaid.x; setp.eq.u32 %q0, %r3, 0;\n"
                                      "@%q0 red.global.add.u32 [%p0], 1; @!%q0 st.global.u32 [%p0], 1;",
                                      {.grid = {2}, .block = {1}}, {zeros(4)});
    EXPECT_FALSE(blocks.is_note) << text({blocks});
    for (const char* bit : {"16", "32"}) { // by lanes of one warp, by two warps
        const finding f = expect_one(shared_race,
                                     tid +
                                         "@%q0 st.shared.u32 [%r7], 0; bar.sync 0;\n"
                                         "setp.eq.u32 %q1, %r3, " +
                                         bit + "; @%q0 red.shared.add.u32 [%r7], 0; @%q1 st.shared.u32 [%r7], 0;",
                                     {.block = {64}}, {}, shared_array);
        EXPECT_FALSE(f.is_note) << text({f});
    }
}

// Every thread sets its own word, and adds to those of others.
TEST_F(Check, BinsSetWithoutBarrier) {
    const auto body = [](const std::string& order, const std::string& add) {
        return tid + "st.shared.u32 [%r6], 0;\n" + order +
               "and.b32 %r5, %r3, 7; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r7;\n" + add +
               "bar.sync 0; ld.shared.u32 %r9, [%r6]; add.u32 %r9, %r9, 1;";
    };
    for (const char* add :
         {"red.shared.add.u32 [%r5], 1;\n", "red.shared.add.u32 [%r6], 1; red.shared.add.u32 [%r5], 1;\n"}) {
        EXPECT_FALSE(run(body("", add), {.block = {128}}, {}, shared_array).empty()) << add;
        expect_none(body("bar.sync 0;\n", add), {.block = {128}}, {}, shared_array);
    }
    // To the own word only, and later to all.
    const std::string own =
        "red.shared.add.u32 [%r6], 1; red.shared.add.u32 [%r6], 1; bar.sync 0; red.shared.add.u32 [%r5], 1;\n";
    expect_none(body("", own), {.block = {128}}, {}, shared_array);
}

TEST_F(Check, BarrierObjectWithoutBarrier) {
    const auto body = [](const std::string& order) {
        return tid + "@%q0 mbarrier.init.shared.b64 [%r7], 64;\n" + order + "mbarrier.arrive.shared.b64 %rd0, [%r7];";
    };
    // Only thread 0 comes before the others here.
    const auto found = run(body(""), {.block = {64}}, {}, shared_array);
    EXPECT_FALSE(found.empty());
    for (const finding& f : found) {
        EXPECT_EQ(f.kind, shared_race) << text({f});
    }
    expect_none(body("bar.sync 0;\n"), {.block = {64}}, {}, shared_array);
}

// Warp 1 writes words and arrives; warp 0 looks at the barrier, and reads them.
TEST_F(Check, BarrierObjectThatIsNotOver) {
    const auto body = [](const std::string& arrivals, const std::string& look) {
        return tid + "@%q0 mbarrier.init.shared.b64 [s+2048], " + arrivals +
               ";\nbar.sync 0; setp.lt.u32 %q1, %r3, 32; @%q1 bra READ;\n"
               "st.shared.u32 [%r6], 7; mbarrier.arrive.shared.b64 %rd0, [s+2048]; bra END;\n"
               "READ: mov.u32 %r8, 0;\nLOOK: mbarrier.test_wait.parity.shared.b64 %q1, [s+2048], 0;\n" +
               look + "ld.shared.u32 %r9, [%r6+128]; add.u32 %r9, %r9, 1;\nEND:\n";
    };
    const std::string some_times = "add.u32 %r8, %r8, 1; setp.lt.u32 %q1, %r8, 50; @%q1 bra LOOK;\n";
    const std::string until_over = "@!%q1 bra LOOK;\n";
    expect_none(body("32", until_over), {.block = {64}}, {}, shared_array);
    expect_none(body("32", some_times), {.block = {64}}, {}, shared_array);
    expect_one(shared_race, body("33", some_times), {.block = {64}}, {}, shared_array);
}

TEST_F(Check, ExchangeWritesWhatNobodyHasWritten) {
    const std::string use = "bar.sync 0; ld.shared.u32 %r9, [%r6]; add.u32 %r9, %r9, 1;";
    expect_none(tid + "atom.shared.exch.b32 %r8, [%r6], 5; " + use, {.block = {64}}, {}, shared_array);
    const std::string global_use =
        "mul.wide.u32 %rd0, %r3, 8; add.u64 %rd0, %rd0, %p0; atom.global.exch.b64 %rd1, [%rd0], 5;\n";
    const std::string global_read = "ld.global.u64 %rd2, [%rd0]; add.u64 %rd3, %rd2, 1;";
    expect_none(tid + global_use + global_read, {.block = {64}}, {unwritten(8 * 64)}, shared_array);
    // Who wants the old value has read it.
    expect_one(unwritten_kind, tid + global_use + "add.u64 %rd3, %rd1, 1;", {.block = {64}}, {unwritten(8 * 64)},
               shared_array);
    // So has an addition; what comes behind is written.
    expect_one(unwritten_kind, tid + "atom.shared.add.u32 %r8, [%r6], 5; " + use, {.block = {64}}, {}, shared_array);
    expect_one(unwritten_kind,
               tid + "red.shared.add.u32 [%r7], 1; bar.sync 0; red.shared.add.u32 [%r7], 1; bar.sync 0; "
                     "ld.shared.u32 %r9, [%r7]; add.u32 %r9, %r9, 1;",
               {.block = {64}}, {}, shared_array);
    const std::uint64_t sum = unwritten(4);
    const finding f = expect_one(unwritten_kind, "red.global.add.u32 [%p0], 1;", {.block = {64}}, {sum});
    EXPECT_GE(f.times, 1u);
    expect_none("ld.global.u32 %r3, [%p0]; add.u32 %r3, %r3, 1;", {}, {sum});
}

} // namespace
} // namespace softgpu::test
