// SPDX-License-Identifier: MIT
// Divergence: whatever the control flow, every thread computes what it would alone, and lanes meet again.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using words = std::vector<std::uint32_t>;

TEST(Reconvergence, NestedIf) {
    const threads_result r =
        run_threads("mov.u32 %r3, 0; and.b32 %r4, %i, 1; setp.ne.u32 %q0, %r4, 0; @!%q0 bra even;\n"
                    "  and.b32 %r5, %i, 2; setp.ne.u32 %q1, %r5, 0; @%q1 bra odd3;\n"
                    "    add.u32 %r3, %r3, 1; bra inner;\n"
                    "  odd3: add.u32 %r3, %r3, 2; activemask.b32 %r9;\n"
                    "  inner: add.u32 %r3, %r3, 10; activemask.b32 %r7; bra join;\n"
                    "even: add.u32 %r3, %r3, 100; activemask.b32 %r7;\n"
                    "join: activemask.b32 %r8; st.global.v2.u32 [%rd0], {%r3, %r7}; st.global.u32 [%rd0+8], %r8;",
                    {.block = {64}}, 4);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[4 * t], t % 2 == 0 ? 100u : t % 4 == 1 ? 11u : 12u);
        if (!on_hardware()) {
            EXPECT_EQ(r.words[4 * t + 1], t % 2 == 0 ? 0x55555555u : 0xAAAAAAAAu) << t;
            EXPECT_EQ(r.words[4 * t + 2], 0xFFFFFFFFu);
        }
    }
}

// Lane l goes round l times; one lane more leaves in the middle of a round.
TEST(Reconvergence, LoopsOfDifferentLengths) {
    const threads_result r = run_threads("mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r6, %laneid;\n"
                                         "head: setp.ge.u32 %q0, %r4, %r6; @%q0 bra done; add.u32 %r4, %r4, 1; and.b32 "
                                         "%r5, %r4, 3; setp.eq.u32 %q1, %r5, 0; @%q1 bra head;\n"
                                         "add.u32 %r3, %r3, %r4; setp.gt.u32 %q2, %r3, 200; @%q2 bra done; bra head;\n"
                                         "done: activemask.b32 %r7; st.global.v2.u32 [%rd0], {%r3, %r7};",
                                         {.block = {96}}, 2);
    for (std::uint32_t t = 0; t < 96; ++t) {
        std::uint32_t sum = 0;
        for (std::uint32_t n = 1; n <= t % 32 && sum <= 200; ++n) {
            sum += n % 4 == 0 ? 0 : n;
        }
        EXPECT_EQ(r.words[2 * t], sum) << t;
        if (!on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], 0xFFFFFFFFu) << t;
        }
    }
}

// Odd lanes leave the loop, each in the round of its number, from within an if; the others and the rest of them meet in it.
TEST(Reconvergence, LanesThatLeaveALoopDoNotKeepTheOthersApart) {
    const threads_result r =
        run_threads("mov.u32 %r4, 0; mov.u32 %r7, 0; mov.u32 %r6, %laneid;\n"
                    "head: add.u32 %r4, %r4, 1; and.b32 %r5, %r6, 1; setp.eq.u32 %q0, %r5, 0; @%q0 bra rest;\n"
                    "  setp.eq.u32 %q1, %r4, %r6; @%q1 bra done; add.u32 %r4, %r4, 0;\n"
                    "rest: activemask.b32 %r7; setp.lt.u32 %q2, %r4, 8; @%q2 bra head;\n"
                    "done: activemask.b32 %r8; st.global.v2.u32 [%rd0], {%r7, %r8};",
                    {.block = {64}}, 2);
    for (std::uint32_t t = 0; t < 64 && !on_hardware(); ++t) {
        const std::uint32_t lane = t % 32;
        std::uint32_t gone = 0; // in the lane's last round
        for (std::uint32_t l = 1; l <= 8 && (lane % 2 == 0 || l < lane); l += 2) {
            gone |= 1u << l;
        }
        EXPECT_EQ(r.words[2 * t], lane == 1 ? 0 : ~gone) << t;
        EXPECT_EQ(r.words[2 * t + 1], 0xFFFFFFFFu) << t;
    }
}

