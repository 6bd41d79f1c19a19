// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/trace/texture_fetch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "softgpu/machine/inspect/trace/accesses.hpp"
#include "softgpu/machine/inspect/trace/traced_block.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/machine/state/worker.hpp"
#include "softgpu/machine/texture.hpp"

namespace softgpu::machine {

namespace {

// The element that a coordinate is nearest to, of `extent`, where all outside clamp to the border.
std::uint64_t element_at(std::uint32_t coordinate, std::uint32_t extent, bool is_integer, bool normalized) {
    const auto last = static_cast<double>(std::max(extent, 1u) - 1);
    const double place = is_integer ? static_cast<std::int32_t>(coordinate)
                                    : std::floor(std::bit_cast<float>(coordinate) * (normalized ? last + 1 : 1.0));
    return static_cast<std::uint64_t>(place > 0 ? std::min(place, last) : 0.0); // no number: the first
}

// In halves of a turn, as measured on an H200. Memory without an array, which tex1Dfetch reads, takes half a turn. Elements of
// 16 bytes take twice as many. Filters take a turn for each 4 bytes of an element, and twice as many between planes.
unsigned turns_of(const texture_descriptor& t, geometry g, bool is_integer) {
    const unsigned words = std::max(t.element_bytes() / 4, 1u);
    if (t.linear) {
        return 2 * words * (g == geometry::space ? 2 : 1);
    }
    return (g == geometry::line && is_integer ? 1 : 2) * (words == 4 ? 2 : 1);
}

} // namespace

const instruction* before_texture(const instruction* i, std::byte* frame, warp* w) {
    const auto g = static_cast<geometry>(i->d & geometry_bits);
    traced_block* const block = traced_block_of(w);
    if (block == nullptr || g == geometry::cube || g == geometry::cubes) {
        return i + 1;
    }
    const auto word = [&](unsigned which, unsigned l) {
        std::uint32_t value = 0;
        if (i->places[which] != nowhere) {
            std::memcpy(&value, lanes_at(frame, w, i->places[which]) + l * sizeof value, sizeof value);
        }
        return value;
    };
    std::uint64_t at[lanes] = {};
    lane_mask mask = 0;
    std::uint64_t bytes = 1;
    unsigned turns = 0;
    const texture_descriptor* t = nullptr; // of the lane before, mostly the same
    each_lane(w->mask, [&](unsigned l) {
        std::uint64_t handle = 0;
        std::memcpy(&handle, lanes_at(frame, w, i->places[handle_at]) + l * sizeof handle, sizeof handle);
        if (reinterpret_cast<std::uint64_t>(t) != handle) {
            const bool is_there = handle % alignof(texture_descriptor) == 0 &&
                                  w->host->launch->memory->find(handle, sizeof(texture_descriptor)).has_value();
            t = is_there ? reinterpret_cast<const texture_descriptor*>(handle) : nullptr;
        }
        if (t == nullptr || t->mark != texture_descriptor::is_one || t->width == 0) {
            return; // a fault, or nothing there
        }
        const auto along = [&](unsigned axis, std::uint32_t extent) {
            return element_at(word(coordinates_at + axis, l), extent, (i->d & integer_coordinates) != 0, t->normalized);
        };
        const std::uint64_t layer = g == geometry::space ? along(2, t->depth) : word(layer_at, l);
        at[l] = t->data + along(0, t->width) * t->element_bytes() + along(1, t->height) * t->row_bytes +
                std::min<std::uint64_t>(layer, std::max({t->depth, t->layers, 1u}) - 1) * t->slice_bytes;
        bytes = t->element_bytes();
        turns = std::max(turns, turns_of(*t, g, (i->d & integer_coordinates) != 0));
        mask |= 1u << l;
    });
    block->to().met(meeting::texture_turns, turns);
    block->begin_access(frame_of(w->frame)->code->piece_cycles.data() + i->e);
    tell_access(*block, at, mask, bytes, touch::load, w);
    return i + 1;
}

} // namespace softgpu::machine
