// SPDX-License-Identifier: MIT
// Calls in kernels. A call makes a frame for its lanes, with its own registers, and a join behind the call where the lanes
// reconverge. The function's last return gives the frame back.
#pragma once

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Handlers.
const instruction* call_function(const instruction* i, std::byte* frame, warp* w); // a builtin too
const instruction* after_call(const instruction* i, std::byte* frame, warp* w);
const instruction* return_lanes(const instruction* i, std::byte* frame, warp* w); // guard `e`, negated if `more`
// ld: d or places, from the area at a; st: b or places, to the area at d. `immediate`: offset, `e`: stride, `more`: bytes of
// an element, elements, whether the sign extends, as in handlers/memory/load_store.cpp.
const instruction* load_parameter(const instruction* i, std::byte* frame, warp* w);
const instruction* store_parameter(const instruction* i, std::byte* frame, warp* w);
const instruction* allocate_on_stack(const instruction* i, std::byte* frame, warp* w);
const instruction* save_stack(const instruction* i, std::byte* frame, warp* w);
const instruction* restore_stack(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
