// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/async/warpgroup_checks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "softgpu/check/shadow/under_way.hpp"
#include "softgpu/machine/code/matrix/warpgroup_plan.hpp"
#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/products.hpp"
#include "softgpu/machine/inspect/races/word_races.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

using check::stamp;

namespace {

constexpr const char* product_race = "race with wgmma";

product_checks& products_of(block& b) {
    if (b.checks->products == nullptr) {
        b.checks->products = std::make_shared<product_checks>();
    }
    return *b.checks->products;
}

// All live lanes of the warp are here, or parked at the instruction behind.
bool is_whole(const instruction* i, const warp* w) {
    lane_mask here = w->mask;
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        const split& s = w->splits[k];
        if (s.why == waiting::others && s.members == all_lanes && s.pc == i + 1) {
            here |= s.mask;
        }
    }
    return (w->live & ~here) == 0;
}

std::uint64_t descriptor_at(std::byte* frame, const warp* w, place at) {
    std::uint64_t value = 0;
    std::memcpy(&value, lanes_at(frame, w, at) + std::size_t{8} * static_cast<unsigned>(std::countr_zero(w->mask)), 8);
    return value;
}

void add_units(std::vector<std::uint32_t>& to, const matrix_descriptor& d, bool transposed, unsigned first_group,
               unsigned groups, unsigned terms) {
    for (unsigned g = first_group; g < first_group + groups; ++g) {
        for (unsigned k = 0; k < (transposed ? terms : 16); ++k) {
            to.push_back(transposed ? d.at_group(g, k) : d.at_row(g * 8 + k / 2, k % 2));
        }
    }
}

void product_finding(const instruction* i, const warp* w, const char* kind, std::string message,
                     const instruction_place& other, std::string other_text, unsigned other_thread) {
    launch_state& l = *w->host->launch;
    const instruction_place here = place_of(w, i);
    if (count_again(l, check::race, kind, false, here, other)) {
        return;
    }
    const access_facts before{std::move(other_text), other, w->owner->linear, other_thread, {}};
    report(l, {.check = check::race, .kind = kind, .message = std::move(message)},
           access_by_opcode(here, w, static_cast<unsigned>(std::countr_zero(w->mask))),
           other.function != nullptr ? &before : nullptr);
}

// A write of the generic proxy that no fence.proxy.async makes visible to this warp's products.
bool lacks_proxy_fence(const block& b, const warp* w, stamp s) {
    const std::vector<std::uint64_t>& fences = b.checks->proxy_fences;
    const std::uint64_t time = check::time_of(s);
    if (s == 0 || check::may_be_under_way(s) || time < b.checks->started || time < b.checks->proxy_fence_base) {
        return false;
    }
    const auto fenced = [&](unsigned warp, unsigned lane) {
        const std::size_t thread = std::size_t{warp} * lanes + lane;
        return thread < fences.size() && time < fences[thread];
    };
    const unsigned writer = check::warp_of(s);
    bool any = fenced(writer, check::lane_of(s));
    for (unsigned l = 0; l < lanes; ++l) {
        any = any || ((s & check::several_lanes) != 0 && fenced(writer, l));
        // Known by an mbarrier: when it became known is not.
        any = any || (b.checks->record != nullptr && fenced(w->index, l));
    }
    return !any;
}

const instruction* look_at_product(const instruction* i, std::byte* frame, warp* w) {
    block& b = *w->owner;
    check::block_view& v = *b.view;
    if (!is_whole(i, w) || v.shared_writes == nullptr) {
        return i + 1;
    }
    b.checks->clock.synchronize_warp(w->index, all_lanes, true);
    product_checks& known = products_of(b);
    const matrix_plan& plan = *reinterpret_cast<const matrix_plan*>(static_cast<std::uintptr_t>(i->immediate));
    product_checks::product p{frame_of(frame)->code->source, i->source, known.groups[w->index],
                              ++known.started[w->index],     {},        {}};
    if (i->a != nowhere) {
        for (unsigned k = 0; k < warpgroup_warps; ++k) {
            add_units(k == w->index % warpgroup_warps ? p.units : p.other_units,
                      matrix_descriptor(descriptor_at(frame, w, i->a)), (i->more & warpgroup_transposes_a) != 0, k * 2,
                      2, plan.terms);
        }
    }
    add_units(p.units, matrix_descriptor(descriptor_at(frame, w, i->b)), (i->more & warpgroup_transposes_b) != 0, 0,
              plan.columns / 8, plan.terms);
    const std::uint64_t size = b.launch->shared_bytes;
    for (auto* const list : {&p.units, &p.other_units}) {
        std::erase_if(*list,
                      [&](std::uint32_t at) { return at + product_unit > size; }); // the product itself will say so
    }
    v.warps[w->index].touched = v.time;
    word_access word(i, frame, w, access_space::shared);
    const auto lane = static_cast<unsigned>(std::countr_zero(w->mask));
    const stamp mine = check::under_way(b.checks->started) | static_cast<stamp>(i->access->id) << check::site_shift |
                       static_cast<stamp>(w->index) << check::warp_shift | check::bytes_bits;
    auto& readers = known.by_group[w->index / warpgroup_warps];
    readers.resize(size / product_unit + 1);
    for (const std::uint32_t at : p.units) {
        for (unsigned k = 0; k < product_unit; k += 4) {
            stamp& written = v.shared_writes[(at + k) / 4];
            stamp& read = v.shared_reads[(at + k) / 4];
            const stamp by = __atomic_load_n(&written, __ATOMIC_RELAXED);
            word.look(written, read, at + k, lane, k, 15);
            read = mine;
            if (lacks_proxy_fence(b, w, by)) {
                const access_site* const site = b.checks->sites->by_id[check::site_of(by)];
                product_finding(i, w, "missing fence.proxy.async",
                                "wgmma reads shared memory + " + std::to_string(at + k) +
                                    ", which was written without fence.proxy.async behind",
                                site != nullptr ? instruction_place{site->function, site->source} : instruction_place{},
                                site != nullptr ? access_text(*site) : "a write",
                                check::warp_of(by) * lanes + check::lane_of(by));
            }
        }
    }
    for (const auto* const list : {&p.units, &p.other_units}) {
        for (const std::uint32_t at : *list) {
            product_checks::reader& r = readers[at / product_unit];
            if (r.number < p.number) {
                r = {p.number, {}};
            }
        }
    }
    known.by_warp[w->index].push_back(std::move(p));
    return i + 1;
}

