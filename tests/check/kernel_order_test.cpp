// SPDX-License-Identifier: MIT
// Fences of many threads before one signal, the padding of structures, places and values in findings.
#include "tests/check/check_fixture.hpp"

namespace softgpu::test {
namespace {

// The threads of block 0 write and fence; after `meet` thread 0 sets the flag. Those of block 1 wait for it and read.
std::string signal(const std::string& fence, const std::string& meet, const std::string& set, const std::string& look) {
    return "mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; setp.eq.u32 %q0, %r3, 0; mul.wide.u32 "
           "%rd0, %r3, 4;\n"
           "add.u64 %rd0, %rd0, %p0; setp.ne.u32 %q1, %r4, 0; @%q1 bra READ;\nst.global.u32 [%rd0], %r3;\n" +
           fence + meet + "@%q0 " + set + "ret;\nREAD: @!%q0 bra THERE;\nWAIT: " + look +
           "setp.eq.u32 %q2, %r6, 0; @%q2 bra WAIT;\nTHERE: bar.sync 0;\n" + fence +
           "sub.u32 %r7, %r5, %r3; sub.u32 %r7, %r7, 1; mul.wide.u32 %rd1, %r7, 4; add.u64 %rd1, %rd1, %p0;\n"
           "ld.global.u32 %r8, [%rd1]; add.u32 %r8, %r8, 1;";
}

const std::string store = "st.volatile.global.u32 [%p1], 1;\n";
const std::string load = "ld.volatile.global.u32 %r6, [%p1];\n";

TEST_F(Check, FencesOfAllBeforeOneSignal) {
    const std::string barrier = "bar.sync 0;\n";
    for (const unsigned workers : {1u, 2u}) {
        const launch_options how{.grid = {2}, .block = {128}, .workers = workers};
        const auto all = [&](const std::string& text) { return run(text, how, {zeros(512), zeros(4)}); };
        for (const char* fence : {"membar.gl;\n", "fence.sc.gpu;\n", "membar.sys;\n"}) {
            expect_none(signal(fence, barrier, store, load), how, {zeros(512), zeros(4)});
            expect_none(signal(fence, barrier, "atom.global.add.u32 %r7, [%p1], 1;\n",
                               "ld.acquire.gpu.global.u32 %r6, [%p1];\n"),
                        how, {zeros(512), zeros(4)});
            // The barrier is missing: what warps do that the signal knows nothing of.
            EXPECT_FALSE(all(signal(fence, "", store, load)).empty()) << fence;
        }
        EXPECT_FALSE(all(signal("", barrier, store, load)).empty());
        EXPECT_FALSE(all(signal("membar.cta;\n", barrier, store, load)).empty());
        // Written behind the fence.
        EXPECT_FALSE(all(signal("membar.gl;\n", "st.global.u32 [%rd0], 1;\n" + barrier, store, load)).empty());
        // A fence behind the barrier by who signals is enough.
        expect_none(signal("membar.gl;\n", barrier + "membar.gl;\n", store, load), how, {zeros(512), zeros(4)});
    }
    const launch_options warps{.grid = {2}, .block = {32}, .workers = 1};
    expect_none(signal("membar.gl;\n", "bar.warp.sync -1;\n", store, load), warps, {zeros(512), zeros(4)});
    EXPECT_FALSE(run(signal("membar.gl;\n", "", store, load), warps, {zeros(512), zeros(4)}).empty());
}

// Warp 0 writes a word and signals. Warps 1 and 2 wait and read it with all lanes, and warp 2 then writes it: it must have
// waited for warp 1. The same where nobody writes before.
TEST_F(Check, AReadOfOneWarpAfterThatOfAnother) {
    const auto wait = [](const std::string& name, const std::string& flag) {
        return name + ": ld.acquire.cta.shared.u32 %r6, [" + flag + "]; setp.eq.u32 %q2, %r6, 0; @%q2 bra " + name +
               ";\n";
    };
    const auto body = [&](const std::string& flag_of_third, const std::string& write) {
        return "mov.u32 %r3, %tid.x; shr.u32 %r4, %r3, 5; and.b32 %r5, %r3, 31; setp.eq.u32 %q0, %r5, 0;\n"
               "setp.eq.u32 %q1, %r3, 0; @%q1 st.shared.v4.u32 [s], {%r3, %r3, %r3, %r3}; bar.sync 0;\n"
               "setp.eq.u32 %q1, %r4, 1; @%q1 bra SECOND; setp.eq.u32 %q1, %r4, 2; @%q1 bra THIRD;\n" +
               write +
               "bar.warp.sync -1; @%q0 red.release.cta.shared.or.b32 [s+4], 1; ret;\n"
               "SECOND:\n" +
               wait("WRITTEN", "s+4") +
               "ld.shared.u32 %r7, [s]; bar.warp.sync -1; @%q0 red.release.cta.shared.or.b32 [s+8], 1; ret;\n"
               "THIRD:\n" +
               wait("READ", flag_of_third) + "ld.shared.u32 %r7, [s]; bar.warp.sync -1; @%q0 st.shared.u32 [s], 1;";
    };
    const launch_options three{.block = {96}, .workers = 1};
    for (const char* write : {"", "@%q0 st.shared.u32 [s], 7;"}) {
        expect_none(body("s+8", write), three, {}, shared_array);
        expect_one(shared_race, body("s+4", write), three, {}, shared_array);
    }
}

// All threads read a word and arrive at a counter. The last arrival reads the word again and writes it.
std::string last_arrival(const std::string& fence, const std::string& arrive, const std::string& last) {
    return "mov.u32 %r3, %tid.x; setp.eq.u32 %q0, %r3, 0; @%q0 st.shared.v2.u32 [s], {%r3, %r3}; bar.sync 0;\n"
           "ld.shared.u32 %r7, [s];\n" +
           fence + arrive + "mov.u32 %r5, %ntid.x; sub.u32 %r5, %r5, 1; setp.ne.u32 %q1, %r4, %r5; @%q1 ret;\n" +
           fence + last + "ld.shared.u32 %r8, [s]; add.u32 %r8, %r8, 1; st.shared.u32 [s], %r8;";
}

TEST_F(Check, TheLastArrivalReadsAndWrites) {
    const std::string fence = "membar.cta;\n";
    const std::string arrive = "atom.shared.add.u32 %r4, [s+4], 1;\n";
    for (const unsigned threads : {32u, 64u, 128u}) {
        const launch_options how{.block = {threads}, .workers = 1};
        const auto races = [&](const std::string& text) { return !run(text, how, {}, shared_array).empty(); };
        expect_none(last_arrival(fence, arrive, ""), how, {}, shared_array);
        expect_none(last_arrival("", "atom.acq_rel.cta.shared.add.u32 %r4, [s+4], 1;\n", ""), how, {}, shared_array);
        // It has read the word before, and again.
        expect_none(last_arrival(fence, arrive, "ld.shared.u32 %r8, [s]; ld.shared.u32 %r8, [s];\n"), how, {},
                    shared_array);
        // One lane of each warp arrives.
        const std::string leads = "and.b32 %r9, %r3, 31; setp.ne.u32 %q2, %r9, 0; ";
        const std::string by_warp = leads + "@%q2 ret; atom.shared.add.u32 %r4, [s+4], 32; add.u32 %r4, %r4, 31;\n";
        expect_none(last_arrival(fence, "bar.warp.sync -1;\n" + by_warp, ""), how, {}, shared_array);
        EXPECT_TRUE(races(last_arrival(fence, by_warp, ""))) << "no order within warps";
        EXPECT_TRUE(races(last_arrival("", "bar.warp.sync -1;\n" + by_warp, "")) || threads == 32);
        EXPECT_TRUE(races(last_arrival("", arrive, ""))) << "no order";
        EXPECT_TRUE(races(last_arrival("", "mov.u32 %r4, %r3;\n", ""))) << "no arrivals";
        // Each reads again behind its arrival.
        EXPECT_TRUE(races(last_arrival(fence, arrive + "ld.shared.u32 %r7, [s];\n", ""))) << threads;
        EXPECT_TRUE(races(last_arrival("", "mov.u32 %r4, %r3; bar.warp.sync -1;\n", "")) || threads == 32);
    }
}

// Warps 0 and 1 of three read a word and meet. Thread 0 reads it again and writes it.
TEST_F(Check, AReadAndAWriteBehindABarrierOfTwoWarps) {
    const auto body = [](const std::string& meet) {
        return "mov.u32 %r3, %tid.x; setp.eq.u32 %q0, %r3, 0; @%q0 st.shared.u32 [s], %r3; bar.sync 0;\n"
               "setp.ge.u32 %q1, %r3, 64; @%q1 ret; ld.shared.u32 %r7, [s];\n" +
               meet + "@!%q0 ret; ld.shared.u32 %r8, [s]; st.shared.u32 [s], %r8;";
    };
    const launch_options three{.block = {96}, .workers = 1};
    expect_none(body("bar.sync 1, 64;\n"), three, {}, shared_array);
    EXPECT_FALSE(run(body("bar.warp.sync -1;\n"), three, {}, shared_array).empty());
    EXPECT_FALSE(run(body(""), three, {}, shared_array).empty());
}

// struct { char; int; } by assignment: nvcc reads eight bytes and says which of them it wants.
TEST_F(Check, UsedBytesOfLoads) {
    const std::string kind = "read of unwritten memory";
    const auto body = [](const std::string& pragma, const std::string& first, const std::string& second) {
        return "mov.u32 %r7, s;\n" + first + second + pragma +
               "ld.shared.v2.u32 {%r3, %r4}, [%r7]; st.global.v2.u32 [%p0], {%r3, %r4};";
    };
    const std::string character = "st.shared.u8 [%r7], 1;\n";
    const std::string number = "st.shared.u32 [%r7+4], 1;\n";
    const std::string middle = "st.shared.u8 [%r7+2], 1;\n";
    const launch_options one{.block = {1}};
    expect_none(body(".pragma \"used_bytes_mask 241\";\n", character, number), one, {zeros(8)}, shared_array);
    expect_none(body(".pragma \"used_bytes_mask 3\";\n", character, ""), one, {zeros(8)}, shared_array);
    expect_none(body(".pragma \"used_bytes_mask 0xF0\";\n", "", number), one, {zeros(8)}, shared_array);
    expect_one(kind, body("", character, ""), one, {zeros(8)}, shared_array);
    expect_one(kind, body(".pragma \"used_bytes_mask 241\";\n", character, ""), one, {zeros(8)}, shared_array);
    expect_one(kind, body(".pragma \"used_bytes_mask 241\";\n", middle, number), one, {zeros(8)}, shared_array);
    // It is about one load only.
    expect_one(kind,
               body(".pragma \"used_bytes_mask 3\";\n", character, "") + "ld.shared.v2.u32 {%r3, %r4}, [%r7]; "
                                                                         "st.global.v2.u32 [%p0], {%r3, %r4};",
               one, {zeros(8)}, shared_array);
}

// One call, inlined twice: the place is called at line 7 of file 1.
TEST_F(Check, CallersAreThoseOfTheNearestCopy) {
    const auto copy = [](const std::string& line) {
        return ".loc 2 20 3, function_name $L, inlined_at 1 " + line +
               " 9\n.loc 2 8 1, function_name $L, inlined_at 2 20 3\n";
    };
    const finding f = expect_one("race in global memory",
                                 copy("5") + "mov.u32 %r3, 1;\n" + copy("7") + "st.global.u32 [%p0], %i;\n" +
                                     copy("9") + "mov.u32 %r3, 1;",
                                 {.grid = {2}, .block = {1}}, {zeros(4)});
    using called_from = std::vector<std::pair<std::string, std::uint32_t>>;
    EXPECT_EQ(f.accesses.at(0).where.called_from, (called_from{{"file 2", 20}, {"file 1", 7}}));
}

TEST_F(Check, WideElementsAreShownWhole) {
    const auto value = [&](const std::string& type, unsigned which = 0) {
        const auto found = run("shl.b32 %r3, %i, 30; cvt.u64.u32 %rd0, %r3; st.global." + type + " [%p0], " +
                                   (type == "u64" ? "%rd0;" : "%r3;"),
                               {.grid = {2}, .block = {1}, .workers = 1}, {zeros(8)});
        return found.empty() ? std::string() : found[0].accesses.at(which).value.value_or("");
    };
    EXPECT_EQ(value("u32"), "0x40000000 (1073741824, as float 2)");
    EXPECT_EQ(value("u64"), "0x0000000040000000");
    EXPECT_EQ(value("u64", 1), "0x0000000000000000"); // found in memory
}

TEST_F(Check, AKindThatIsItsCheckIsNamedOnce) {
    finding f;
    f.check = check::leak;
    f.kind = "leak";
    f.message = "4 bytes";
    EXPECT_EQ(check::to_text(f), "softgpu: leak: 4 bytes\n");
}

// A load that nvcc has moved before its condition: lanes that do not use its value do not count as readers.
TEST_F(Check, LoadsThatALaneDiscards) {
    const std::uint64_t out = zeros(1024);
    const auto discard = [](const std::string& then) {
        return "mov.u32 %r7, s; mul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p0; setp.lt.u32 %q0, %i, 32;\n"
               "setp.ge.u32 %q2, %i, 32; setp.eq.u32 %q1, %i, 7; @%q1 st.shared.u32 [%r7], %i; bar.warp.sync -1;\n"
               "ld.shared.u32 %r4, [%r7];\n" +
               then + "st.global.u32 [%rd0], %r5;";
    };
    for (const char* const then :
         {"selp.b32 %r5, %r4, 0, %q0;\n", "selp.b32 %r5, 0, %r4, %q2;\n",
          "mad.lo.u32 %r6, %r4, %r4, 1; add.u32 %r8, %i, %i; shl.b32 %r9, %r6, 1; selp.b32 %r5, %r9, %r8, %q0;\n",
          "selp.b32 %r5, %r4, 0, %q0; selp.b32 %r6, %r4, %r5, %q0; add.u32 %r5, %r5, %r6;\n"}) {
        expect_none(discard(then), {.block = {64}}, {out}, shared_array);
    }
    for (const char* const then :
         {"add.u32 %r5, %r4, 1;\n", "selp.b32 %r5, %r4, 0, %q0; add.u32 %r5, %r5, %r4;\n",
          "selp.b32 %r5, %r4, 0, %q0; selp.b32 %r6, 0, %r4, %q0; add.u32 %r5, %r5, %r6;\n",
          "setp.eq.u32 %q0, %i, 77; selp.b32 %r5, %r4, 0, %q0;\n", "selp.b32 %r5, %r4, %r4, %q0;\n",
          "selp.b32 %r5, %r4, 0, %q0; setp.eq.u32 %q1, %r4, 3; @%q1 add.u32 %r5, %r5, 1;\n",
          "selp.b32 %r5, %r4, 0, %q0; @%q2 bra NEXT;\nNEXT: add.u32 %r5, %r5, %r4;\n"}) {
        expect_one(shared_race, discard(then), {.block = {64}}, {out}, shared_array);
    }
}

} // namespace
} // namespace softgpu::test
