// SPDX-License-Identifier: MIT
#include "softgpu/machine/calls/calls.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/module/callees.hpp"
#include "softgpu/machine/module/kernel_code.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/run/fill_constants.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/memory/alignment.hpp"

namespace softgpu::machine {

namespace {

std::byte* local_of(const warp* w, unsigned lane) {
    return w->owner->local + std::size_t{w->index * lanes + lane} * w->host->launch->local_bytes;
}

// The function as this worker runs it; decodes it at its first call. Throws ptx::error.
worker_function& prepared(warp* w, const function_entry& f) {
    const auto found = w->host->functions.find(&f);
    if (found != w->host->functions.end()) {
        return *found->second;
    }
    launch_state& l = *w->host->launch;
    auto fresh = std::make_unique<worker_function>();
    {
        const std::lock_guard lock(l.home->linked->mutex);
        fresh->code = &code_of(*l.of, f, variant_of(*l.request));
    }
    fresh->executions.resize(fresh->code->block_instructions.size());
    fresh->constants = constants_of_launch(*fresh->code, l, fresh->constant_storage);
    fill_block_values(*fresh->code, l, *w->owner, fresh->constants);
    return *w->host->functions.emplace(&f, std::move(fresh))
                .first->second; // only what is decoded: others read them all
}

call_frame* take_frame(warp* w, worker_function& f) {
    if (!f.free.empty()) {
        call_frame* const kept = f.free.back();
        f.free.pop_back();
        fill_warp_values(*f.code, *w->host->launch, w->index, kept->registers());
        return kept;
    }
    const std::size_t bytes = sizeof(call_frame) + f.code->frame_bytes;
    f.storage.emplace_back(new (std::align_val_t{64}) std::byte[bytes]());
    auto* const fresh = new (f.storage.back().get()) call_frame;
    fresh->code = f.code;
    fresh->constants = f.constants;
    fresh->executions = f.executions.data();
    fresh->home = &f;
    fill_warp_values(*f.code, *w->host->launch, w->index, fresh->registers());
    return fresh;
}

void give_arguments(warp* w, std::byte* caller, const call_site& site, call_frame* f) {
    std::byte* const registers = f->registers();
    for (std::size_t k = 0; k < f->code->arguments.size(); ++k) {
        const parameter_area& to = f->code->arguments[k];
        const parameter_area& from = site.arguments[k];
        if (from.at == nowhere) {
            continue;
        }
        const std::byte* const given = lanes_at(caller, w, from.at);
        if (from.stride == to.stride) {
            std::memcpy(registers + to.at, given, std::size_t{to.stride} * lanes);
        } else {
            std::memset(registers + to.at, 0, std::size_t{to.stride} * lanes);
            each_lane(w->mask, [&](unsigned l) {
                std::memcpy(registers + to.at + l * to.stride, given + l * from.stride,
                            std::min(to.stride, from.stride));
            });
        }
        if (to.local != parameter_area::not_in_memory) {
            each_lane(w->mask, [&](unsigned l) {
                const std::uint64_t bytes = std::min<std::uint64_t>(to.stride, f->code->source->parameters[k].bytes());
                std::memcpy(local_of(w, l) + f->local_base + to.local, registers + to.at + l * to.stride, bytes);
            });
        }
    }
    for (const local_address& a : f->code->local_addresses) {
        const std::uint64_t address = f->local_base + a.offset;
        for (unsigned l = 0; l < lanes; ++l) {
            std::memcpy(registers + a.at + 8 * l, &address, 8);
        }
    }
}

// The frame of a new call by the running lanes; nullptr: a fault was raised.
call_frame* new_call(const instruction* i, std::byte* frame, warp* w, const function_entry& entry,
                     const call_site& site) {
    worker_function* f = nullptr;
    try {
        f = &prepared(w, entry);
    } catch (const ptx::error& e) {
        raise_text(w, i, fault_kind::invalid_ptx, "function " + demangled(entry.name) + ": PTX " + e.what(),
                   static_cast<unsigned>(std::countr_zero(w->mask)));
        return nullptr;
    }
    const program_code& code = *f->code;
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    // Numba declares functions without a result as if they had one; the caller then reads what nothing has written.
    const bool has_no_such_result = site.results.size() > code.results.size() && !code.results.empty();
    if (site.arguments.size() != code.arguments.size() || has_no_such_result) {
        raise_text(w, i, fault_kind::trap,
                   "function " + demangled(entry.name) + " takes " + std::to_string(code.arguments.size()) +
                       " arguments, and is called with " + std::to_string(site.arguments.size()),
                   first);
        return nullptr;
    }
    call_frame* const caller = frame_of(frame);
    std::uint32_t top = 0;
    each_lane(w->mask, [&](unsigned l) { top = std::max(top, caller->top[l]); });
    const std::uint64_t base = std::uint64_t{round_up(top, 16)} + call_overhead;
    if (base + code.local_bytes > w->host->launch->local_bytes) {
        raise_text(w, i, fault_kind::stack_overflow,
                   "stack overflow: the thread's " + std::to_string(w->host->launch->local_bytes) +
                       " bytes do not hold call number " + std::to_string(caller->depth + 1) + " in a row, of " +
                       demangled(entry.name),
                   first);
        return nullptr;
    }
    call_frame* const fresh = take_frame(w, *f);
    fresh->caller = caller;
    fresh->from = i;
    fresh->inside = w->mask;
    fresh->depth = caller->depth + 1;
    fresh->local_base = static_cast<std::uint32_t>(base);
    fresh->top.fill(fresh->local_base + code.local_bytes);
    give_arguments(w, frame, site, fresh);
    return fresh;
}

// What the lanes of an indirect call want: the function of the first one, and which lanes agree. nullptr: a fault was
// raised.
const function_entry* chosen(const instruction* i, std::byte* frame, warp* w, lane_mask& same) {
    const std::byte* const addresses = lanes_at(frame, w, i->site->target);
    const auto address_in = [&](unsigned l) {
        std::uint64_t at;
        std::memcpy(&at, addresses + 8 * l, 8);
        return at;
    };
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    const std::uint64_t at = address_in(first);
    same = 0;
    each_lane(w->mask, [&](unsigned l) { same |= (address_in(l) == at ? 1u : 0u) << l; });
    const auto* const f = static_cast<const function_entry*>(w->host->launch->memory->code_at(at));
    if (f == nullptr) {
        char text[80];
        std::snprintf(text, sizeof(text), "call through a pointer that is no function: 0x%llx",
                      static_cast<unsigned long long>(at));
        raise_text(w, i, fault_kind::illegal_address, text, first);
    }
    return f;
}

// Runs a builtin, or says that there is nothing to call. false: a fault was raised.
bool run_builtin(const instruction* i, warp* w, const function_entry& f, const call_site& site) {
    if (f.run != nullptr) {
        return f.run(i, w, site);
    }
    const bool kernel = f.source != nullptr;
    raise_text(w, i, fault_kind::unsupported,
               kernel ? "call of the kernel " + f.name
                      : "call of " + f.name + ", which neither the program nor the software GPU has",
               static_cast<unsigned>(std::countr_zero(w->mask)));
    return false;
}

struct element {
    unsigned bytes;
    unsigned count;
    bool is_signed;
};
element element_of(const instruction* i) {
    return {i->more & element_bytes_bits, i->more >> element_count_shift & 0xFF, (i->more & element_is_signed) != 0};
}

std::uint64_t value_in(const std::byte* at, unsigned lane, unsigned width) {
    std::uint64_t value = 0;
    std::memcpy(&value, at + std::size_t{lane} * width, std::min(width, 8u));
    return value;
}

} // namespace

const instruction* call_function(const instruction* i, std::byte* frame, warp* w) {
    const call_site& site = *i->site;
    lane_mask same = w->mask;
    const function_entry* const f = site.to != nullptr ? site.to : chosen(i, frame, w, same);
    if (f == nullptr) {
        return nullptr;
    }
    const bool is_builtin = f->source == nullptr || f->source->is_entry;
    const instruction* const behind = i + 1;
    if (is_builtin && site.to != nullptr) {
        return run_builtin(i, w, *f, site) ? behind : nullptr;
    }
    if (--w->budget < 0) {
        return give_way(w, i);
    }
    // One function at a time: the other lanes come here again.
    join_at(w, behind);
    if (same != w->mask) {
        part(w, i, w->mask & ~same);
    }
    if (is_builtin) {
        return run_builtin(i, w, *f, site) ? arrive(w) : nullptr;
    }
    call_frame* const callee = new_call(i, frame, w, *f, site);
    if (callee == nullptr) {
        return nullptr;
    }
    enter_frame(w, callee->registers());
    w->pc = callee->code->code.data();
    return nullptr;
}

const instruction* after_call(const instruction* i, std::byte* /*frame*/, warp* /*w*/) { return i + 1; }

const instruction* return_lanes(const instruction* i, std::byte* frame, warp* w) {
    lane_mask gone = w->mask;
    if (i->e != nowhere) {
        lane_mask p;
        std::memcpy(&p, lanes_at(frame, w, i->e), 4);
        gone &= i->more != 0 ? ~p : p;
        if (gone == 0) {
            return i + 1;
        }
    }
    call_frame* const f = frame_of(frame);
    std::byte* const caller = f->caller->registers();
    const call_site& site = *f->from->site;
    for (std::size_t k = 0; k < std::min(site.results.size(), f->code->results.size()); ++k) {
        const parameter_area& from = f->code->results[k];
        const parameter_area& to = site.results[k];
        if (to.at == nowhere) {
            continue;
        }
        if (gone == all_lanes && from.stride == to.stride) {
            std::memcpy(caller + to.at, frame + from.at, std::size_t{to.stride} * lanes);
            continue;
        }
        each_lane(gone, [&](unsigned l) {
            std::memcpy(caller + to.at + l * to.stride, frame + from.at + l * from.stride,
                        std::min(from.stride, to.stride));
        });
    }
    return come_back(w, gone, i + 1);
}

const instruction* load_parameter(const instruction* i, std::byte* frame, warp* w) {
    const element e = element_of(i);
    const std::byte* const from = frame + i->a + i->immediate;
    for (unsigned k = 0; k < e.count; ++k) {
        const place to = e.count == 1 ? i->d : i->places[k];
        if (to == nowhere) {
            continue;
        }
        each_lane(w->mask, [&](unsigned l) {
            std::uint64_t value[2] = {0, 0};
            std::memcpy(value, from + std::size_t{l} * i->e + std::size_t{k} * e.bytes, e.bytes);
            if (e.is_signed && e.bytes < 8 && (value[0] >> (8 * e.bytes - 1) & 1) != 0) {
                value[0] |= ~0ull << (8 * e.bytes);
            }
            std::memcpy(frame + to + std::size_t{l} * i->width[0], value, i->width[0]);
        });
    }
    return i + 1;
}

const instruction* store_parameter(const instruction* i, std::byte* frame, warp* w) {
    const element e = element_of(i);
    std::byte* const to = frame + i->d + i->immediate;
    for (unsigned k = 0; k < e.count; ++k) {
        const std::byte* const from = lanes_at(frame, w, e.count == 1 ? i->b : i->places[k]);
        each_lane(w->mask, [&](unsigned l) {
            std::memcpy(to + std::size_t{l} * i->e + std::size_t{k} * e.bytes, from + std::size_t{l} * i->width[0],
                        std::min<unsigned>(e.bytes, i->width[0]));
        });
    }
    return i + 1;
}

const instruction* allocate_on_stack(const instruction* i, std::byte* frame, warp* w) {
    call_frame* const f = frame_of(frame);
    const std::byte* const sizes = lanes_at(frame, w, i->a);
    const std::uint64_t align = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(i->immediate));
    const std::uint64_t all = w->host->launch->local_bytes;
    for (lane_mask m = w->mask; m != 0; m &= m - 1) {
        const auto l = static_cast<unsigned>(std::countr_zero(m));
        const std::uint64_t bytes = value_in(sizes, l, i->width[1]);
        const std::uint64_t at = round_up<std::uint64_t>(f->top[l], align);
        if (bytes > all || at + bytes > all) {
            return raise_text(w, i, fault_kind::stack_overflow,
                              "stack overflow: the thread's " + std::to_string(all) + " bytes do not hold " +
                                  std::to_string(bytes) + " more",
                              l);
        }
        f->top[l] = static_cast<std::uint32_t>(at + bytes);
        std::memcpy(frame + i->d + std::size_t{l} * i->width[0], &at, i->width[0]);
    }
    return i + 1;
}

const instruction* save_stack(const instruction* i, std::byte* frame, warp* w) {
    const call_frame* const f = frame_of(frame);
    each_lane(w->mask, [&](unsigned l) {
        const std::uint64_t top = f->top[l];
        std::memcpy(frame + i->d + std::size_t{l} * i->width[0], &top, i->width[0]);
    });
    return i + 1;
}

const instruction* restore_stack(const instruction* i, std::byte* frame, warp* w) {
    call_frame* const f = frame_of(frame);
    const std::byte* const tops = lanes_at(frame, w, i->a);
    for (lane_mask m = w->mask; m != 0; m &= m - 1) {
        const auto l = static_cast<unsigned>(std::countr_zero(m));
        const std::uint64_t top = value_in(tops, l, i->width[1]);
        if (top < std::uint64_t{f->local_base} + f->code->local_bytes || top > f->top[l]) {
            return raise_text(w, i, fault_kind::trap, "stackrestore to what stacksave has not given", l);
        }
        f->top[l] = static_cast<std::uint32_t>(top);
    }
    return i + 1;
}

} // namespace softgpu::machine
