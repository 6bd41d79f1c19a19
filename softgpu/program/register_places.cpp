// SPDX-License-Identifier: MIT
// Places for registers: first fit over their live ranges, holes included, in order of their first point. One region of
// the frame for each width, the narrow ones first; registers that depend on a clock have regions behind all others.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "softgpu/program/liveness.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::program {

namespace {

constexpr std::uint32_t region_alignment = 64;

std::uint32_t bytes_of(const ptx::register_declaration& r) { return warp_bytes(r.type) * r.vector; }

struct span_of_time {
    std::uint32_t first;
    std::uint32_t last;
};

// One place and when it is taken.
class place {
public:
    // Takes the place for a register's ranges unless it is taken in one of them. Calls come with rising first points.
    bool take(const live_ranges& ranges, std::uint32_t head) {
        for (std::uint32_t r = head; r != live_ranges::none; r = ranges.all[r].next) {
            const live_range& wanted = ranges.all[r];
            const auto at = first_ending_behind(wanted.first);
            if (at == taken_.end()) {
                break;
            }
            if (at->first < wanted.last) {
                return false;
            }
        }
        for (std::uint32_t r = head; r != live_ranges::none; r = ranges.all[r].next) {
            const live_range& wanted = ranges.all[r];
            taken_.insert(first_ending_behind(wanted.first), {wanted.first, wanted.last});
        }
        return true;
    }

    // The end of the range that has the place at this point; the point itself where none has.
    [[nodiscard]] std::uint32_t taken_until(std::uint32_t point) {
        const auto at = first_ending_behind(point);
        return at != taken_.end() && at->first <= point ? at->last : point;
    }

private:
    std::vector<span_of_time>::iterator first_ending_behind(std::uint32_t point) {
        if (taken_.empty() || taken_.back().last <= point) {
            return taken_.end();
        }
        return std::lower_bound(taken_.begin(), taken_.end(), point,
                                [](const span_of_time& s, std::uint32_t p) { return s.last <= p; });
    }

    std::vector<span_of_time> taken_; // in order, apart
};

// Hands out places of one width, the first that fits. Those that are taken at the moment are not looked at.
class place_list {
public:
    // The number of the place. Calls come with rising first points.
    std::size_t take(const live_ranges& ranges, std::uint32_t head) {
        const std::uint32_t start = ranges.all[head].first;
        while (!taken_.empty() && taken_.top().first <= start) {
            free_.insert(taken_.top().second);
            taken_.pop();
        }
        for (auto k = free_.begin(); k != free_.end();) {
            const std::size_t number = *k;
            const std::uint32_t until = places_[number].taken_until(start);
            if (until > start) {
                taken_.emplace(until, number);
                k = free_.erase(k);
            } else if (places_[number].take(ranges, head)) {
                taken_.emplace(ranges.all[head].last, number);
                free_.erase(k);
                return number;
            } else {
                ++k;
            }
        }
        places_.emplace_back().take(ranges, head);
        taken_.emplace(ranges.all[head].last, places_.size() - 1);
        return places_.size() - 1;
    }

    [[nodiscard]] std::size_t size() const { return places_.size(); }

private:
    using until_and_number = std::pair<std::uint32_t, std::size_t>;

    std::vector<place> places_;
    std::set<std::size_t> free_; // may be taken later on
    std::priority_queue<until_and_number, std::vector<until_and_number>, std::greater<>> taken_;
};

// Registers that only parameters of the kernel are loaded or copied to.
std::vector<bool> parameter_registers(const ptx::function& f) {
    enum class holds : std::uint8_t { nothing, parameter, other };
    std::vector<holds> known(f.registers.size(), holds::nothing);
    for (const ptx::instruction& i : f.instructions) {
        const access a = registers_of(i);
        const bool loads = i.op == ptx::opcode::ld && i.space() == ptx::suffix::param;
        const bool copies = (i.op == ptx::opcode::mov || i.op == ptx::opcode::cvta) && a.read.size() == 1 &&
                            known[a.read.front()] == holds::parameter;
        for (const std::uint32_t reg : a.written) {
            known[reg] = (loads || copies) && known[reg] != holds::other ? holds::parameter : holds::other;
        }
    }
    std::vector<bool> parameters(known.size());
    std::transform(known.begin(), known.end(), parameters.begin(), [](holds h) { return h == holds::parameter; });
    return parameters;
}

// `words_of(reg)`: 32-bit words that a register takes.
template <class Words>
std::uint32_t most_words(const ptx::function& f, const live_ranges& ranges, const Words& words_of) {
    std::vector<std::int64_t> change(2 * f.instructions.size() + 3, 0);
    for (std::uint32_t reg = 0; reg < f.registers.size(); ++reg) {
        const std::int64_t words = words_of(reg);
        for (std::uint32_t r = ranges.first_of[reg]; r != live_ranges::none; r = ranges.all[r].next) {
            change[ranges.all[r].first] += words;
            change[ranges.all[r].last] -= words;
        }
    }
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (const std::int64_t c : change) {
        now += c;
        most = std::max(most, now);
    }
    return static_cast<std::uint32_t>(most);
}

} // namespace

std::uint32_t register_words(const ptx::register_declaration& r) {
    return r.type == ptx::suffix::pred ? 0 : (std::max(ptx::bytes_of(r.type), 4u) / 4) * r.vector;
}

register_places place_registers(const ptx::function& f, const control_flow& flow) {
    const live_ranges ranges = find_live_ranges(f, flow);
    register_places result;
    result.of_clocks = clock_registers(f);
    std::map<std::pair<bool, std::uint32_t>, std::vector<std::uint32_t>> by_region; // registers that are named at all
    for (std::uint32_t reg = 0; reg < f.registers.size(); ++reg) {
        if (ranges.first_of[reg] != live_ranges::none) {
            by_region[{result.of_clocks[reg], bytes_of(f.registers[reg])}].push_back(reg);
        }
    }
    result.offset.assign(f.registers.size(), 0);
    for (auto& [region, registers] : by_region) {
        const auto [of_clocks, bytes] = region;
        std::stable_sort(registers.begin(), registers.end(), [&](std::uint32_t a, std::uint32_t b) {
            return ranges.all[ranges.first_of[a]].first < ranges.all[ranges.first_of[b]].first;
        });
        place_list places;
        for (const std::uint32_t reg : registers) {
            const std::size_t k = places.take(ranges, ranges.first_of[reg]);
            result.offset[reg] = result.frame_bytes + static_cast<std::uint32_t>(k) * bytes;
        }
        const std::uint32_t end = result.frame_bytes + static_cast<std::uint32_t>(places.size()) * bytes;
        result.frame_bytes = (end + region_alignment - 1) / region_alignment * region_alignment;
        if (!of_clocks) {
            result.clocks_begin = result.frame_bytes;
        }
    }
    result.live_words = most_words(f, ranges, [&](std::uint32_t reg) { return register_words(f.registers[reg]); });
    result.live_words_32 = most_words(f, ranges, [&, parameters = parameter_registers(f)](std::uint32_t reg) {
        const ptx::suffix t = f.registers[reg].type;
        const bool wide = t == ptx::suffix::u64 || t == ptx::suffix::s64 || t == ptx::suffix::b64;
        return parameters[reg] ? 0 : wide ? register_words(f.registers[reg]) / 2 : register_words(f.registers[reg]);
    });
    return result;
}

} // namespace softgpu::program