// In the text a register is read above the only instruction that writes it: a constant, as compilers place it in loops.
TEST(Reconvergence, AConstantBelowItsReader) {
    const threads_result r = run_threads("mov.u32 %r3, 0; bra check;\nbody: add.u32 %r3, %r3, %r5;\n"
                                         "check: mov.u32 %r5, 7; setp.lt.u32 %q0, %r3, %i; @%q0 bra body;\n"
                                         "st.global.u32 [%rd0], %r3;",
                                         {.block = {96}});
    for (std::uint32_t t = 0; t < 96; ++t) {
        EXPECT_EQ(r.words[t], (t + 6) / 7 * 7) << t;
    }
}

TEST(Reconvergence, IndexedBranch) {
    const threads_result r = run_threads("rem.u32 %r3, %i, 5; mov.u32 %r4, 1000;\n"
                                         "targets: .branchtargets zero, one, two, two, four;\n"
                                         "brx.idx %r3, targets;\n"
                                         "zero: mov.u32 %r4, 7; bra join;\none: mov.u32 %r4, 8;\ntwo: add.u32 %r4, "
                                         "%r4, 1; bra join;\nfour: mov.u32 %r4, 9;\n"
                                         "join: activemask.b32 %r5; st.global.v2.u32 [%rd0], {%r4, %r5};",
                                         {.block = {64}}, 2);
    const std::uint32_t expected[] = {7, 9, 1001, 1001, 9};
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[2 * t], expected[t % 5]) << t;
        if (!on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], 0xFFFFFFFFu) << t;
        }
    }
}

TEST(Reconvergence, SomeLanesLeaveEarly) {
    const threads_result r = run_threads(
        "mov.u32 %r3, 5; st.global.u32 [%rd0], %r3; and.b32 %r4, %i, 7; setp.eq.u32 %q0, %r4, 3; @%q0 exit;\n"
        "setp.eq.u32 %q0, %r4, 4; @!%q0 bra stay; st.global.u32 [%rd0], 6; ret;\n"
        "stay: setp.gt.u32 %q0, %r4, 5; @%q0 ret; activemask.b32 %r5; st.global.u32 [%rd0], %r5;",
        {.block = {64}});
    for (std::uint32_t t = 0; t < 64; ++t) {
        const std::uint32_t l = t % 8;
        if (l == 3 || l == 4 || l > 5) {
            EXPECT_EQ(r.words[t], l == 4 ? 6u : 5u) << t;
        } else if (!on_hardware()) {
            EXPECT_EQ(r.words[t], 0x27272727u) << t;
        }
    }
}

TEST(Reconvergence, PredicatedLeaving) {
    const threads_result r = run_threads(
        "setp.ge.u32 %q0, %i, 40; @!%q0 bra work; ret;\n work: add.u32 %r3, %i, 1; st.global.u32 [%rd0], %r3;\n"
        "setp.lt.u32 %q1, %i, 64; @%q1 exit; st.global.u32 [%rd0], 0;",
        {.block = {128}});
    for (std::uint32_t t = 0; t < 128; ++t) {
        EXPECT_EQ(r.words[t], t < 40 ? t + 1 : 0) << t;
    }
}

// Any graph of blocks, reducible or not: each block mixes its number into the thread's value, and one bit of it chooses
// the next block, until the thread has no fuel left.
class random_graph {
public:
    explicit random_graph(std::uint32_t seed) : engine_(seed) {
        const std::uint32_t count = 2 + engine_() % 12;
        for (std::uint32_t n = 0; n < count; ++n) {
            blocks_.push_back({engine_() % count, engine_() % count, engine_() % 32, engine_() | 1u, engine_() % 5});
        }
    }

    [[nodiscard]] std::string text() const {
        std::ostringstream s;
        s << "mad.lo.u32 %r3, %i, 2654435761, 12345; and.b32 %r4, %r3, 31; add.u32 %r4, %r4, 5; bra b0;\n";
        for (std::size_t n = 0; n < blocks_.size(); ++n) {
            const block& b = blocks_[n];
            s << "b" << n << ": mad.lo.u32 %r3, %r3, " << b.factor << ", " << n
              << "; shr.u32 %r5, %r3, 7; xor.b32 %r3, %r3, %r5;\n"
              << "setp.eq.u32 %q0, %r4, 0; @%q0 bra end; sub.u32 %r4, %r4, 1; shr.u32 %r5, %r3, " << b.bit
              << "; and.b32 %r5, %r5, 1; setp.ne.u32 %q1, %r5, 0;\n";
            if (b.kind == 0) {
                s << "@%q1 add.u32 %r3, %r3, 17;\n"; // a guarded instruction in between
            } else if (b.kind == 1) {
                s << "@!%q1 bra g" << n << "; xor.b32 %r3, %r3, %r4; g" << n << ":\n";
            }
            s << "@%q1 bra b" << b.yes << "; bra b" << b.no << ";\n";
        }
        s << "end: activemask.b32 %r6; st.global.v2.u32 [%rd0], {%r3, %r6};";
        return s.str();
    }

