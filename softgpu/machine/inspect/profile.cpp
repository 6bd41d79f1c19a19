// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/profile.hpp"

#include <bit>
#include <cstring>

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/state/worker.hpp"

namespace softgpu::machine {

void profile_store::make_page(std::vector<std::unique_ptr<observe::point_counts[]>>& pages, std::uint32_t page) {
    if (page >= pages.size()) {
        pages.resize(page + 1);
    }
    pages[page] = std::make_unique<observe::point_counts[]>(page_points);
}

const instruction* count_instruction(const instruction* i, std::byte* frame, warp* w) {
    observe::point_counts& here = w->host->profile->at(w->interval, i->more);
    w->counts = &here.counts;
    ++here.counts.warp_instructions;
    here.counts.thread_instructions += static_cast<std::uint64_t>(std::popcount(w->mask));
    if (i->e != nowhere) {
        lane_mask p = 0;
        std::memcpy(&p, frame + i->e, sizeof(p));
        const lane_mask off = i->immediate != 0 ? p : ~p;
        here.guarded_off += static_cast<std::uint64_t>(std::popcount(off & w->mask));
    }
    return i + 1;
}

void resume_profile(warp* w, const instruction* i) {
    const handler_set& set = chosen_handlers();
    // Every block begins with one of these two, and every instruction follows its own count_instruction in the same block.
    while (i->run != count_instruction && i->run != set.enter && i->run != set.enter_meeting) {
        --i;
    }
    if (i->run == count_instruction) {
        w->counts = &w->host->profile->at(w->interval, i->more).counts;
    }
}

} // namespace softgpu::machine
