// SPDX-License-Identifier: MIT
// Words of global memory by which the blocks of a launch let each other go on.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace softgpu::machine {

// When each word was changed, by table, on the clock that the blocks have in common. Thread-safe.
class words_between_blocks {
public:
    // Before a store or an atomic, which note() follows: who finds what it writes waits for that.
    void expect(std::uint64_t word) {
        const std::lock_guard lock(mutex_);
        expected_.push_back(word);
    }
    // A store of what was there already lets nobody go on; nor does one in the place of another value that is not 0, which has
    // let others go on before: the sum of all tiles in the place of that of one. Of atomics, which count or lock, each does.
    // `round`: the atomics on it by the block, with this one.
    void note(std::uint64_t word, std::uint64_t value, bool is_atomic, std::size_t round,
              std::span<const double> when) {
        const std::lock_guard lock(mutex_);
        if (const auto one = std::ranges::find(expected_, word); one != expected_.end()) {
            expected_.erase(one);
        }
        const auto [here, is_new] = changed_.try_emplace(word, change{value, {}});
        const std::uint64_t before = std::exchange(here->second.value, value);
        if (!is_new && (before == value || (!is_atomic && before != 0 && value != 0))) {
            return;
        }
        auto& rounds = here->second.rounds;
        round = std::min(round, most_rounds);
        if (rounds.size() <= round) {
            rounds.resize(round + 1, rounds.empty() ? std::vector<double>(when.size()) : rounds.back());
        }
        for (std::size_t k = round; k < rounds.size(); ++k) {
            for (std::size_t t = 0; t < when.size(); ++t) {
                rounds[k][t] = std::max(rounds[k][t], when[t]);
            }
        }
    }
    // Empty: it was not changed. `round`: the atomics on it by the block that asks. What it waits for is no later one of another
    // block: who counts at a barrier waits for those who have not, not for who has come to the next. 0: it waits for all.
    [[nodiscard]] std::vector<double> when(std::uint64_t word, std::size_t round) {
        std::unique_lock lock(mutex_);
        // Of a block that ended by a fault note() never comes.
        for (unsigned looks = 0; looks < most_looks && std::ranges::find(expected_, word) != expected_.end(); ++looks) {
            lock.unlock();
            std::this_thread::yield();
            lock.lock();
        }
        const auto here = changed_.find(word);
        if (take_tickets() || here == changed_.end() || here->second.rounds.empty()) {
            return {};
        }
        const auto& rounds = here->second.rounds;
        return rounds[round == 0 ? rounds.size() - 1 : std::min(round, rounds.size() - 1)];
    }

    // Blocks take what is next from a counter: which of them has which, and after whom, is the software GPU's order, not the
    // device's. Nothing is said of waits any more.
    void set_take_tickets() noexcept { take_tickets_ = true; }
    [[nodiscard]] bool take_tickets() const noexcept { return take_tickets_; }

private:
    struct change {
        std::uint64_t value = 0;
        std::vector<std::vector<double>> rounds; // by round: when it was changed last, in this round or before
    };

    static constexpr std::size_t most_rounds = 1 << 12;

    static constexpr unsigned most_looks = 10'000;

    std::mutex mutex_;
    std::vector<std::uint64_t> expected_;
    std::atomic<bool> take_tickets_ = false;
    std::unordered_map<std::uint64_t, change> changed_;
};

} // namespace softgpu::machine
