// SPDX-License-Identifier: MIT
// Batches of copies of boxes in the runtime's interface: CUDA's values and layouts under our names.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/memory.hpp"

namespace softgpu::runtime {

enum class operand_type : int { pointer = 1, array = 2 };
enum class access_order : int { stream = 1, during_call = 2, any = 3 };

struct batch_operand {
    operand_type type;
    union {
        struct {
            void* at;
            std::size_t row_length;   // elements, or bytes if no array is involved; 0: the width of the copy
            std::size_t layer_height; // rows; 0: the height of the copy
            memory_location hint;
        } pointer;
        struct {
            runtime::array* array;
            position offset;
        } array;
    };
};

struct batch_operation {
    batch_operand source;
    batch_operand destination;
    runtime::extent extent; // elements
    access_order order;
    unsigned flags;
};

static_assert(sizeof(batch_operand) == 40 && sizeof(batch_operation) == 112);

} // namespace softgpu::runtime
