// SPDX-License-Identifier: MIT
// Static assertions that our declarations of the runtime's interface (namespace sr) are laid out like CUDA's.
#pragma once

#include <cstddef>

namespace softgpu::runtime {}
namespace sr = softgpu::runtime;

#define SAME_SIZE(ours, cudas) static_assert(sizeof(sr::ours) == sizeof(cudas) && alignof(sr::ours) == alignof(cudas))
#define SAME_PLACE(ours, our_field, cudas, cudas_field)                                                                \
    static_assert(offsetof(sr::ours, our_field) == offsetof(cudas, cudas_field))
#define SAME_FIELD(ours, our_field, cudas, cudas_field)                                                                \
    SAME_PLACE(ours, our_field, cudas, cudas_field);                                                                   \
    static_assert(sizeof(sr::ours::our_field) == sizeof(cudas::cudas_field))
#define SAME_VALUE(ours, cudas) static_assert(static_cast<long long>(sr::ours) == static_cast<long long>(cudas))
