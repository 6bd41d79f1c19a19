// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/bulk/tensor_copy.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "softgpu/machine/code/reduction.hpp"
#include "softgpu/machine/code/tensor_kinds.hpp"
#include "softgpu/machine/inspect/async/bulk_checks.hpp"
#include "softgpu/machine/inspect/async/tensor_map_checks.hpp"
#include "softgpu/machine/run/bulk/targets.hpp"
#include "softgpu/machine/run/bulk/tensor_walk.hpp"

namespace softgpu::machine {

namespace {

using ptx::suffix;

constexpr std::uint64_t box_alignment = 128; // of a box in shared memory
constexpr std::int64_t unit = 16;            // bytes; a row begins at a multiple

suffix element_type(tensor_type t, suffix op) {
    const bool bits = op == suffix::and_ || op == suffix::or_ || op == suffix::xor_;
    switch (t) {
    case tensor_type::u32:
    case tensor_type::s32: return bits ? suffix::b32 : t == tensor_type::u32 ? suffix::u32 : suffix::s32;
    case tensor_type::u64:
    case tensor_type::s64: return bits ? suffix::b64 : t == tensor_type::u64 ? suffix::u64 : suffix::s64;
    case tensor_type::f16: return suffix::f16;
    case tensor_type::bf16: return suffix::bf16;
    case tensor_type::f32:
    case tensor_type::f32_ftz: return suffix::f32;
    case tensor_type::f64: return suffix::f64;
    default: return suffix::none;
    }
}

// nothing: a fault was raised.
std::optional<tensor_map> read_map(const instruction* i, warp* w, unsigned lane, std::uint64_t at,
                                   unsigned coordinates) {
    const std::uint32_t kind = i->more >> bulk_kind_shift;
    const bool im2col = (kind & walks_im2col) != 0;
    const bool by_rows = (kind & walks_rows) != 0;
    const unsigned rank = by_rows ? coordinates - walked_rows + 1 : coordinates;
    if (at % tensor_map_alignment != 0 || !look_up_allocation(w->host, at, sizeof(tensor_map), false)) {
        raise_access(w, i, "read", "global", at, sizeof(tensor_map), at % tensor_map_alignment != 0, lane);
        return std::nullopt;
    }
    tensor_map m;
    std::memcpy(&m, reinterpret_cast<const void*>(at), sizeof(m));
    std::string wrong = "the tensor map cannot be used: ";
    if (const char* const why = wrong_with(m)) {
        wrong += why;
    } else if (m.rank != rank) {
        wrong += "it has " + std::to_string(m.rank) + " dimensions, the instruction " + std::to_string(rank);
    } else if (by_rows && m.box[1] != 1) {
        wrong += "its box has " + std::to_string(m.box[1]) + " rows; those of the instruction are single";
    } else if ((m.walk == tensor_walk::im2col) != im2col) {
        wrong += im2col ? "it is tiled, the instruction im2col" : "it is im2col, the instruction tiled";
    } else if (m.interleave != tensor_interleave::none) {
        wrong += "interleaved tensors are not supported";
    } else {
        return m;
    }
    raise_text(w, i, fault_kind::trap, wrong, lane);
    return std::nullopt;
}

tensor_tile tile_of(const tensor_map& m, const bulk_lane& lane) {
    tensor_point at{};
    for (unsigned k = 0; k < lane.coordinates(); ++k) {
        at[k] = lane.coordinate(k);
    }
    if (lane.coordinates() != m.rank) {
        return rows_at(m, at);
    }
    if (m.walk == tensor_walk::tiled) {
        return tile_at(m, at);
    }
    std::array<std::uint16_t, 3> offsets{};
    for (unsigned k = 0; k < lane.offsets(); ++k) {
        offsets[k] = lane.offset(k);
    }
    return column_at(m, at, offsets);
}

bool is_allocated(const instruction* i, warp* w, unsigned lane, const tensor_tile& t, const char* verb) {
    for (const tensor_row& r : t.rows) {
        const auto known = [&](const known_allocation& a) {
            return r.at - a.base < a.bytes && r.bytes <= a.bytes - (r.at - a.base);
        };
        if (std::none_of(w->host->known.begin(), w->host->known.end(), known) &&
            !look_up_allocation(w->host, r.at, r.bytes, std::string_view(verb) != "read")) {
            raise_access(w, i, verb, "global", r.at, r.bytes, false, lane);
            return false;
        }
    }
    return true;
}

std::vector<bulk_row> rows_for_checks(const warp* w, const tensor_tile& t) {
    std::vector<bulk_row> rows;
    if (w->owner->view != nullptr) {
        for (const tensor_row& r : t.rows) {
            rows.push_back({r.at, r.bytes});
        }
    }
    return rows;
}

// Runs body(lane, operands, map, tile) for each lane until one is at fault. map_at(lane): the map's address.
template <class MapAt, class Body>
const instruction* each_tile(const instruction* i, warp* w, const char* verb, MapAt&& map_at, Body&& body) {
    bool fine = true;
    each_lane(w->mask, [&](unsigned l) {
        if (!fine) {
            return;
        }
        const bulk_lane lane(i, w, l);
        const auto m = read_map(i, w, l, map_at(lane), lane.coordinates());
        fine = m.has_value();
        if (fine) {
            check_map_use(i, w, l, map_at(lane));
            if (static_cast<std::int64_t>(lane.coordinate(0)) * bytes_of(m->type) % unit != 0) {
                raise(w, i, fault_kind::illegal_instruction,
                      "the first coordinate of a tensor copy is no multiple of 16 bytes", 1u << l);
                fine = false;
                return;
            }
            auto t = std::make_shared<const tensor_tile>(tile_of(*m, lane));
            fine = is_allocated(i, w, l, *t, verb) && body(l, lane, *m, std::move(t));
        }
    });
    return fine ? i + 1 : nullptr;
}

} // namespace

const instruction* start_tensor_load(const instruction* i, std::byte* /*frame*/, warp* w) {
    return each_tile(
        i, w, "read", [](const bulk_lane& lane) { return lane.from(); },
        [&](unsigned l, const bulk_lane& lane, const tensor_map& m, const std::shared_ptr<const tensor_tile>& t) {
            return each_target(i, w, l, lane, t->room(), box_alignment, [&](block& target, incoming_copy c) {
                const std::uint32_t base = c.to;
                c.counted = t->bytes();
                c.rows = rows_for_checks(w, *t);
                c.write = [m, t, base](std::byte* to) { fill_box(m, *t, to, base); };
                begin_incoming(i, w, l, target, std::move(c));
            });
        });
}

const instruction* start_tensor_store(const instruction* i, std::byte* /*frame*/, warp* w) {
    const suffix op = tensor_operations[i->more >> bulk_kind_shift >> tensor_operation_shift];
    return each_tile(
        i, w, "write", [](const bulk_lane& lane) { return lane.to(); },
        [&](unsigned l, const bulk_lane& lane, const tensor_map& m, const std::shared_ptr<const tensor_tile>& t) {
            const reduction run = op == suffix::none ? nullptr : find_reduction(op, element_type(m.type, op));
            if (op != suffix::none && run == nullptr) {
                raise(w, i, fault_kind::trap, "there is no such reduction of the tensor's element type", 1u << l);
                return false;
            }
            const auto from = locate_distributed(i, w, l, lane.from(), t->room(), box_alignment, "read");
            if (!from) {
                return false;
            }
            if (from->owner != w->owner) {
                raise(w, i, fault_kind::trap, "a tensor is stored from the block's own shared memory", 1u << l);
                return false;
            }
            outgoing_copy c;
            c.from = static_cast<std::uint32_t>(from->offset);
            c.bytes = t->room();
            c.rows = rows_for_checks(w, *t);
            c.write = [m, t, run, base = c.from](const std::byte* source) {
                each_piece(m, *t, base, [&](std::uint64_t at, std::uint32_t box, std::uint32_t bytes) {
                    if (run == nullptr) {
                        std::memcpy(reinterpret_cast<void*>(at), source + box, bytes);
                    } else {
                        run(reinterpret_cast<std::byte*>(at), source + box, bytes);
                    }
                });
            };
            begin_outgoing(i, w, l, std::move(c));
            return true;
        });
}

} // namespace softgpu::machine
