// SPDX-License-Identifier: MIT
// Operands of cp.async and mbarrier.
#include <cstdint>
#include <utility>
#include <vector>

#include "softgpu/machine/code/bulk_operands.hpp"
#include "softgpu/machine/code/reduction.hpp"
#include "softgpu/machine/code/tensor_kinds.hpp"
#include "softgpu/machine/decode/operands/operands.hpp"

namespace softgpu::machine {

using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

// code/bulk_operands.hpp
place* operand_layout::bulk_list(const operand& to, ptx::suffix space, instruction& d) {
    form fm;
    fm.space = space;
    instruction first;
    address(to, fm, first);
    d.more = first.width[1] == 8 ? bulk_to_is_wide : 0;
    std::vector<place> list(bulk_lists, nowhere);
    list[bulk_to] = first.a;
    list[bulk_to_offset] = constants_.immediate(static_cast<std::uint64_t>(first.immediate), 8);
    list[bulk_values] = list[bulk_coordinates] = list[bulk_offsets] = 0;
    code_.place_lists.push_back(std::move(list));
    d.places = code_.place_lists.back().data();
    return code_.place_lists.back().data();
}

void operand_layout::bulk_address(const operand& o, ptx::suffix space, unsigned which, std::uint32_t wide,
                                  instruction& d) {
    form fm;
    fm.space = space;
    instruction found;
    address(o, fm, found);
    d.more |= found.width[1] == 8 ? wide : 0u;
    place* const list = code_.place_lists.back().data();
    list[which] = found.a;
    list[which + 1] = constants_.immediate(static_cast<std::uint64_t>(found.immediate), 8);
}

void operand_layout::bulk_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    if (i.has(suffix::commit_group) || i.has(suffix::prefetch)) {
        return;
    }
    if (i.has(suffix::wait_group)) {
        d.a = source(i.operands.at(0), 4);
        return;
    }
    if (i.has(suffix::tensor)) {
        tensor_operands(i, fm, d);
        return;
    }
    const bool to_global = fm.space == suffix::global;
    place* const list = bulk_list(i.operands.at(0), to_global ? suffix::global : suffix::shared, d);
    bulk_address(i.operands.at(1), !to_global && i.has(suffix::global) ? suffix::global : suffix::shared, bulk_from,
                 bulk_from_is_wide, d);
    list[bulk_size] = exact(i.operands.at(2), 4);
    if (!to_global) {
        bulk_address(i.operands.at(3), suffix::shared, bulk_barrier, bulk_barrier_is_wide, d);
        if (i.has(suffix::multicast_cluster)) {
            list[bulk_mask] = exact(i.operands.at(4), 2);
        }
    }
    d.more |= i.has(suffix::reduce) ? reduction_number(fm, fm.type[0]) << bulk_kind_shift : 0;
}

// A tensor map and its coordinates stand in one pair of brackets.
void operand_layout::tensor_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    const bool loads = fm.space != suffix::global;
    const operand& tensor = i.operands.at(loads ? 1 : 0);
    if (tensor.kind != operand_kind::address || tensor.elements.empty()) {
        throw ptx::error(tensor.where, "a tensor map and coordinates in brackets belong here");
    }
    const operand& shared = i.operands.at(loads ? 0 : 1);
    std::size_t next = 2;
    bulk_list(loads ? shared : tensor, loads ? suffix::shared : suffix::global, d);
    bulk_address(loads ? tensor : shared, loads ? suffix::global : suffix::shared, bulk_from, bulk_from_is_wide, d);
    if (loads) {
        bulk_address(i.operands.at(next++), suffix::shared, bulk_barrier, bulk_barrier_is_wide, d);
    }
    std::vector<place>& list = code_.place_lists.back();
    const auto add = [&](const std::vector<operand>& from, unsigned bytes, bulk_operand count) {
        list[count] = static_cast<place>(from.size());
        for (const operand& o : from) {
            list.push_back(exact(o, bytes));
        }
    };
    add(tensor.elements.front().elements, 4, bulk_coordinates);
    if (is_by_rows(fm) && list[bulk_coordinates] != walked_rows + 1) {
        throw ptx::error(tensor.where, "a coordinate and four rows belong here");
    }
    if (loads && fm.has(suffix::im2col)) {
        const operand& offsets = i.operands.at(next++);
        add(offsets.elements.empty() ? std::vector{offsets} : offsets.elements, 2, bulk_offsets);
    }
    if (i.has(suffix::multicast_cluster)) {
        list[bulk_mask] = exact(i.operands.at(next++), 2);
    }
    d.places = list.data();
    d.more |= tensor_kind(fm) << bulk_kind_shift;
}

// tensormap.replace [map], {dimension,} value and tensormap.cp_fenceproxy [to], [from], 128.
void operand_layout::tensor_map_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    const bool in_shared = fm.space == suffix::shared || fm.space == suffix::shared_cta;
    place* const list = bulk_list(i.operands.at(0), in_shared ? suffix::shared : suffix::global, d);
    d.width[3] = in_shared ? 0 : 1;
    if (fm.has(suffix::cp_fenceproxy)) {
        bulk_address(i.operands.at(1), suffix::shared, bulk_from, bulk_from_is_wide, d);
        return;
    }
    const bool by_dimension = i.operands.size() == 3;
    if (by_dimension) {
        list[bulk_size] = exact(i.operands[1], 4);
    }
    const unsigned bytes = ptx::bytes_of(fm.type[1]);
    list[bulk_from] = exact(i.operands.at(by_dimension ? 2 : 1), bytes);
    d.width[2] = static_cast<std::uint8_t>(bytes);
    d.more |= tensor_map_field(fm) << bulk_kind_shift;
}

// st.async [a], b, [barrier] and red.async.
void operand_layout::async_store_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    bulk_list(i.operands.at(0), suffix::shared, d);
    bulk_address(i.operands.at(2), suffix::shared, bulk_barrier, bulk_barrier_is_wide, d);
    const operand& from = i.operands.at(1);
    const unsigned bytes = ptx::bytes_of(fm.type[0]);
    std::vector<place>& list = code_.place_lists.back();
    list[bulk_values] = fm.vector;
    if (from.elements.size() != (fm.vector == 1 ? 0 : fm.vector)) {
        throw ptx::error(from.where, "as many values as the vector has belong here");
    }
    for (unsigned k = 0; k < fm.vector; ++k) {
        list.push_back(exact(fm.vector == 1 ? from : from.elements[k], bytes));
    }
    d.width[2] = static_cast<std::uint8_t>(bytes);
    d.places = list.data();
    d.more |= i.op == ptx::opcode::red ? reduction_number(fm, fm.type[0]) << bulk_kind_shift : 0;
}

// st.bulk [a], size, 0.
void operand_layout::bulk_zero_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    const operand& size = i.operands.at(1);
    const operand& value = i.operands.at(2);
    if (value.kind != operand_kind::integer || value.bits != 0) {
        throw ptx::error(value.where, "st.bulk stores zeros only");
    }
    place* const list = bulk_list(i.operands.at(0), fm.space, d);
    const std::uint8_t own = lane_bytes(f_, size);
    d.width[2] = own != 0 ? own : 8;
    list[bulk_size] = exact(size, d.width[2] == 4 ? 4 : 8);
    d.more |= fm.space == suffix::none ? bulk_to_is_generic : 0;
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
