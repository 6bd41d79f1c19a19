// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/predictions.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "softgpu/observe/counters_since.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::chrono::seconds patience{1}; // without the end of a block

struct predicted_card {
    explicit predicted_card(predict::card c)
        : facts(std::move(c)),
          rules(predict::rules_of(facts)),
          l2(static_cast<std::uint64_t>(facts.l2_bytes), static_cast<std::uint64_t>(facts.l2_fetch),
             {.bytes = static_cast<std::uint64_t>(facts.l2_slice_bytes),
              .load = 1 / facts.slice_loads,
              .store = 1 / facts.slice_stores,
              .atomic = 1 / facts.atomics_one_address,
              .floats = 1 / facts.atomics_one_float,
              .changed = 1 / facts.slice_changed},
             static_cast<unsigned>(facts.l2_partitions),
             {.l2 = static_cast<std::uint32_t>(facts.latency_l2),
              .dram = static_cast<std::uint32_t>(facts.latency_dram)}) {}

    predict::card facts;
    predict::memory_rules rules;
    predict::device_l2 l2;
};

struct predicted_cards {
    std::vector<std::unique_ptr<predicted_card>> cards;
    std::vector<observe::latency_table> tables;  // of each card near, far
    std::timed_mutex launching;                  // one launch at a time has the caches
    std::atomic<std::uint64_t> blocks_ended = 0; // of launches that had them
};

predicted_cards& all_predicted() {
    static predicted_cards& only = *new predicted_cards; // never destroyed: static destructors launch kernels too
    return only;
}

std::unique_lock<std::timed_mutex> take_turn() {
    predicted_cards& all = all_predicted();
    std::unique_lock turn(all.launching, std::defer_lock);
    std::uint64_t ended_before = 0;
    do {
        ended_before = all.blocks_ended;
    } while (!turn.try_lock_for(patience) && all.blocks_ended != ended_before);
    return turn;
}

} // namespace

struct launch_prediction::sums {
    predict::launch_shape shape;
    std::unique_lock<std::timed_mutex> turn;
    std::mutex mutex;
    std::vector<predict::traffic> l1;          // by card
    std::vector<predict::shared_turns> shared; // by card, where it has rules of its own
    std::vector<double> cycles;                // by table, over all blocks
    std::vector<double> last_cycles;           // of these, behind the last barrier
    std::vector<double> ends;                  // by table: of the block that ends last, from the first one's begin
    std::vector<double> longest;               // by table: of the block that takes longest
    std::uint64_t blocks = 0;
    std::deque<predict::l1_places> l1_of; // by card
    std::vector<std::uint64_t> places;    // by card: blocks on the device at once
    std::vector<predict::host_lines> host;
    predict::meetings met;
    observe::counters polls; // of loops that only wait: how many there are depends on the order of the host's threads
    std::atomic<std::uint64_t> begun = 0;
};

namespace {

class predicted_block final : public machine::block_trace {
public:
    explicit predicted_block(launch_prediction::sums& to) : to_(to), shared_(all_predicted().cards.size()) {
        const auto& cards = all_predicted().cards;
        const std::uint64_t number = to.begun++;
        l1_.reserve(cards.size());
        for (std::size_t k = 0; k < cards.size(); ++k) {
            predict::block_place at = predict::place_of(cards[k]->facts, to.places[k], number);
            predict::l1_places::taken l1 = to.l1_of[k].take(at.place);
            at.place = l1.place;
            l1_.emplace_back(cards[k]->l2, std::move(l1.cache), to.host, at, to.l1_of[k].shared_by(at.place));
            places_.push_back(at.place);
            machine::common_clock clock;
            if (to.shape.blocks <= to.places[k]) {
                clock = predict::clock_of(cards[k]->facts, number);
            }
            clocks_.insert(clocks_.end(), 2, clock);
        }
    }

    [[nodiscard]] std::vector<machine::common_clock> clocks() const override { return clocks_; }

    void touched(const machine::line_access& a, bool by_lanes) override {
        for (std::size_t k = 0; k < l1_.size(); ++k) {
            if (!by_lanes || !predict::has_half_warps(rules_of(k))) {
                l1_[k].touched(a, a.clocks[2 * k + 1] + a.behind[2 * k + 1]);
            }
        }
    }

    void touched_by_lanes(std::uint32_t warp, predict::lane_addresses at, std::uint32_t mask, unsigned bytes,
                          machine::touch how) override {
        for (std::size_t k = 0; k < l1_.size(); ++k) {
            if (predict::has_half_warps(rules_of(k))) {
                const predict::transactions all = predict::transactions_of(rules_of(k), at, mask, bytes);
                for (unsigned t = 0; t < all.count; ++t) {
                    l1_[k].touched({.line = all.of.at(t).line,
                                    .warp = warp,
                                    .words = ~0u,
                                    .sectors = all.of.at(t).sectors,
                                    .how = how});
                }
            }
        }
    }

