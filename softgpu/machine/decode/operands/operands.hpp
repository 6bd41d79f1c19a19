// SPDX-License-Identifier: MIT
// Places of operands: registers in the frame, everything else among the constants. One layout for each body.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "softgpu/machine/decode/decode_context.hpp"
#include "softgpu/machine/decode/operands/constant_layout.hpp"
#include "softgpu/machine/decode/operands/instruction_checks.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::machine {

class operand_layout {
public:
    operand_layout(const ptx::function& f, const program::register_places& places, const decode_context& context,
                   program_code& code)
        : f_(f),
          places_(places),
          context_(context),
          code_(code),
          constants_(code),
          frame_(places.frame_bytes),
          aliases_(f.registers.size(), nowhere) {}

    // Fills places, widths, and what the handler's file keeps in `more` and `immediate`.
    void operands_of(const ptx::instruction& i, const form& fm, instruction& d);

    [[nodiscard]] place destination(const ptx::operand& o);
    // An operand that is read as `bytes` a lane, a predicate where 0.
    [[nodiscard]] place source(const ptx::operand& o, unsigned bytes);
    // Room in the frame, aligned to a cache line.
    [[nodiscard]] place reserve(std::uint32_t bytes);
    // 8-byte lanes with the address of a byte of the thread's local memory that belongs to the function.
    [[nodiscard]] place local_address_of(std::uint64_t offset);
    // Room in the frame for results that are not used.
    [[nodiscard]] place scratch();
    // Bytes of a lane of the register that ld fills or st empties; an immediate is as wide as its type.
    [[nodiscard]] unsigned value_bytes(const ptx::instruction& i, const form& fm) const;

    // Reads of the register read this place instead.
    void stands_for(std::uint32_t reg, place p) { aliases_[reg] = p; }
    // Where a register is read.
    [[nodiscard]] place place_of(std::uint32_t reg) const {
        return aliases_[reg] != nowhere ? aliases_[reg] : places_.offset[reg];
    }

    [[nodiscard]] constant_layout& constants() noexcept { return constants_; }
    [[nodiscard]] std::uint32_t frame_bytes() const noexcept { return frame_; }

private:
    place address_of(const ptx::operand& o, unsigned bytes, std::int64_t offset);
    static std::uint64_t narrow(std::uint64_t bits, unsigned bytes);
    place special_place(const ptx::operand& o, unsigned bytes);
    const place* list_of(const ptx::operand& o, unsigned bytes, bool written);
    void address(const ptx::operand& o, const form& fm, instruction& d);
    std::uint32_t address_number(const ptx::operand& o);
    static void element_facts(const form& fm, instruction& d);
    static void uniform_widths(const ptx::operand& from, unsigned bytes, instruction& d);
    void destinations(const ptx::instruction& i, instruction& d);
    void sources(const ptx::instruction& i, const form& fm, instruction& d, unsigned first, unsigned count);
    void barrier_operands(const ptx::instruction& i, instruction& d);
    // As source() and destination(), of a register that is exactly as wide.
    place exact(const ptx::operand& o, unsigned bytes);
    place exact_destination(const ptx::operand& o, unsigned bytes);
    void copy_operands(const ptx::instruction& i, const form& fm, instruction& d); // async_operands.cpp
    void bulk_operands(const ptx::instruction& i, const form& fm, instruction& d); // async_operands.cpp
    void tensor_operands(const ptx::instruction& i, const form& fm, instruction& d);
    void tensor_map_operands(const ptx::instruction& i, const form& fm, instruction& d);
    void async_store_operands(const ptx::instruction& i, const form& fm, instruction& d);
    void bulk_zero_operands(const ptx::instruction& i, const form& fm, instruction& d);
    place* bulk_list(const ptx::operand& to, ptx::suffix space, instruction& d);
    void bulk_address(const ptx::operand& o, ptx::suffix space, unsigned which, std::uint32_t wide, instruction& d);
    void mbarrier_operands(const ptx::instruction& i, const form& fm, instruction& d);  // async_operands.cpp
    void matrix_operands(const ptx::instruction& i, const form& fm, instruction& d);    // matrix_operands.cpp
    void warpgroup_operands(const ptx::instruction& i, const form& fm, instruction& d); // warpgroup_operands.cpp
    void texture_operands(const ptx::instruction& i, const form& fm, instruction& d);   // texture_operands.cpp
    void video_operands(const ptx::instruction& i, const form& fm, instruction& d);     // video_operands.cpp
    void atomic_vector(const ptx::instruction& i, const form& fm, instruction& d);
    void details(const ptx::instruction& i, const form& fm, instruction& d);

    const ptx::function& f_;
    const program::register_places& places_;
    const decode_context& context_;
    program_code& code_;
    constant_layout constants_;
    std::uint32_t frame_ = 0;
    place scratch_ = nowhere;
    std::vector<place> aliases_;                                       // by register; nowhere: it has its own place
    std::unordered_map<std::uint32_t, std::uint32_t> address_numbers_; // by register
};

} // namespace softgpu::machine
