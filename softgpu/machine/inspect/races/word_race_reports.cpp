// SPDX-License-Identifier: MIT
// The findings of word_access: values before and after, writes that lanes of a warp lose, and what is reported.
#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "softgpu/machine/inspect/products.hpp"
#include "softgpu/machine/inspect/races/word_races.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/memory/peers.hpp"

namespace softgpu::machine {

using check::stamp;

namespace {

constexpr const char* shared_race = "race in shared memory";
constexpr const char* global_race = "race in global memory";
constexpr const char* different_values =
    "lanes of one instruction write different values to one word: which one stays?";
constexpr const char* not_waited_for = "a copy by cp.async to this word is under way: its thread has not waited for it";
constexpr const char* without_syncwarp = "two lanes of a warp use one word without __syncwarp() between them";

} // namespace

const char* word_access::kind() const { return in_global_ ? global_race : shared_race; }

[[gnu::no_sanitize("thread")]] std::uint32_t word_access::in_memory(std::uint64_t at, unsigned bytes) const {
    std::uint32_t value = 0;
    if (!in_global_ || memory::peers::find_reachable(*l_.memory, at, bytes)) {
        const std::byte* const from = in_global_ ? reinterpret_cast<const std::byte*>(at) : b_.shared + at;
        for (unsigned k = 0; k < bytes; ++k) {
            value |= std::to_integer<std::uint32_t>(from[k]) << (8 * k);
        }
    }
    return value;
}

std::optional<std::uint32_t> word_access::in_matrix(unsigned offset) const {
    if ((w_->live & ~w_->mask) != 0) {
        return std::nullopt; // lanes that have not come yet
    }
    constexpr unsigned side = 8;
    const auto element = [&](unsigned row, unsigned column) {
        const unsigned from = site_.is_transposed ? column * side + row : row * side + column;
        std::uint16_t e;
        std::memcpy(&e, lanes_at(frame_, w_, site_.values[lane_ / side]) + from * sizeof(e), sizeof(e));
        return std::uint32_t{e};
    };
    return element(lane_ % side, offset / 2) | element(lane_ % side, offset / 2 + 1) << 16;
}

std::optional<std::uint32_t> word_access::in_register(unsigned offset) const {
    if (site_.verb != access_verb::store || site_.element_bytes == 0) {
        return std::nullopt;
    }
    if (site_.is_matrix) {
        return in_matrix(offset);
    }
    std::uint32_t value = 0;
    const unsigned step = std::min<unsigned>(site_.element_bytes, 4);
    for (unsigned k = 0; k < width(); k += step) {
        const place p = site_.values != nullptr ? site_.values[(offset + k) / site_.element_bytes] : site_.value;
        if (p == nowhere) {
            return std::nullopt;
        }
        std::memcpy(reinterpret_cast<std::byte*>(&value) + k,
                    lanes_at(frame_, w_, p) + std::size_t{lane_} * site_.value_width +
                        (offset + k) % site_.element_bytes,
                    std::min<unsigned>(step, site_.value_width));
    }
    return value;
}

std::optional<std::string> word_access::register_text() const {
    std::vector<std::uint32_t> words;
    const unsigned element = std::max<unsigned>(site_.element_bytes, 4);
    for (unsigned k = offset_ - offset_ % element; words.size() < element / 4; k += 4) {
        const std::optional<std::uint32_t> word = in_register(k);
        if (!word) {
            return std::nullopt;
        }
        words.push_back(*word);
    }
    return value_text(words, site_);
}

std::string word_access::memory_text(const access_site& site) const {
    std::vector<std::uint32_t> words;
    if (site.element_bytes <= 4) {
        return value_text({in_memory()}, site);
    }
    for (unsigned k = 0; k < site.element_bytes; k += 4) {
        words.push_back(in_memory(at_ - at_ % site.element_bytes + k, 4));
    }
    return value_text(words, site);
}

bool word_access::loses(stamp s) {
    if (in_global_ || site_.verb != access_verb::store || !is_of_warp(s) || site_before(s) == nullptr ||
        site_before(s)->verb != access_verb::store) {
        return false;
    }
    lost_value lost;
    lost.one_instruction = is_same_instruction(s);
    lost.value = register_text();
    const std::optional<std::uint32_t> value = in_register();
    std::optional<std::uint32_t> value_before = in_memory();
    const unsigned own = lane_;
    if (writes_now(s)) {
        lane_ = lane_before(s);
        value_before = in_register();
        lane_ = own;
    } else {
        lost.value_before = memory_text(*site_before(s));
    }
    if (value == value_before) {
        return false;
    }
    lost.site = &site_;
    lost.site_before = site_before(s);
    lost.thread = thread_of(w_, own);
    lost.thread_before = thread_of(w_, lane_before(s));
    lost.time = clock_.view.time;
    b_.checks->lost[at_ / 4] = lost;
    clock_.view.has_lost = true;
    return true;
}

bool word_access::is_lost_still() const {
    const auto found = b_.checks->lost.find(at_ / 4);
    return found != b_.checks->lost.end() && found->second.time == clock_.view.time;
}

void word_access::report_lost() {
    const auto found = b_.checks->lost.find(at_ / 4);
    if (found == b_.checks->lost.end()) {
        return;
    }
    const lost_value& lost = found->second;
    const instruction_place stands_at{lost.site->function, lost.site->source};
    const instruction_place place_before{lost.site_before->function, lost.site_before->source};
    if (count_again(l_, check::race, shared_race, false, stands_at, place_before)) {
        return;
    }
    access_facts now{access_text(*lost.site), stands_at, b_.linear, lost.thread, {}};
    access_facts before{access_text(*lost.site_before), place_before, b_.linear, lost.thread_before, {}};
    now.value = lost.value;
    before.value = lost.value_before;
    report(l_,
           {.check = check::race,
            .kind = shared_race,
            .message = lost.one_instruction ? different_values : without_syncwarp,
            .at = place_in_shared(l_, at_)},
           now, &before);
}

bool word_access::is_same_instruction(stamp s) const {
    return is_of_warp(s) && (mine_ ^ s) >> check::time_shift == 0 && check::site_of(s) == site_.id &&
           site_.verb == access_verb::store;
}

bool word_access::writes_now(stamp s) const { return is_same_instruction(s) && (w_->mask >> lane_before(s) & 1) != 0; }

void word_access::report_under_way(stamp s) {
    const access_site* const copy = site_before(s);
    const bool bulk = copy != nullptr && copy->source_places == nullptr;
    report_copy(s, shared_race,
                bulk ? "a copy to this word is under way: nobody has waited for its mbarrier" : not_waited_for);
}

void word_access::report_read_under_way(stamp s) {
    if (is_product(b_, s)) {
        report_copy(s, "race with wgmma",
                    "shared memory is written while wgmma.mma_async may still read it: no wgmma.wait_group in between");
    } else {
        report_copy(s, shared_race,
                    "a bulk copy still reads this word: its thread has not waited for the copy's group");
    }
}

void word_access::report_copy(stamp s, const char* kind, const char* message) {
    if (count_again(l_, check::race, kind, false, own_place(), place_before(s))) {
        return;
    }
    const access_site* const copy = site_before(s);
    const access_facts before{copy == nullptr     ? "a copy"
                              : is_product(b_, s) ? "wgmma.mma_async"
                                                  : "copy of " + std::to_string(copy->bytes) + " bytes",
                              place_before(s),
                              b_.linear,
                              check::warp_of(s) * lanes + check::lane_of(s),
                              {},
                              l_.cluster_blocks == 1}; // else a thread of any of the cluster's blocks
    report(l_, {.check = check::race, .kind = kind, .message = message, .at = place_in_shared(l_, at_)},
           access_by_site(site_, w_, lane_), &before);
}

void word_access::report_race(stamp s, bool of_write) {
    const std::optional<std::uint32_t> value = in_register();
    const bool one_instruction = of_write && is_same_instruction(s);
    bool same_value = false;
    if (of_write && writes_now(s)) {
        const unsigned own = lane_;
        lane_ = lane_before(s);
        same_value = in_register() == value;
        lane_ = own;
    } else if (of_write && value) {
        same_value = *value == in_memory();
        // Another block, in another host thread, may have left its stamp and not yet its value.
        for (int k = 0; k < 64 && in_global_ && !same_value && !is_own_block(s); ++k) {
            std::this_thread::yield();
            same_value = *value == in_memory();
        }
    }
    // What an update leaves depends on when it came, also where this store's value is the same by chance.
    const access_site* const earlier = site_before(s);
    const bool is_note = same_value && of_write && site_.verb == access_verb::store &&
                         (earlier == nullptr || earlier->verb == access_verb::store);
    std::uint64_t block = 0;
    event e;
    static_cast<void>(event_of(s, block, e));
    const check::spread by = of_write ? check::spread::thread : check::spread_of(s);
    const bool blocks = block != b_.linear || by == check::spread::blocks;
    const bool warps = e.warp != w_->index || by == check::spread::warps;
    const reach between = one_instruction ? reach::lane : blocks ? reach::block : warps ? reach::warp : reach::lane;
    if (count_again(l_, check::race, kind(), is_note, own_place(), place_before(s), between)) {
        return;
    }
    finding_facts what{.check = check::race,
                       .between = between,
                       .kind = kind(),
                       .is_note = is_note,
                       .at = in_global_ ? place_in_global(l_, at_) : place_in_shared(l_, at_)};
    if (one_instruction) {
        what.message = same_value ? "lanes of one instruction write the same value to one word" : different_values;
    } else {
        what.message = blocks  ? "two blocks use one word without an order between them"
                       : warps ? "two warps of a block use one word without a barrier between them"
                               : without_syncwarp;
        what.message += is_note ? "; both write the same value" : "";
    }
    access_facts now = access_by_site(site_, w_, lane_);
    now.value = value                             ? register_text()
                : site_.verb == access_verb::load ? std::optional(memory_text(site_))
                                                  : std::nullopt;
    access_facts before{earlier != nullptr ? access_text(*earlier)
                        : of_write         ? "a write"
                                           : "a read",
                        place_before(s),
                        block,
                        check::warp_of(s) * lanes + lane_before(s),
                        {}};
    if (!of_write && check::spread_of(s) != check::spread::thread) {
        before.what += " by several threads";
        before.is_one_thread = false;
    }
    if (of_write && !writes_now(s)) {
        before.value = memory_text(earlier != nullptr ? *earlier : site_);
    }
    report(l_, std::move(what), now, &before);
}

} // namespace softgpu::machine
