// SPDX-License-Identifier: MIT
// How long launches take on cards that are not there: by a model, never measured. docs/model-rules.md has its formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "warpfold/testing/runtime.hpp"

namespace warpfold::testing {

// What limits a launch; docs/model-rules.md has a line on each. `other`: one that these headers do not have yet.
enum class bound {
    launch, // the cost of launching; nothing that the kernel does
    issue,
    integer,
    multiply,
    shift,
    logic,
    fp32,
    fp64,
    half,
    special,
    convert,
    shuffle,
    vote,
    tensor,
    lsu,
    shared,
    constant,
    match,
    texture,
    l1,
    latency,
    l2,
    slice,
    dram,
    atomics,
    link,
    blocks,
    other
};

namespace detail {

// In the order of the enumeration.
inline constexpr const char* bound_names[] = {"launch", "issue",  "integer",  "multiply", "shift",   "logic", "fp32",
                                              "fp64",   "half",   "special",  "convert",  "shuffle", "vote",  "tensor",
                                              "lsu",    "shared", "constant", "match",    "texture", "l1",    "latency",
                                              "l2",     "slice",  "dram",     "atomics",  "link",    "blocks"};
inline constexpr std::size_t bound_count = sizeof bound_names / sizeof bound_names[0];
static_assert(bound_count == static_cast<std::size_t>(bound::other));

inline bound bound_named(const std::string& name) noexcept {
    std::size_t at = 0;
    while (at < bound_count && name != bound_names[at]) {
        ++at;
    }
    return static_cast<bound>(at);
}

} // namespace detail

inline std::ostream& operator<<(std::ostream& out, bound b) {
    return out << (b == bound::other ? "other" : detail::bound_names[static_cast<std::size_t>(b)]);
}

// One card's. Of several launches, times and bytes are sums; bound, next_bound, share_of_roof and the rates are those of the
// launch that takes longest.
struct prediction {
    std::string card;                                   // "h100"
    double microseconds = 0;                            // the caches hold what the launches before have left there
    double cold_microseconds = 0;                       // the L2 cache is empty when a launch begins
    testing::bound bound = testing::bound::launch;      // of the warm time
    testing::bound next_bound = testing::bound::launch; // the second; launch: nothing else takes time
    double share_of_roof = 0;                           // of the warm time, what the bound alone would take: 0 to 1
    double l1_load_hit_rate = 0;                        // sectors: 0 to 1
    double l2_read_hit_rate = 0;
    std::int64_t dram_read_bytes = 0;
    std::int64_t dram_write_bytes = 0;
    std::int64_t cold_dram_read_bytes = 0;
    std::int64_t cold_dram_write_bytes = 0;

    friend std::ostream& operator<<(std::ostream& out, const prediction& p) {
        return out << '{' << p.card << ": " << p.microseconds << " us, cold " << p.cold_microseconds << " us, "
                   << p.bound << '}';
    }
};

// One launch's, or several launches': a prediction for each card that the process was told to predict.
class predictions {
public:
    predictions() = default;
    explicit predictions(std::vector<prediction> all) : all_(std::move(all)), longest_(microseconds_of(all_)) {}

    // The card by its name in docs/model.md, or in a file of your own. Throws error where it is not predicted.
    const prediction& on(const std::string& card) const {
        std::string others;
        for (const prediction& p : all_) {
            if (p.card == card) {
                return p;
            }
            others += (others.empty() ? "" : ", ") + p.card;
        }
        throw error("warpfold: there is no prediction for '" + card + "'" +
                    (others.empty() ? ": say PREDICT " + card +
                                          " in warpfold_add_cuda_test, or run the program with "
                                          "`warpfold run --predict " +
                                          card + " -- PROGRAM`"
                                    : "; there are " + others));
    }
    const std::vector<prediction>& all() const noexcept { return all_; }
    bool empty() const noexcept { return all_.empty(); }

    // As launches one after the other. Both have the same cards, or one is empty.
    predictions& operator+=(const predictions& other) {
        if (all_.empty()) {
            return *this = other;
        }
        for (std::size_t k = 0; k < all_.size() && k < other.all_.size(); ++k) {
            prediction sum = longest_[k] < other.longest_[k] ? other.all_[k] : all_[k];
            longest_[k] = longest_[k] < other.longest_[k] ? other.longest_[k] : longest_[k];
            sum.microseconds = all_[k].microseconds + other.all_[k].microseconds;
            sum.cold_microseconds = all_[k].cold_microseconds + other.all_[k].cold_microseconds;
            sum.dram_read_bytes = all_[k].dram_read_bytes + other.all_[k].dram_read_bytes;
            sum.dram_write_bytes = all_[k].dram_write_bytes + other.all_[k].dram_write_bytes;
            sum.cold_dram_read_bytes = all_[k].cold_dram_read_bytes + other.all_[k].cold_dram_read_bytes;
            sum.cold_dram_write_bytes = all_[k].cold_dram_write_bytes + other.all_[k].cold_dram_write_bytes;
            all_[k] = sum;
        }
        return *this;
    }

private:
    static std::vector<double> microseconds_of(const std::vector<prediction>& all) {
        std::vector<double> each;
        each.reserve(all.size());
        for (const prediction& p : all) {
            each.push_back(p.microseconds);
        }
        return each;
    }

    std::vector<prediction> all_;
    std::vector<double> longest_; // microseconds of the longest launch, by card
};

namespace detail {

// The predictions of a launch; none where the software GPU predicts nothing.
inline predictions read_predictions(const runtime& gpu, const softgpu_recording* recording, std::size_t launch) {
    std::vector<prediction> all;
    softgpu_recorded_prediction p{};
    p.bytes = sizeof p;
    while (gpu.call.prediction(recording, launch, all.size(), &p) != 0) {
        prediction out;
        out.card = p.card;
        out.microseconds = p.nanoseconds / 1000;
        out.cold_microseconds = p.cold_nanoseconds / 1000;
        out.bound = bound_named(p.bound);
        out.next_bound = *p.next_bound == '\0' ? bound::launch : bound_named(p.next_bound);
        out.share_of_roof = p.share_of_roof;
        out.l1_load_hit_rate = p.l1_load_hit_rate;
        out.l2_read_hit_rate = p.l2_read_hit_rate;
        out.dram_read_bytes = static_cast<std::int64_t>(p.dram_read_bytes);
        out.dram_write_bytes = static_cast<std::int64_t>(p.dram_write_bytes);
        out.cold_dram_read_bytes = static_cast<std::int64_t>(p.cold_dram_read_bytes);
        out.cold_dram_write_bytes = static_cast<std::int64_t>(p.cold_dram_write_bytes);
        all.push_back(std::move(out));
    }
    return predictions(std::move(all));
}

} // namespace detail

} // namespace warpfold::testing
