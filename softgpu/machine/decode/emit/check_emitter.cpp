// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/emit/check_emitter.hpp"

#include <algorithm>

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/code/matrix/matrix_plan.hpp"
#include "softgpu/machine/code/matrix/warpgroup_check.hpp"
#include "softgpu/machine/code/tensor_kinds.hpp"
#include "softgpu/machine/code/used_bytes.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::suffix;

namespace {

check::strength strength_of(const form& fm) {
    if (fm.op == opcode::atom || fm.op == opcode::red) {
        return check::strength::atomic;
    }
    if (fm.has(suffix::relaxed) || fm.has(suffix::acquire) || fm.has(suffix::release) || fm.has(suffix::mmio)) {
        return check::strength::strong;
    }
    return fm.has(suffix::volatile_) ? check::strength::volatile_ : check::strength::plain;
}

constexpr std::uint32_t kind_of(warpgroup_check k) { return static_cast<std::uint32_t>(k) << warpgroup_check_shift; }

// Of a lane, in one access.
std::uint8_t matrix_access_bytes(opcode op, const instruction& decoded) {
    if (op != opcode::wmma) {
        return 16;
    }
    const fragment_plan& p = fragment_plan_at(decoded.more);
    return static_cast<std::uint8_t>(p.contiguous ? std::max(4u, p.bits / 8) : p.bits / 8);
}

bool is_access(opcode op) {
    switch (op) {
    case opcode::ld:
    case opcode::ldu:
    case opcode::st:
    case opcode::atom:
    case opcode::red:
    case opcode::cp:
    case opcode::mbarrier:
    case opcode::ldmatrix:
    case opcode::stmatrix:
    case opcode::wmma: return true;
    default: return false;
    }
}

} // namespace

check_emitter::check_emitter(const ptx::function& f, const program::control_flow& flow, program_code& code,
                             site_table& table, check::check_set checks)
    : f_(f),
      code_(code),
      table_(table),
      checks_(checks),
      handlers_(chosen_handlers()),
      read_(f.registers.size()),
      used_bytes_(used_bytes_of(f)),
      discarded_(f, flow),
      flows_(f),
      products_(f, flow) {
    for (const ptx::instruction& i : f.instructions) {
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            if (how == program::use::read) {
                read_[reg] = true;
            }
        });
    }
}

bool check_emitter::is_used(const ptx::operand& o) const { return o.kind == ptx::operand_kind::reg && read_[o.reg]; }

