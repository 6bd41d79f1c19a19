// SPDX-License-Identifier: MIT
// Counters by PTX instruction. Code of a module that is profiled has a pseudo-instruction before every instruction, which
// directs the counters of the handlers behind it to the instruction's own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "softgpu/machine/state/worker.hpp"
#include "softgpu/observe/profile.hpp"

namespace softgpu::machine {

// One worker's counters of every instruction, by barrier interval; pages are made when they are first written.
class profile_store {
public:
    observe::point_counts& at(std::uint32_t interval, std::uint32_t point) {
        const std::uint32_t page = point / page_points;
        std::vector<std::unique_ptr<observe::point_counts[]>>& pages = pages_[interval];
        if (page >= pages.size() || pages[page] == nullptr) [[unlikely]] {
            make_page(pages, page);
        }
        return pages[page][point % page_points];
    }

    // Calls visit(interval, point, counts) for all that was made.
    template <class Visit>
    void each(Visit&& visit) const {
        for (std::uint32_t interval = 0; interval < pages_.size(); ++interval) {
            for (std::uint32_t page = 0; page < pages_[interval].size(); ++page) {
                for (std::uint32_t n = 0; pages_[interval][page] != nullptr && n < page_points; ++n) {
                    visit(interval, page * page_points + n, pages_[interval][page][n]);
                }
            }
        }
    }

private:
    static constexpr std::uint32_t page_points = 128;
    static void make_page(std::vector<std::unique_ptr<observe::point_counts[]>>& pages, std::uint32_t page);

    std::array<std::vector<std::unique_ptr<observe::point_counts[]>>, intervals> pages_;
};

// The pseudo-instruction. `more`: the instruction's number, `e`: its guard or nowhere, `immediate`: 1 where the guard is
// negated.
const instruction* count_instruction(const instruction* i, std::byte* frame, warp* w);
// A split goes on at `i`, which may be behind its count_instruction: selects the counters of `i`.
void resume_profile(warp* w, const instruction* i);

} // namespace softgpu::machine
