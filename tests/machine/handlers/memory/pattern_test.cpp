// SPDX-License-Identifier: MIT
// One access in a loop whose pattern of addresses changes from turn to turn: what the machine remembers of a pattern
// must never be taken for another. Results and counters against a transcription of their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <set>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

constexpr std::uint32_t memory_bytes = 8192;

struct turn {
    std::array<std::uint32_t, 32> offset; // bytes
    std::uint32_t mask;
};

using offsets = std::array<std::uint32_t, 32>;

template <class F>
offsets lanes_of(F&& f) {
    offsets at;
    for (std::uint32_t l = 0; l < 32; ++l) {
        at[l] = f(l);
    }
    return at;
}

// Patterns of elements of `bytes`; each stays below half of the memory.
std::vector<offsets> patterns(std::uint32_t bytes, random32& engine) {
    std::vector<offsets> all;
    for (const std::uint32_t step : {0u, 1u, 2u, 3u, 4u}) {
        all.push_back(lanes_of([&](std::uint32_t l) { return l * step * bytes; }));
    }
    all.push_back(lanes_of([&](std::uint32_t l) { return (31 - l) * bytes; }));
    all.push_back(lanes_of([&](std::uint32_t l) { return l % 16 * bytes; }));
    all.push_back(lanes_of([&](std::uint32_t l) { return l / 16 * 16 * bytes; }));
    all.push_back(lanes_of([&](std::uint32_t l) { return (l / 8 * 3 % 4 * 40 + l % 8) * bytes; }));
    all.push_back(lanes_of([&](std::uint32_t l) { return (l / 8 * 3 % 4 * 5 + 1) * bytes; }));
    all.push_back(lanes_of([&](std::uint32_t l) { return (l ^ 1) * bytes; }));
    // Like a run, a broadcast, runs of eight, but for one lane.
    all.push_back(lanes_of([&](std::uint32_t l) { return (l == 17 ? 3 : l) * bytes; }));
    all.push_back(lanes_of([&](std::uint32_t l) { return (l == 31 ? 1u : 0u) * bytes; }));
    all.push_back(lanes_of([&](std::uint32_t l) { return (l / 8 * 40 + (l == 9 ? 7 : l % 8)) * bytes; }));
    for (unsigned n = 0; n < 4; ++n) {
        all.push_back(lanes_of([&](std::uint32_t) { return engine() % 200 * bytes; }));
    }
    return all;
}

std::vector<turn> turns(std::uint32_t bytes, unsigned seed) {
    random32 engine(seed);
    const std::vector<offsets> known = patterns(bytes, engine);
    std::vector<turn> all;
    while (all.size() < 600) {
        turn t{known[engine() % known.size()], 0xFFFFFFFFu};
        const std::uint32_t masks[] = {0x0000FFFFu, 0x55555555u, 0x00000001u, 0x01010101u,
                                       0x80000000u, 0x7FFFFFFEu, 0x00FF00FFu, engine() | 1u};
        if (engine() % 2 == 0) {
            t.mask = masks[engine() % std::size(masks)];
        }
        const std::uint32_t base = engine() % 100 * bytes;
        for (std::uint32_t& o : t.offset) {
            o += base;
        }
        // Many a pattern comes several times in a row, at other places.
        for (std::uint32_t times = 1 + engine() % 3; times > 0; --times) {
            all.push_back(t);
            for (std::uint32_t& o : t.offset) {
                o += bytes * (times % 2 == 0 ? 1 : 9);
            }
        }
    }
    return all;
}

// All lanes whose numbers differ by `apart` in that bit want the same, where both are active.
bool neighbours_agree(const turn& t, unsigned apart) {
    for (unsigned l = 0; l < 32; ++l) {
        const unsigned other = l ^ apart;
        if ((t.mask >> l & 1) != 0 && (t.mask >> other & 1) != 0 && t.offset[l] != t.offset[other]) {
            return false;
        }
    }
    return true;
}

std::uint64_t passes_of(const turn& t, std::uint32_t bytes, bool load) {
    const bool together = load && bytes > 4 && (neighbours_agree(t, 1) || neighbours_agree(t, 2));
    const unsigned group = (bytes <= 4 ? 32 : bytes == 8 ? 16 : 8) * (together ? 2 : 1);
    std::uint64_t passes = 0;
    for (unsigned first = 0; first < 32; first += group) {
        std::map<std::uint32_t, std::set<std::uint32_t>> words;
        for (unsigned l = first; l < first + group; ++l) {
            for (unsigned k = 0; (t.mask >> l & 1) != 0 && k < bytes; k += 4) {
                words[(t.offset[l] + k) / 4 % 32].insert((t.offset[l] + k) / 4);
            }
        }
        std::size_t worst = 0;
        for (const auto& [bank, wanted] : words) {
            worst = std::max(worst, wanted.size());
        }
        passes += worst;
    }
    return passes;
}

