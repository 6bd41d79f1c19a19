// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/memory/async_copy.hpp"

#include <cstring>

#include "softgpu/machine/state/block.hpp"

namespace softgpu::machine {

namespace {

void carry_out(const warp* w, const pending_copy& c) {
    std::byte* const to = w->owner->shared + c.to;
    std::memcpy(to, reinterpret_cast<const void*>(c.from), c.filled);
    std::memset(to + c.filled, 0, c.bytes - c.filled);
}

template <class Due>
void finish(warp* w, Due&& due) {
    std::erase_if(w->copies, [&](const pending_copy& c) {
        if (!due(c)) {
            return false;
        }
        carry_out(w, c);
        return true;
    });
}

} // namespace

void start_copy(warp* w, unsigned lane, std::uint64_t from, std::uint32_t to, unsigned bytes, unsigned filled) {
    w->copies.push_back({from, to, w->copy_groups[lane], static_cast<std::uint8_t>(lane),
                         static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(filled)});
}

void commit_copies(warp* w, lane_mask by) {
    for (unsigned l = 0; l < lanes; ++l) {
        w->copy_groups[l] += by >> l & 1u;
    }
}

void finish_groups(warp* w, lane_mask by, std::uint32_t keep) {
    finish(w, [&](const pending_copy& c) {
        return (by >> c.lane & 1u) != 0 && std::uint64_t{c.group} + keep < w->copy_groups[c.lane];
    });
}

void finish_copies(warp* w, lane_mask by) {
    finish(w, [&](const pending_copy& c) { return (by >> c.lane & 1u) != 0; });
}

} // namespace softgpu::machine
