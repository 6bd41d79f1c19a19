// SPDX-License-Identifier: MIT
// tex, tld4, txq, suld, sust and suq by handles; see softgpu/machine/texture.hpp. Fetches go by warp, all else lane by lane.
#include "softgpu/machine/texture.hpp"

#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/memory/access_cost.hpp"
#include "softgpu/machine/handlers/memory/texture_sampling.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

// The lane's descriptor; nullptr after a fault.
const texture_descriptor* descriptor_of(const instruction* i, warp* w, unsigned lane) {
    const std::uint64_t at = read<std::uint64_t>(w, i->places[handle_at])[lane];
    const auto* const t = reinterpret_cast<const texture_descriptor*>(at);
    if ((at & 7) != 0 || !is_allocated(w, at, sizeof(texture_descriptor), verb::load) ||
        t->mark != texture_descriptor::is_one) {
        raise(w, i, fault_kind::illegal_address, "not the handle of a texture or surface", 1u << lane);
        return nullptr;
    }
    if (t->levels > 1 && !is_allocated(w, at, t->levels * sizeof(texture_descriptor), verb::load)) {
        raise(w, i, fault_kind::illegal_address, "not the handle of a texture with so many levels", 1u << lane);
        return nullptr;
    }
    if (t->width != 0 && !is_allocated(w, t->data, t->bytes(), verb::load)) {
        raise(w, i, fault_kind::illegal_address, "the memory of this texture or surface is not allocated", 1u << lane);
        return nullptr;
    }
    return t;
}

template <class Body>
const instruction* each_descriptor(const instruction* i, warp* w, Body&& body) {
    const instruction* next = i + 1;
    const std::uint64_t* const handles = read<std::uint64_t>(w, i->places[handle_at]);
    const texture_descriptor* t = nullptr; // of the lane before, mostly the same
    each_lane(w->mask, [&](unsigned l) {
        if (next == nullptr) {
            return;
        }
        if (t == nullptr || reinterpret_cast<std::uint64_t>(t) != handles[l]) {
            t = descriptor_of(i, w, l);
        }
        if (t == nullptr || !body(l, *t)) {
            next = nullptr;
        }
    });
    return next;
}

std::uint32_t word(const instruction* i, warp* w, unsigned which, unsigned lane) {
    return i->places[which] == nowhere ? 0 : read<std::uint32_t>(w, i->places[which])[lane];
}

template <bool Gather>
const instruction* fetch(const instruction* i, std::byte* frame, warp* w) {
    const auto words = [&](unsigned which) {
        return i->places[which] == nowhere ? zero_lanes : read<std::uint32_t>(w, i->places[which]);
    };
    fetch_place p;
    fetch_levels f;
    p.integers = (i->more & integer_coordinates) != 0;
    p.layer = words(layer_at);
    f.level = words(level_at);
    f.has_slopes = i->places[slopes_at] != nowhere;
    for (unsigned k = 0; k < 3; ++k) {
        p.at[k] = words(coordinates_at + k);
        f.slope_x[k] = words(slopes_at + k);
        f.slope_y[k] = words(slopes_at + 3 + k);
    }
    const auto g = static_cast<geometry>(i->more & geometry_bits);
    alignas(64) std::uint64_t handles[lanes]; // results may take their place
    std::memcpy(handles, read<std::uint64_t>(w, i->places[handle_at]), sizeof(handles));
    texels r;
    for (lane_mask rest = w->mask; rest != 0;) {
        const unsigned first = first_lane(rest);
        const std::uint64_t handle = handles[first];
        const lane_mask here = rest & test_lanes([handle](std::uint64_t h) { return h == handle; }, handles);
        const texture_descriptor* const t = descriptor_of(i, w, first);
        if (t == nullptr) {
            return nullptr;
        }
        const unsigned channel = i->more >> channel_shift & 3;
        if (!Gather && t->levels > 1) {
            sample_levels(*t, g, p, f, here, r);
        } else if (!Gather) {
            sample_level(*t, g, p, r, nullptr);
        } else if (channel < t->channels) {
            gather_four(*t, p, channel, r);
        }
        const unsigned given = !Gather ? t->channels : channel < t->channels ? 4 : 0;
        for (unsigned k = 0; k < 4; ++k) {
            if (i->places[values_at + k] != nowhere) {
                map_lanes(
                    here, written<std::uint32_t>(frame, i->places[values_at + k]), [](std::uint32_t v) { return v; },
                    k < given ? r.channel[k] : zero_lanes);
            }
        }
        rest &= ~here;
    }
    if (i->places[resident_at] != nowhere) {
        write_mask(frame, w, i->places[resident_at], all_lanes);
    }
    return i + 1;
}