// The memory is 256-byte aligned or in shared memory.
std::uint64_t sectors_of(const turn& t, std::uint32_t bytes) {
    std::set<std::uint32_t> touched;
    for (unsigned l = 0; l < 32; ++l) {
        if ((t.mask >> l & 1) != 0) {
            touched.insert(t.offset[l] / 32);
            touched.insert((t.offset[l] + bytes - 1) / 32);
        }
    }
    return touched.size();
}

struct access_text {
    std::string load, store; // %r20 to %r23 hold the values, AT is the address
    std::uint32_t bytes;
    std::uint32_t element = 4; // bytes that one of the registers stands for
    bool is_signed = false;
};

const access_text accesses[] = {
    {"ld.SPACE.u32 %r20, [AT+0];", "st.SPACE.u32 [AT+0], %r20;", 4},
    {"ld.SPACE.u64 %rd20, [AT];  mov.b64 {%r20, %r21}, %rd20;",
     "mov.b64 %rd20, {%r20, %r21}; st.SPACE.u64 [AT], %rd20;", 8},
    {"ld.SPACE.v2.u32 {%r20, %r21}, [AT];", "st.SPACE.v2.u32 [AT], {%r20, %r21};", 8},
    {"ld.SPACE.v4.u32 {%r20, %r21, %r22, %r23}, [AT];", "st.SPACE.v4.u32 [AT], {%r20, %r21, %r22, %r23};", 16},
    {"ld.SPACE.u8 %r20, [AT];", "st.SPACE.u8 [AT], %r20;", 1, 1},
    {"ld.SPACE.s16 %r20, [AT];", "cvt.u16.u32 %h0, %r20; st.SPACE.u16 [AT], %h0;", 2, 2, true},
    {"ld.SPACE.v2.u8 {%h0, %h1}, [AT]; cvt.u32.u16 %r20, %h0; cvt.u32.u16 %r21, %h1;",
     "cvt.u64.u32 %rd20, %r20; cvt.u64.u32 %rd21, %r21; st.SPACE.v2.u8 [AT], {%rd20, %rd21};", 2, 1},
    {"ld.SPACE.v4.s8 {%r20, %r21, %r22, %r23}, [AT];", "st.SPACE.v4.s8 [AT], {%r20, %r21, %r22, %r23};", 4, 1, true},
    {"ld.SPACE.v4.s16 {%rd20, %rd21, %rd22, %rd23}, [AT]; cvt.u32.u64 %r20, %rd20; cvt.u32.u64 %r21, %rd21;\n"
     "cvt.u32.u64 %r22, %rd22; cvt.u32.u64 %r23, %rd23;",
     "st.SPACE.v4.u16 [AT], {%r20, %r21, %r22, %r23};", 8, 2, true},
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
    return text;
}

// Turn by turn, the lanes of the mask load an element, add the turn's number to each word, and store it back; what was
// loaded goes to the output. p0: output, p1: offsets, p2: masks, p3: memory, p4: turns. wide: addresses of 64 bits.
std::string body_of(const access_text& a, bool shared, bool wide) {
    const std::string at = wide ? "%rd10" : "%r10";
    std::string text;
    if (shared) {
        text +=
            ".shared .align 16 .b8 s[8192];\n"
            "mov.u32 %r11, s; mov.u32 %r12, 0; shl.b32 %r13, %i, 2; add.u32 %r11, %r11, %r13; add.u64 %rd11, %p3, 0;\n"
            "cvt.u64.u32 %rd12, %r13; add.u64 %rd11, %rd11, %rd12;\n"
            "FILL: ld.global.u32 %r14, [%rd11]; st.shared.u32 [%r11], %r14; add.u32 %r11, %r11, 128;\n"
            "add.u64 %rd11, %rd11, 128; add.u32 %r12, %r12, 128; setp.lt.u32 %q1, %r12, 8192; @%q1 bra FILL;\n";
    }
    text += "cvt.u32.u64 %r9, %p4; mov.u32 %r8, 0; mul.wide.u32 %rd1, %i, 4; add.u64 %rd2, %p1, %rd1;\n"
            "mul.wide.u32 %rd3, %i, 16; add.u64 %rd3, %rd3, %p0; mov.u64 %rd4, %p2;\n"
            "TURN: ld.global.u32 %r4, [%rd2]; ld.global.u32 %r5, [%rd4];\n"
            "shr.u32 %r5, %r5, %i; and.b32 %r5, %r5, 1; setp.eq.u32 %q0, %r5, 0; @%q0 bra NEXT;\n";
    text +=
        shared ? "mov.u32 %r10, s; add.u32 %r10, %r10, %r4;\n" : "cvt.u64.u32 %rd10, %r4; add.u64 %rd10, %rd10, %p3;\n";
    text += shared && wide ? "cvt.u64.u32 %rd10, %r10;\n" : "";
    text += "mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0;\n";
    text += replaced(replaced(a.load, "SPACE", shared ? "shared" : "global"), "AT", at) + "\n";
    text += "st.global.u32 [%rd3], %r20; st.global.u32 [%rd3+4], %r21; st.global.u32 [%rd3+8], %r22;\n"
            "st.global.u32 [%rd3+12], %r23;\n"
            "add.u32 %r20, %r8, 1; add.u32 %r21, %r8, 2; add.u32 %r22, %r8, 3; add.u32 %r23, %r8, 4;\n";
    text += replaced(replaced(a.store, "SPACE", shared ? "shared" : "global"), "AT", at) + "\n";
    text += "NEXT: add.u64 %rd2, %rd2, 128; add.u64 %rd3, %rd3, 512; add.u64 %rd4, %rd4, 4; add.u32 %r8, %r8, 1;\n"
            "setp.lt.u32 %q1, %r8, %r9; @%q1 bra TURN; ret;";
    return text;
}

