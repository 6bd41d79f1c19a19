// SPDX-License-Identifier: MIT
#include "softgpu/machine/calls/builtins.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "softgpu/machine/calls/device_calls.hpp"
#include "softgpu/machine/calls/lane_memory.hpp"
#include "softgpu/machine/calls/printf.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

namespace {

// Argument `nth` of lane `lane`.
std::uint64_t argument(const warp* w, const call_site& site, std::size_t nth, unsigned lane) {
    std::uint64_t value = 0;
    if (nth < site.arguments.size() && site.arguments[nth].at != nowhere) {
        const parameter_area& a = site.arguments[nth];
        std::memcpy(&value, lanes_at(w->frame, w, a.at) + std::size_t{lane} * a.stride, std::min(a.stride, 8u));
    }
    return value;
}

void give_result(const warp* w, const call_site& site, unsigned lane, std::uint64_t value) {
    if (!site.results.empty() && site.results[0].at != nowhere) {
        const parameter_area& r = site.results[0];
        std::memcpy(w->frame + r.at + std::size_t{lane} * r.stride, &value, std::min(r.stride, 8u));
    }
}

// body(lane) for the active lanes in order, until one says false: a fault was raised.
template <class Body>
bool every_lane(lane_mask mask, Body&& body) {
    for (; mask != 0; mask &= mask - 1) {
        if (!body(static_cast<unsigned>(std::countr_zero(mask)))) {
            return false;
        }
    }
    return true;
}

// int vprintf(const char* format, const void* arguments)
bool run_printf(const instruction* i, warp* w, const call_site& site) {
    return every_lane(w->mask, [&](unsigned l) {
        lane_memory memory(w, i, l);
        const auto printed = print_of_lane(memory, argument(w, site, 0, l), argument(w, site, 1, l), w->owner->printed);
        if (printed) {
            give_result(w, site, l, static_cast<std::uint64_t>(static_cast<std::int64_t>(*printed)));
        }
        return printed.has_value();
    });
}

std::string in_brackets(const std::array<std::uint32_t, 3>& index) {
    return "[" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," + std::to_string(index[2]) + "]";
}

// void __assertfail(const char* message, const char* file, unsigned line, const char* function, size_t character_bytes)
bool fail_assertion(const instruction* i, warp* w, const call_site& site) {
    const extent b = w->owner->id;
    const extent size = w->host->launch->request->block;
    std::string all;
    const bool readable = every_lane(w->mask, [&](unsigned l) {
        lane_memory memory(w, i, l);
        const auto message = memory.text(argument(w, site, 0, l));
        const auto file = message ? memory.text(argument(w, site, 1, l)) : std::nullopt;
        const auto function = file ? memory.text(argument(w, site, 3, l)) : std::nullopt;
        if (!function) {
            return false;
        }
        const std::uint32_t thread = w->index * lanes + l;
        all += (all.empty() ? "" : "\n") + *file + ":" +
               std::to_string(static_cast<std::uint32_t>(argument(w, site, 2, l))) + ": " + *function +
               ": block: " + in_brackets({b.x, b.y, b.z}) + ", thread: " + in_brackets(size.index(thread)) +
               " Assertion `" + *message + "` failed.";
        return true;
    });
    if (readable) {
        report_end(w, i, "failed assertion", all.substr(0, all.find('\n')),
                   static_cast<unsigned>(std::countr_zero(w->mask)));
        raise_verbatim(w, fault_kind::assertion, std::move(all));
    }
    return false;
}

// void* malloc(size_t bytes)
bool run_malloc(const instruction* /*i*/, warp* w, const call_site& site) {
    const launch_state& launch = *w->host->launch;
    return every_lane(w->mask, [&](unsigned l) {
        give_result(w, site, l, launch.memory->allocate_on_heap(argument(w, site, 0, l), launch.request->heap_bytes));
        return true;
    });
}

// void free(void* p)
bool run_free(const instruction* i, warp* w, const call_site& site) {
    w->host->known = {}; // they may be what goes away
    return every_lane(w->mask, [&](unsigned l) {
        const std::uint64_t at = argument(w, site, 0, l);
        if (at != 0 && !w->host->launch->memory->release_on_heap(at)) {
            char text[96];
            std::snprintf(text, sizeof(text), "free of 0x%llx, which malloc has not given, or which is freed already",
                          static_cast<unsigned long long>(at));
            report_end(w, i, invalid_free, text, l);
            raise_text(w, i, fault_kind::illegal_address, text, l);
            return false;
        }
        return true;
    });
}

// void* memcpy(void* to, const void* from, size_t bytes), memmove too
bool run_copy(const instruction* i, warp* w, const call_site& site) {
    return every_lane(w->mask, [&](unsigned l) {
        const std::uint64_t to = argument(w, site, 0, l);
        const std::uint64_t bytes = argument(w, site, 2, l);
        lane_memory memory(w, i, l);
        if (bytes != 0) {
            const std::byte* const source = memory.read(argument(w, site, 1, l), bytes);
            std::byte* const target = source == nullptr ? nullptr : memory.write(to, bytes);
            if (target == nullptr) {
                return false;
            }
            std::memmove(target, source, bytes);
        }
        give_result(w, site, l, to);
        return true;
    });
}

// void* memset(void* to, int value, size_t bytes)
bool run_fill(const instruction* i, warp* w, const call_site& site) {
    return every_lane(w->mask, [&](unsigned l) {
        const std::uint64_t to = argument(w, site, 0, l);
        const std::uint64_t bytes = argument(w, site, 2, l);
        if (bytes != 0) {
            std::byte* const target = lane_memory(w, i, l).write(to, bytes);
            if (target == nullptr) {
                return false;
            }
            std::memset(target, static_cast<int>(argument(w, site, 1, l) & 0xFF), bytes);
        }
        give_result(w, site, l, to);
        return true;
    });
}

bool call_pure_virtual(const instruction* i, warp* w, const call_site& /*site*/) {
    raise_text(w, i, fault_kind::trap, "call of a pure virtual function",
               static_cast<unsigned>(std::countr_zero(w->mask)));
    return false;
}

} // namespace

builtin find_builtin(std::string_view name) {
    constexpr std::pair<std::string_view, builtin> known[] = {
        {"vprintf", run_printf}, {"__assertfail", fail_assertion},
        {"malloc", run_malloc},  {"free", run_free},
        {"memcpy", run_copy},    {"memmove", run_copy},
        {"memset", run_fill},    {"__cxa_pure_virtual", call_pure_virtual},
    };
    for (const auto& [own, run] : known) {
        if (own == name) {
            return run;
        }
    }
    return is_of_device_runtime(name) ? call_device_runtime : nullptr;
}

} // namespace softgpu::machine