instruction check_emitter::before(const ptx::instruction& i, std::uint32_t source, const form& fm,
                                  const instruction& decoded) {
    instruction look;
    if (!checks_for(is_access(i.op) ? check::race | check::init : check::race | check::sync)) {
        return look;
    }
    look.source = source;
    look.a = decoded.a;
    look.b = decoded.b;
    look.c = decoded.c;
    look.immediate = decoded.immediate;
    for (unsigned k = 0; k < 4; ++k) {
        look.width[k] = decoded.width[k];
    }
    if ((i.op == opcode::st || i.op == opcode::red) && (fm.has(suffix::async) || fm.has(suffix::bulk))) {
        return before_bulk(i, fm, look);
    }
    switch (i.op) {
    case opcode::ld:
    case opcode::ldu:
    case opcode::st:
    case opcode::atom:
    case opcode::red: break;
    case opcode::ldmatrix:
    case opcode::stmatrix: look.more = row_groups(fm); break;
    case opcode::wmma: look.more = decoded.more; break;
    case opcode::cp:
        if (fm.has(suffix::bulk)) {
            return before_bulk(i, fm, look);
        }
        if (fm.has(suffix::commit_group)) {
            return look;
        }
        if (fm.has(suffix::wait_group) || fm.has(suffix::wait_all)) {
            look.run = handlers_.check_copy_wait;
            return look;
        }
        break;
    case opcode::mbarrier:
        if (fm.has(suffix::pending_count) || fm.has(suffix::inval)) {
            return look;
        }
        look.d = fm.has(suffix::test_wait) || fm.has(suffix::try_wait) ? decoded.d : nowhere;
        break;
    case opcode::shfl:
        look.e = decoded.places[0];
        look.more = static_cast<std::uint32_t>(fm.has(suffix::up)     ? warp_sync::shfl_up
                                               : fm.has(suffix::down) ? warp_sync::shfl_down
                                               : fm.has(suffix::bfly) ? warp_sync::shfl_bfly
                                                                      : warp_sync::shfl_idx);
        look.run = handlers_.check_warp_sync;
        return look;
    case opcode::vote:
    case opcode::match:
    case opcode::redux:
        look.e = decoded.b;
        look.more = static_cast<std::uint32_t>(warp_sync::other);
        look.run = handlers_.check_warp_sync;
        return look;
    case opcode::elect:
        look.e = decoded.a;
        look.more = static_cast<std::uint32_t>(warp_sync::other);
        look.run = handlers_.check_warp_sync;
        return look;
    case opcode::bar:
    case opcode::barrier:
        if (fm.has(suffix::cluster)) {
            return look; // it looks itself
        }
        if (fm.has(suffix::warp)) {
            look.e = decoded.a;
            look.more = static_cast<std::uint32_t>(warp_sync::barrier);
            look.run = handlers_.check_warp_sync;
            return look;
        }
        look.more = (fm.has(suffix::arrive) ? 0u : barrier_waits) |
                    (i.op == opcode::bar || fm.has(suffix::aligned) ? barrier_aligned : 0u);
        look.run = handlers_.check_barrier;
        return look;
    case opcode::wgmma:
        look.run = handlers_.check_warpgroup;
        if (!fm.has(suffix::mma_async)) {
            const bool waits = fm.has(suffix::wait_group);
            look.more = kind_of(waits ? warpgroup_check::wait : warpgroup_check::commit);
            look.immediate = waits ? static_cast<std::int64_t>(i.operands.at(0).bits) : 0;
            look.run = fm.has(suffix::fence) ? nullptr : look.run;
            return look;
        }
        look.more = decoded.more | kind_of(warpgroup_check::product);
        break;
    case opcode::membar:
    case opcode::fence:
        if (fm.has(suffix::proxy) && (fm.has(suffix::async) || fm.has(suffix::async_shared_cta) ||
                                      fm.has(suffix::async_shared_cluster) || fm.has(suffix::async_global))) {
            look.more = fence_is_async_proxy;
            look.run = handlers_.check_fence;
            return look;
        }
        look.more = (fm.has(suffix::cta) ? fence_within_block : 0u) |
                    (i.op == opcode::membar || fm.has(suffix::sc) ? fence_is_sc : 0u);
        if (fm.has(suffix::mbarrier_init)) {
            look.more = fence_is_of_inits;
        }
        if (fm.has(suffix::tensormap_generic)) {
            look.more |= fm.has(suffix::acquire) ? fence_acquires_map : fence_releases_maps;
        }
        look.run = handlers_.check_fence;
        return look;
    default: return look;
    }
    if (fm.space == suffix::local && !checks_for(check::init)) {
        return look; // nobody else's
    }
    look.run = i.op == opcode::wgmma ? handlers_.check_warpgroup : handlers_.check_access(fm);
    if (look.run == nullptr) {
        return look;
    }
    access_site site;
    site.source = source;
    site.function = &f_;
    site.id = table_.used < check::most_sites ? ++table_.used : std::uint16_t{0};
    const bool copies = i.op == opcode::cp && !fm.has(suffix::mbarrier);
    const bool object = i.op == opcode::mbarrier || (i.op == opcode::cp && !copies);
    const bool matrix = ptx::family_of(i.op) == ptx::family::matrix;
    const bool stores = i.op == opcode::st || i.op == opcode::stmatrix || (matrix && fm.has(suffix::store));
    site.verb = stores || copies || (object && fm.has(suffix::init))  ? access_verb::store
                : i.op == opcode::ld || i.op == opcode::ldu || matrix ? access_verb::load
                                                                      : access_verb::update;
    site.space = fm.space == suffix::global || fm.space == suffix::const_ ? access_space::global
                 : i.op == opcode::wgmma                                  ? access_space::shared
                 : fm.space == suffix::local                              ? access_space::local
                 : fm.space == suffix::none                               ? access_space::generic
                                                                          : access_space::shared;
    site.element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(fm.type[0]));
    site.elements = static_cast<std::uint8_t>(fm.vector);
    site.bytes = static_cast<std::uint8_t>(site.element_bytes * fm.vector);
    site.is_init = i.op == opcode::mbarrier && fm.has(suffix::init);
    site.strength = object && site.verb == access_verb::update ? check::strength::atomic : strength_of(fm);
    site.within_block = fm.has(suffix::cta);
    site.releases = fm.has(suffix::release) || fm.has(suffix::acq_rel);
    if (matrix) {
        // A lane's bytes, of which another lane may get some. What shared memory has beyond a tile's edge is often
        // loaded and not used: only global memory must have been written.
        site.bytes = matrix_access_bytes(i.op, decoded);
        site.element_bytes = site.bytes;
        site.elements = 1;
        site.used = site.space == access_space::global ? 1 : 0;
        if (i.op == opcode::stmatrix && byte_rows(fm) == 0) {
            site.is_matrix = true;
            site.is_transposed = fm.has(suffix::trans);
            site.values = decoded.places;
        }
    } else if (object) {
        site.element_bytes = 8;
        site.bytes = 8;
        site.elements = 1;
        site.used = ~0u;
        const bool waits = fm.has(suffix::test_wait) || fm.has(suffix::try_wait);
        site.acquires = waits;
        site.releases = !waits && site.verb == access_verb::update;
    } else if (copies) {
        site.bytes = static_cast<std::uint8_t>(i.operands.at(2).bits);
        site.element_bytes = site.bytes;
        site.elements = 1;
        site.source_places = decoded.places;
        site.source_flags = decoded.more;
        access_site from = site;
        from.id = table_.used < check::most_sites ? ++table_.used : std::uint16_t{0};
        from.verb = access_verb::load;
        from.space = access_space::global;
        from.used = 1;
        site.from = keep(from);
    } else if (site.verb == access_verb::load) {
        const ptx::operand& to = i.operands.at(0);
        for (unsigned k = 0; k < fm.vector; ++k) {
            site.used |= (is_used(fm.vector > 1 ? to.elements.at(k) : to) ? 1u : 0u) << k;
        }
        if (const auto found = used_bytes_.find(source); found != used_bytes_.end()) {
            site.used_bytes = found->second;
            const std::uint64_t element = (1ull << site.element_bytes) - 1;
            for (unsigned k = 0; k < fm.vector; ++k) {
                site.used &= (site.used_bytes >> (k * site.element_bytes) & element) != 0 ? ~0u : ~(1u << k);
            }
        }
        site.acquires = site.strength != check::strength::plain;
    } else {
        // An exchange whose old value nobody wants is a store to what has not been written.
        site.used = fm.has(suffix::exch) && (i.op == opcode::red || !is_used(i.operands.at(0))) ? 0 : ~0u;
        site.acquires =
            i.op == opcode::atom && (is_used(i.operands.at(0)) || fm.has(suffix::acquire) || fm.has(suffix::acq_rel));
        site.value = decoded.b;
        site.value_width = site.verb == access_verb::update ? site.bytes : decoded.width[2];
        site.values = fm.vector > 1 ? decoded.places : nullptr;
    }
    site.acquires = site.acquires && checks_for(check::race);
    site.releases = site.releases && checks_for(check::race);
    look.access = keep(site);
    return look;
}