    void touched_shared(predict::lane_addresses at, std::uint32_t mask, unsigned bytes, machine::touch how) override {
        for (std::size_t k = 0; k < l1_.size(); ++k) {
            if (rules_of(k) != predict::memory_rules::counters) {
                shared_[k] += predict::turns_of(rules_of(k), at, mask, bytes, how);
            }
        }
    }

    void touched_local(std::uint32_t warp, std::uint64_t line, std::uint32_t mask, machine::touch how) override {
        for (predict::block_l1& l1 : l1_) {
            l1.touched_local(warp, line, mask, how);
        }
    }

    void passed_barrier() override {
        for (predict::block_l1& l1 : l1_) {
            l1.passed_barrier();
        }
    }

    void acquired() override {
        for (predict::block_l1& l1 : l1_) {
            l1.clear();
        }
    }

    void met(machine::meeting what, unsigned times) override {
        switch (what) {
        case machine::meeting::constant_words: met_.constant_words += times; break;
        case machine::meeting::joined_wavefronts: met_.joined_wavefronts += times; break;
        case machine::meeting::match_values:
            ++met_.matches;
            met_.match_values += times;
            break;
        case machine::meeting::shared_counts: met_.shared_counts += times; break;
        case machine::meeting::shared_counters: met_.shared_counters += times; break;
        case machine::meeting::loop_rounds: met_.loop_rounds += times; break;
        case machine::meeting::loop_wavefronts: met_.loop_wavefronts += times; break;
        case machine::meeting::load_turns: met_.load_turns += times; break;
        case machine::meeting::texture_turns: met_.texture_turns += times; break;
        }
    }

    void ended(std::span<const double> cycles, std::span<const double> last, const observe::counters& polls) override {
        std::vector<predict::traffic> own;
        own.reserve(l1_.size());
        for (std::size_t k = 0; k < l1_.size(); ++k) {
            own.push_back(l1_[k].ended());
            to_.l1_of[k].leave(places_[k], l1_[k].cache());
        }
        all_predicted().blocks_ended += to_.turn.owns_lock() ? 1 : 0;
        const std::lock_guard lock(to_.mutex);
        for (std::size_t k = 0; k < own.size(); ++k) {
            to_.l1[k].loads += own[k].loads;
            to_.l1[k].l1_hits += own[k].l1_hits;
            to_.l1[k].load_requests += own[k].load_requests;
            to_.l1[k].load_requests_missed += own[k].load_requests_missed;
            to_.l1[k].load_requests_waited += own[k].load_requests_waited;
            to_.l1[k].load_lines_missed += own[k].load_lines_missed;
            to_.l1[k].load_lines_apart += own[k].load_lines_apart;
            to_.l1[k].host_sectors += own[k].host_sectors;
            to_.shared[k] += shared_[k];
        }
        for (std::size_t t = 0; t < cycles.size(); ++t) {
            to_.cycles[t] += cycles[t];
            to_.last_cycles[t] += last[t];
            to_.ends[t] = std::max(to_.ends[t], clocks_[t].begins + cycles[t]);
            to_.longest[t] = std::max(to_.longest[t], cycles[t]);
        }
        to_.met += met_;
        to_.polls.add(polls);
        ++to_.blocks;
    }

private:
    static predict::memory_rules rules_of(std::size_t card) { return all_predicted().cards[card]->rules; }

    launch_prediction::sums& to_;
    std::vector<predict::block_l1> l1_;
    std::vector<std::uint64_t> places_;         // by card
    std::vector<machine::common_clock> clocks_; // by table
    predict::meetings met_;
    std::vector<predict::shared_turns> shared_;
};

} // namespace

void load_predicted_cards(const std::vector<std::string>& files) {
    predicted_cards& all = all_predicted();
    if (!all.cards.empty()) {
        return;
    }
    for (const std::string& file : files) {
        try {
            const predict::card c = predict::read_card(file);
            all.tables.push_back(predict::latencies_of(c, c.latency_l1));
            all.tables.push_back(predict::latencies_of(c, c.latency_dram));
            all.cards.push_back(std::make_unique<predicted_card>(c));
        } catch (const predict::card_error& e) {
            fail(error::initialization_error, std::string("SOFTGPU_PREDICT: ") + e.what());
        }
    }
}

std::span<const observe::latency_table> predicted_latencies() noexcept { return all_predicted().tables; }

bool predicted_by_lanes() noexcept {
    const auto& cards = all_predicted().cards;
    return std::any_of(cards.begin(), cards.end(),
                       [](const auto& c) { return c->rules != predict::memory_rules::counters; });
}

