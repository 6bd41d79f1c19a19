// SPDX-License-Identifier: MIT
// Emits the pseudo-instructions of one body that check accesses, barriers, fences and warp-wide instructions.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "softgpu/check/findings/checks.hpp"
#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/decode/analysis/discarded_values.hpp"
#include "softgpu/machine/decode/analysis/product_registers.hpp"
#include "softgpu/machine/decode/analysis/value_flows.hpp"

namespace softgpu::machine {

class check_emitter {
public:
    check_emitter(const ptx::function& f, const program::control_flow& flow, program_code& code, site_table& table,
                  check::check_set checks);

    // Before an access or a warp-wide instruction, whose operands are decoded already; run is nullptr where
    // nothing is checked.
    [[nodiscard]] instruction before(const ptx::instruction& i, std::uint32_t source, const form& fm,
                                     const instruction& decoded);
    // Emits it for the lanes that use what the access loads.
    void emit_before(const instruction& look, const program::register_places& places);
    // The same as before() behind it.
    [[nodiscard]] instruction after(const instruction& before) const;
    // Before an instruction that may meet values from uninitialized memory; run is nullptr for the others.
    [[nodiscard]] instruction flow(std::uint32_t source, const program::register_places& places);
    // Emits checks of registers that wgmma uses, before the instruction.
    void emit_products(std::uint32_t source);

private:
    const access_site* keep(const access_site& site);
    instruction before_bulk(const ptx::instruction& i, const form& fm, instruction look);
    [[nodiscard]] bool is_used(const ptx::operand& o) const;
    [[nodiscard]] bool checks_for(check::check_set any) const { return (checks_ & any) != 0; }

    const ptx::function& f_;
    program_code& code_;
    site_table& table_;
    check::check_set checks_;
    const handler_set& handlers_;
    std::vector<bool> read_;
    std::unordered_map<std::uint32_t, std::uint32_t> used_bytes_; // of loads that say so, by index of the instruction
    discarded_values discarded_;
    value_flows flows_;
    product_registers products_;
};

} // namespace softgpu::machine