    [[nodiscard]] std::uint32_t value(std::uint32_t thread) const {
        std::uint32_t x = thread * 2654435761u + 12345u;
        std::uint32_t fuel = (x & 31) + 5;
        for (std::uint32_t n = 0;;) {
            const block& b = blocks_[n];
            x = x * b.factor + n;
            x ^= x >> 7;
            if (fuel-- == 0) {
                return x;
            }
            const bool yes = (x >> b.bit & 1) != 0;
            if (b.kind == 0 && yes) {
                x += 17;
            } else if (b.kind == 1 && yes) {
                x ^= fuel;
            }
            n = yes ? b.yes : b.no;
        }
    }

private:
    struct block {
        std::uint32_t yes, no, bit, factor, kind;
    };
    random32 engine_;
    std::vector<block> blocks_;
};

TEST(Reconvergence, AnyGraph) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const random_graph g(seed);
        const threads_result r = run_threads(g.text(), {.block = {96}}, 2);
        for (std::uint32_t t = 0; t < 96; ++t) {
            ASSERT_EQ(r.words[2 * t], g.value(t)) << "seed " << seed << " thread " << t << "\n" << g.text();
            if (!on_hardware()) {
                ASSERT_EQ(r.words[2 * t + 1], 0xFFFFFFFFu) << "seed " << seed << " thread " << t << "\n" << g.text();
            }
        }
    }
}

// Random structured programs, as a compiler makes them from if, while, break, continue and return.
class random_program {
public:
    explicit random_program(std::uint32_t seed, bool returns) : engine_(seed), returns_(returns) {
        text_ << "mad.lo.u32 %r3, %i, 2654435761, 777;\n";
        for (unsigned n = 0; n < 3; ++n) {
            list(2, -1);
            if (!returns_) { // everybody is here again
                const unsigned k = n + 1;
                text_ << "activemask.b32 %r4; st.global.u32 [%rd0+" << 4 * k << "], %r4;\n";
            }
        }
        text_ << "st.global.u32 [%rd0], %r3; exit;\nleave: st.global.u32 [%rd0], %r3;";
    }

    [[nodiscard]] std::string text() const { return text_.str(); }

    [[nodiscard]] std::uint32_t value(std::uint32_t thread) const {
        std::uint32_t x = thread * 2654435761u + 777u;
        std::uint32_t counters[16] = {};
        std::size_t at = 0;
        while (at < code_.size()) {
            const op& o = code_[at++];
            switch (o.what) {
            case 'm':
                x = x * o.a + o.b;
                x ^= x >> 9;
                break;
            case 'i': at = (x >> o.a & 1) != 0 ? at : o.to; break; // if: the body runs where the bit is set
            case 'j': at = o.to; break;
            case 'z': counters[o.a] = 0; break;
            case 'w': at = counters[o.a] < (x >> o.b & 7) ? at : o.to; break;
            case '+': ++counters[o.a]; break;
            default: return x;
            }
        }
        return x;
    }

private:
    struct op {
        char what;
        std::uint32_t a = 0, b = 0;
        std::size_t to = 0;
    };
    struct loop {
        int label;
        std::vector<std::size_t> breaks;
        std::size_t head;
    };

    void list(int depth, int in_loop) {
        const unsigned count = 1 + engine_() % 3;
        for (unsigned n = 0; n < count; ++n) {
            statement(depth, in_loop);
        }
    }

    void statement(int depth, int in_loop) {
        const unsigned choice = engine_() % 10;
        if (depth == 0 || choice < 3) {
            mix();
        } else if (choice < 6) {
            choose(depth, in_loop);
        } else if (choice < 9) {
            repeat(depth);
        } else if (in_loop >= 0) {
            jump_out(in_loop);
        } else if (returns_) {
            leave();
        } else {
            mix();
        }
    }

    void mix() {
        const std::uint32_t a = engine_() | 1u;
        const std::uint32_t b = engine_();
        text_ << "mad.lo.u32 %r3, %r3, " << a << ", " << b << "; shr.u32 %r5, %r3, 9; xor.b32 %r3, %r3, %r5;\n";
        code_.push_back({'m', a, b});
    }

