// SPDX-License-Identifier: MIT
// Emits the pseudo-instructions of one body that trace what it costs: pieces between barriers and accesses to memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "softgpu/machine/code/form.hpp"
#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/decode/ptxas/left_out.hpp"
#include "softgpu/machine/decode/ptxas/merged.hpp"
#include "softgpu/machine/decode/ptxas/predicated.hpp"
#include "softgpu/machine/decode/ptxas/schedule.hpp"
#include "softgpu/machine/decode/ptxas/shared_pointers.hpp"
#include "softgpu/machine/decode/ptxas/unrolling.hpp"
#include "softgpu/machine/decode/ptxas/wide_loads.hpp"
#include "softgpu/machine/decode/trace_points.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::machine {

class trace_emitter {
public:
    trace_emitter(const ptx::function& f, const program::control_flow& flow, program_code& code,
                  const trace_points& points)
        : changed_(without_left_out(f, flow)),
          f_(changed_ ? *changed_ : f),
          flow_(flow),
          code_(code),
          points_(points),
          carried_(carried_registers_of(f_)),
          merged_(merged_operations(f_, flow)),
          pressure_(f_, flow),
          predicates_(given_predicates(f_, flow)),
          shared_pointers_(shared_pointers(f_)),
          wide_(wide_loads(f_, flow)) {
        around_.merged = &merged_;
        around_.pressure = &pressure_;
        around_.predicates = &predicates_;
        around_.shared_pointers = &shared_pointers_;
        around_.wide = &wide_;
        code_.carried_registers = static_cast<std::uint32_t>(carried_.size());
        for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
            waits_.push_back(only_waits(b));
        }
        for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
            for (std::uint32_t n = flow.blocks[b].first; waits_[b] && n < flow.blocks[b].last; ++n) {
                const ptx::instruction& i = f_.instructions[n];
                waits_for_shared_ = waits_for_shared_ || (may_share(i) && place_of(i) != access_past_shared);
                waits_for_global_ = waits_for_global_ || (may_share(i) && place_of(i) != access_of_shared);
            }
        }
    }

    // At the beginning of a block, in front of its instructions.
    void begin_block(std::uint32_t b);
    // In front of an instruction and behind it.
    void before(std::uint32_t n);
    void after(std::uint32_t n);
    // In front of an instruction whose operands are decoded, where it accesses global memory.
    void before_access(const ptx::instruction& i, const form& fm, const instruction& decoded);

private:
    // The block is in a loop that waits for others. How often such a loop runs says nothing about hardware.
    [[nodiscard]] bool only_waits(std::uint32_t b) const;
    [[nodiscard]] bool loads_through_l1(const program::basic_block& b) const;
    [[nodiscard]] bool takes_work(const ptx::instruction& atomic) const;
    // An atomic addition of 1 to a word of shared memory whose result nothing reads: ptxas makes one addition for all lanes
    // that have the same word (ATOMS.POPC.INC).
    [[nodiscard]] bool counts_in_shared(const ptx::instruction& i) const;
    // An atomic of integers at one address: ptxas adds up the lanes of the warp, and one of them has the atomic.
    [[nodiscard]] bool is_added_up(const ptx::instruction& atomic) const;
    [[nodiscard]] bool is_result_read(const ptx::instruction& atomic) const;
    // Emits one of points_ that takes the instruction's address.
    instruction& emit_before(handler run, const instruction& decoded, std::uint64_t bytes, unsigned what);
    [[nodiscard]] bool is_barrier_of_all(std::uint32_t n) const;
    // It accesses memory that another warp may write; and which kind, as its address says.
    [[nodiscard]] static bool may_share(const ptx::instruction& i);
    [[nodiscard]] static std::uint32_t place_of(const ptx::instruction& i);
    // A store or an atomic by which the warp may let another one go on.
    [[nodiscard]] bool releases(const ptx::instruction& i) const;
    // Straight code from `first` to the next barrier, which is the first instruction of the next piece.
    void begin_piece(std::uint32_t first, std::uint32_t end);
    // The body of an if within the present piece.
    void begin_body(const program::basic_block& block);
    void emit_piece(std::uint32_t at, bool behind_barrier, const std::vector<double>& cycles,
                    const std::vector<carried_time>& needs, const std::vector<carried_time>& leaves);

    const std::optional<ptx::function> changed_;
    const ptx::function& f_; // without accesses that ptxas leaves out
    const program::control_flow& flow_;
    program_code& code_;
    const trace_points& points_;
    carried_registers carried_;
    const std::vector<bool> merged_;
    const program::register_pressure pressure_;
    const std::vector<std::uint32_t> predicates_;
    const std::vector<bool> shared_pointers_;
    const std::vector<wide_load> wide_;
    mutable std::optional<std::vector<bool>> varies_; // varying_registers()
    std::vector<bool> waits_;                         // of each block: only_waits()
    bool in_waiting_loop_ = false;                    // the present block
    bool waits_for_shared_ = false;                   // a loop waits for words that may be of shared memory
    bool waits_for_global_ = false;                   // the same of global memory
    bool notes_word_ = false; // before_access() has put before_poll or before_release in front of the instruction
    unsigned rounds_ = 1;     // as often it is unrolled
    surroundings around_;
    std::uint32_t straight_end_ = 0; // behind the last block of the present piece
    std::uint32_t piece_first_ = 0;  // the present piece's first instruction
    schedule times_;                 // of the present piece
    std::uint32_t bodies_ = 0;       // of ifs in it
};

} // namespace softgpu::machine
