// SPDX-License-Identifier: MIT
// The clocks of a block that is traced.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/state/block.hpp"
#include "softgpu/machine/trace.hpp"
#include "softgpu/machine/words_between_blocks.hpp"

namespace softgpu::machine {

// One block while it runs: a clock for each warp and table, without anything that others do.
class traced_block {
public:
    // `registers`: carried ones of the kernel. Those of its functions share their numbers.
    traced_block(std::unique_ptr<block_trace> to, std::uint32_t warps, std::size_t tables, std::uint32_t registers,
                 words_between_blocks& words);

    // Of a warp, by table.
    [[nodiscard]] const double* clocks_of(std::uint32_t warp) const noexcept { return clocks_.data() + warp * tables_; }
    void advance(std::uint32_t warp, const program_code& code, const traced_piece& piece);
    // The warp is about to load, and others that are behind it by the clock have not had their turn.
    [[nodiscard]] bool is_ahead(std::uint32_t warp) noexcept {
        const double now = clocks_[warp * tables_];
        if (now <= turn_ends_) {
            return false;
        }
        next_turn_ends_ = waiting_ == 0 ? now : std::min(next_turn_ends_, now);
        ++waiting_;
        return true;
    }
    // All warps have had their turn.
    void end_turns() noexcept {
        if (waiting_ != 0) {
            turn_ends_ = next_turn_ends_ + (waiting_ == 1 ? alone : together);
            waiting_ = 0;
        }
    }
    // The warp comes to an access that begins so many cycles behind the end of its piece, by table.
    void begin_access(const double* behind) noexcept { behind_ = behind; }
    [[nodiscard]] const double* behind() const noexcept { return behind_; }
    void arrive(std::uint32_t warp);
    void pass(std::uint32_t warp);
    // Around an access of a warp to words of shared memory for which a loop may wait. `shared`: the block's.
    void begin_words() noexcept {
        words_.clear();
        words_between_.clear();
    }
    void add_word(std::uint32_t word) { words_.push_back(word); }
    // The same of global memory, of launches whose blocks have a clock in common. `word`: its address over 4.
    void add_word_between(std::uint64_t word) {
        if (!clocks_between_.empty()) {
            words_between_.push_back(word);
        }
    }
    // An atomic with a result on one word of global memory; the address over 4.
    void note_ticket(std::uint32_t warp, std::uint64_t word) {
        tickets& last = tickets_[warp];
        last = {word, last.word == word ? last.count + 1 : 1};
        if (last.count == least_tickets) {
            between_.set_take_tickets();
        }
    }
    void begin_release();
    // `bytes` of each, written by a store or an atomic.
    void end_release(std::uint32_t warp, std::span<const std::byte> shared, unsigned bytes, bool is_atomic);
    // The same of a loop that only waits; `now`: the counters.
    void begin_poll(std::uint32_t warp, const observe::counters& now);
    void end_poll(std::uint32_t warp, std::span<const std::byte> shared, bool is_atomic, const observe::counters& now);
    [[nodiscard]] block_trace& to() noexcept { return *to_; }
    void end();

private:
    template <class Tables> // how many, as a number that the compiler knows or not
    void advance_by(Tables tables, std::uint32_t warp, const program_code& code, const traced_piece& piece);

    void wait_for_others(std::uint32_t warp, bool is_atomic);

    // A warp is at most one barrier ahead of another; bar.arrive may be further, which costs exactness alone.
    static constexpr std::uint32_t rounds = 8;

    // Cycles that a warp goes on for in its turn, and if it is the only one that loads: fewer turns take less time of the host.
    static constexpr double together = 100;
    static constexpr double alone = 2000;

    // A warp that asks for the next value of one word so often takes its work from a counter, one piece after the other.
    static constexpr unsigned least_tickets = 3;

    std::unique_ptr<block_trace> to_;
    std::size_t tables_;
    std::uint32_t registers_;
    std::vector<double> clocks_;          // of a warp, table by table
    std::vector<double> ready_;           // of a warp, when its carried registers are there, table by table
    std::vector<double> arrivals_;        // the last at a round
    std::vector<std::uint32_t> arrived_;  // rounds of each warp
    std::uint32_t passed_ = 0;            // rounds that a warp has left
    std::vector<std::uint32_t> round_of_; // of each place in arrivals_
    std::vector<const double*> round_;    // of a warp that waits: cycles of one round of its loop, by table
    struct released_word {
        std::uint32_t value = 0;
        bool is_known = false;
    };
    std::vector<released_word> released_; // by word; empty: none
    std::vector<double> released_when_;   // it was changed last: by word, table by table
    double turn_ends_ = 0;                // by the first table's clock
    double next_turn_ends_ = 0;
    std::uint32_t waiting_ = 0; // warps that are ahead of it
    const double* behind_ = nullptr;
    std::vector<std::uint32_t> words_; // of the present access
    words_between_blocks& between_;
    std::vector<common_clock> clocks_between_;                      // by table
    std::vector<std::uint64_t> words_between_;                      // of the present access
    std::unordered_map<std::uint64_t, std::size_t> rounds_between_; // atomics of the block, by word
    struct tickets {
        std::uint64_t word = 0;
        unsigned count = 0;
    };
    std::vector<tickets> tickets_; // by warp: of its last word
    std::optional<observe::counters> before_poll_;
    observe::counters polls_;
};

// Of the warp's block; nullptr: it has no trace.
inline traced_block* traced_block_of(const warp* w) noexcept { return w->owner->traced.get(); }

} // namespace softgpu::machine