// The warp has waited for the product.
void end_product(const block& b, const warp* w, product_checks& known, const product_checks::product& p) {
    auto& readers = known.by_group[w->index / warpgroup_warps];
    for (const auto* const list : {&p.units, &p.other_units}) {
        for (const std::uint32_t at : *list) {
            product_checks::reader& r = readers[at / product_unit];
            if (r.number <= p.number) {
                r.waited[w->index % warpgroup_warps] = b.view->time;
            }
        }
    }
}

void wait_for_products(const instruction* i, warp* w) {
    product_checks& known = products_of(*w->owner);
    auto& mine = known.by_warp[w->index];
    w->owner->view->warps[w->index].touched = w->owner->view->time;
    const auto keep = static_cast<std::uint64_t>(i->immediate);
    std::erase_if(mine, [&](const product_checks::product& p) {
        if (p.group + keep >= known.groups[w->index]) {
            return false;
        }
        end_product(*w->owner, w, known, p);
        return true;
    });
    w->owner->checks->clock.synchronize_warp(w->index, all_lanes, true);
}

bool names(const ptx::operand& list, std::uint32_t reg) {
    return std::ranges::any_of(list.elements,
                               [&](const ptx::operand& e) { return e.kind == ptx::operand_kind::reg && e.reg == reg; });
}

void look_at_touch(const instruction* i, std::byte* frame, const warp* w) {
    const program_code& code = *frame_of(frame)->code;
    const product_touch& t = code.touches[static_cast<std::size_t>(i->immediate)];
    for (const product_checks::product& p : products_of(*w->owner).by_warp[w->index]) {
        const ptx::instruction& product = p.function->instructions[p.source];
        if (p.function == code.source && names(product.operands.at(t.is_factor ? 1 : 0), t.reg)) {
            product_finding(i, w, product_race,
                            "register " + code.source->registers[t.reg].name + " is " +
                                (t.writes ? "written" : "read") + " while wgmma.mma_async may still " +
                                (t.is_factor ? "read" : "write") + " it: no wgmma.wait_group in between",
                            {p.function, p.source}, "wgmma.mma_async",
                            w->index * lanes + static_cast<unsigned>(std::countr_zero(w->mask)));
            return;
        }
    }
}

} // namespace

const instruction* check_warpgroup(const instruction* i, std::byte* frame, warp* w) {
    if (!w->host->launch->check_races) {
        return i + 1;
    }
    switch (static_cast<warpgroup_check>(i->more >> warpgroup_check_shift)) {
    case warpgroup_check::product: return look_at_product(i, frame, w);
    case warpgroup_check::commit:
        if (is_whole(i, w)) {
            ++products_of(*w->owner).groups[w->index];
        }
        break;
    case warpgroup_check::wait:
        if (is_whole(i, w)) {
            wait_for_products(i, w);
        }
        break;
    case warpgroup_check::touch: look_at_touch(i, frame, w); break;
    case warpgroup_check::unfenced:
        product_finding(i, w, "missing wgmma.fence",
                        "register " +
                            frame_of(frame)->code->source->registers[static_cast<std::size_t>(i->immediate)].name +
                            " of wgmma.mma_async was written without wgmma.fence behind",
                        {}, {}, 0);
        break;
    }
    return i + 1;
}

} // namespace softgpu::machine
