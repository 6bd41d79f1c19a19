// SPDX-License-Identifier: MIT
// What is said when an instruction cannot be: one line that names kernel, block, thread, and the nearest allocation.
#include <cxxabi.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "softgpu/machine/code.hpp"

namespace softgpu::machine {

namespace {

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 && text != nullptr ? text.get() : name;
}

std::string triple(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    char text[40];
    std::snprintf(text, sizeof(text), "(%u,%u,%u)", x, y, z);
    return text;
}

std::string where(const warp* w, unsigned lane) {
    const launch_state& l = *w->host->launch;
    const extent b = l.request->block;
    const std::uint32_t thread = w->index * lanes + lane;
    return "kernel " + demangled(l.kernel_name) + ", block " + triple(w->owner->id.x, w->owner->id.y, w->owner->id.z) +
           ", thread " + triple(thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

// The source line of an instruction, where the PTX has it (-lineinfo).
std::string source_line(const program_code& code, const instruction* i) {
    std::string text;
    for (const ptx::statement& s : code.source->statements) {
        if (s.kind == ptx::statement_kind::location) {
            text = ", line " + std::to_string(s.line) + " of file " + std::to_string(s.file);
        } else if (s.kind == ptx::statement_kind::instruction && s.index == i->source) {
            return text;
        }
    }
    return {};
}

// Where in the source that is, and how the kernel came there: the innermost calls.
std::string call_path(const warp* w, const instruction* i) {
    constexpr unsigned most = 8;
    const call_frame* f = frame_of(w->frame);
    std::string text = source_line(*f->code, i);
    for (unsigned n = 0; f->caller != nullptr; f = f->caller, ++n) {
        if (n == most) {
            return text + ", and so on: " + std::to_string(f->depth) + " calls more";
        }
        text += (n == 0 ? ", in " : ", called by ") + demangled(f->code->name) + source_line(*f->caller->code, f->from);
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

std::string hexadecimal(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string beside(const launch_state& l, std::uint64_t at) {
    const auto near = l.memory->nearest(at);
    if (!near) {
        return "; nothing is allocated";
    }
    const std::uint64_t end = near->base + near->bytes;
    const std::string what = near->name.empty() ? "the nearest allocation" : "the nearest, variable " + near->name + ",";
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

bool look_up_allocation(worker* host, std::uint64_t at, std::uint64_t bytes) {
    const auto found = host->launch->memory->find(at, bytes);
    if (!found) {
        return false;
    }
    host->known[host->known_next] = {found->base, found->bytes};
    host->known_next = (host->known_next + 1) % static_cast<unsigned>(host->known.size());
    return true;
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
    std::string text = std::string("cannot ") + verb + " " + std::to_string(bytes) + (bytes == 1 ? " byte of " : " bytes of ") + space +
                       " memory at " + hexadecimal(at);
    if (misaligned) {
        text += ": misaligned";
    } else if (std::string_view(space) == "global") {
        text += ": out of bounds" + beside(l, at);
    } else if (std::string_view(space) == "shared") {
        text += ": out of bounds; the block has " + std::to_string(l.shared_bytes) + " bytes";
    } else {
        text += ": out of bounds; the thread has " + std::to_string(l.local_bytes) + " bytes";
    }
    record(w, misaligned ? fault_kind::misaligned_address : fault_kind::illegal_address,
           where(w, lane) + ": " + text + call_path(w, i));
    return nullptr;
}

} // namespace softgpu::machine