void check_emitter::emit_before(const instruction& look, const program::register_places& places) {
    const ptx::instruction& i = f_.instructions[look.source];
    std::optional<ptx::guard> users;
    if (i.op == opcode::ld && !i.predicate && look.access->strength == check::strength::plain) {
        users = discarded_.users_of(look.source);
    }
    if (!users) {
        code_.code.push_back(look);
        return;
    }
    instruction& begin = code_.emit(handlers_.guard_begin, look.source);
    begin.e = places.offset[users->reg];
    begin.more = users->negated ? 1 : 0;
    begin.immediate = 3; // past the end of the guard
    code_.code.push_back(look);
    code_.emit(handlers_.guard_end, look.source);
}

const access_site* check_emitter::keep(const access_site& site) {
    code_.sites.push_back(site);
    if (site.id != 0) {
        table_.by_id[site.id].store(&code_.sites.back(), std::memory_order_release);
    }
    return &code_.sites.back();
}

// Of bulk and tensor copies, st.async, red.async and st.bulk: the site of the access to shared memory of the cluster and, in `from`,
// that of the other side. Of a copy to global memory: of the read of shared memory, and of the write.
instruction check_emitter::before_bulk(const ptx::instruction& i, const form& fm, instruction look) {
    if (fm.has(suffix::commit_group) || fm.has(suffix::wait_group) || fm.has(suffix::prefetch)) {
        return look;
    }
    const auto next_id = [&] { return table_.used < check::most_sites ? ++table_.used : std::uint16_t{0}; };
    const bool copies = i.op == opcode::cp;
    const bool reduces = fm.has(suffix::reduce) || i.op == opcode::red;
    access_site site;
    site.source = look.source;
    site.function = &f_;
    site.id = next_id();
    site.bytes = fm.has(suffix::bulk) ? 16 : static_cast<std::uint8_t>(ptx::bytes_of(fm.type[0]) * fm.vector);
    site.element_bytes = site.bytes;
    site.space = access_space::shared;
    site.used = 1;
    access_site other = site;
    other.id = next_id();
    access_site& written = copies && fm.space == suffix::global ? other : site;
    access_site& read = &written == &site ? other : site;
    written.verb = reduces ? access_verb::update : access_verb::store;
    written.strength = reduces ? check::strength::atomic : check::strength::plain;
    read.verb = access_verb::load;
    if (copies) {
        other.space = fm.has(suffix::global) ? access_space::global : access_space::shared;
        site.from = keep(other);
    }
    look.access = keep(site);
    look.run = handlers_.note_bulk_site;
    return look;
}

