// SPDX-License-Identifier: MIT
// Operands of mma and wmma, made from a form's name and a case's number, so that golden files hold results only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/machine/handlers/matrix/matrix_forms.hpp"

namespace softgpu::test {

// Appends `count` elements of the case of this number, packed into words, the first in the lowest bits. `name` seeds them.
void append_elements(std::vector<std::uint32_t>& to, std::string_view name, unsigned number, element e,
                     std::size_t count);

// The operands of a case. Cases differ in kind by their number: ordinary numbers, all bit patterns, wide ranges,
// cancellation, infinities and NaN, subnormals, sparse powers of two, and the largest numbers.
[[nodiscard]] std::vector<std::uint32_t> operands_of(const mma_form& f, unsigned number);
// Cases 0 and 1 number the elements of each matrix (low and high part), the others are as above.
[[nodiscard]] std::vector<std::uint32_t> operands_of(const wmma_form& f, unsigned number);

// A hash of the results of one case.
[[nodiscard]] std::uint32_t hash_of(const std::uint32_t* words, std::size_t count);

} // namespace softgpu::test
