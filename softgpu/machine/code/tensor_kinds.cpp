// SPDX-License-Identifier: MIT
#include "softgpu/machine/code/tensor_kinds.hpp"

#include "softgpu/machine/code/reduction.hpp"

namespace softgpu::machine {

using ptx::suffix;

std::uint32_t tensor_kind(const form& f) {
    std::uint32_t operation = 0;
    while (f.has(suffix::reduce) && tensor_operations[operation] != reduction_operation(f)) {
        ++operation;
    }
    const std::uint32_t walk = f.has(suffix::im2col) || f.has(suffix::im2col_no_offs) ? walks_im2col
                               : is_by_rows(f)                                        ? walks_rows
                                                                                      : 0;
    return walk | operation << tensor_operation_shift;
}

std::uint32_t tensor_map_field(const form& f) {
    for (std::uint32_t k = 1; k < tensor_map_fields.size(); ++k) {
        if (f.has(tensor_map_fields[k])) {
            return k;
        }
    }
    return 0;
}

} // namespace softgpu::machine
