// SPDX-License-Identifier: MIT
// The forms of wgmma that are compared with hardware. Shared memory is an image of random elements that descriptors look
// into, so that results depend on layouts and swizzles too.
#pragma once

#include "tests/machine/handlers/matrix/matrix_forms.hpp"

namespace softgpu::test {

// Fields of a matrix descriptor, in bytes.
struct matrix_view {
    unsigned start = 0, leading = 0, stride = 0, base_offset = 0;
    unsigned swizzle = 0; // 0: none, 1: 128 bytes, 2: 64, 3: 32
};

struct warpgroup_form {
    std::string label; // what differs but is no part of the instruction's name
    unsigned n = 8, k = 16;
    element d = element::f32, a = element::f16, b = element::f16;
    bool a_in_registers = true;
    matrix_view a_view, b_view;
    bool scale_d = true;
    int scale_a = 1, scale_b = 1;
    bool transpose_a = false, transpose_b = false;
    bool satfinite = false;

    [[nodiscard]] std::string instruction() const;
    [[nodiscard]] std::string key() const; // the name in golden.txt
    [[nodiscard]] unsigned d_registers() const;
};
[[nodiscard]] std::vector<warpgroup_form> warpgroup_forms();

// Bytes of the image of shared memory, and registers of A.
inline constexpr unsigned warpgroup_image_bytes = 48 * 1024 - 1024;
[[nodiscard]] unsigned a_registers(const warpgroup_form& f);

// Kernel "k" as of mma_form, of blocks of 128 threads. A case's operands: the image of shared memory, then of each thread the
// registers of A, if it has any, and of D.
[[nodiscard]] std::string text_of(const warpgroup_form& f);
[[nodiscard]] unsigned words_out(const warpgroup_form& f); // of a lane
[[nodiscard]] std::vector<std::uint32_t> operands_of(const warpgroup_form& f, unsigned number);

} // namespace softgpu::test
