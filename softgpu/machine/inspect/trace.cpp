// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/trace.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/module/loaded_module.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/machine/state/worker.hpp"
#include "softgpu/machine/texture.hpp"
#include "softgpu/observe/counters_since.hpp"

namespace softgpu::machine {

namespace {

constexpr std::uint64_t sector_bytes = 32;
constexpr std::uint64_t line_bytes = 128;

thread_local traced_block* running = nullptr;

const instruction* begin_piece(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (running != nullptr) {
        const program_code& code = *frame_of(w->frame)->code;
        if (i->immediate != 0) {
            running->pass(w->index);
        }
        running->advance(w->index, code, code.pieces[i->more]);
    }
    return i + 1;
}

const instruction* before_barrier(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (running != nullptr) {
        running->arrive(w->index);
    }
    return i + 1;
}

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
        running->to().touched(warp, at / line_bytes, ((2u << last) - 1) & ~((1u << first) - 1), last - first + 1, how,
                              by_lanes);
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
        running->to().touched(warp, line, sectors, passes, touch::atomic, false);
    }
}

// Lanes in one line are one access.
void tell(const std::uint64_t* at, lane_mask mask, std::uint64_t bytes, touch how, const warp* w,
          bool by_lanes = false) {
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
        running->to().touched(w->index, parts[k].line, parts[k].sectors, 0, how, by_lanes);
    }
}

// Operand `a` of all lanes, and the immediate.
void read_operand(const instruction* i, std::byte* frame, warp* w, std::uint64_t* at) {
    const std::byte* const from = lanes_at(frame, w, i->a);
    if (i->width[1] == 8) {
        std::memcpy(at, from, lanes * sizeof *at);
    } else {
        std::uint32_t narrow[lanes];
        std::memcpy(narrow, from, sizeof narrow);
        std::copy(narrow, narrow + lanes, at);
    }
    for (unsigned l = 0; l < lanes; ++l) {
        at[l] += static_cast<std::uint64_t>(i->immediate);
    }
}

const instruction* before_access(const instruction* i, std::byte* frame, warp* w) {
    if (running == nullptr) {
        return i + 1;
    }
    std::uint64_t at[lanes];
    read_operand(i, frame, w, at);
    tell(at, w->mask, i->more & 0xFF, static_cast<touch>(i->more >> 8), w);
    return i + 1;
}

// Lanes, and then lines. A generic address may be one of shared memory.
const instruction* before_lanes(const instruction* i, std::byte* frame, warp* w) {
    if (running == nullptr) {
        return i + 1;
    }
    std::uint64_t at[lanes];
    read_operand(i, frame, w, at);
    const unsigned bytes = i->more & 0xFF;
    const auto how = static_cast<touch>(i->more >> 8);
    const memory::device_memory& memory = *w->host->launch->memory;
    lane_mask shared = 0;
    lane_mask local = 0;
    each_lane(w->mask, [&](unsigned l) {
        shared |= at[l] - memory.shared_window() < memory::device_memory::window_bytes ? 1u << l : 0;
        local |= at[l] - memory.local_window() < memory::device_memory::window_bytes ? 1u << l : 0;
    });
    running->to().touched_by_lanes(w->index, at, w->mask & ~shared & ~local, bytes, how);
    running->to().touched_shared(at, shared, bytes, how);
    tell(at, w->mask, bytes, how, w, true);
    return i + 1;
}

const instruction* before_shared(const instruction* i, std::byte* frame, warp* w) {
    if (running != nullptr) {
        std::uint64_t at[lanes];
        read_operand(i, frame, w, at);
        running->to().touched_shared(at, w->mask, i->more & 0xFF, static_cast<touch>(i->more >> 8));
    }
    return i + 1;
}

// The words of 32 lanes lie side by side: a line of the cache.
const instruction* before_local(const instruction* i, std::byte* frame, warp* w) {
    if (running == nullptr) {
        return i + 1;
    }
    std::uint64_t at[lanes];
    read_operand(i, frame, w, at);
    const auto how = static_cast<touch>(i->more >> 8);
    const std::uint64_t words = std::max<std::uint64_t>((i->more & 0xFF) / 4, 1);
    for (lane_mask left = w->mask; left != 0;) {
        const std::uint64_t line = at[std::countr_zero(left)] / 4;
        unsigned sectors = 0;
        lane_mask same = 0;
        each_lane(left, [&](unsigned l) {
            const bool is_here = at[l] / 4 == line;
            same |= (is_here ? 1u : 0u) << l;
            sectors |= (is_here ? 1u : 0u) << l / 8;
        });
        left &= ~same;
        for (std::uint64_t k = 0; k < words; ++k) {
            running->to().touched_local(w->index, line + k, sectors, how);
        }
    }
    return i + 1;
}