    // Leaves a jump to be filled in; a bit of the value guards it.
    std::size_t unless_bit(const std::string& label) {
        const std::uint32_t bit = engine_() % 32;
        text_ << "shr.u32 %r5, %r3, " << bit << "; and.b32 %r5, %r5, 1; setp.eq.u32 %q0, %r5, 0; @%q0 bra " << label
              << ";\n";
        code_.push_back({'i', bit});
        return code_.size() - 1;
    }

    void choose(int depth, int in_loop) {
        const int n = labels_++;
        const bool with_else = engine_() % 2 == 0;
        const std::string no = "no" + std::to_string(n);
        const std::string end = "end" + std::to_string(n);
        const std::size_t branch = unless_bit(no);
        list(depth - 1, in_loop);
        if (with_else) {
            text_ << "bra " << end << ";\n";
            code_.push_back({'j'});
            const std::size_t jump = code_.size() - 1;
            code_[branch].to = code_.size();
            text_ << no << ":\n";
            list(depth - 1, in_loop);
            code_[jump].to = code_.size();
            text_ << end << ":\n";
        } else {
            code_[branch].to = code_.size();
            text_ << no << ":\n";
        }
    }

    void repeat(int depth) {
        const int n = labels_++;
        const auto counter = static_cast<std::uint32_t>(loops_.size() % 16);
        const std::uint32_t shift = engine_() % 28;
        loops_.push_back({n, {}, 0});
        const auto mine = static_cast<int>(loops_.size() - 1);
        text_ << "mov.u32 %r" << 12 + counter << ", 0;\nhead" << n << ": shr.u32 %r5, %r3, " << shift
              << "; and.b32 %r5, %r5, 7; setp.ge.u32 %q1, %r" << 12 + counter << ", %r5; @%q1 bra out" << n << ";\n"
              << "add.u32 %r" << 12 + counter << ", %r" << 12 + counter << ", 1;\n";
        code_.push_back({'z', counter});
        loops_[static_cast<std::size_t>(mine)].head = code_.size();
        code_.push_back({'w', counter, shift});
        const std::size_t test = code_.size() - 1;
        code_.push_back({'+', counter});
        list(depth - 1, mine);
        loop& me = loops_[static_cast<std::size_t>(mine)];
        text_ << "bra head" << n << ";\nout" << n << ":\n";
        code_.push_back({'j', 0, 0, me.head});
        code_[test].to = code_.size();
        for (const std::size_t b : me.breaks) {
            code_[b].to = code_.size();
        }
    }

    void jump_out(int in_loop) {
        loop& l = loops_[static_cast<std::size_t>(in_loop)];
        const int n = labels_++;
        const bool leaves = engine_() % 2 == 0;
        const std::size_t branch = unless_bit("stay" + std::to_string(n));
        text_ << "bra " << (leaves ? "out" : "head") << l.label << ";\nstay" << n << ":\n";
        code_.push_back({'j', 0, 0, l.head});
        if (leaves) {
            l.breaks.push_back(code_.size() - 1);
        }
        code_[branch].to = code_.size();
    }

    void leave() {
        const int n = labels_++;
        const std::size_t branch = unless_bit("stay" + std::to_string(n));
        text_ << "bra leave;\nstay" << n << ":\n";
        code_.push_back({'r'});
        code_[branch].to = code_.size();
    }

    random32 engine_;
    bool returns_;
    std::ostringstream text_;
    std::vector<op> code_;
    std::vector<loop> loops_;
    int labels_ = 0;
};

TEST(Reconvergence, AnyStructuredProgram) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const bool returns = seed % 3 == 0;
        const random_program g(seed, returns);
        const threads_result r = run_threads(g.text(), {.block = {96}}, 4);
        for (std::uint32_t t = 0; t < 96; ++t) {
            ASSERT_EQ(r.words[4 * t], g.value(t)) << "seed " << seed << " thread " << t << "\n" << g.text();
            if (!returns && !on_hardware()) {
                for (unsigned k = 1; k < 4; ++k) {
                    ASSERT_EQ(r.words[4 * t + k], 0xFFFFFFFFu)
                        << "seed " << seed << " thread " << t << " place " << k << "\n"
                        << g.text();
                }
            }
        }
    }
}

} // namespace
} // namespace softgpu::test
