// SPDX-License-Identifier: MIT
// Which loops count as waiting for others, on bodies put together by hand.
#include <string>

#include <gtest/gtest.h>

#include "softgpu/machine/decode/analysis/waiting_loops.hpp"
#include "tests/program/body.hpp"

namespace softgpu::machine {
namespace {

using program_test::address_operand;
using program_test::body;
using program_test::register_operand;
using ptx::opcode;
using ptx::suffix;

struct flags : body {
    std::uint32_t flag = reg(suffix::u32), at = reg(suffix::u64), base = reg(suffix::u64), p = reg(suffix::pred);

    void load() {
        add(opcode::ld, {register_operand(flag), address_operand(at)}, always, {suffix::global, suffix::u32});
    }
    void store() {
        add(opcode::st, {address_operand(base), register_operand(flag)}, always, {suffix::global, suffix::u32});
    }
    void sum(std::uint32_t to, std::uint32_t a, std::uint32_t b, std::uint32_t guard = always) {
        add(opcode::add, {register_operand(to), register_operand(a), register_operand(b)}, guard, {suffix::u64});
    }
    void test() {
        add(opcode::setp, {register_operand(p), register_operand(flag), register_operand(flag)}, always,
            {suffix::eq, suffix::u32});
    }
    // The loop that the branch before label `behind` closes by going to `to`.
    [[nodiscard]] loop closed(const std::string& to, const std::string& behind) const {
        const program::control_flow flow = program::make_control_flow(function());
        return loop_of(function(), flow, program::block_of_label(flow, behind) - 1, program::block_of_label(flow, to));
    }
};

// As nvcc has "while (!ready) load", in a loop over tiles: in at the test, which is behind the load.
template <class Load>
flags entered_at_the_test(Load load) {
    flags f;
    f.label("tile");
    f.store();
    f.bra("test");
    f.label("again");
    load(f);
    f.label("test");
    f.test();
    f.bra("done", f.p);
    f.bra("again");
    f.label("done");
    f.store();
    f.bra("tile", f.p);
    f.label("end");
    f.ret();
    return f;
}

TEST(WaitingLoops, ALoadUntilItChanges) {
    flags f;
    f.store();
    f.label("again");
    f.load();
    f.test();
    f.bra("again", f.p);
    f.label("end");
    f.ret();
    const loop found = f.closed("again", "end");
    EXPECT_EQ(found.kind, loop_kind::polling);
    EXPECT_EQ(found.reads, (std::vector<std::uint32_t>{1}));
}

TEST(WaitingLoops, EnteredAtItsTest) {
    const flags f = entered_at_the_test([](flags& g) { g.load(); });
    const loop found = f.closed("again", "done");
    EXPECT_EQ(found.kind, loop_kind::polling);
    EXPECT_EQ(found.reads, (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(f.closed("tile", "end").kind, loop_kind::other); // it stores
    const flags stores = entered_at_the_test([](flags& g) {
        g.load();
        g.store();
    });
    EXPECT_EQ(stores.closed("again", "done").kind, loop_kind::other);
}

TEST(WaitingLoops, AnAddressThatIsComputedAgainIsTheSame) {
    const auto kind = [](const auto& address) {
        return entered_at_the_test([&](flags& g) {
                   address(g);
                   g.load();
               })
            .closed("again", "done")
            .kind;
    };
    EXPECT_EQ(kind([](flags& g) { g.sum(g.at, g.base, g.base); }), loop_kind::polling);
    EXPECT_EQ(kind([](flags& g) {
                  const std::uint32_t half = g.reg(suffix::u64);
                  g.sum(half, g.base, g.base);
                  g.sum(g.at, half, g.base);
              }),
              loop_kind::polling);
}

TEST(WaitingLoops, AnAddressThatMovesOnIsNot) {
    const auto kind = [](const auto& address) {
        return entered_at_the_test([&](flags& g) {
                   address(g);
                   g.load();
               })
            .closed("again", "done")
            .kind;
    };
    EXPECT_EQ(kind([](flags& g) { g.sum(g.at, g.at, g.base); }), loop_kind::other);   // the next element
    EXPECT_EQ(kind([](flags& g) { g.sum(g.at, g.base, g.flag); }), loop_kind::other); // of what was loaded
    EXPECT_EQ(kind([](flags& g) { g.sum(g.at, g.base, g.base, g.p); }), loop_kind::other);
    EXPECT_EQ(kind([](flags& g) { // two writers
                  g.sum(g.at, g.base, g.base);
                  g.sum(g.at, g.base, g.base);
              }),
              loop_kind::other);
}

TEST(WaitingLoops, NothingAtAll) {
    flags f;
    f.store();
    f.label("again");
    f.bra("again");
    f.label("end");
    f.ret();
    EXPECT_EQ(f.closed("again", "end").kind, loop_kind::idle);
}

TEST(WaitingLoops, ALoopOfManyBlocksIsAnother) {
    flags f;
    f.store();
    f.label("again");
    for (int k = 0; k < 40; ++k) {
        f.bra("end", f.p);
    }
    f.load();
    f.test();
    f.bra("again", f.p);
    f.label("end");
    f.ret();
    EXPECT_EQ(f.closed("again", "end").kind, loop_kind::other);
}

} // namespace
} // namespace softgpu::machine
