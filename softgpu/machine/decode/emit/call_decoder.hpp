// SPDX-License-Identifier: MIT
// Decodes calls: places of parameters, results and arguments in the frame, accesses to them, and the calls themselves.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "softgpu/machine/decode/operands/operands.hpp"

namespace softgpu::machine {

// The operand of a call that names the function, or holds its address; nullptr where there is none.
[[nodiscard]] const ptx::operand* callee_operand(const ptx::instruction& call);

class call_decoder {
public:
    // Reserves room in the frame.
    call_decoder(const ptx::function& f, const program::register_places& places, const decode_context& context,
                 operand_layout& operands, program_code& code);

    // ld and st of an argument, a parameter of a function, or a result; false: other operands.
    bool access(const ptx::instruction& i, std::uint32_t n);
    void call(const ptx::instruction& i, std::uint32_t n);

private:
    [[nodiscard]] const parameter_area* area_of(const ptx::operand& o) const;
    [[nodiscard]] parameter_area passed(const ptx::operand& o, bool written);
    [[nodiscard]] std::vector<parameter_area> passed(const ptx::operand* group, bool written);
    void place_variables();
    [[nodiscard]] parameter_area room_for(const ptx::variable& v);
    [[nodiscard]] parameter_area own(const ptx::variable& v);
    static void check_unsized(const ptx::instruction& i, const call_site& site);

    const ptx::function& f_;
    const program::register_places& places_;
    const decode_context& context_;
    operand_layout& operands_;
    program_code& code_;
    std::map<std::uint32_t, parameter_area> variables_; // by index into function::variables
};

} // namespace softgpu::machine
