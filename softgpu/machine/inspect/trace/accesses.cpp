// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/trace/accesses.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "softgpu/machine/inspect/trace/traced_block.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/machine/state/worker.hpp"

namespace softgpu::machine {

namespace {

constexpr std::uint64_t sector_bytes = 32;
constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t word_bytes = 4;

// `step` bytes from lane to lane, as they are between the first two.
bool is_run_of(const std::uint64_t* at, std::uint64_t step) {
    using two [[gnu::vector_size(16)]] = std::uint64_t;
    const two apart = {2 * step, 2 * step};
    two before = {at[0], at[1]};
    two off = {};
    for (unsigned l = 2; l < lanes; l += 2) {
        two here = {};
        std::memcpy(&here, at + l, sizeof here);
        off |= (here - before) ^ apart;
        before = here;
    }
    return (off[0] | off[1]) == 0;
}

// The sectors of a line from one to another, as a mask.
unsigned sectors_between(std::uint64_t first_byte, std::uint64_t last_byte) {
    const auto first = static_cast<unsigned>(first_byte / sector_bytes % 4);
    const auto last = static_cast<unsigned>(last_byte / sector_bytes % 4);
    return ((2u << std::max(first, last)) - 1) & ~((1u << first) - 1);
}

// The words of a line that lie wholly between two of its bytes, as a mask.
std::uint32_t words_between(std::uint64_t first_byte, std::uint64_t end_byte) {
    const std::uint64_t below_end = (std::uint64_t{1} << end_byte / word_bytes) - 1;
    const std::uint64_t below_first = (std::uint64_t{1} << (first_byte + word_bytes - 1) / word_bytes) - 1;
    return static_cast<std::uint32_t>(below_end & ~below_first);
}

// Local memory's window lies behind that of shared memory.
bool is_global(std::uint64_t address, const memory::device_memory& memory) {
    return address - memory.shared_window() >= 2 * memory::device_memory::window_bytes;
}

// Of one warp.
class listener {
public:
    listener(traced_block& block, const warp* w, bool told)
        : to_(block.to()),
          warp_(w->index),
          clocks_(block.clocks_of(w->index)),
          behind_(block.behind()),
          told_by_lanes_(told) {}

