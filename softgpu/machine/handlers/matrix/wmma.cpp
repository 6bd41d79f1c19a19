// SPDX-License-Identifier: MIT
// wmma.load and wmma.store: a fragment's registers, one access each where the elements of a register lie side by side,
// one access for each element otherwise.
#include "softgpu/machine/code/matrix/matrix_plan.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/matrix/fragment_addresses.hpp"
#include "softgpu/machine/handlers/matrix/whole_warp.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::suffix;

enum class area { global, shared, generic };

template <verb Verb, area Area>
SOFTGPU_INLINE bool locate(const instruction* i, warp* w, std::uint64_t* at, unsigned bytes, located& where) {
    const std::uint64_t base = Area == area::generic ? w->host->launch->memory->shared_window() : 0;
    const bool in_shared = Area == area::shared || (Area == area::generic && at[first_lane(w->mask)] - base <
                                                                                 memory::device_memory::window_bytes);
    if (!in_shared) {
        return locate_global<Verb>(i, w, w->mask, at, bytes, true, where);
    }
    alignas(64) std::uint32_t within[lanes];
    for (unsigned l = 0; l < lanes; ++l) {
        const std::uint64_t offset = at[l] - base;
        within[l] = offset > beyond_shared ? beyond_shared : static_cast<std::uint32_t>(offset);
    }
    return locate_shared<Verb>(i, w, w->mask, within, bytes, where);
}

template <class Word, verb Verb, area Area>
bool move_fragment(const instruction* i, std::byte* frame, warp* w) {
    const fragment_plan& p = fragment_plan_at(i->more);
    const unsigned pieces = p.contiguous ? 1 : p.parts;
    const unsigned bytes = p.contiguous ? static_cast<unsigned>(sizeof(Word)) : p.bits / 8;
    fragment_base base;
    find_fragment(base, i, w, p);
    for (unsigned r = 0; r < p.used; ++r) {
        alignas(64) Word value[lanes] = {};
        if constexpr (Verb == verb::store) {
            std::memcpy(value, read<Word>(w, i->places[r]), sizeof(value));
        }
        for (unsigned piece = 0; piece < pieces; ++piece) {
            alignas(64) std::uint64_t at[lanes];
            fragment_addresses(at, base, p, r, piece);
            located where;
            if (!locate<Verb, Area>(i, w, at, bytes, where)) {
                return false;
            }
            each_lane(w->mask, [&](unsigned l) {
                std::byte* const in_register = reinterpret_cast<std::byte*>(value + l) + piece * bytes;
                if constexpr (Verb == verb::load) {
                    std::memcpy(in_register, where.of(l), bytes);
                } else {
                    std::memcpy(where.of(l), in_register, bytes);
                }
            });
        }
        if constexpr (Verb == verb::load) {
            for (unsigned copy = r; copy < p.registers; copy += p.used) {
                if (i->places[copy] != nowhere) {
                    map_lanes(
                        w->mask, written<Word>(frame, i->places[copy]), [](Word v) { return v; }, value);
                }
            }
        }
    }
    return true;
}

template <class Word, verb Verb, area Area>
const instruction* fragment_access(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] { return move_fragment<Word, Verb, Area>(i, frame, w); });
}

template <class Word, verb Verb>
handler by_area(const form& f) {
    switch (f.space) {
    case suffix::global: return fragment_access<Word, Verb, area::global>;
    case suffix::shared:
    case suffix::shared_cta: return fragment_access<Word, Verb, area::shared>;
    case suffix::none: return fragment_access<Word, Verb, area::generic>;
    default: return nullptr;
    }
}
template <class Word>
handler by_verb(const form& f) {
    return f.has(suffix::load) ? by_area<Word, verb::load>(f) : by_area<Word, verb::store>(f);
}

} // namespace

handler choose_wmma(const form& f) {
    if (!shape_of(f) || !(f.has(suffix::load) || f.has(suffix::store))) {
        return nullptr;
    }
    return f.type[0] == suffix::f64 ? by_verb<std::uint64_t>(f) : by_verb<std::uint32_t>(f);
}

} // namespace softgpu::machine::SOFTGPU_TARGET
