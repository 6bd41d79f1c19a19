// SPDX-License-Identifier: MIT
// Register places of random bodies: checked against the naive liveness, and by running the body with every register in
// a place of its own and with shared places.
#include <algorithm>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "softgpu/program/program.hpp"
#include "tests/program/body.hpp"
#include "tests/program/oracle.hpp"

using namespace softgpu::program;
using namespace program_test;

namespace {

using softgpu::program::access; // not the one of unistd.h

class random_body {
public:
    explicit random_body(unsigned seed) : random_(seed) {
        static const std::vector<suffix> types{suffix::pred, suffix::b16, suffix::b32, suffix::b32,
                                               suffix::f32,  suffix::b64, suffix::b64, suffix::b128};
        const std::uint32_t count = 8 + below(40);
        for (std::uint32_t k = 0; k < count; ++k) {
            const suffix type = k < 2 ? suffix::pred : types[below(types.size())];
            (type == suffix::pred ? predicates_ : others_).push_back(b_.reg(type));
        }
        others_.push_back(b_.reg(suffix::b32));
        const std::uint32_t blocks = 1 + below(10);
        std::vector<std::string> labels;
        for (std::uint32_t k = 0; k < blocks; ++k) {
            labels.push_back("L" + std::to_string(k));
        }
        b_.branch_targets("list", {labels[below(blocks)], labels[below(blocks)], labels[below(blocks)]});
        for (std::uint32_t k = 0; k < blocks; ++k) {
            b_.label(labels[k]);
            for (std::uint32_t n = below(12); n-- > 0;) {
                add_instruction();
            }
            switch (below(8)) {
            case 0: b_.bra(labels[below(blocks)]); break;
            case 1: b_.brx(other(), "list"); break;
            case 2: b_.ret(predicate()); break;
            case 3: b_.ret(); break;
            default: b_.bra(labels[below(blocks)], predicate()); break;
            }
        }
        b_.ret();
    }

    [[nodiscard]] const softgpu::ptx::function& function() const { return b_.function(); }

private:
    std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
    std::uint32_t predicate() { return predicates_[below(predicates_.size())]; }
    std::uint32_t other() { return others_[below(others_.size())]; }
    std::uint32_t guard() { return below(6) == 0 ? predicate() : body::always; }

    void add_instruction() {
        const auto r = register_operand;
        switch (below(9)) {
        case 0: b_.add(opcode::mov, {r(other()), operand{}}, guard()); break;
        case 1: b_.add(opcode::setp, {r(predicate()), r(other()), r(other())}, guard()); break;
        case 2:
            b_.add(opcode::setp, {list_operand(operand_kind::pair, {predicate(), predicate()}), r(other())}, guard());
            break;
        case 3: b_.add(opcode::st, {address_operand(other()), r(other())}, guard()); break;
        case 4: b_.add(opcode::shfl, {r(other()), r(other()), r(other())}, guard()); break;
        case 5:
            b_.add(opcode::ld, {list_operand(operand_kind::vector, {other(), other()}), address_operand(other())},
                   guard());
            break;
        case 6: b_.add(opcode::selp, {r(other()), r(other()), r(other()), r(predicate())}, guard()); break;
        default: b_.add(opcode::add, {r(other()), r(other()), r(other())}, guard()); break;
        }
    }

    std::mt19937 random_;
    body b_;
    std::vector<std::uint32_t> predicates_;
    std::vector<std::uint32_t> others_;
};

// Everything that one thread reads, in a run that takes `seed` for its luck. A register's value is a number; where it
// lies is offset[register]. Writes of more than one register go through in order, after all reads.
std::vector<std::uint64_t> reads_of_run(const softgpu::ptx::function& f, const control_flow& flow,
                                        const std::vector<std::uint32_t>& offset, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> cells(*std::max_element(offset.begin(), offset.end()) + 1, 0);
    std::vector<std::uint64_t> reads;
    std::uint32_t at = 0;
    for (unsigned steps = 0; steps < 400 && at < f.instructions.size(); ++steps) {
        const softgpu::ptx::instruction& i = f.instructions[at];
        const access a = registers_of(i);
        std::uint64_t mixed = steps;
        for (const std::uint32_t r : a.read) {
            reads.push_back(cells[offset[r]]);
            mixed = (mixed ^ reads.back()) * 0x9E3779B97F4A7C15u;
        }
        const bool enabled = !i.predicate || (random() & 1) != 0;
        ++at;
        if (!enabled) {
            continue;
        }
        for (const std::uint32_t r : a.written) {
            cells[offset[r]] = mixed + r;
        }
        if (i.op == opcode::ret) {
            break;
        }
        if (i.op == opcode::bra) {
            at = flow.blocks[block_of_label(flow, i.operands[0].name)].first;
        } else if (i.op == opcode::brx) {
            const auto& targets = flow.blocks[flow.block_of_instruction[at - 1]].successors;
            at = flow.blocks[targets[random() % targets.size()]].first;
        }
    }
    return reads;
}

TEST(random_programs, places_satisfy_naive_liveness) {
    for (unsigned seed = 0; seed < 600; ++seed) {
        const random_body program(seed);
        const softgpu::ptx::function& f = program.function();
        const register_places places = place_registers(f, make_control_flow(f));
        ASSERT_EQ(complaint_about(f, places), "") << "seed " << seed;
        ASSERT_EQ(places.live_words, most_live_words(f)) << "seed " << seed;
    }
}

TEST(random_programs, run_alike_in_shared_places) {
    std::size_t reads = 0;
    std::size_t shared = 0;
    for (unsigned seed = 0; seed < 600; ++seed) {
        const random_body program(seed);
        const softgpu::ptx::function& f = program.function();
        const control_flow flow = make_control_flow(f);
        const register_places places = place_registers(f, flow);
        std::vector<std::uint32_t> own(f.registers.size());
        for (std::uint32_t r = 0; r < own.size(); ++r) {
            own[r] = r;
        }
        for (unsigned run = 0; run < 4; ++run) {
            const std::vector<std::uint64_t> wanted = reads_of_run(f, flow, own, run);
            ASSERT_EQ(reads_of_run(f, flow, places.offset, run), wanted) << "seed " << seed << ", run " << run;
            reads += wanted.size();
        }
        std::vector<std::uint32_t> distinct = places.offset;
        std::sort(distinct.begin(), distinct.end());
        shared += static_cast<std::size_t>(distinct.end() - std::unique(distinct.begin(), distinct.end()));
    }
    EXPECT_GT(reads, 10'000u);
    EXPECT_GT(shared, 600u); // places were shared at all
}

// Where each register is written once, in straight code, first fit is as good as it gets.
TEST(random_programs, frame_of_straight_code_is_what_is_alive_at_most) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        body b;
        std::vector<std::uint32_t> registers;
        for (unsigned k = 0; k < 300; ++k) {
            const std::uint32_t target = b.reg(suffix::b32);
            const auto source = [&] {
                if (registers.empty()) {
                    return operand{};
                }
                const std::size_t back = random() % std::min<std::size_t>(registers.size(), 40);
                return register_operand(registers[registers.size() - 1 - back]);
            };
            b.add(opcode::add, {register_operand(target), source(), source()});
            registers.push_back(target);
        }
        b.ret();
        const register_places places = place_registers(b.function(), make_control_flow(b.function()));
        ASSERT_EQ(complaint_about(b.function(), places), "") << "seed " << seed;
        ASSERT_EQ(places.frame_bytes, 128 * places.live_words) << "seed " << seed;
    }
}

} // namespace