// How many different ones there are; sorts them.
unsigned different(std::uint64_t* values, unsigned count) {
    std::sort(values, values + count);
    return static_cast<unsigned>(std::unique(values, values + count) - values);
}

// Of the bank that has most.
unsigned most_of_a_bank(const std::uint64_t* words, unsigned count) {
    unsigned of_bank[32] = {};
    for (unsigned k = 0; k < count; ++k) {
        ++of_bank[words[k] % 32];
    }
    return *std::max_element(of_bank, of_bank + 32);
}

const instruction* before_meeting(const instruction* i, std::byte* frame, warp* w) {
    if (running == nullptr || w->mask == 0) {
        return i + 1;
    }
    std::uint64_t at[lanes];
    read_operand(i, frame, w, at);
    const auto what = static_cast<meeting>(i->more >> 8);
    const unsigned bytes = i->more & 0xFF;
    unsigned count = 0;
    each_lane(w->mask, [&](unsigned l) { at[count++] = what == meeting::match_values ? at[l] : at[l] / 4; });
    if (what == meeting::shared_counts) {
        running->to().met(meeting::shared_counters, most_of_a_bank(at, count));
        running->to().met(what, most_of_a_bank(at, different(at, count)));
    } else if (const unsigned n = different(at, count); what == meeting::match_values || n != 1) {
        running->to().met(what, what == meeting::match_values ? n : n * std::max(bytes / 4, 1u));
    }
    return i + 1;
}

// With room for a last word that is not whole, as blocks have it.
std::span<const std::byte> shared_of(const warp* w) {
    return {w->owner->shared, (std::size_t{w->host->launch->shared_bytes} + 3) / 4 * 4};
}

// Notes the words of shared memory that the active lanes access. `more` of the instruction: where they are.
void note_words(const instruction* i, std::byte* frame, warp* w) {
    running->begin_words();
    if (i->more == access_past_shared) {
        return;
    }
    std::uint64_t at[lanes];
    read_operand(i, frame, w, at);
    const std::uint64_t begin = i->more == access_of_shared ? 0 : w->host->launch->memory->shared_window();
    each_lane(w->mask, [&](unsigned l) {
        if (at[l] - begin < w->host->launch->shared_bytes) {
            running->add_word(static_cast<std::uint32_t>((at[l] - begin) / 4));
        }
    });
}

// One look of a loop that only waits.
const instruction* before_poll(const instruction* i, std::byte* frame, warp* w) {
    if (running != nullptr) {
        note_words(i, frame, w);
        running->begin_poll(w->index, *w->counts);
    }
    return i + 1;
}

const instruction* after_poll(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (running != nullptr) {
        running->end_poll(shared_of(w), *w->counts);
    }
    return i + 1;
}

const instruction* before_release(const instruction* i, std::byte* frame, warp* w) {
    if (running != nullptr) {
        note_words(i, frame, w);
    }
    return i + 1;
}

const instruction* after_release(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (running != nullptr) {
        running->end_release(w->index, shared_of(w));
    }
    return i + 1;
}

const instruction* before_copy(const instruction* i, std::byte* frame, warp* w) {
    if (running == nullptr) {
        return i + 1;
    }
    std::uint64_t at[lanes];
    std::uint64_t offset[lanes];
    std::memcpy(offset, lanes_at(frame, w, i->places[1]), sizeof offset);
    const std::byte* const from = lanes_at(frame, w, i->places[0]);
    if ((i->d & copy_source_is_wide) != 0) {
        std::memcpy(at, from, sizeof at);
    } else {
        std::uint32_t narrow[lanes];
        std::memcpy(narrow, from, sizeof narrow);
        std::copy(narrow, narrow + lanes, at);
    }
    for (unsigned l = 0; l < lanes; ++l) {
        at[l] += offset[l];
    }
    tell(at, w->mask, i->more & 0xFF, static_cast<touch>(i->more >> 8), w);
    return i + 1;
}

