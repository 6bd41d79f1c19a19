// SPDX-License-Identifier: MIT
// A cover of ranges of addresses by few intervals: more than the ranges, never less.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace softgpu::check {

class address_cover {
public:
    void add(std::uint64_t begin, std::uint64_t end) {
        auto at = std::lower_bound(all_.begin(), all_.end(), begin,
                                   [](const interval& i, std::uint64_t address) { return i.end < address; });
        const auto last = std::find_if(at, all_.end(), [&](const interval& i) { return i.begin > end; });
        if (at == last) {
            all_.insert(at, {begin, end});
        } else { // one interval of all that it touches
            *at = {std::min(begin, at->begin), std::max(end, (last - 1)->end)};
            all_.erase(at + 1, last);
        }
        if (all_.size() > most) {
            join_nearest();
        }
    }

    [[nodiscard]] bool meets(std::uint64_t begin, std::uint64_t end) const noexcept {
        return std::any_of(all_.begin(), all_.end(), [&](const interval& i) { return begin < i.end && i.begin < end; });
    }

private:
    static constexpr std::size_t most = 8;
    struct interval {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };

    void join_nearest() {
        std::size_t best = 1;
        for (std::size_t k = 2; k < all_.size(); ++k) {
            if (all_[k].begin - all_[k - 1].end < all_[best].begin - all_[best - 1].end) {
                best = k;
            }
        }
        all_[best - 1].end = all_[best].end;
        all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(best));
    }

    std::vector<interval> all_; // disjoint, in order
};

} // namespace softgpu::check
