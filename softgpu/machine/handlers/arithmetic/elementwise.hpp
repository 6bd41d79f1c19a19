// SPDX-License-Identifier: MIT
// Handlers that apply F to each lane; operands and result are of type T.
#pragma once

#include <cstddef>

#include "softgpu/machine/handlers/lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

template <class T, class F>
const instruction* one(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(w, i->a));
    return go_on(i + 1, frame, w);
}
template <class T, class F>
const instruction* two(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(w, i->a), read<T>(w, i->b));
    return go_on(i + 1, frame, w);
}
template <class T, class F>
const instruction* three(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(w, i->a), read<T>(w, i->b), read<T>(w, i->c));
    return go_on(i + 1, frame, w);
}
// The same without vectorisation, for an F that must not run for inactive lanes.
template <class T, class F>
const instruction* one_by_one(const instruction* i, std::byte* frame, warp* w) {
    map_active(w->mask, written<T>(frame, i->d), F{}, read<T>(w, i->a));
    return go_on(i + 1, frame, w);
}
template <class T, class F>
const instruction* two_by_one(const instruction* i, std::byte* frame, warp* w) {
    map_active(w->mask, written<T>(frame, i->d), F{}, read<T>(w, i->a), read<T>(w, i->b));
    return go_on(i + 1, frame, w);
}

} // namespace softgpu::machine::SOFTGPU_TARGET
