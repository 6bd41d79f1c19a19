// SPDX-License-Identifier: MIT
// What a launch tells its launch_trace. Code of a module that is traced has pseudo-instructions at the start of every
// basic block, around barriers and before accesses to global memory.
// The pseudo-instructions of a trace.
#include "softgpu/machine/decode/trace_points.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>

#include "softgpu/machine/code/matrix/matrix_plan.hpp"
#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/trace/accesses.hpp"
#include "softgpu/machine/inspect/trace/texture_fetch.hpp"
#include "softgpu/machine/inspect/trace/traced_block.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/module/loaded_module.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/machine/state/worker.hpp"

namespace softgpu::machine {

namespace {

const instruction* begin_piece(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (traced_block* const block = traced_block_of(w); block != nullptr) {
        const program_code& code = *frame_of(w->frame)->code;
        if (i->immediate != 0) {
            block->pass(w->index);
        }
        block->advance(w->index, code, code.pieces[i->more]);
    }
    return i + 1;
}

// Warps of a block are side by side on a card. Where they load through L1 they go by turns here, the one whose clock is behind
// first.
const instruction* before_loads(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (traced_block* const block = traced_block_of(w); block != nullptr && block->is_ahead(w->index)) {
        w->pc = i; // it looks again when it has its turn
        return nullptr;
    }
    return i + 1;
}

const instruction* before_barrier(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (traced_block_of(w) != nullptr) {
        traced_block_of(w)->arrive(w->index);
    }
    return i + 1;
}

// The block that runs, told when the access begins; nullptr: one without a trace.
traced_block* at_access(const instruction* i, const warp* w) {
    traced_block* const block = traced_block_of(w);
    if (block != nullptr) {
        block->begin_access(frame_of(w->frame)->code->piece_cycles.data() + i->e);
    }
    return block;
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

// Of what tell_access() returns for an access by the load and store unit.
void count_turns(traced_block& block, touch how, unsigned turns) {
    if (turns != 0 && (how == touch::load || how == touch::load_past_l1)) {
        block.to().met(meeting::load_turns, turns);
    }
}

// Of an atomic whose lanes all have one address.
void note_ticket(traced_block& block, const std::uint64_t* at, const warp* w) {
    std::uint64_t word = 0;
    bool is_one = true;
    each_lane(w->mask, [&](unsigned l) {
        is_one = is_one && (word == 0 || word == at[l]);
        word = at[l];
    });
    if (is_one && word != 0) {
        block.note_ticket(w->index, word / 4);
    }
}

const instruction* before_access(const instruction* i, std::byte* frame, warp* w) {
    traced_block* const block = at_access(i, w);
    if (block == nullptr) {
        return i + 1;
    }
    const unsigned bytes = i->more & 0xFF;
    const auto how = static_cast<touch>(i->more >> 8 & 0xFF);
    if ((i->more & access_takes_work) == 0 && w->mask == all_lanes && i->width[1] == 8) { // most
        const auto* const from = reinterpret_cast<const std::uint64_t*>(lanes_at(frame, w, i->a));
        if (const unsigned turns = tell_row(*block, from, static_cast<std::uint64_t>(i->immediate), bytes, how, w)) {
            count_turns(*block, how, turns);
            return i + 1;
        }
    }
    std::uint64_t at[lanes];
    read_operand(i, frame, w, at);
    if ((i->more & access_takes_work) != 0) {
        note_ticket(*block, at, w);
    }
    count_turns(*block, how, tell_access(*block, at, w->mask, bytes, how, w));
    return i + 1;
}

// Lanes, and then lines. A generic address may be one of shared memory.
const instruction* before_lanes(const instruction* i, std::byte* frame, warp* w) {
    if (at_access(i, w) == nullptr) {
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
    traced_block_of(w)->to().touched_by_lanes(w->index, at, w->mask & ~shared & ~local, bytes, how);
    traced_block_of(w)->to().touched_shared(at, shared, bytes, how);
    count_turns(*traced_block_of(w), how, tell_access(*traced_block_of(w), at, w->mask, bytes, how, w, true));
    return i + 1;
}

const instruction* before_shared(const instruction* i, std::byte* frame, warp* w) {
    if (traced_block_of(w) != nullptr) {
        std::uint64_t at[lanes];
        read_operand(i, frame, w, at);
        traced_block_of(w)->to().touched_shared(at, w->mask, i->more & 0xFF, static_cast<touch>(i->more >> 8));
    }
    return i + 1;
}

// The words of 32 lanes lie side by side: a line of the cache.
const instruction* before_local(const instruction* i, std::byte* frame, warp* w) {
    if (traced_block_of(w) == nullptr) {
        return i + 1;
    }
    std::uint64_t at[lanes];
    read_operand(i, frame, w, at);
    const auto how = static_cast<touch>(i->more >> 8);
    const std::uint64_t words = std::max<std::uint64_t>((i->more & 0xFF) / 4, 1);
    for (lane_mask left = w->mask; left != 0;) {
        const std::uint64_t line = at[std::countr_zero(left)] / 4;
        lane_mask same = 0;
        each_lane(left, [&](unsigned l) { same |= (at[l] / 4 == line ? 1u : 0u) << l; });
        left &= ~same;
        for (std::uint64_t k = 0; k < words; ++k) {
            traced_block_of(w)->to().touched_local(w->index, line + k, same, how);
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

// Wavefronts of loads from shared memory, 128 bytes at a time, or 256 where neighbours have the same address; see count_wavefronts()
// of the handlers, which are compiled for their instruction set.
unsigned load_wavefronts(lane_mask mask, const std::uint64_t* at, unsigned bytes) {
    const auto are_same = [&](unsigned apart) {
        bool same = true;
        each_lane(mask,
                  [&](unsigned l) { same = same && ((mask >> (l ^ apart) & 1u) == 0 || at[l] == at[l ^ apart]); });
        return same;
    };
    const unsigned together = bytes > 4 && (are_same(1) || are_same(2)) ? 256 / bytes : 128 / bytes;
    unsigned all = 0;
    for (unsigned first = 0; first < lanes; first += together) {
        std::uint64_t words[2 * lanes];
        unsigned count = 0;
        for (unsigned l = first; l < first + together; ++l) {
            for (unsigned k = 0; (mask >> l & 1u) != 0 && k < bytes / 4; ++k) {
                words[count++] = at[l] / 4 + k;
            }
        }
        all += most_of_a_bank(words, different(words, count));
    }
    return all;
}

// What one load of so many bytes takes less than `loads` of a word each, at the same place of every lane's bytes. Most have the
// pattern of the one before.
unsigned saved_wavefronts(lane_mask mask, const std::uint64_t* at, unsigned bytes, unsigned loads) {
    struct pattern {
        std::array<std::uint64_t, lanes> begins; // from the first active lane's
        lane_mask mask;
        unsigned bytes, loads;
        bool operator==(const pattern&) const = default;
    };
    static thread_local pattern last{};
    static thread_local unsigned saved = 0;
    pattern now{{}, mask, bytes, loads};
    const std::uint64_t inside = bytes - 1;
    const std::uint64_t begin = at[std::countr_zero(mask)] & ~inside; // all banks are alike
    each_lane(mask, [&](unsigned l) { now.begins[l] = (at[l] & ~inside) - begin; });
    if (!(now == last)) {
        const unsigned apart = loads * load_wavefronts(mask, now.begins.data(), 4);
        saved = apart - std::min(apart, load_wavefronts(mask, now.begins.data(), bytes));
        last = now;
    }
    return saved;
}

// How many are the same as the commonest one; sorts them.
unsigned most_at_one(std::uint64_t* values, unsigned count) {
    std::sort(values, values + count);
    unsigned most = 0;
    for (unsigned k = 0, first = 0; k < count; ++k) {
        first = values[k] == values[first] ? first : k;
        most = std::max(most, k - first + 1);
    }
    return most;
}

const instruction* before_meeting(const instruction* i, std::byte* frame, warp* w) {
    if (traced_block_of(w) == nullptr || w->mask == 0) {
        return i + 1;
    }
    std::uint64_t at[lanes];
    read_operand(i, frame, w, at);
    const auto what = static_cast<meeting>(i->more >> 8);
    const unsigned bytes = i->more & 0xFF;
    if (what == meeting::joined_wavefronts) {
        traced_block_of(w)->to().met(what, saved_wavefronts(w->mask, at, bytes, i->width[1]));
        return i + 1;
    }
    unsigned count = 0;
    each_lane(w->mask, [&](unsigned l) { at[count++] = what == meeting::shared_counts ? at[l] / 4 : at[l]; });
    if (what == meeting::loop_rounds) {
        const unsigned rounds = most_at_one(at, count);
        traced_block_of(w)->to().met(what, rounds);
        traced_block_of(w)->to().met(meeting::loop_wavefronts, bytes > 4 ? 18 + 7 * rounds : 16 + 4 * rounds);
    } else if (what == meeting::shared_counts) {
        traced_block_of(w)->to().met(meeting::shared_counters, most_of_a_bank(at, count));
        traced_block_of(w)->to().met(what, most_of_a_bank(at, different(at, count)));
    } else {
        const unsigned n = different(at, count);
        traced_block_of(w)->to().met(what, what == meeting::match_values ? n : n * ((bytes + 7) / 8));
    }
    return i + 1;
}

// With room for a last word that is not whole, as blocks have it.
std::span<const std::byte> shared_of(const warp* w) {
    return {w->owner->shared, (std::size_t{w->host->launch->shared_bytes} + 3) / 4 * 4};
}

// Notes the words that the active lanes access, of shared memory and of the device's. `more` of the instruction: where they
// are.
void note_words(const instruction* i, std::byte* frame, warp* w) {
    traced_block_of(w)->begin_words();
    std::uint64_t at[lanes];
    read_operand(i, frame, w, at);
    const bool is_shared = (i->more & 0xFF) == access_of_shared;
    const memory::device_memory& memory = *w->host->launch->memory;
    const std::uint64_t begin = is_shared ? 0 : memory.shared_window();
    const std::uint64_t windows =
        memory.cluster_window() + memory::device_memory::cluster_window_bytes - memory.shared_window();
    each_lane(w->mask, [&](unsigned l) {
        if (at[l] - begin < w->host->launch->shared_bytes) {
            traced_block_of(w)->add_word(static_cast<std::uint32_t>((at[l] - begin) / 4));
        } else if (!is_shared && at[l] - begin >= windows) {
            traced_block_of(w)->add_word_between(at[l] / 4);
        }
    });
}

// One look of a loop that only waits.
const instruction* before_poll(const instruction* i, std::byte* frame, warp* w) {
    if (traced_block_of(w) != nullptr) {
        note_words(i, frame, w);
        traced_block_of(w)->begin_poll(w->index, *w->counts);
    }
    return i + 1;
}

const instruction* after_poll(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (traced_block_of(w) != nullptr) {
        traced_block_of(w)->end_poll(w->index, shared_of(w), i->more >> 8 != 0, *w->counts);
    }
    return i + 1;
}

const instruction* before_release(const instruction* i, std::byte* frame, warp* w) {
    if (traced_block_of(w) != nullptr) {
        note_words(i, frame, w);
        traced_block_of(w)->begin_release();
    }
    return i + 1;
}

const instruction* after_release(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (traced_block_of(w) != nullptr) {
        traced_block_of(w)->end_release(w->index, shared_of(w), i->more & 0xFF, i->more >> 8 != 0);
    }
    return i + 1;
}

const instruction* after_acquire(const instruction* i, std::byte* /*frame*/, warp* w) {
    if (traced_block_of(w) != nullptr) {
        traced_block_of(w)->to().acquired();
    }
    return i + 1;
}

// A request for each register, or for each of its elements where they do not lie side by side.
const instruction* before_fragment(const instruction* i, std::byte* frame, warp* w) {
    if (at_access(i, w) == nullptr || w->mask == 0) {
        return i + 1;
    }
    const fragment_plan& p = fragment_plan_at(i->d);
    std::uint64_t base[lanes];
    read_operand(i, frame, w, base);
    std::uint32_t apart[lanes];
    std::fill(apart, apart + lanes, p.default_stride);
    if (i->b != nowhere) {
        std::memcpy(apart, lanes_at(frame, w, i->b), sizeof apart);
    }
    const auto how = static_cast<touch>(i->more >> 8);
    const unsigned element = p.bits / 8;
    const unsigned requests = p.contiguous ? 1 : p.parts;
    for (unsigned n = 0; n < p.used * requests; ++n) {
        std::uint64_t at[lanes];
        for (unsigned l = 0; l < lanes; ++l) {
            at[l] = base[l] + p.offset(n / requests, n % requests, l, apart[l]);
        }
        count_turns(*traced_block_of(w), how,
                    tell_access(*traced_block_of(w), at, w->mask, p.contiguous ? element * p.parts : element, how, w));
    }
    return i + 1;
}

const instruction* before_copy(const instruction* i, std::byte* frame, warp* w) {
    if (at_access(i, w) == nullptr) {
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
    const auto how = static_cast<touch>(i->more >> 8);
    count_turns(*traced_block_of(w), how, tell_access(*traced_block_of(w), at, w->mask, i->more & 0xFF, how, w));
    return i + 1;
}

trace_points make_trace_points(std::span<const observe::latency_table> tables, bool with_lanes) {
    return {{tables.begin(), tables.end()},
            begin_piece,
            before_barrier,
            before_access,
            with_lanes ? before_lanes : nullptr,
            with_lanes ? before_shared : nullptr,
            before_local,
            before_meeting,
            before_poll,
            after_poll,
            before_release,
            after_release,
            before_texture,
            before_fragment,
            before_loads,
            after_acquire,
            before_copy};
}

} // namespace

void module::trace(std::span<const observe::latency_table> tables, bool by_lanes) {
    const std::lock_guard lock(self_->linked->mutex);
    self_->traced = std::make_unique<trace_points>(make_trace_points(tables, by_lanes));
}

} // namespace softgpu::machine
