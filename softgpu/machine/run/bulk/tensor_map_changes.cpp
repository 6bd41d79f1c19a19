// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/bulk/tensor_map_changes.hpp"

#include <array>
#include <cstring>

#include "softgpu/machine/code/tensor_kinds.hpp"
#include "softgpu/machine/inspect/async/tensor_map_checks.hpp"
#include "softgpu/machine/run/bulk/bulk_lanes.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/tensor_map.hpp"

namespace softgpu::machine {

namespace {

using ptx::suffix;

// PTX's numbers of element types differ from the driver's.
tensor_type element_type_of(std::uint64_t number) {
    constexpr std::array types{tensor_type::u8,      tensor_type::u16, tensor_type::u32,  tensor_type::s32,
                               tensor_type::u64,     tensor_type::s64, tensor_type::f16,  tensor_type::f32,
                               tensor_type::f32_ftz, tensor_type::f64, tensor_type::bf16, tensor_type::tf32,
                               tensor_type::tf32_ftz};
    return number < types.size() ? types[number] : static_cast<tensor_type>(tensor_types);
}

// false: there is no such dimension.
bool change(tensor_map& m, suffix field, std::uint64_t dimension, std::uint64_t value) {
    if (dimension >= most_tensor_dimensions - (field == suffix::global_stride ? 1 : 0)) {
        return false;
    }
    const bool is_wide =
        field == suffix::global_address || field == suffix::global_dim || field == suffix::global_stride;
    if (!is_wide && value > (field == suffix::box_dim ? 0xFFFFu : 0xFEu)) {
        value = 0xFE; // no field has it: the copy that uses the map says so
    }
    switch (field) {
    case suffix::global_address: m.address = value; break;
    case suffix::rank: m.rank = static_cast<std::uint8_t>(value + 1); break;
    case suffix::box_dim: m.box[dimension] = static_cast<std::uint16_t>(value); break;
    case suffix::global_dim: m.size[dimension] = value; break;
    case suffix::global_stride: m.stride[dimension] = value; break;
    case suffix::element_stride: m.element_stride[dimension] = static_cast<std::uint8_t>(value); break;
    case suffix::elemtype: m.type = element_type_of(value); break;
    case suffix::interleave_layout: m.interleave = static_cast<tensor_interleave>(value); break;
    case suffix::swizzle_mode: m.swizzle = static_cast<tensor_swizzle>(value); break;
    default: m.fill = static_cast<tensor_fill>(value); break;
    }
    return true;
}

// nullptr: a fault was raised.
std::byte* find_map(const instruction* i, warp* w, unsigned lane, std::uint64_t at, bool in_shared, const char* verb) {
    const launch_state& l = *w->host->launch;
    const std::uint64_t window = l.memory->shared_window();
    if (!in_shared && at - window < memory::device_memory::window_bytes) {
        at -= window;
        in_shared = true;
    }
    const bool misaligned = at % tensor_map_alignment != 0;
    const bool inside = in_shared ? at <= l.shared_bytes && sizeof(tensor_map) <= l.shared_bytes - at
                                  : look_up_allocation(w->host, at, sizeof(tensor_map), true);
    if (misaligned || !inside) {
        raise_access(w, i, verb, in_shared ? "shared" : "global", at, sizeof(tensor_map), misaligned, lane);
        return nullptr;
    }
    return in_shared ? w->owner->shared + at : reinterpret_cast<std::byte*>(at);
}

// 128 bytes of zeros are a map of which no field is set yet: Triton begins with them.
bool is_blank(const tensor_map& m) {
    constexpr std::array<std::byte, sizeof(tensor_map)> zeros{};
    return std::memcmp(&m, zeros.data(), sizeof(m)) == 0;
}

bool is_in_shared(const instruction* i) { return i->width[3] == 0; }

} // namespace

const instruction* replace_in_tensor_map(const instruction* i, std::byte* /*frame*/, warp* w) {
    bool fine = true;
    each_lane(w->mask, [&](unsigned l) {
        const bulk_lane lane(i, w, l);
        std::byte* const at = fine ? find_map(i, w, l, lane.to(), is_in_shared(i), "replace a field in") : nullptr;
        fine = at != nullptr;
        if (!fine) {
            return;
        }
        tensor_map m;
        std::memcpy(&m, at, sizeof(m));
        m.mark = is_blank(m) ? tensor_map_mark : m.mark;
        const std::uint64_t dimension = lane.has(bulk_size) ? lane.size() : 0;
        if (m.mark != tensor_map_mark ||
            !change(m, tensor_map_fields[i->more >> bulk_kind_shift], dimension, lane.value(bulk_from, i->width[2]))) {
            raise(w, i, fault_kind::trap,
                  m.mark != tensor_map_mark ? "there is no tensor map here" : "a tensor map has no such dimension",
                  1u << l);
            fine = false;
            return;
        }
        std::memcpy(at, &m, sizeof(m));
        if (const auto where = reinterpret_cast<std::uint64_t>(at); where == lane.to()) {
            note_map_change(i, w, l, where, false);
        }
    });
    return fine ? i + 1 : nullptr;
}

const instruction* publish_tensor_map(const instruction* i, std::byte* /*frame*/, warp* w) {
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    const bulk_lane lane(i, w, first);
    std::byte* const to = find_map(i, w, first, lane.to(), false, "write");
    const std::byte* const from = to == nullptr ? nullptr : find_map(i, w, first, lane.from(), true, "read");
    if (from == nullptr) {
        return nullptr;
    }
    std::memcpy(to, from, sizeof(tensor_map));
    note_map_change(i, w, first, reinterpret_cast<std::uint64_t>(to), true);
    return i + 1;
}

} // namespace softgpu::machine
