// SPDX-License-Identifier: MIT
#include "softgpu/check/order/launch_point.hpp"

namespace softgpu::check {

bool launch_point::is_below(const operation_record& of) const noexcept {
    for (const launch_point* p = this; p != nullptr; p = p->parent->note.launched_at.get()) {
        if (p->parent.get() == &of) {
            return true;
        }
    }
    return false;
}

bool launch_point::follows(const operation_record& of, std::uint64_t in_block, stamp s, bool of_write) const {
    const launch_point* p = this;
    while (p != nullptr && p->parent.get() != &of) {
        p = p->parent->note.launched_at.get();
    }
    if (p == nullptr) {
        return false;
    }
    const spread of_threads = of_write ? spread::thread : spread_of(s);
    if (of_threads == spread::warps || of_threads == spread::blocks) {
        return true; // which threads have read is not known
    }
    const bool one = of_write ? (s & several_lanes) == 0 : of_threads == spread::thread;
    const lane_mask of_lanes = one ? lane_mask{1} << lane_of(s) : ~lane_mask{0};
    return p->graph->is_known_at(*p->block, p->release, p->by, in_block, {time_of(s), warp_of(s), lane_of(s)},
                                 of_lanes);
}

} // namespace softgpu::check
