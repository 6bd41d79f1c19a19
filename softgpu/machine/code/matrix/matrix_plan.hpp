// SPDX-License-Identifier: MIT
// Which element of a matrix each lane's registers hold. PTX ISA 9.0 defines the fragments of mma. It leaves those
// of wmma open; here they are an H200's: those of mma, block by block.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/machine/code/matrix/matrix_shape.hpp"

namespace softgpu::machine {

struct element_position {
    unsigned row = 0, column = 0;
};

// Element `part` of register `r` of a lane. A is M x K, B is K x N, C and D are M x N.
[[nodiscard]] element_position position_of(const matrix_shape& s, fragment f, unsigned r, unsigned part, unsigned lane);
// Elements in a register: 1 where an element takes it whole.
[[nodiscard]] unsigned parts_of(const matrix_shape& s, fragment f) noexcept;

// Where a form's elements go in arrays that are convenient for products: A by [block of 16 rows][k][row], B by [n][k],
// C and D by [block][n][row]. m8n32k16 is done as its transpose. Bits are kept in words of 32.
struct matrix_plan {
    static constexpr unsigned block_rows = 16;

    matrix_shape shape;
    unsigned blocks = 1; // of 16 rows; of 8 rows, one that is half empty
    unsigned columns = 0;
    unsigned terms = 0;   // K, in words for bits
    bool swapped = false; // registers of A hold what is called B here
    unsigned parts[4]{};  // by fragment
    unsigned used[4]{};   // registers that differ: others repeat them
    // By fragment: of part p of register r of lane l at [(r * parts + p) * 32 + l].
    std::vector<std::uint16_t> at[4];
};

// Lives as long as the program.
[[nodiscard]] const matrix_plan* plan_of(const matrix_shape& s);

// What a wmma.load or wmma.store moves.
struct fragment_plan {
    matrix_shape shape;
    fragment what = fragment::a;
    bool by_rows = true;
    unsigned bits = 0, parts = 1;            // of an element; elements of a register
    unsigned registers = 0, used = 0;        // `used` differ: others repeat them
    unsigned default_stride = 0;             // elements
    bool contiguous = true;                  // the elements of a register lie side by side
    std::vector<std::uint16_t> outer, inner; // row and column, or column and row, as matrix_plan::at

    // Bytes from the fragment's address to an element; `apart`: elements from one row, or column, to the next.
    [[nodiscard]] std::uint64_t offset(unsigned reg, unsigned part, unsigned lane, std::uint64_t apart) const {
        const std::size_t n = (reg * parts + part) * 32 + lane;
        return (outer[n] * apart + inner[n]) * bits / 8;
    }
};

// By a number that is good as long as the program lives.
[[nodiscard]] std::uint32_t fragment_plan_of(const matrix_shape& s, fragment f, bool by_rows);
[[nodiscard]] const fragment_plan& fragment_plan_at(std::uint32_t number);

} // namespace softgpu::machine
