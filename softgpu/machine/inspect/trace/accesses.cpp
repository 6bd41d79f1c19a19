// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/trace/accesses.hpp"

#include <algorithm>

#include "softgpu/machine/inspect/trace/traced_block.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/machine/state/worker.hpp"

namespace softgpu::machine {

namespace {

constexpr std::uint64_t sector_bytes = 32;
constexpr std::uint64_t line_bytes = 128;

bool is_run_of(const std::uint64_t* at, std::uint64_t bytes) {
    std::uint64_t off = 0;
    for (unsigned l = 0; l < lanes; ++l) {
        off |= at[l] ^ (at[0] + l * bytes);
    }
    return off == 0;
}

// All lanes side by side.
void tell_run(std::uint32_t warp, std::uint64_t begin, std::uint64_t bytes, touch how, bool by_lanes) {
    const std::uint64_t end = begin + bytes;
    for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t next = std::min(end, (at / line_bytes + 1) * line_bytes);
        const auto first = static_cast<unsigned>(at / sector_bytes % 4);
        const auto last = static_cast<unsigned>((next - 1) / sector_bytes % 4);
        traced_block::running()->to().touched(warp, at / line_bytes, ((2u << last) - 1) & ~((1u << first) - 1),
                                              last - first + 1, how, by_lanes);
        at = next;
    }
}

// Atomics: lanes that meet at one address come one after the other, and so do sectors.
void tell_atomics(std::uint32_t warp, std::uint64_t* at, unsigned count) {
    std::sort(at, at + count);
    for (unsigned k = 0; k < count;) {
        const std::uint64_t line = at[k] / line_bytes;
        unsigned sectors = 0;
        unsigned passes = 0;
        while (k < count && at[k] / line_bytes == line) {
            const std::uint64_t sector = at[k] / sector_bytes;
            unsigned most = 0;
            while (k < count && at[k] / sector_bytes == sector) {
                const auto same = static_cast<unsigned>(std::upper_bound(at + k, at + count, at[k]) - (at + k));
                most = std::max(most, same);
                k += same;
            }
            sectors |= 1u << sector % 4;
            passes += most;
        }
        traced_block::running()->to().touched(warp, line, sectors, passes, touch::atomic, false);
    }
}

} // namespace

void tell_access(const std::uint64_t* at, lane_mask mask, std::uint64_t bytes, touch how, const warp* w,
                 bool by_lanes) {
    const memory::device_memory& memory = *w->host->launch->memory;
    const std::uint64_t windows[2] = {memory.shared_window(), memory.local_window()};
    const auto is_global = [&](std::uint64_t address) {
        return address - windows[0] >= memory::device_memory::window_bytes &&
               address - windows[1] >= memory::device_memory::window_bytes;
    };
    if (mask == all_lanes && is_global(at[0]) && is_run_of(at, bytes)) {
        tell_run(w->index, at[0], lanes * bytes, how, by_lanes);
        return;
    }
    if (how == touch::atomic) {
        std::uint64_t global[lanes];
        unsigned count = 0;
        each_lane(mask, [&](unsigned l) {
            if (is_global(at[l])) {
                global[count++] = at[l];
            }
        });
        tell_atomics(w->index, global, count);
        return;
    }
    struct part {
        std::uint64_t line;
        unsigned sectors;
    };
    part parts[lanes];
    unsigned count = 0;
    std::uint64_t lowest = ~std::uint64_t{0};
    std::uint64_t highest = 0;
    each_lane(mask, [&](unsigned l) {
        if (!is_global(at[l])) {
            return; // a generic access to shared or local memory
        }
        const std::uint64_t line = at[l] / line_bytes;
        // The last ones first: neighbours mostly share a line, or their lines rise or fall.
        unsigned k = line > highest || line < lowest ? 0 : count;
        while (k != 0 && parts[k - 1].line != line) {
            --k;
        }
        if (k == 0) {
            parts[count++] = {line, 0};
            k = count;
            lowest = std::min(lowest, line);
            highest = std::max(highest, line);
        }
        const auto first = static_cast<unsigned>(at[l] / sector_bytes % 4);
        const auto last = static_cast<unsigned>((at[l] + bytes - 1) / sector_bytes % 4);
        parts[k - 1].sectors |= ((2u << std::max(first, last)) - 1) & ~((1u << first) - 1);
    });
    for (unsigned k = 0; k < count; ++k) {
        traced_block::running()->to().touched(w->index, parts[k].line, parts[k].sectors, 0, how, by_lanes);
    }
}

} // namespace softgpu::machine