// The element that a coordinate is nearest to, of `extent`, where all outside clamp to the border.
std::uint64_t element_at(std::uint32_t coordinate, std::uint32_t extent, bool is_integer, bool normalized) {
    const auto last = static_cast<double>(std::max(extent, 1u) - 1);
    const double place = is_integer ? static_cast<std::int32_t>(coordinate)
                                    : std::floor(std::bit_cast<float>(coordinate) * (normalized ? last + 1 : 1.0));
    return static_cast<std::uint64_t>(place > 0 ? std::min(place, last) : 0.0); // no number: the first
}

// A fetch loads through L1. Of the elements that are filtered the nearest one stands for all, of all levels the finest.
const instruction* before_texture(const instruction* i, std::byte* frame, warp* w) {
    const auto g = static_cast<geometry>(i->d & geometry_bits);
    if (running == nullptr || g == geometry::cube || g == geometry::cubes) {
        return i + 1;
    }
    const auto word = [&](unsigned which, unsigned l) {
        std::uint32_t value = 0;
        if (i->places[which] != nowhere) {
            std::memcpy(&value, lanes_at(frame, w, i->places[which]) + l * sizeof value, sizeof value);
        }
        return value;
    };
    std::uint64_t at[lanes] = {};
    lane_mask mask = 0;
    std::uint64_t bytes = 1;
    const texture_descriptor* t = nullptr; // of the lane before, mostly the same
    each_lane(w->mask, [&](unsigned l) {
        std::uint64_t handle = 0;
        std::memcpy(&handle, lanes_at(frame, w, i->places[handle_at]) + l * sizeof handle, sizeof handle);
        if (reinterpret_cast<std::uint64_t>(t) != handle) {
            const bool is_there = handle % alignof(texture_descriptor) == 0 &&
                                  w->host->launch->memory->find(handle, sizeof(texture_descriptor)).has_value();
            t = is_there ? reinterpret_cast<const texture_descriptor*>(handle) : nullptr;
        }
        if (t == nullptr || t->mark != texture_descriptor::is_one || t->width == 0) {
            return; // a fault, or nothing there
        }
        const auto along = [&](unsigned axis, std::uint32_t extent) {
            return element_at(word(coordinates_at + axis, l), extent, (i->d & integer_coordinates) != 0, t->normalized);
        };
        const std::uint64_t layer = g == geometry::space ? along(2, t->depth) : word(layer_at, l);
        at[l] = t->data + along(0, t->width) * t->element_bytes() + along(1, t->height) * t->row_bytes +
                std::min<std::uint64_t>(layer, std::max({t->depth, t->layers, 1u}) - 1) * t->slice_bytes;
        bytes = t->element_bytes();
        mask |= 1u << l;
    });
    tell(at, mask, bytes, touch::load, w);
    return i + 1;
}

} // namespace

trace_points make_trace_points(std::span<const observe::latency_table> tables, bool by_lanes) {
    return {{tables.begin(), tables.end()},
            begin_piece,
            before_barrier,
            before_access,
            by_lanes ? before_lanes : nullptr,
            by_lanes ? before_shared : nullptr,
            before_local,
            before_meeting,
            before_poll,
            after_poll,
            before_release,
            after_release,
            before_texture,
            before_copy};
}

void module::trace(std::span<const observe::latency_table> tables, bool by_lanes) {
    const std::lock_guard lock(self_->linked->mutex);
    self_->traced = std::make_unique<trace_points>(make_trace_points(tables, by_lanes));
}

traced_block::traced_block(std::unique_ptr<block_trace> to, std::uint32_t warps, std::size_t tables,
                           std::uint32_t registers)
    : to_(std::move(to)),
      tables_(tables),
      registers_(registers),
      clocks_(warps * tables),
      ready_(std::size_t{warps} * registers * tables),
      arrivals_(rounds * tables),
      arrived_(warps),
      round_of_(rounds),
      round_(warps) {}

void traced_block::select(traced_block* b) noexcept { running = b; }

// The warp stands at the first instruction whose operand is on its way; then the piece goes on as if it had all.
void traced_block::advance(std::uint32_t warp, const program_code& code, const traced_piece& piece) {
    if (tables_ == 2) { // one card: most of the time goes here
        advance_by(std::integral_constant<std::size_t, 2>{}, warp, code, piece);
    } else {
        advance_by(tables_, warp, code, piece);
    }
}

