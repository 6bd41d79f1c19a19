// SPDX-License-Identifier: MIT
// The choosers, one per family of the opcode table: from a form to its handler. make_set.cpp makes a handler_set of them.
#pragma once

#include "softgpu/machine/code/handler_set.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

handler choose_arithmetic(const form& f);
handler choose_logic(const form& f);
handler choose_compare(const form& f);
handler choose_convert(const form& f);
// Called by the choosers above: of floats and doubles,
handler choose_float_arithmetic(const form& f);
// and where a type of 16 bits or less takes part.
handler choose_half_arithmetic(const form& f);
handler choose_half_compare(const form& f);
handler choose_half_convert(const form& f);
handler choose_packed_convert(const form& f);
handler choose_memory(const form& f);
handler choose_atomic(const form& f);
handler choose_async(const form& f);
handler choose_control(const form& f);
handler choose_warp(const form& f);
handler choose_matrix(const form& f);
// Called by it: ldmatrix, stmatrix and movmatrix; wmma; wgmma; mma.sp.
handler choose_matrix_rows(const form& f);
handler choose_wmma(const form& f);
handler choose_warpgroup(const form& f);
handler choose_sparse(const form& f);
handler choose_texture(const form& f);
handler choose_video(const form& f);
handler choose_access_check(const form& f);
handler choose_matrix_check(const form& f); // called by it
void fill_control(handler_set& s);

// To be called only where the host has this instruction set: this function is compiled for it.
handler_set make_set();

} // namespace softgpu::machine::SOFTGPU_TARGET