    void tell(std::uint64_t line, unsigned sectors, std::uint32_t words, unsigned passes, touch how) const {
        to_.touched({.line = line,
                     .warp = warp_,
                     .words = words,
                     .sectors = sectors,
                     .passes = passes,
                     .how = how,
                     .clocks = clocks_,
                     .behind = behind_},
                    told_by_lanes_);
    }

private:
    block_trace& to_;
    std::uint32_t warp_;
    const double* clocks_;
    const double* behind_;
    bool told_by_lanes_;
};

// L1 gives a word of each of 32 banks in a turn, as shared memory does. `words`: of each line, those that are wanted.
unsigned turns_of_banks(const std::uint32_t* words, unsigned lines) {
    std::uint32_t count[6] = {}; // lines that have a word of each bank, digit by digit
    for (unsigned k = 0; k < lines; ++k) {
        std::uint32_t carry = words[k];
        for (std::uint32_t& digit : count) {
            const std::uint32_t both = digit & carry;
            digit ^= carry;
            carry = both;
        }
    }
    unsigned most = 0;
    std::uint32_t banks = ~0u;
    for (unsigned k = 6; k-- > 0;) {
        if ((banks & count[k]) != 0) {
            banks &= count[k];
            most |= 1u << k;
        }
    }
    return most;
}

// All bytes from `begin` on. Returns the quarters of a turn that a load takes.
unsigned tell_run(const listener& to, std::uint64_t begin, std::uint64_t bytes, touch how) {
    const std::uint64_t end = begin + bytes;
    for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t next = std::min(end, (at / line_bytes + 1) * line_bytes);
        const auto count = static_cast<unsigned>((next - 1) / sector_bytes - at / sector_bytes + 1);
        const unsigned passes = is_atomic(how) || at == begin ? count : 0;
        const std::uint64_t in_line = at % line_bytes;
        const std::uint32_t words = how == touch::store
                                        ? words_between(in_line, in_line + next - at)
                                        : words_between(in_line & ~3ull, (in_line + next - at + 3) & ~3ull);
        to.tell(at / line_bytes, sectors_between(at, next - 1), words, passes, how);
        at = next;
    }
    return 4 * static_cast<unsigned>((bytes + line_bytes - 1) / line_bytes);
}

// What lanes touch at these distances from the begin of a line.
struct touched_lines {
    std::int32_t at[lanes];
    std::uint32_t bytes = 0; // of a lane; 0: nothing is known
    unsigned count = 0;
    std::int32_t line[lanes]; // from the first one
    std::uint8_t sectors[lanes];
    std::uint32_t words[lanes];   // all of whose bytes are touched,
    std::uint32_t touched[lanes]; // and a byte at least
    unsigned turns = 0;           // quarters of a turn that a load takes
};

// Of lanes that load 8 or 16 bytes each, 128 bytes at a time: of each lane, which line it touches.
unsigned turns_of_wide(const touched_lines& to, const std::uint8_t* line_of) {
    const unsigned together = static_cast<unsigned>(line_bytes) / to.bytes;
    unsigned turns = 0;
    for (unsigned first = 0; first < lanes; first += together) {
        std::uint32_t words[lanes] = {};
        for (unsigned l = first; l < first + together; ++l) {
            const auto byte = static_cast<std::uint64_t>(to.at[l] & 127);
            words[line_of[l]] |= words_between(byte, byte + to.bytes);
        }
        turns += turns_of_banks(words, to.count);
    }
    return turns;
}

void find_lines(touched_lines& to) {
    to.count = 0;
    // Of narrower accesses, by line and byte of a word: words whose byte is touched.
    std::uint32_t parts[lanes][word_bytes];
    std::uint8_t line_of[lanes];
    constexpr unsigned places = 2 * lanes;
    std::uint8_t numbers[places] = {}; // of lines, from 1, by a hash
    for (unsigned l = 0; l < lanes; ++l) {
        const std::int32_t at = to.at[l];
        const std::int32_t line = at >> 7;
        unsigned place = static_cast<std::uint32_t>(line) * 0x9E3779B1u >> 26;
        while (numbers[place] != 0 && to.line[numbers[place] - 1] != line) {
            place = (place + 1) % places;
        }
        if (numbers[place] == 0) {
            numbers[place] = static_cast<std::uint8_t>(++to.count);
            to.line[to.count - 1] = line;
            to.sectors[to.count - 1] = 0;
            to.words[to.count - 1] = 0;
            std::fill(parts[to.count - 1], parts[to.count - 1] + word_bytes, 0);
        }
        const unsigned k = numbers[place];
        line_of[l] = static_cast<std::uint8_t>(k - 1);
        const auto byte = static_cast<std::uint64_t>(at & 127);
        to.sectors[k - 1] = static_cast<std::uint8_t>(to.sectors[k - 1] | sectors_between(byte, byte + to.bytes - 1));
        if (to.bytes >= word_bytes) {
            to.words[k - 1] |= words_between(byte, byte + to.bytes);
        }
        for (std::uint64_t b = byte; to.bytes < word_bytes && b < byte + to.bytes; ++b) {
            parts[k - 1][b % word_bytes] |= 1u << b / word_bytes;
        }
    }
    for (unsigned k = 0; k < to.count; ++k) {
        to.touched[k] = to.words[k] | parts[k][0] | parts[k][1] | parts[k][2] | parts[k][3];
    }
    const unsigned turns = to.bytes > word_bytes ? turns_of_wide(to, line_of) : turns_of_banks(to.touched, to.count);
    to.turns = std::max(4 * turns, to.count); // a quarter for each line
    for (unsigned k = 0; to.bytes < word_bytes && k < to.count; ++k) {
        to.words[k] = parts[k][0] & parts[k][1] & parts[k][2] & parts[k][3];
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
[[gnu::noinline]] unsigned tell_lanes(const listener& to, const std::uint64_t* at, lane_mask mask, std::uint32_t bytes,
                                      touch how) {
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
        unsigned turns = 0;
        each_lane(mask, [&](unsigned l) { turns += tell_run(to, at[l], bytes, how) / 4; });
        return std::max(turns, 4u);
    }
    const touched_lines& lines = lines_of(from_origin, bytes);
    for (unsigned k = 0; k < lines.count; ++k) {
        to.tell(origin / line_bytes + static_cast<std::uint64_t>(std::int64_t{lines.line[k]}), lines.sectors[k],
                how == touch::store ? lines.words[k] : lines.touched[k], k == 0 ? 1 : 0, how);
    }
    return lines.turns;
}

// Atomics: lanes that meet at one address come one after the other, and so do sectors.
[[gnu::noinline]] void tell_atomics(const listener& to, const std::uint64_t* of_lanes, lane_mask mask, touch how) {
    std::uint64_t at[lanes];
    unsigned count = 0;
    each_lane(mask, [&](unsigned l) { at[count++] = of_lanes[l]; });
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
                most = std::max(most, how == touch::atomic_of_warp ? 1 : same);
                k += same;
            }
            sectors |= 1u << sector % 4;
            passes += most;
        }
        to.tell(line, sectors, ~0u, passes, how);
    }
}

} // namespace

unsigned tell_row(traced_block& block, const std::uint64_t* at, std::uint64_t added, std::uint64_t bytes, touch how,
                  const warp* w, bool by_lanes) {
    const std::uint64_t step = at[1] - at[0];
    const bool may_be_row = step == bytes || (step == 0 && !is_atomic(how));
    if (!may_be_row || !is_global(at[0] + added, *w->host->launch->memory) || !is_run_of(at, step)) {
        return 0;
    }
    return tell_run(listener(block, w, by_lanes), at[0] + added, step == 0 ? bytes : lanes * bytes, how);
}

unsigned tell_access(traced_block& block, const std::uint64_t* at, lane_mask mask, std::uint64_t bytes, touch how,
                     const warp* w, bool by_lanes) {
    if (mask == all_lanes) {
        if (const unsigned turns = tell_row(block, at, 0, bytes, how, w, by_lanes); turns != 0) {
            return turns;
        }
    }
    const memory::device_memory& memory = *w->host->launch->memory;
    std::uint64_t outside = ~std::uint64_t{0}; // its highest bit: of all lanes
    for (unsigned l = 0; l < lanes; ++l) {
        outside &= ~((at[l] - memory.shared_window()) / (2 * memory::device_memory::window_bytes) - 1);
    }
    lane_mask global = mask;
    if (outside >> 63 == 0) {
        global = 0;
        each_lane(mask, [&](unsigned l) { global |= (is_global(at[l], memory) ? 1u : 0u) << l; });
    }
    if (global == 0) {
        return 0;
    }
    if (is_atomic(how)) {
        tell_atomics(listener(block, w, false), at, global, how);
        return 0;
    }
    return tell_lanes(listener(block, w, by_lanes), at, global, static_cast<std::uint32_t>(bytes), how);
}

} // namespace softgpu::machine