instruction check_emitter::flow(std::uint32_t source, const program::register_places& places) {
    instruction follow;
    register_flow how;
    if (checks_for(check::init) && flows_.find(source, places, how)) {
        code_.flows.push_back(std::move(how));
        follow.source = source;
        follow.run = handlers_.follow_values;
        follow.immediate = static_cast<std::int64_t>(code_.flows.size() - 1);
    }
    return follow;
}

void check_emitter::emit_products(std::uint32_t source) {
    if (!checks_for(check::race)) {
        return;
    }
    const auto emit = [&](warpgroup_check kind, std::int64_t what) {
        instruction& look = code_.emit(handlers_.check_warpgroup, source);
        look.more = kind_of(kind);
        look.immediate = what;
    };
    if (const product_touch* const t = products_.touched_by(source)) {
        code_.touches.push_back(*t);
        emit(warpgroup_check::touch, static_cast<std::int64_t>(code_.touches.size() - 1));
    }
    if (const std::uint32_t reg = products_.unfenced_in(source); reg != product_registers::no_register) {
        emit(warpgroup_check::unfenced, reg);
    }
}

instruction check_emitter::after(const instruction& before) const {
    instruction look = before;
    const bool access = before.run != handlers_.check_warp_sync && before.run != handlers_.check_barrier &&
                        before.run != handlers_.check_fence;
    look.run = access && before.access != nullptr && before.access->acquires ? handlers_.check_acquire : nullptr;
    return look;
}

} // namespace softgpu::machine
