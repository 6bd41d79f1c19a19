// SPDX-License-Identifier: MIT
// The forms of mma and wmma that are compared with hardware, and their kernels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softgpu::test {

enum class element { f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, u8, s4, u4, b1, s32 };

[[nodiscard]] unsigned bits_of(element e);
[[nodiscard]] std::string_view name_of(element e);
[[nodiscard]] unsigned register_words(element e); // of 32 bits, in a register that holds elements

// One mma form: D = A B + C with fragments in registers.
struct mma_form {
    std::string name; // the instruction with its suffixes
    element a, b, c, d;
    unsigned a_registers, b_registers, c_registers, d_registers; // of 32 bits, of f64 64
    int selector = -1;                                           // of sparse A: which lanes hold the metadata
    [[nodiscard]] std::string key() const;                       // the name in golden.txt
};
[[nodiscard]] std::vector<mma_form> mma_forms();

// One wmma form: load A, B and C, multiply, store D.
struct wmma_form {
    std::string shape; // "m16n16k16"
    bool a_by_rows, b_by_rows, c_by_rows;
    element ab, c, d;
    unsigned m, n, k;
    unsigned a_registers, b_registers, c_registers, d_registers;
    std::string operation; // ".xor.popc", ".satfinite" or nothing
    [[nodiscard]] std::string name() const;
};
[[nodiscard]] std::vector<wmma_form> wmma_forms();

// Kernel "k" with parameters p0 (operands) and p1 (results); a block of 32 threads does one case. Each lane has the words of
// A, B and C in order, and writes those of D.
[[nodiscard]] std::string text_of(const mma_form& f);
// The operands of a case are the three matrices; results are each lane's words of the fragments A, B, C and D, then
// the matrix D.
[[nodiscard]] std::string text_of(const wmma_form& f);

[[nodiscard]] unsigned words_in(const mma_form& f);   // of a lane
[[nodiscard]] unsigned words_out(const mma_form& f);  // of a lane
[[nodiscard]] unsigned words_in(const wmma_form& f);  // of a case
[[nodiscard]] unsigned words_out(const wmma_form& f); // of a case

} // namespace softgpu::test
