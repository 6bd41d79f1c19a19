// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/trace/accesses.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "softgpu/machine/inspect/trace/traced_block.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/machine/state/worker.hpp"

namespace softgpu::machine {

namespace {

constexpr std::uint64_t sector_bytes = 32;
constexpr std::uint64_t line_bytes = 128;

// `step` bytes from lane to lane.
bool is_run_of(const std::uint64_t* at, std::uint64_t step) {
    std::uint64_t off = 0;
    for (unsigned l = 1; l < lanes; ++l) {
        off |= (at[l] - at[l - 1]) ^ step;
    }
    return off == 0;
}

// The sectors of a line from one to another, as a mask.
unsigned sectors_between(std::uint64_t first_byte, std::uint64_t last_byte) {
    const auto first = static_cast<unsigned>(first_byte / sector_bytes % 4);
    const auto last = static_cast<unsigned>(last_byte / sector_bytes % 4);
    return ((2u << std::max(first, last)) - 1) & ~((1u << first) - 1);
}

// All bytes from `begin` on.
void tell_run(block_trace& to, std::uint32_t warp, std::uint64_t begin, std::uint64_t bytes, touch how, bool by_lanes) {
    const std::uint64_t end = begin + bytes;
    for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t next = std::min(end, (at / line_bytes + 1) * line_bytes);
        const auto count = static_cast<unsigned>((next - 1) / sector_bytes - at / sector_bytes + 1);
        const unsigned passes = how == touch::atomic || at == begin ? count : 0;
        to.touched(warp, at / line_bytes, sectors_between(at, next - 1), passes, how, by_lanes);
        at = next;
    }
}

// What lanes touch at these distances from the begin of a line.
struct touched_lines {
    std::int32_t at[lanes];
    std::uint32_t bytes = 0; // of a lane; 0: nothing is known
    unsigned count = 0;
    std::int32_t line[lanes]; // from the first one
    std::uint8_t sectors[lanes];
};

void find_lines(touched_lines& to) {
    to.count = 0;
    std::int32_t lowest = 0;
    std::int32_t highest = 0;
    for (const std::int32_t at : to.at) {
        const std::int32_t line = at >> 7;
        // The last ones first: neighbours mostly share a line, or their lines rise or fall.
        unsigned k = line > highest || line < lowest ? 0 : to.count;
        while (k != 0 && to.line[k - 1] != line) {
            --k;
        }
        if (k == 0) {
            k = ++to.count;
            to.line[k - 1] = line;
            to.sectors[k - 1] = 0;
            lowest = std::min(lowest, line);
            highest = std::max(highest, line);
        }
        const auto byte = static_cast<std::uint64_t>(at & 127);
        to.sectors[k - 1] = static_cast<std::uint8_t>(to.sectors[k - 1] | sectors_between(byte, byte + to.bytes - 1));
    }
}

// Most accesses have the pattern of an earlier one.
const touched_lines& lines_of(const std::int32_t (&at)[lanes], std::uint32_t bytes) {
    static constinit thread_local std::array<touched_lines, 64> known{};
    // Patterns that differ in where in a line they begin, word by word, are side by side.
    const std::uint32_t apart = static_cast<std::uint32_t>(at[lanes - 1] - at[0]) * 0x9E3779B1u >> 26;
    touched_lines& here = known[(static_cast<std::uint32_t>(at[0]) / 4 + apart) % known.size()];
    std::uint32_t off = here.bytes ^ bytes;
    for (unsigned l = 0; l < lanes; ++l) {
        off |= static_cast<std::uint32_t>(here.at[l] ^ at[l]);
    }
    if (off != 0) {
        std::copy(at, at + lanes, here.at);
        here.bytes = bytes;
        find_lines(here);
    }
    return here;
}

// Lanes of `mask`, which has one at least. Those that do not take part do what the first one does.
void tell_lanes(block_trace& to, std::uint32_t warp, const std::uint64_t* at, lane_mask mask, std::uint32_t bytes,
                touch how, bool by_lanes) {
    const std::uint64_t first = at[std::countr_zero(mask)];
    const std::uint64_t origin = first & ~(line_bytes - 1);
    std::uint64_t all[lanes];
    if (mask != all_lanes) {
        for (unsigned l = 0; l < lanes; ++l) {
            all[l] = (mask >> l & 1) != 0 ? at[l] : first;
        }
        at = all;
    }
    std::int32_t from_origin[lanes];
    std::uint64_t far = 0;
    for (unsigned l = 0; l < lanes; ++l) {
        const std::uint64_t from = at[l] - origin;
        far |= (from + (1ull << 31)) >> 32;
        from_origin[l] = static_cast<std::int32_t>(from);
    }
    if (far != 0) { // one by one
        each_lane(mask, [&](unsigned l) { tell_run(to, warp, at[l], bytes, how, by_lanes); });
        return;
    }
    const touched_lines& lines = lines_of(from_origin, bytes);
    for (unsigned k = 0; k < lines.count; ++k) {
        to.touched(warp, origin / line_bytes + static_cast<std::uint64_t>(std::int64_t{lines.line[k]}),
                   lines.sectors[k], k == 0 ? 1 : 0, how, by_lanes);
    }
}

// Atomics: lanes that meet at one address come one after the other, and so do sectors.
void tell_atomics(block_trace& to, std::uint32_t warp, std::uint64_t* at, unsigned count) {
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
        to.touched(warp, line, sectors, passes, touch::atomic, false);
    }
}

} // namespace

void tell_access(const std::uint64_t* at, lane_mask mask, std::uint64_t bytes, touch how, const warp* w,
                 bool by_lanes) {
    const memory::device_memory& memory = *w->host->launch->memory;
    const std::uint64_t shared = memory.shared_window(); // local memory's window lies behind it
    const auto is_global = [&](std::uint64_t address) {
        return address - shared >= 2 * memory::device_memory::window_bytes;
    };
    block_trace& to = traced_block::running()->to();
    if (mask == all_lanes && is_global(at[0])) {
        const std::uint64_t step = at[1] - at[0];
        if (step == bytes && is_run_of(at, bytes)) {
            tell_run(to, w->index, at[0], lanes * bytes, how, by_lanes);
            return;
        }
        if (step == 0 && how != touch::atomic && is_run_of(at, 0)) {
            tell_run(to, w->index, at[0], bytes, how, by_lanes);
            return;
        }
    }
    if (how == touch::atomic) {
        std::uint64_t global[lanes];
        unsigned count = 0;
        each_lane(mask, [&](unsigned l) {
            if (is_global(at[l])) {
                global[count++] = at[l];
            }
        });
        tell_atomics(to, w->index, global, count);
        return;
    }
    std::uint64_t outside = ~std::uint64_t{0}; // its highest bit: of all lanes
    for (unsigned l = 0; l < lanes; ++l) {
        outside &= ~((at[l] - shared) / (2 * memory::device_memory::window_bytes) - 1);
    }
    lane_mask global = mask;
    if (outside >> 63 == 0) {
        global = 0;
        each_lane(mask, [&](unsigned l) { global |= (is_global(at[l]) ? 1u : 0u) << l; });
    }
    if (global != 0) {
        tell_lanes(to, w->index, at, global, static_cast<std::uint32_t>(bytes), how, by_lanes);
    }
}

} // namespace softgpu::machine