const instruction* query(const instruction* i, std::byte* frame, warp* w) {
    return each_descriptor(i, w, [&](unsigned l, const texture_descriptor& t) {
        const std::uint32_t values[] = {t.width, t.height, t.depth, t.layers, t.normalized ? 1u : 0u};
        written<std::uint32_t>(frame, i->d)[l] = values[i->more >> query_shift & 15];
        return true;
    });
}

template <bool Store>
const instruction* surface(const instruction* i, std::byte* frame, warp* w) {
    const unsigned bytes = i->more >> bytes_shift & 31;
    const unsigned count = i->more >> count_shift & 7;
    return each_descriptor(i, w, [&](unsigned l, const texture_descriptor& t) {
        const auto at = [&](unsigned k) { return static_cast<std::int32_t>(word(i, w, coordinates_at + k, l)); };
        if ((static_cast<std::uint32_t>(at(0)) & (bytes * count - 1)) != 0) {
            raise(w, i, fault_kind::misaligned_address, "a surface access that is not aligned", 1u << l);
            return false;
        }
        std::byte* const p = surface_bytes(t, static_cast<geometry>(i->more & geometry_bits), at(0), at(1), at(2),
                                           word(i, w, layer_at, l), bytes * count, (i->more & clamps) != 0);
        if (p == nullptr && (i->more & gives_zero) == 0) {
            raise(w, i, fault_kind::illegal_address, "a surface access out of bounds", 1u << l);
            return false;
        }
        for (unsigned k = 0; k < count; ++k) {
            const place v = i->places[values_at + k];
            if (v == nowhere) {
                continue;
            }
            const unsigned width = bytes < 2 ? 2 : bytes; // of a register
            if constexpr (Store) {
                if (p != nullptr) {
                    std::memcpy(p + k * bytes, read<std::byte>(w, v) + std::size_t{l} * width, bytes);
                }
            } else {
                std::uint64_t value = 0;
                if (p != nullptr) {
                    std::memcpy(&value, p + k * bytes, bytes);
                }
                std::memcpy(frame + v + std::size_t{l} * width, &value, width);
            }
        }
        return true;
    });
}

bool has_geometry(const form& f, bool cubes) {
    return f.has(suffix::d1d) || f.has(suffix::d2d) || f.has(suffix::d3d) || f.has(suffix::a1d) || f.has(suffix::a2d) ||
           (cubes && (f.has(suffix::cube) || f.has(suffix::acube)));
}

} // namespace

handler choose_texture(const form& f) {
    const bool words = ptx::bytes_of(f.type[0]) == 4 && f.type[0] != suffix::f16x2;
    switch (f.op) {
    case opcode::tex: {
        const unsigned operands = f.has(suffix::level) ? 3 : f.has(suffix::grad) ? 4 : 2;
        return has_geometry(f, true) && f.vector == 4 && words && f.operands == operands &&
                       (f.type[1] == suffix::f32 || f.type[1] == suffix::s32)
                   ? fetch<false>
                   : nullptr;
    }
    case opcode::tld4:
        return f.has(suffix::d2d) && f.vector == 4 && words && f.type[1] == suffix::f32 && f.operands == 2 ? fetch<true>
                                                                                                           : nullptr;
    case opcode::txq:
    case opcode::suq:
        return !f.has(suffix::level) && (f.has(suffix::width) || f.has(suffix::height) || f.has(suffix::depth) ||
                                         f.has(suffix::array_size) || f.has(suffix::normalized_coords))
                   ? query
                   : nullptr;
    case opcode::suld:
        return f.has(suffix::b) && has_geometry(f, false) && f.vector <= 4 && f.operands == 2 ? surface<false>
                                                                                              : nullptr;
    case opcode::sust:
        return f.has(suffix::b) && has_geometry(f, false) && f.vector <= 4 && f.operands == 2 ? surface<true> : nullptr;
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
