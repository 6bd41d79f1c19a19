// SPDX-License-Identifier: MIT
// The operations of cp.reduce.async.bulk, its tensor form, and red.async, element by element. Other threads of the host may
// update the same elements at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "softgpu/machine/code/form.hpp"

namespace softgpu::machine {

// to[k] = to[k] op from[k], for `bytes` bytes.
using reduction = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);

// The operation of a form on this type, as a number that an instruction can hold; 0: PTX has none such.
[[nodiscard]] std::uint32_t reduction_number(const form& f, ptx::suffix type);
[[nodiscard]] reduction reduction_at(std::uint32_t number);
// add, min ... of this type; nullptr: PTX has no such operation.
[[nodiscard]] reduction find_reduction(ptx::suffix op, ptx::suffix type);
// add, min ... of a form; none: it has none.
[[nodiscard]] ptx::suffix reduction_operation(const form& f);

} // namespace softgpu::machine
