// SPDX-License-Identifier: MIT
// Operands of cp.async and mbarrier.
#include <cstdint>
#include <utility>
#include <vector>

#include "softgpu/machine/code/bulk_pieces.hpp"
#include "softgpu/machine/decode/operands/operands.hpp"

namespace softgpu::machine {

using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

// places: the other side's address and offset, the size, and of a load the mbarrier and its offset.
void operand_layout::bulk_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    if (i.has(suffix::commit_group) || i.has(suffix::wait_group) || i.has(suffix::prefetch)) {
        return;
    }
    const bool loads = fm.space != suffix::global;
    address(i.operands.at(0), fm, d);
    form other = fm;
    other.space = loads ? suffix::global : suffix::shared;
    instruction second;
    address(i.operands.at(1), other, second);
    d.more = second.width[1] == 8 ? copy_source_is_wide : 0u;
    std::vector<place> list = {second.a, constants_.immediate(static_cast<std::uint64_t>(second.immediate), 8),
                               exact(i.operands.at(2), 4)};
    if (loads) {
        instruction barrier;
        address(i.operands.at(3), fm, barrier);
        d.more |= barrier.width[1] == 8 ? bulk_barrier_is_wide : 0u;
        list.push_back(barrier.a);
        list.push_back(constants_.immediate(static_cast<std::uint64_t>(barrier.immediate), 8));
    }
    code_.place_lists.push_back(std::move(list));
    d.places = code_.place_lists.back().data();
}

void operand_layout::copy_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    if (i.has(suffix::bulk)) {
        bulk_operands(i, fm, d);
        return;
    }
    if (i.has(suffix::commit_group) || i.has(suffix::wait_all)) {
        return;
    }
    if (i.has(suffix::wait_group)) {
        d.a = source(i.operands.at(0), 4);
        return;
    }
    address(i.operands.at(0), fm, d);
    d.more = fm.space == suffix::none ? 256 : 0;
    if (i.has(suffix::mbarrier)) {
        return;
    }
    const operand& from = i.operands.at(1);
    const operand& size = i.operands.at(2);
    if (from.kind != operand_kind::address || size.kind != operand_kind::integer ||
        (size.bits != 4 && size.bits != 8 && size.bits != 16)) {
        throw ptx::error(i.where, "cp.async takes two addresses and 4, 8 or 16");
    }
    instruction second;
    form global = fm;
    global.space = suffix::global;
    address(from, global, second);
    d.more = static_cast<std::uint32_t>(size.bits) | (second.width[1] == 8 ? copy_source_is_wide : 0u);
    place filled = nowhere;
    place ignored = nowhere;
    const std::size_t further = i.operands.size() - 3 - (i.has(suffix::L2_cache_hint) && i.operands.size() > 3 ? 1 : 0);
    if (further > 0) {
        const operand& last = i.operands[3];
        const bool predicate = last.kind == operand_kind::reg && lane_bytes(f_, last) == 0;
        if (predicate) {
            ignored = source(last, 0);
            d.more |= last.negated ? copy_skip_is_negated : 0;
        } else {
            filled = exact(last, 4);
        }
    }
    code_.place_lists.push_back(
        {second.a, constants_.immediate(static_cast<std::uint64_t>(second.immediate), 8), filled, ignored});
    d.places = code_.place_lists.back().data();
}

void operand_layout::mbarrier_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    if (i.has(suffix::pending_count)) {
        d.d = exact_destination(i.operands.at(0), 4);
        d.a = exact(i.operands.at(1), 8);
        return;
    }
    std::size_t k = 0;
    const bool waits = i.has(suffix::test_wait) || i.has(suffix::try_wait);
    if (i.operands.at(0).kind != operand_kind::address) {
        const operand& to = i.operands[k++];
        if (to.kind != operand_kind::sink) {
            d.d = exact_destination(to, waits ? 0 : 8);
        }
    } else if (waits) {
        throw ptx::error(i.where, "the result is missing");
    }
    address(i.operands.at(k++), fm, d);
    d.more = (fm.space == suffix::none ? 256u : 0u) | (i.has(suffix::arrive_drop) ? 512u : 0u);
    if (k < i.operands.size()) {
        d.b = exact(i.operands[k], waits && !i.has(suffix::parity) ? 8 : 4);
    } else if (waits || i.has(suffix::init) || i.has(suffix::expect_tx) || i.has(suffix::complete_tx)) {
        throw ptx::error(i.where, "too few operands");
    }
}

} // namespace softgpu::machine
