// SPDX-License-Identifier: MIT
// cp.async under the checks: what is touched before the copy is waited for, and what it reads itself. Pipelines that are
// right stay silent.
#include "tests/check/check_fixture.hpp"

namespace softgpu::test {
namespace {

const launch_options block{.block = {128}};
const std::string unwritten_kind = "read of unwritten memory";
// %r4: the thread's own word in s, %r5: that of a thread of another warp, %rd1: its word of p1; 512 bytes a stage.
const std::string begin =
    "mov.u32 %r3, %tid.x; mov.u32 %r7, s; shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %r7; xor.b32 %r5, %r3, 127;\n"
    "shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r7; mul.wide.u32 %rd1, %r3, 4; add.u64 %rd1, %rd1, %p1;\n"
    "mov.u32 %r9, 0; setp.eq.u32 %q0, %r3, 0;\n";
const std::string barrier = "bar.sync 0;\n";
const std::string commit = "cp.async.commit_group;\n";
const std::string wait_all = "cp.async.wait_all;\n";

std::string copy(unsigned stage) {
    const std::string at = std::to_string(512 * stage);
    return "cp.async.ca.shared.global [%r4+" + at + "], [%rd1+" + at + "], 4;\n";
}
std::string wait(unsigned groups) { return "cp.async.wait_group " + std::to_string(groups) + ";\n"; }
std::string read(const std::string& from, unsigned stage = 0) {
    return "ld.shared.u32 %r8, [" + from + "+" + std::to_string(512 * stage) + "]; add.u32 %r9, %r9, %r8;\n";
}

TEST_F(Check, CopyThatNobodyWaitsFor) {
    const std::uint64_t in = zeros(4096);
    const auto faulty = [&](const std::string& body) {
        const finding f = expect_one(shared_race, begin + body, block, {0, in}, shared_array);
        EXPECT_NE(f.message.find("cp.async"), std::string::npos) << text({f});
        ASSERT_EQ(f.accesses.size(), 2u);
        EXPECT_EQ(f.accesses[0].where.instruction.find("cp.async"), std::string::npos) << text({f});
        EXPECT_EQ(f.accesses[1].what, "copy of 4 bytes");
        EXPECT_NE(f.accesses[1].where.instruction.find("cp.async"), std::string::npos) << text({f});
    };
    const std::string store = "st.shared.u32 [%r4], 7;\n";
    for (const std::string& start : {std::string(), store + barrier}) { // never written, and written before
        faulty(start + copy(0) + barrier + read("%r5"));
        faulty(start + copy(0) + commit + barrier + read("%r5"));
        faulty(start + copy(0) + commit + read("%r4"));
        faulty(start + copy(0) + commit + wait(1) + barrier + read("%r5"));
        expect_none(begin + start + copy(0) + wait_all + barrier + read("%r5"), block, {0, in}, shared_array);
        expect_none(begin + start + copy(0) + commit + wait(0) + read("%r4") + barrier + read("%r5"), block, {0, in},
                    shared_array);
    }
    // A store meanwhile, or an atomic.
    faulty(copy(0) + store + wait_all + read("%r4"));
    faulty(copy(0) + "red.shared.add.u32 [%r4], 1;\n" + wait_all);
    // Waited for by its own thread only.
    expect_one(shared_race, begin + store + barrier + copy(0) + wait_all + read("%r5"), block, {0, in}, shared_array);
    // Nothing is left for the next block.
    expect_none(begin + "mov.u32 %r10, %ctaid.x; setp.eq.u32 %q1, %r10, 0; @%q1 bra FIRST;\n" + store + barrier +
                    read("%r5") + "ret;\nFIRST: " + copy(0) + "ret;",
                {.grid = {3}, .block = {128}, .workers = 1}, {0, in}, shared_array);
}

// The copies of one stage are under way while the other stage is read.
std::string pipeline(unsigned first_wait, const std::string& before_reuse) {
    return begin + copy(0) + commit + copy(1) + commit + wait(first_wait) + barrier + read("%r5", 0) + before_reuse +
           "cp.async.ca.shared.global [%r4], [%rd1+1024], 4;\n" + commit + wait(1) + barrier + read("%r5", 1) +
           wait(0) + barrier + read("%r5", 0);
}

TEST_F(Check, PipelinesOfCopies) {
    const std::uint64_t in = zeros(4096);
    const auto expect_races = [&](const std::string& body, std::uint64_t from) {
        const auto found = run(body, block, {0, from}, shared_array);
        EXPECT_FALSE(found.empty()) << body;
        for (const finding& f : found) {
            EXPECT_EQ(f.kind, shared_race) << text({f});
        }
    };
    expect_none(pipeline(1, barrier), block, {0, in}, shared_array);
    expect_none(pipeline(0, barrier), block, {0, in}, shared_array);
    expect_races(pipeline(2, barrier), in);
    expect_one(shared_race, pipeline(1, ""), block, {0, in}, shared_array);
    // A loop over stages, an empty group at the end of each round; wrong where one group too many may be under way.
    const auto loop = [](unsigned groups) {
        return begin + "mov.u32 %r10, 0; mov.u32 %r11, %r4;\n" + copy(0) + commit + copy(1) + commit +
               "AGAIN: " + wait(groups) + barrier +
               "and.b32 %r12, %r10, 3; shl.b32 %r12, %r12, 9; add.u32 %r13, %r5, %r12;\n" + read("%r13") +
               "add.u32 %r14, %r10, 2; setp.ge.u32 %q1, %r14, 16; and.b32 %r14, %r14, 3; shl.b32 %r14, %r14, 9; "
               "add.u32 %r14, %r14, %r4;\n"
               "@!%q1 cp.async.ca.shared.global [%r14], [%rd1], 4;\n" +
               commit + "add.u32 %r10, %r10, 1; setp.lt.u32 %q2, %r10, 16; @%q2 bra AGAIN;";
    };
    expect_none(loop(1), block, {0, in}, shared_array);
    expect_races(loop(2), in);
}

TEST_F(Check, CopiesTrackedByBarrierObject) {
    const std::uint64_t in = zeros(4096);
    const auto body = [](const std::string& arrive, const std::string& arrivals = "128") {
        return begin + "@%q0 mbarrier.init.shared.b64 [s+4096], " + arrivals + ";\n" + barrier + copy(0) + arrive +
               "WAIT: mbarrier.test_wait.parity.shared.b64 %q1, [s+4096], 0; @!%q1 bra WAIT;\n" + read("%r5");
    };
    const std::string plain = "mbarrier.arrive.shared.b64 %rd2, [s+4096];\n";
    expect_none(body("cp.async.mbarrier.arrive.noinc.shared.b64 [s+4096];\n"), block, {0, in}, shared_array);
    expect_none(body("cp.async.mbarrier.arrive.shared.b64 [s+4096];\n" + plain), block, {0, in}, shared_array);
    expect_one(shared_race, body(plain), block, {0, in}, shared_array);
    expect_none(body(wait_all + plain), block, {0, in}, shared_array);
}

TEST_F(Check, SourcesOfCopies) {
    const std::string use = wait_all + barrier + read("%r5");
    const finding f = expect_one(unwritten_kind, begin + copy(0) + use, block, {0, unwritten(4096)}, shared_array);
    ASSERT_EQ(f.accesses.size(), 1u);
    EXPECT_EQ(f.accesses[0].what, "read of 4 bytes");
    EXPECT_NE(f.message.find("global"), std::string::npos) << text({f});
    EXPECT_NE(f.accesses[0].where.instruction.find("cp.async"), std::string::npos);
    EXPECT_EQ(f.times, 128u);
    // Zeros are written without a look at the source.
    expect_none(begin + "mov.u32 %r10, 0; cp.async.ca.shared.global [%r4], [%rd1], 4, %r10;\n" + use, block,
                {0, unwritten(4096)}, shared_array);
    expect_none(begin + "setp.eq.u32 %q1, %r9, 0; cp.async.ca.shared.global [%r4], [%rd1], 4, %q1;\n" + use, block,
                {0, unwritten(4096)}, shared_array);
    expect_none(begin + "setp.ne.u32 %q1, %r9, 0; cp.async.ca.shared.global [%r4], [%rd1], 4, !%q1;\n" + use, block,
                {0, unwritten(4096)}, shared_array);
    // Four of sixteen bytes are there; what is copied of unwritten memory stays unwritten.
    const std::uint64_t four = unwritten(16);
    session_.written(four, 4);
    const auto wide = [&](const std::string& filled, unsigned offset) {
        return begin + "mov.u32 %r10, 4; @%q0 cp.async.cg.shared.global [%r7], [%p1], 16" + filled + ";\n" + wait_all +
               barrier + "ld.shared.u32 %r8, [%r7+" + std::to_string(offset) + "]; add.u32 %r9, %r8, 1;";
    };
    expect_none(wide(", %r10", 12), block, {0, four}, shared_array);
    expect_none(wide("", 0), block, {0, four}, shared_array);
    expect_one(unwritten_kind, wide("", 4), block, {0, four}, shared_array);
    // Another block writes what is read, and so does another thread before the copy is waited for.
    const std::string second_block = "mov.u32 %r10, %ctaid.x; setp.eq.u32 %q1, %r10, 1;\n";
    const std::string write = "@%q1 st.global.u32 [%rd1], 1;\n";
    const launch_options two{.grid = {2}, .block = {128}, .workers = 1};
    expect_one(global_race, begin + second_block + copy(0) + wait_all + barrier + write, two, {0, zeros(4096)},
               shared_array);
    expect_none(begin + second_block + copy(0) + wait_all + barrier, two, {0, zeros(4096)}, shared_array);
    const std::string others = "xor.b32 %r10, %r3, 127; mul.wide.u32 %rd2, %r10, 4; add.u64 %rd2, %rd2, %p1;\n";
    const std::string write_others = "st.global.u32 [%rd2], 1;\n";
    expect_one(global_race, begin + others + copy(0) + barrier + write_others + wait_all, block, {0, zeros(4096)},
               shared_array);
    expect_none(begin + others + copy(0) + wait_all + barrier + write_others, block, {0, zeros(4096)}, shared_array);
}

} // namespace
} // namespace softgpu::test
