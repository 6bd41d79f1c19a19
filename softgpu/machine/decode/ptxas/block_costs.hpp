// SPDX-License-Identifier: MIT
// What PTX instructions cost on hardware: machine instructions by class.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "softgpu/machine/decode/ptxas/wide_load.hpp"
#include "softgpu/observe/instruction_mix.hpp"
#include "softgpu/program/register_pressure.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

using register_set = std::unordered_set<std::uint32_t>;

// What the costs of a block's instructions depend on outside of it.
struct surroundings {
    register_set reciprocals;                               // of these divisors the code before has the reciprocal
    const std::vector<bool>* merged = nullptr;              // merged_operations()
    const program::register_pressure* pressure = nullptr;   // nullptr: registers for all that is computed early
    const std::vector<std::uint32_t>* predicates = nullptr; // given_predicates()
    const std::vector<wide_load>* wide = nullptr;           // wide_loads()
    const std::vector<bool>* shared_pointers = nullptr;     // shared_pointers()
};

struct machine_cost {
    observe::instruction_class what = observe::instruction_class::integer;
    unsigned slots = 1; // machine instructions; 0: ptxas makes none of it
    // Of a product of matrices: 32 multiply-adds of 16-bit floats, or as many of another type as take as long.
    unsigned products = 0;
    // A load that goes past L1 to see what others write, or a fence without a store before it: it takes as long as an atomic
    // with a result.
    bool sees_others = false;
    // Of slots, special functions among those of `what`. Of several instructions, how many latencies of `what` the others take
    // until the result is there; 0: those of one instruction for each slot.
    unsigned special = 0;
    unsigned steps = 0;
    unsigned turns = 0; // of shared memory, that a load's width takes, behind the first
};

// Of one PTX instruction. The counts are those that ptxas makes of it for sm_70 and later; see docs/model-rules.md.
[[nodiscard]] machine_cost cost_of(const ptx::instruction& i);

// Nothing moves past such an instruction, and what is behind it waits for it.
[[nodiscard]] constexpr bool is_fixed(observe::instruction_class what) {
    using observe::instruction_class;
    return what == instruction_class::control || what == instruction_class::barrier || what == instruction_class::fence;
}
// ptxas makes a call of it, at least for numbers that take another way than most: nothing moves past that either.
[[nodiscard]] bool may_call(const ptx::instruction& i);
inline constexpr std::uint32_t no_register = ~0u;
// The register by which an integer division or remainder of up to 32 bits divides.
[[nodiscard]] std::uint32_t divisor_of(const ptx::instruction& i);
// An atomic on shared memory that the hardware has not: ptxas makes a loop of it that loads, computes and exchanges.
[[nodiscard]] bool is_exchange_loop(const ptx::instruction& i);
// An atomic or a store that releases: ptxas puts a fence in front of it.
[[nodiscard]] bool begins_with_fence(const ptx::instruction& i);
// A load, an atomic or a fence that acquires, of the device or the system: ptxas empties L1 behind it (CCTL.IVALL).
[[nodiscard]] bool acquires(const ptx::instruction& i);

// The last instruction that wrote each register, as far as the code has been gone through.
class earlier_writers {
public:
    explicit earlier_writers(const ptx::function& f, const surroundings& around = {})
        : f_(f),
          merged_(around.merged),
          wide_(around.wide),
          shared_pointers_(around.shared_pointers),
          reciprocals_(around.reciprocals) {}

    void wrote(std::uint32_t n);
    // Of instruction n behind those: cost_of(), and nothing for the addition of 64 bits to the product of a mul.wide, which is
    // part of it (IMAD.WIDE), nor for what is part of a later instruction. Generic accesses may
    // be known to be of shared memory. A division by what one before it divides by takes its reciprocal.
    [[nodiscard]] machine_cost cost(std::uint32_t n) const;

private:
    [[nodiscard]] bool completes_product(const ptx::instruction& i) const;
    [[nodiscard]] bool points_to_shared(const ptx::instruction& i) const;

    const ptx::function& f_;
    const std::vector<bool>* merged_;
    const std::vector<wide_load>* wide_;
    const std::vector<bool>* shared_pointers_;
    std::unordered_map<std::uint32_t, std::uint32_t> last_;
    register_set reciprocals_; // registers that were divided by and have not changed since
};

// Machine instructions of f.instructions[first, last).
[[nodiscard]] observe::instruction_mix mix_of(const ptx::function& f, std::uint32_t first, std::uint32_t last,
                                              const surroundings& around = {});

} // namespace softgpu::machine
