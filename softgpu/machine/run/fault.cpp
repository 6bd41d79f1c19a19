// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/fault.hpp"

#include <bit>
#include <cstdint>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/code/used_bytes.hpp"
#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/module/kernel.hpp"
#include "softgpu/machine/module/shared_layout.hpp"
#include "softgpu/memory/host_page.hpp"
#include "softgpu/memory/peers.hpp"

namespace softgpu::machine {

namespace {

std::string where(const warp* w, unsigned lane) {
    const launch_state& l = *w->host->launch;
    return "kernel " + demangled(l.kernel_name) + ", block " +
           index_text({w->owner->id.x, w->owner->id.y, w->owner->id.z}) + ", thread " +
           index_text(l.request->block.index(w->index * lanes + lane));
}

// The source line of an instruction and those it is inlined at, where the PTX has them (-lineinfo).
std::string source_line(const warp* w, const program_code& code, const instruction* i) {
    const std::string at = check::source_lines(source_place_of(*w->host->launch->home, {code.source, i->source}));
    return at.empty() ? at : ", " + at;
}

// Where in the source that is, and how the kernel came there: the innermost calls.
std::string call_path(const warp* w, const instruction* i) {
    constexpr unsigned most = 8;
    const call_frame* f = frame_of(w->frame);
    std::string text = source_line(w, *f->code, i);
    for (unsigned n = 0; f->caller != nullptr; f = f->caller, ++n) {
        if (n == most) {
            return text + ", and so on: " + std::to_string(f->depth) + " calls more";
        }
        text +=
            (n == 0 ? ", in " : ", called by ") + demangled(f->code->name) + source_line(w, *f->caller->code, f->from);
    }
    return text;
}

void record(warp* w, fault_kind kind, std::string message) {
    launch_state& l = *w->host->launch;
    const std::lock_guard lock(l.fault_mutex);
    if (!l.first_fault) {
        l.first_fault = {kind, std::move(message)};
    }
    l.stop.store(true, std::memory_order_release);
}

const char* finding_kind(fault_kind kind) {
    switch (kind) {
    case fault_kind::misaligned_address: return "misaligned access";
    case fault_kind::trap: return "trap";
    case fault_kind::illegal_instruction: return "illegal instruction";
    case fault_kind::stack_overflow: return "stack overflow";
    case fault_kind::unsupported: return "unsupported instruction";
    default: return "illegal address";
    }
}

// The checks keep freed memory from use, so that it is known.
std::optional<memory::allocation> freed_at(const launch_state& l, std::uint64_t at) {
    return l.checks == nullptr ? std::nullopt : l.checks->owner.all_memories().find_released(at);
}

// Of virtual memory; empty for all other.
std::string wrong_mapping(const launch_state& l, std::uint64_t at) {
    const auto mapped = memory::peers::find_reachable(*l.memory, at);
    if (mapped && mapped->kind == memory::allocation_kind::mapped) {
        return mapped->rights == memory::access_rights::none   ? "the memory mapped here has no access for this device"
               : mapped->rights == memory::access_rights::read ? "the memory mapped here is read-only for this device"
                                                               : "";
    }
    return memory::peers::is_reserved(*l.memory, at)
               ? "these addresses are reserved, and no memory is mapped here with access for this device"
               : "";
}

std::string beside(const launch_state& l, std::uint64_t at) {
    if (const char* const what = memory::peers::describe(*l.memory, at)) {
        return std::string("; it is ") + what;
    }
    const auto near = l.memory->nearest(at);
    if (const char* const what = memory::far_place(*l.memory, near, at)) {
        return std::string("; it is ") + what;
    }
    if (!near) {
        return "; nothing is allocated";
    }
    const std::uint64_t end = near->base + near->bytes;
    const bool array = near->kind == memory::allocation_kind::array;
    const std::string what = array                ? "the nearest, " + near->name + ","
                             : near->name.empty() ? "the nearest allocation"
                                                  : "the nearest, variable " + near->name + ",";
    const std::string extent_text = " of " + std::to_string(near->bytes) + " bytes at " + hexadecimal(near->base);
    if (at >= end) {
        return "; " + what + extent_text + " ends " + std::to_string(at - end) + " bytes before";
    }
    if (at < near->base) {
        return "; " + what + extent_text + " begins " + std::to_string(near->base - at) + " bytes behind";
    }
    return "; it begins in " + what + extent_text + " and runs over its end";
}

} // namespace

bool look_up_allocation(worker* host, std::uint64_t at, std::uint64_t bytes, bool writes) {
    const launch_state& l = *host->launch;
    auto found = memory::peers::find_reachable(*l.memory, at, bytes);
    if (l.checks != nullptr && l.checks->operations() != nullptr) {
        if (!found) {
            // What is freed in an order that is not this launch's is still there, for the checks to say so.
            found = l.checks->owner.all_memories().find_released(at);
            if (!found || !found->contains(at, bytes) ||
                !l.checks->operations()->may_touch_freed(l.checks->record(), found->serial)) {
                return false;
            }
        }
        l.checks->touch(found->serial);
    }
    if (!found) {
        return false;
    }
    if (found->rights != memory::access_rights::read_write) {
        return found->rights == memory::access_rights::read && !writes;
    }
    host->known[host->known_next] = {found->base, found->bytes};
    host->known_next = (host->known_next + 1) % static_cast<unsigned>(host->known.size());
    return true;
}

bool uses_allocated_bytes(const warp* w, const instruction* i, std::uint64_t at) {
    const auto masks = used_bytes_of(*frame_of(w->frame)->code->source);
    const auto found = masks.find(i->source);
    if (found == masks.end()) {
        return false;
    }
    const auto first = static_cast<unsigned>(std::countr_zero(found->second));
    return look_up_allocation(w->host, at + first, std::bit_width(found->second) - first, false);
}

const instruction* raise(warp* w, const instruction* i, fault_kind kind, const char* what, lane_mask by) {
    const program_code& code = *frame_of(w->frame)->code;
    std::string text = what;
    if (kind == fault_kind::unsupported) {
        text += ": " + ptx::print(*code.source, code.source->instructions[i->source]);
    }
    return raise_text(w, i, kind, text, static_cast<unsigned>(std::countr_zero(by)));
}

const instruction* raise_text(warp* w, const instruction* i, fault_kind kind, const std::string& what, unsigned lane) {
    const launch_state& l = *w->host->launch;
    if (l.checks != nullptr && !l.checks->has_found(invalid_free)) {
        report_end(w, i, finding_kind(kind), what, lane);
    }
    record(w, kind, where(w, lane) + ": " + what + call_path(w, i));
    return nullptr;
}

const instruction* raise_verbatim(warp* w, fault_kind kind, std::string message) {
    record(w, kind, std::move(message));
    return nullptr;
}

const instruction* raise_access(warp* w, const instruction* i, const char* verb, const char* space, std::uint64_t at,
                                std::uint32_t bytes, bool misaligned, unsigned lane) {
    const launch_state& l = *w->host->launch;
    std::string text = std::string("cannot ") + verb + " " + std::to_string(bytes) +
                       (bytes == 1 ? " byte of " : " bytes of ") + space + " memory at " + hexadecimal(at);
    if (misaligned) {
        text += ": misaligned";
    } else if (std::string_view(space) == "global") {
        const auto freed = freed_at(l, at);
        const std::string mapping = wrong_mapping(l, at);
        text += !mapping.empty() ? ": " + mapping
                : freed ? ": freed; it was in the allocation of " + std::to_string(freed->bytes) + " bytes at " +
                              hexadecimal(freed->base)
                        : ": out of bounds" + beside(l, at);
    } else if (std::string_view(space) == "shared") {
        text += ": out of bounds; the block has " + std::to_string(shared_layout_of(*l.of, *l.request).own) + " bytes";
    } else {
        text += ": out of bounds; the thread has " + std::to_string(l.local_bytes) + " bytes";
    }
    if (l.checks != nullptr) { // whichever are on: it ends the kernel
        const bool global = std::string_view(space) == "global";
        const bool freed = global && !misaligned && freed_at(l, at).has_value();
        const bool mapping = global && !misaligned && !wrong_mapping(l, at).empty();
        const char* const kind = misaligned ? "misaligned access"
                                 : mapping  ? "access to unmapped memory"
                                 : freed    ? "use after free"
                                            : "out of bounds";
        const std::string noun = std::string_view(verb) == "atomically update" ? "atomic update" : verb;
        report(*w->host->launch,
               {.check = check::memory,
                .kind = kind,
                .message = text,
                .at = global ? place_in_global(l, at)
                             : address_facts{std::string(space) + " memory + " + std::to_string(at), {}}},
               {noun + " of " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"),
                place_of(w, i),
                w->owner->linear,
                thread_of(w, lane),
                {}});
    }
    record(w, misaligned ? fault_kind::misaligned_address : fault_kind::illegal_address,
           where(w, lane) + ": " + text + call_path(w, i));
    return nullptr;
}

} // namespace softgpu::machine
