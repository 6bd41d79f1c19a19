// SPDX-License-Identifier: MIT
// The handlers as compiled for one instruction set of the host.
#include "softgpu/machine/handlers/choosers.hpp"

#define SOFTGPU_TEXT(x) #x
#define SOFTGPU_NAME(x) SOFTGPU_TEXT(x)

namespace softgpu::machine::SOFTGPU_TARGET {

handler_set make_set() {
    handler_set s{};
    s.name = SOFTGPU_NAME(SOFTGPU_TARGET);
    s.arithmetic = choose_arithmetic;
    s.logic = choose_logic;
    s.compare = choose_compare;
    s.convert = choose_convert;
    s.memory = choose_memory;
    s.atomic = choose_atomic;
    s.async = choose_async;
    s.control = choose_control;
    s.warp_wide = choose_warp;
    s.matrix = choose_matrix;
    s.texture = choose_texture;
    s.video = choose_video;
    s.check_access = choose_access_check;
    fill_control(s);
    return s;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