std::vector<observe::predicted_machine> predicted_machines() {
    std::vector<observe::predicted_machine> machines;
    for (const auto& one : all_predicted().cards) {
        const predict::card& c = one->facts;
        observe::timeline_machine& m =
            machines.emplace_back(observe::predicted_machine{c.key, {}, {}, c.launch_next * 1e-9}).machine;
        m.pinned_bytes_per_s = c.link_bandwidth * 1e9;
        m.pageable_bytes_per_s = std::min(m.pageable_bytes_per_s, m.pinned_bytes_per_s / 2);
        m.copy_engines = c.copy_engines > 1 ? 2 : 1;
        m.kernel_latency = c.launch * 1e-9;
        m.multiprocessors = static_cast<unsigned>(c.multiprocessors);
        m.warp_instructions_per_s = c.issue * c.clock * 1e9;
        m.memory_bytes_per_s = c.dram_bandwidth * c.dram_efficiency * 1e9;
        m.name = "predicted by the model of " + c.name + " (docs/model.md), not measured: a compute engine, " +
                 std::to_string(m.copy_engines) + (m.copy_engines == 1 ? " copy engine, " : " copy engines, ") +
                 std::to_string(static_cast<int>(c.link_bandwidth)) + " GB/s each way, " +
                 std::to_string(static_cast<int>(m.pageable_bytes_per_s / 1e9)) + " GB/s for pageable memory";
    }
    return machines;
}

launch_prediction::launch_prediction(const predict::launch_shape& shape, std::vector<predict::host_lines> host)
    : sums_(std::make_unique<sums>()) {
    predicted_cards& all = all_predicted();
    sums_->shape = shape;
    sums_->host = std::move(host);
    sums_->turn = take_turn();
    sums_->l1.resize(all.cards.size());
    sums_->shared.resize(all.cards.size());
    sums_->cycles.resize(all.tables.size());
    sums_->last_cycles.resize(all.tables.size());
    sums_->ends.resize(all.tables.size());
    sums_->longest.resize(all.tables.size());
    for (const auto& c : all.cards) {
        if (is_alone()) {
            c->l2.begin();
        }
        sums_->places.push_back(static_cast<std::uint64_t>(c->facts.multiprocessors) *
                                predict::resident_blocks(c->facts, shape));
        sums_->l1_of.emplace_back(predict::l1_of(c->facts, shape), sums_->places.back(),
                                  static_cast<std::uint64_t>(c->facts.multiprocessors));
    }
}

launch_prediction::~launch_prediction() = default;

bool launch_prediction::is_alone() const noexcept { return sums_->turn.owns_lock(); }

std::unique_ptr<machine::block_trace> launch_prediction::begin() { return std::make_unique<predicted_block>(*sums_); }

std::vector<observe::prediction> launch_prediction::predictions(const observe::counters& total,
                                                                const observe::instruction_mix& mix) {
    if (!is_alone()) {
        return {};
    }
    const auto& cards = all_predicted().cards;
    std::vector<observe::prediction> made;
    made.reserve(cards.size());
    const double blocks = sums_->blocks == 0 ? 1 : static_cast<double>(sums_->blocks);
    for (std::size_t k = 0; k < cards.size(); ++k) {
        predict::launch_work work{.shape = sums_->shape,
                                  .total = observe::since(sums_->polls, total),
                                  .mix = mix,
                                  .path_near = sums_->cycles[2 * k] / blocks,
                                  .path_far = sums_->cycles[2 * k + 1] / blocks,
                                  .last_path_near = sums_->last_cycles[2 * k] / blocks,
                                  .last_path_far = sums_->last_cycles[2 * k + 1] / blocks,
                                  .end_near = words().take_tickets() ? 0 : sums_->ends[2 * k],
                                  .end_far = words().take_tickets() ? 0 : sums_->ends[2 * k + 1],
                                  .longest_near = words().take_tickets() ? 0 : sums_->longest[2 * k],
                                  .longest_far = words().take_tickets() ? 0 : sums_->longest[2 * k + 1],
                                  .warm = cards[k]->l2.warm(),
                                  .cold = cards[k]->l2.cold(),
                                  .met = sums_->met,
                                  .shared = std::nullopt};
        if (cards[k]->rules != predict::memory_rules::counters) {
            work.shared = sums_->shared[k];
        }
        for (predict::traffic* const t : {&work.warm, &work.cold}) {
            t->loads = sums_->l1[k].loads;
            t->l1_hits = sums_->l1[k].l1_hits;
            t->load_requests = sums_->l1[k].load_requests;
            t->load_requests_missed = sums_->l1[k].load_requests_missed;
            t->load_requests_waited = sums_->l1[k].load_requests_waited;
            t->load_lines_missed = sums_->l1[k].load_lines_missed;
            t->load_lines_apart = sums_->l1[k].load_lines_apart;
            t->host_sectors = sums_->l1[k].host_sectors;
        }
        made.push_back(predict::predict(cards[k]->facts, work));
    }
    return made;
}

} // namespace softgpu::runtime
