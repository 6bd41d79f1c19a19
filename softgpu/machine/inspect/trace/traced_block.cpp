// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/trace/traced_block.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>
#include <utility>

#include "softgpu/observe/counters_since.hpp"

namespace softgpu::machine {

namespace {

// Others may write it.
template <class T>
std::uint64_t loaded(std::uint64_t address) {
    return std::atomic_ref(*reinterpret_cast<T*>(address)).load(std::memory_order_relaxed);
}

// Of at most eight bytes of global memory.
std::uint64_t value_at(std::uint64_t address, unsigned bytes) {
    return bytes >= 8 && address % 8 == 0 ? loaded<std::uint64_t>(address) : loaded<std::uint32_t>(address);
}

} // namespace

traced_block::traced_block(std::unique_ptr<block_trace> to, std::uint32_t warps, std::size_t tables,
                           std::uint32_t registers, words_between_blocks& words)
    : to_(std::move(to)),
      tables_(tables),
      registers_(registers),
      clocks_(warps * tables),
      ready_(std::size_t{warps} * registers * tables),
      arrivals_(rounds * tables),
      arrived_(warps),
      round_of_(rounds),
      round_(warps),
      between_(words),
      clocks_between_(to_->clocks()),
      tickets_(warps) {}

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

void traced_block::begin_release() {
    for (const std::uint64_t word : words_between_) {
        between_.expect(word);
    }
}

// A store of what was there already lets nobody go on.
void traced_block::end_release(std::uint32_t warp, std::span<const std::byte> shared, unsigned bytes, bool is_atomic) {
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
    std::vector<double> when(words_between_.empty() ? 0 : tables_);
    for (std::size_t t = 0; t < when.size(); ++t) {
        when[t] = clocks_between_[t].begins + clocks_[warp * tables_ + t];
    }
    for (const std::uint64_t word : words_between_) {
        between_.note(word, value_at(word * sizeof(std::uint32_t), bytes), is_atomic,
                      is_atomic ? ++rounds_between_[word] : 0, when);
    }
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

// The loop goes on when what others wrote last has come.
void traced_block::wait_for_others(std::uint32_t warp, bool is_atomic) {
    for (const std::uint64_t word : words_between_) {
        if (tickets_[warp].word == word) {
            tickets_[warp].count = 0; // it waits there: a barrier
        }
        const auto round = rounds_between_.find(word);
        const std::vector<double> when =
            between_.when(word, is_atomic || round == rounds_between_.end() ? 0 : round->second);
        for (std::size_t t = 0; t < when.size(); ++t) {
            double& clock = clocks_[warp * tables_ + t];
            clock = std::max(clock, when[t] + clocks_between_[t].hop - clocks_between_[t].begins);
        }
    }
}

// An atomic that waits may have changed the word: it has taken a lock.
void traced_block::end_poll(std::uint32_t warp, std::span<const std::byte> shared, bool is_atomic,
                            const observe::counters& now) {
    wait_for_others(warp, is_atomic);
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