template <class Tables>
void traced_block::advance_by(Tables tables, std::uint32_t warp, const program_code& code, const traced_piece& piece) {
    double* const clock = clocks_.data() + warp * tables;
    const double* cycles = code.piece_cycles.data() + piece.cycles;
    if (std::exchange(round_[warp], piece.waits ? cycles : nullptr) != nullptr && piece.waits) {
        return; // how often it looks depends on others
    }
    const double* at = cycles + tables;
    const std::uint32_t* reg = code.piece_carried.data() + piece.carried;
    double* const ready = ready_.data() + std::size_t{warp} * registers_ * tables;
    for (std::uint16_t k = 0; k < piece.needs; ++k, ++reg, at += tables) {
        for (std::size_t t = 0; *reg < registers_ && t < tables; ++t) {
            clock[t] = std::max(clock[t], ready[*reg * tables + t] - at[t]);
        }
    }
    for (std::uint16_t k = 0; k < piece.leaves; ++k, ++reg, at += tables) {
        for (std::size_t t = 0; *reg < registers_ && t < tables; ++t) {
            ready[*reg * tables + t] = clock[t] + at[t];
        }
    }
    for (std::size_t t = 0; t < tables; ++t) {
        clock[t] += cycles[t];
    }
}

void traced_block::arrive(std::uint32_t warp) {
    const std::uint32_t round = ++arrived_[warp];
    double* const last = arrivals_.data() + round % rounds * tables_;
    const bool is_first = std::exchange(round_of_[round % rounds], round) != round;
    for (std::size_t t = 0; t < tables_; ++t) {
        const double now = clocks_[warp * tables_ + t];
        last[t] = is_first ? now : std::max(last[t], now);
    }
}

void traced_block::pass(std::uint32_t warp) {
    const std::uint32_t slot = arrived_[warp] % rounds;
    if (arrived_[warp] > passed_) {
        passed_ = arrived_[warp];
        to_->passed_barrier();
    }
    for (std::size_t t = 0; t < tables_; ++t) {
        double& clock = clocks_[warp * tables_ + t];
        clock = std::max(clock, round_of_[slot] == arrived_[warp] ? arrivals_[slot * tables_ + t] : clock);
    }
}

// A store of what was there already lets nobody go on.
void traced_block::end_release(std::uint32_t warp, std::span<const std::byte> shared) {
    if (released_.empty() && !words_.empty()) {
        released_.resize(shared.size() / sizeof(std::uint32_t));
        released_when_.resize(released_.size() * tables_);
    }
    for (const std::uint32_t word : words_) {
        std::uint32_t value = 0;
        std::memcpy(&value, shared.data() + word * sizeof value, sizeof value);
        released_word& here = released_[word];
        if (here.is_known && here.value == value) {
            continue;
        }
        here = {value, true};
        for (std::size_t t = 0; t < tables_; ++t) {
            double& when = released_when_[word * tables_ + t];
            when = std::max(when, clocks_[warp * tables_ + t]);
        }
    }
    words_.clear();
}

// It finds what was written in the round that begins then.
void traced_block::begin_poll(std::uint32_t warp, const observe::counters& now) {
    before_poll_ = now;
    for (const std::uint32_t word : words_) {
        if (released_.empty() || !released_[word].is_known || round_[warp] == nullptr) {
            continue;
        }
        for (std::size_t t = 0; t < tables_; ++t) {
            double& clock = clocks_[warp * tables_ + t];
            clock = std::max(clock, released_when_[word * tables_ + t] + round_[warp][t]);
        }
    }
}

// An atomic that waits may have changed the word: it has taken a lock.
void traced_block::end_poll(std::span<const std::byte> shared, const observe::counters& now) {
    for (const std::uint32_t word : words_) {
        if (!released_.empty()) {
            std::memcpy(&released_[word].value, shared.data() + word * sizeof(std::uint32_t), sizeof(std::uint32_t));
        }
    }
    words_.clear();
    if (before_poll_) {
        polls_.add(observe::since(*before_poll_, now));
        before_poll_.reset();
    }
}

void traced_block::end() {
    std::vector<double> longest(tables_);
    for (std::size_t k = 0; k < clocks_.size(); ++k) {
        longest[k % tables_] = std::max(longest[k % tables_], clocks_[k]);
    }
    std::vector<double> last = longest;
    for (std::size_t t = 0; passed_ != 0 && t < tables_; ++t) {
        last[t] -= arrivals_[passed_ % rounds * tables_ + t];
    }
    to_->ended(longest, last, polls_);
}

} // namespace softgpu::machine
