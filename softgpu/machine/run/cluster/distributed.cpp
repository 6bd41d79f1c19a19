// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/cluster/distributed.hpp"

#include <cstdio>
#include <cstring>
#include <string>

#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/run/fault.hpp"

namespace softgpu::machine {

namespace {

std::uint64_t lane_of_operand(const warp* w, place p, unsigned width, unsigned lane) {
    std::uint64_t value = 0;
    std::memcpy(&value, lanes_at(w->frame, w, p) + std::size_t{lane} * width, width);
    return value;
}

void put_lane(std::byte* frame, const instruction* i, unsigned lane, std::uint64_t value) {
    std::memcpy(frame + i->d + std::size_t{lane} * i->width[0], &value, i->width[0]);
}

} // namespace

std::optional<distributed_place> locate_distributed(const instruction* i, warp* w, unsigned lane, std::uint64_t at,
                                                    std::uint64_t bytes, std::uint64_t alignment, const char* verb) {
    const launch_state& l = *w->host->launch;
    const auto found = find_distributed(*w->owner, at);
    const auto fault = [&](fault_kind kind, const std::string& why) {
        std::string text = std::string("cannot ") + verb + " " + std::to_string(bytes) +
                           (bytes == 1 ? " byte of " : " bytes of ") + "the cluster's shared memory at " +
                           hexadecimal(at) + ": " + why;
        raise_text(w, i, kind, text, lane);
        return std::nullopt;
    };
    if (!found) {
        return fault(fault_kind::illegal_address,
                     "no shared memory of a block of the cluster, which has " + std::to_string(l.cluster_blocks));
    }
    const std::string whose = "block " + index_text({found->owner->id.x, found->owner->id.y, found->owner->id.z});
    if (found->offset % alignment != 0) {
        return fault(fault_kind::misaligned_address, "misaligned");
    }
    if (found->offset > l.shared_bytes || bytes > l.shared_bytes - found->offset) {
        return fault(fault_kind::illegal_address,
                     "out of bounds; " + whose + " has " + std::to_string(l.shared_bytes) + " bytes");
    }
    if (found->owner->threads_live == 0) {
        return fault(fault_kind::illegal_address, whose + " has ended, and its shared memory with it");
    }
    return found;
}

bool locate_distributed(const instruction* i, warp* w, lane_mask mask, const std::uint64_t* at, bool generic,
                        unsigned bytes, const char* verb, std::byte** each) {
    const launch_state& l = *w->host->launch;
    bool fine = true;
    bool others = false;
    std::uint64_t total = 0;
    each_lane(mask, [&](unsigned lane) {
        if (!fine) {
            return;
        }
        const std::uint64_t whole = generic ? shared_cluster_address(l, at[lane]) : at[lane];
        const auto found = locate_distributed(i, w, lane, whole, bytes, bytes, verb);
        fine = found.has_value();
        if (fine) {
            each[lane] = found->owner->shared + found->offset;
            others = others || found->owner != w->owner;
            total += found->owner != w->owner ? bytes : 0;
        }
    });
    if (fine && others && w->host->count) {
        ++w->counts->distributed_requests;
        w->counts->distributed_bytes += total;
    }
    return fine;
}

template <bool Generic>
const instruction* map_address(const instruction* i, std::byte* frame, warp* w) {
    const launch_state& l = *w->host->launch;
    each_lane(w->mask, [&](unsigned lane) {
        const std::uint64_t at = lane_of_operand(w, i->a, i->width[1], lane);
        const auto rank = static_cast<std::uint32_t>(lane_of_operand(w, i->b, 4, lane));
        const std::uint64_t mapped = cluster_address(Generic ? shared_cluster_address(l, at) : at, rank);
        put_lane(frame, i, lane, Generic ? shared_windows(l).to_generic(mapped) : mapped);
    });
    return i + 1;
}
template const instruction* map_address<false>(const instruction*, std::byte*, warp*);
template const instruction* map_address<true>(const instruction*, std::byte*, warp*);

template <bool Generic>
const instruction* rank_of_address(const instruction* i, std::byte* frame, warp* w) {
    each_lane(w->mask, [&](unsigned lane) {
        std::uint64_t at = lane_of_operand(w, i->a, i->width[1], lane);
        at = Generic ? shared_cluster_address(*w->host->launch, at) : at;
        const auto found = find_distributed(*w->owner, at);
        put_lane(frame, i, lane, found ? found->owner->rank : memory::device_memory::most_cluster_blocks);
    });
    return i + 1;
}
template const instruction* rank_of_address<false>(const instruction*, std::byte*, warp*);
template const instruction* rank_of_address<true>(const instruction*, std::byte*, warp*);

} // namespace softgpu::machine
