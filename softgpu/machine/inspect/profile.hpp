// SPDX-License-Identifier: MIT
// Counters by PTX instruction. The decoder of a module that is profiled puts a mark before every instruction; the mark
// has the handlers behind it count into the instruction's own counters.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/observe/profile.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// Numbers the instructions of a kernel and of the functions that it calls: each function's in one run.
class profile_points {
public:
    // The number of the function's first instruction.
    std::uint32_t first_of(const ptx::function& f, const ptx::module* home);
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    // What stands at each number.
    [[nodiscard]] std::vector<observe::profile_point> described() const;

private:
    struct numbered {
        const ptx::function* function;
        const ptx::module* home;
        std::uint32_t first;
    };
    std::vector<numbered> functions_;
    std::uint32_t count_ = 0;
};

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

// The mark: `more` is the instruction's number, `e` its guard or nowhere, `immediate` 1 where the guard is negated.
const instruction* mark(const instruction* i, std::byte* frame, warp* w);
// A split goes on at `i`, which may stand behind its mark: it counts where it belongs.
void resume_profile(warp* w, const instruction* i);

} // namespace softgpu::machine
