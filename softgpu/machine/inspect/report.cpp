// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/report.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/module/loaded_module.hpp"

namespace softgpu::machine {

namespace {

check::finding_access described(const launch_state& l, const access_facts& a) {
    check::finding_access out;
    out.what = a.what;
    out.where = source_place_of(*l.home, a.where);
    out.block = l.request->grid.index(a.block);
    out.thread = l.request->block.index(a.thread);
    out.has_thread = a.is_one_thread;
    out.value = a.value;
    return out;
}

// The variable at this offset of shared memory.
std::string shared_variable(const launch_state& l, std::uint64_t at) {
    const std::string* name = nullptr;
    std::uint64_t begin = 0;
    for (const auto& [variable, where] : l.of->shared_places) {
        if (where <= at && (name == nullptr || where >= begin)) {
            name = &variable->name;
            begin = where;
        }
    }
    return name == nullptr ? std::string() : "variable " + demangled(*name) + ", byte " + std::to_string(at - begin);
}

} // namespace

check::launch_checks::alike alike_of(check::check_set check, const char* kind, bool is_note,
                                     const instruction_place& first, const instruction_place& second, reach between) {
    const auto number = [](const instruction_place& p) {
        return p.function == nullptr ? ~0ull
                                     : reinterpret_cast<std::uint64_t>(p.function->instructions.data() + p.index);
    };
    const auto [least, most] = std::minmax({number(first), number(second)});
    return {check, kind, is_note, least, most, static_cast<unsigned>(between)};
}

bool count_again(launch_state& l, check::check_set check, const char* kind, bool is_note,
                 const instruction_place& first, const instruction_place& second, reach between) {
    return l.checks->count_again(alike_of(check, kind, is_note, first, second, between));
}

instruction_place place_of(const warp* w, const instruction* i) {
    return {frame_of(w->frame)->code->source, i->source};
}

void report(launch_state& l, finding_facts what, const access_facts& now, const access_facts* before) {
    check::finding f;
    f.check = what.check;
    f.kind = what.kind;
    f.is_note = what.is_note;
    f.message = std::move(what.message);
    f.kernel = demangled(l.kernel_name);
    f.address = std::move(what.at.address);
    f.allocation = std::move(what.at.allocation);
    f.accesses.push_back(described(l, now));
    if (before != nullptr) {
        f.accesses.push_back(described(l, *before));
    }
    l.checks->add(alike_of(what.check, what.kind, what.is_note, now.where,
                           before != nullptr ? before->where : instruction_place{}, what.between),
                  std::move(f));
}

void report_end(warp* w, const instruction* i, const char* kind, std::string message, unsigned lane) {
    launch_state& l = *w->host->launch;
    if (l.checks == nullptr) {
        return;
    }
    report(l, {.check = check::memory, .kind = kind, .message = std::move(message)},
           {"the kernel ends here", place_of(w, i), w->owner->linear, thread_of(w, lane), {}});
}

std::string mask_text(lane_mask m) {
    char text[16];
    std::snprintf(text, sizeof(text), "0x%08x", m);
    return text;
}

std::string index_text(const std::array<std::uint32_t, 3>& index) {
    return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," + std::to_string(index[2]) + ")";
}

std::string access_text(const access_site& site) {
    const char* const verb = site.verb == access_verb::load    ? "read"
                             : site.verb == access_verb::store ? "write"
                                                               : "atomic update";
    const char* const kind = site.verb == access_verb::update              ? ""
                             : site.strength == check::strength::volatile_ ? "volatile "
                             : site.strength == check::strength::strong    ? "strong "
                                                                           : "";
    return std::string(kind) + verb + " of " + std::to_string(site.bytes) + (site.bytes == 1 ? " byte" : " bytes");
}

std::string value_text(const std::vector<std::uint32_t>& words, const access_site& site) {
    char text[64];
    const std::uint32_t word = words.front();
    const float f = std::bit_cast<float>(word);
    const bool floating = (f > 1e-6f && f < 1e9f) || (f < -1e-6f && f > -1e9f);
    if (words.size() > 1) {
        std::string all = "0x";
        for (std::size_t k = words.size(); k-- > 0;) {
            std::snprintf(text, sizeof(text), "%08x", words[k]);
            all += text;
        }
        return all;
    }
    if (site.bytes < 4) {
        std::snprintf(text, sizeof(text), "0x%x", word);
    } else if (floating) {
        std::snprintf(text, sizeof(text), "0x%x (%d, as float %g)", word, static_cast<std::int32_t>(word),
                      static_cast<double>(f));
    } else {
        std::snprintf(text, sizeof(text), "0x%x (%d)", word, static_cast<std::int32_t>(word));
    }
    return text;
}

std::uint32_t thread_of(const warp* w, unsigned lane) { return w->index * lanes + lane; }

address_facts place_in_shared(const launch_state& l, std::uint64_t at) {
    return {"shared memory + " + std::to_string(at), shared_variable(l, at)};
}

address_facts place_in_global(const launch_state& l, std::uint64_t at) {
    return {hexadecimal(at), l.checks->owner.all_memories().describe(at)};
}

access_facts access_by_site(const access_site& site, const warp* w, unsigned lane) {
    return {access_text(site), {site.function, site.source}, w->owner->linear, thread_of(w, lane), {}};
}

access_facts access_by_opcode(const instruction_place& where, const warp* w, unsigned lane) {
    const ptx::opcode op = where.function->instructions[where.index].op;
    return {std::string(ptx::name_of(op)), where, w->owner->linear, thread_of(w, lane), {}};
}

} // namespace softgpu::machine
