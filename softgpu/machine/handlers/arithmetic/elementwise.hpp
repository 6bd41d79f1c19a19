// SPDX-License-Identifier: MIT
// Handlers that do F to each lane's operands, all of type T as the result is.
#pragma once

#include <cstddef>

#include "softgpu/machine/handlers/lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

template <class T, class F>
const instruction* one(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a));
    return go_on(i + 1, frame, w);
}
template <class T, class F>
const instruction* two(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a), read<T>(frame, w, i->b));
    return go_on(i + 1, frame, w);
}
template <class T, class F>
const instruction* three(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a), read<T>(frame, w, i->b),
              read<T>(frame, w, i->c));
    return go_on(i + 1, frame, w);
}
// The same lane by lane: where F must not run for lanes that are away, or shall not become vector code.
template <class T, class F>
const instruction* one_by_one(const instruction* i, std::byte* frame, warp* w) {
    map_active(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a));
    return go_on(i + 1, frame, w);
}
template <class T, class F>
const instruction* two_by_one(const instruction* i, std::byte* frame, warp* w) {
    map_active(w->mask, written<T>(frame, i->d), F{}, read<T>(frame, w, i->a), read<T>(frame, w, i->b));
    return go_on(i + 1, frame, w);
}

} // namespace softgpu::machine::SOFTGPU_TARGET