void check_turns(const access_text& a, bool shared, bool wide, unsigned seed) {
    const std::vector<turn> all = turns(a.bytes, seed);
    std::vector<std::uint8_t> memory(memory_bytes);
    for (std::size_t k = 0; k < memory.size(); ++k) {
        memory[k] = static_cast<std::uint8_t>(k * 2654435761u >> 24);
    }
    const auto element_at = [&](std::uint32_t at) {
        std::uint32_t v = 0;
        std::memcpy(&v, memory.data() + at, a.element);
        const unsigned unused = 32 - 8 * a.element;
        return a.is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(v << unused) >> unused) : v;
    };
    std::vector<std::uint32_t> table;
    std::vector<std::uint32_t> masks;
    for (const turn& t : all) {
        table.insert(table.end(), t.offset.begin(), t.offset.end());
        masks.push_back(t.mask);
    }
    program p(kernel(body_of(a, shared, wide)));
    const std::uint64_t out = p.buffer<std::uint32_t>(all.size() * 128);
    const observe::counters c = p.run({}, {out, p.buffer(table), p.buffer(masks), p.buffer(memory), all.size()}).total;

    std::uint64_t load_wavefronts = 0;
    std::uint64_t store_wavefronts = 64; // of FILL
    std::uint64_t sectors = 0;
    std::uint64_t elements = 0;
    std::vector<std::uint32_t> expected(all.size() * 128);
    const unsigned words = a.bytes / a.element;
    for (std::size_t n = 0; n < all.size(); ++n) {
        const turn& t = all[n];
        for (unsigned l = 0; l < 32; ++l) {
            for (unsigned k = 0; (t.mask >> l & 1) != 0 && k < words; ++k) {
                expected[n * 128 + l * 4 + k] = element_at(t.offset[l] + k * a.element);
            }
        }
        for (unsigned l = 0; l < 32; ++l) {
            for (unsigned k = 0; (t.mask >> l & 1) != 0 && k < words; ++k) {
                const std::uint32_t stored = static_cast<std::uint32_t>(n) + 1 + k;
                std::memcpy(memory.data() + t.offset[l] + k * a.element, &stored, a.element);
            }
        }
        load_wavefronts += passes_of(t, a.bytes, true);
        store_wavefronts += passes_of(t, a.bytes, false);
        sectors += sectors_of(t, a.bytes);
        elements += static_cast<std::uint64_t>(std::popcount(t.mask));
    }
    const std::vector<std::uint32_t> got = p.contents<std::uint32_t>(out, expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
        ASSERT_EQ(got[k], expected[k]) << a.load << ", turn " << k / 128 << ", lane " << k % 128 / 4;
    }
    if (on_hardware()) {
        return;
    }
    if (shared) {
        EXPECT_EQ(c.shared_load_requests, all.size());
        EXPECT_EQ(c.shared_load_wavefronts, load_wavefronts) << a.load;
        EXPECT_EQ(c.shared_load_bytes, elements * a.bytes);
        EXPECT_EQ(c.shared_store_wavefronts, store_wavefronts) << a.store;
        EXPECT_EQ(c.shared_store_bytes, elements * a.bytes + memory_bytes);
    } else {
        // Each turn reads its 32 offsets and its mask as well.
        const std::uint64_t own = sectors + all.size() * 5;
        EXPECT_EQ(c.global_load_requests, 3 * all.size());
        EXPECT_EQ(c.global_load_sectors, own) << a.load;
        EXPECT_EQ(c.global_load_bytes, elements * a.bytes + all.size() * 256);
    }
}

TEST(Patterns, ChangeFromTurnToTurnInSharedMemory) {
    for (const access_text& a : accesses) {
        check_turns(a, true, false, 11 + a.bytes);
        check_turns(a, true, true, 17 + a.bytes);
    }
}

TEST(Patterns, ChangeFromTurnToTurnInGlobalMemory) {
    for (const access_text& a : accesses) {
        check_turns(a, false, true, 29 + a.bytes);
    }
}

// The pattern stays, but the last turn is one element too far, or not aligned.
TEST(Patterns, AFaultAfterManyRightAccesses) {
    if (on_hardware()) {
        GTEST_SKIP() << "a fault would end the process's work";
    }
    const auto ends_with = [](const std::string& body, std::uint64_t step, machine::fault_kind kind) {
        program p(kernel(body));
        const std::uint64_t memory = p.buffer<std::uint32_t>(32 * 10);
        const auto fine = p.attempt({}, {memory, 36}); // nine steps on: the last 128 bytes that there are
        EXPECT_FALSE(fine.error) << fine.error.message;
        const auto wrong = p.attempt({}, {memory, step});
        EXPECT_EQ(wrong.error.kind, kind) << wrong.error.message;
    };
    const std::string walk =
        "mov.u32 %r9, 0; TURN: OP add.u32 %r9, %r9, 4; setp.le.u32 %q0, %r9, %r8; @%q0 bra TURN; ret;";
    const std::string global =
        "cvt.u32.u64 %r8, %p1; mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p0;" +
        replaced(walk, "OP", "mul.wide.u32 %rd2, %r9, 32; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r10, [%rd3];");
    ends_with(global, 40, machine::fault_kind::illegal_address);
    const std::string shared =
        ".shared .align 4 .b8 s[1280]; cvt.u32.u64 %r8, %p1; mov.u32 %r1, s; shl.b32 %r2, %i, 2;"
        "add.u32 %r1, %r1, %r2;" +
        replaced(walk, "OP", "shl.b32 %r3, %r9, 5; add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], %r9;");
    ends_with(shared, 40, machine::fault_kind::illegal_address);
    const std::string wide = replaced(shared, "st.shared.u32 [%r3]", "cvt.u64.u32 %rd3, %r3; st.shared.u32 [%rd3]");
    ends_with(wide, 40, machine::fault_kind::illegal_address);
    const std::string beyond = // the right offset, 2^32 too far
        replaced(wide, "st.shared.u32 [%rd3]",
                 "setp.gt.u32 %q1, %r9, 36; @%q1 sub.u64 %rd3, %rd3, 640; @%q1 add.u64 %rd3, %rd3, 4294967296;"
                 "st.shared.u32 [%rd3]");
    ends_with(beyond, 40, machine::fault_kind::illegal_address);
    const std::string halves =
        "cvt.u32.u64 %r8, %p1; mul.wide.u32 %rd1, %i, 40; add.u64 %rd1, %rd1, %p0;" + // 40 bytes a lane
        replaced(walk, "OP", "cvt.u64.u32 %rd2, %r9; add.u64 %rd3, %rd1, %rd2; ld.global.s16 %r10, [%rd3+2];");
    ends_with(halves, 40, machine::fault_kind::illegal_address);
    const std::string bytes =
        ".shared .align 4 .b8 s[1280]; cvt.u32.u64 %r8, %p1; mov.u32 %r1, s; mul.lo.u32 %r2, %i, 40;"
        "add.u32 %r1, %r1, %r2;" +
        replaced(walk, "OP", "add.u32 %r3, %r9, %r1; st.shared.u8 [%r3+3], %r9;");
    ends_with(bytes, 40, machine::fault_kind::illegal_address);
    const std::string crooked =
        "cvt.u32.u64 %r8, %p1; mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p0;" +
        replaced(walk, "OP",
                 "cvt.u64.u32 %rd2, %r9; and.b64 %rd4, %rd2, 4; shr.u64 %rd4, %rd4, 2; setp.gt.u32 %q1, %r9, 36;"
                 "@!%q1 mov.u64 %rd4, 0; add.u64 %rd3, %rd1, %rd4; ld.global.u32 %r10, [%rd3];");
    ends_with(crooked, 44, machine::fault_kind::misaligned_address);
}

// Handlers go from one to the next without coming back: the stack must not grow with the length of a body.
TEST(Patterns, AVeryLongBody) {
    constexpr unsigned instructions = 150000;
    std::string body;
    for (unsigned n = 0; n < instructions; ++n) {
        body += "add.u32 %r4, %r4, %i;\n";
    }
    const threads_result r = run_threads("mov.u32 %r4, 0;\n" + body + "st.global.u32 [%rd0], %r4;", {});
    for (std::uint32_t l = 0; l < 32; ++l) {
        EXPECT_EQ(r.words[l], instructions * l);
    }
}

} // namespace
} // namespace softgpu::test
