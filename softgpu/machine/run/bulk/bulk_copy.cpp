// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/bulk/bulk_copy.hpp"

#include <array>
#include <cstring>
#include <string_view>

#include "softgpu/machine/code/reduction.hpp"
#include "softgpu/machine/inspect/async/bulk_checks.hpp"
#include "softgpu/machine/run/bulk/bulk_lanes.hpp"
#include "softgpu/machine/run/bulk/targets.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/state/distributed_place.hpp"

namespace softgpu::machine {

namespace {

constexpr std::uint64_t bulk_alignment = 16;

// Runs body(lane) for each lane until one is at fault.
template <class Body>
const instruction* each_until_fault(const instruction* i, const warp* w, Body&& body) {
    bool fine = true;
    each_lane(w->mask, [&](unsigned l) { fine = fine && body(l, bulk_lane(i, w, l)); });
    return fine ? i + 1 : nullptr;
}

bool check_size(const instruction* i, warp* w, unsigned lane, std::uint32_t bytes) {
    if (bytes % bulk_alignment != 0) {
        raise(w, i, fault_kind::trap, "cp.async.bulk of a size that is no multiple of 16", 1u << lane);
        return false;
    }
    return true;
}

bool check_own(const instruction* i, warp* w, unsigned lane, std::uint64_t& at, std::uint32_t bytes, const char* verb) {
    const auto found = find_distributed(*w->owner, at);
    at = found && found->owner == w->owner ? found->offset : at;
    const std::uint64_t size = w->host->launch->shared_bytes;
    if (at % bulk_alignment != 0 || at > size || bytes > size - at) {
        raise_access(w, i, verb, "shared", at, bytes, at % bulk_alignment != 0, lane);
        return false;
    }
    return true;
}

bool check_global(const instruction* i, warp* w, unsigned lane, std::uint64_t at, std::uint32_t bytes,
                  const char* verb) {
    if (bytes != 0 &&
        (at % bulk_alignment != 0 || !look_up_allocation(w->host, at, bytes, std::string_view(verb) != "read"))) {
        raise_access(w, i, verb, "global", at, bytes, at % bulk_alignment != 0, lane);
        return false;
    }
    return true;
}

std::function<void(std::byte*)> writer(const instruction* i, const void* from, std::uint32_t bytes) {
    const std::uint32_t number = i->more >> bulk_kind_shift;
    const auto* const source = static_cast<const std::byte*>(from);
    if (number == 0) {
        return [=](std::byte* to) { std::memcpy(to, source, bytes); };
    }
    return [=, run = reduction_at(number)](std::byte* to) { run(to, source, bytes); };
}

} // namespace

const instruction* start_bulk_load(const instruction* i, std::byte* /*frame*/, warp* w) {
    return each_until_fault(i, w, [&](unsigned l, const bulk_lane& lane) {
        const std::uint32_t bytes = lane.size();
        const std::uint64_t from = lane.from();
        if (!check_size(i, w, l, bytes) || !check_global(i, w, l, from, bytes, "read")) {
            return false;
        }
        return each_target(i, w, l, lane, bytes, bulk_alignment, [&](block& target, incoming_copy c) {
            c.from = from;
            c.write = [=](std::byte* to) { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); };
            begin_incoming(i, w, l, target, std::move(c));
        });
    });
}

const instruction* start_cluster_copy(const instruction* i, std::byte* /*frame*/, warp* w) {
    return each_until_fault(i, w, [&](unsigned l, const bulk_lane& lane) {
        const std::uint32_t bytes = lane.size();
        std::uint64_t from = lane.from();
        if (!check_size(i, w, l, bytes) || !check_own(i, w, l, from, bytes, "read")) {
            return false;
        }
        return each_target(i, w, l, lane, bytes, bulk_alignment, [&](block& target, incoming_copy c) {
            if (w->owner->view != nullptr) {
                check_cluster_source(i, w, l, static_cast<std::uint32_t>(from), bytes);
            }
            c.write = writer(i, w->owner->shared + from, bytes);
            begin_incoming(i, w, l, target, std::move(c));
        });
    });
}

const instruction* start_bulk_store(const instruction* i, std::byte* /*frame*/, warp* w) {
    return each_until_fault(i, w, [&](unsigned l, const bulk_lane& lane) {
        const std::uint32_t bytes = lane.size();
        std::uint64_t from = lane.from();
        const std::uint64_t to = lane.to();
        if (!check_size(i, w, l, bytes) || !check_own(i, w, l, from, bytes, "read") ||
            !check_global(i, w, l, to, bytes, "write")) {
            return false;
        }
        outgoing_copy c;
        c.from = static_cast<std::uint32_t>(from);
        c.bytes = bytes;
        c.rows = {{to, bytes}};
        const std::uint32_t number = i->more >> bulk_kind_shift;
        c.write = [=](const std::byte* source) {
            auto* const at = reinterpret_cast<std::byte*>(to);
            if (number == 0) {
                std::memcpy(at, source, bytes);
            } else {
                reduction_at(number)(at, source, bytes);
            }
        };
        begin_outgoing(i, w, l, std::move(c));
        return true;
    });
}

const instruction* start_async_store(const instruction* i, std::byte* /*frame*/, warp* w) {
    const unsigned count = i->places[bulk_values];
    const unsigned width = i->width[2];
    const std::uint32_t bytes = count * width;
    return each_until_fault(i, w, [&](unsigned l, const bulk_lane& lane) {
        std::array<std::byte, 32> values{};
        for (unsigned k = 0; k < count; ++k) {
            const std::uint64_t value = lane.value(bulk_lists + k, width);
            std::memcpy(values.data() + std::size_t{k} * width, &value, width);
        }
        return each_target(i, w, l, lane, bytes, bytes, [&](block& target, incoming_copy c) {
            const std::uint32_t number = i->more >> bulk_kind_shift;
            c.write = [=](std::byte* to) {
                if (number == 0) {
                    std::memcpy(to, values.data(), bytes);
                } else {
                    reduction_at(number)(to, values.data(), bytes);
                }
            };
            begin_incoming(i, w, l, target, std::move(c));
        });
    });
}

const instruction* store_zeros(const instruction* i, std::byte* /*frame*/, warp* w) {
    constexpr std::uint64_t unit = 8;
    return each_until_fault(i, w, [&](unsigned l, const bulk_lane& lane) {
        const std::uint64_t bytes = lane.value(bulk_size, i->width[2]);
        const std::uint64_t given = lane.to();
        const std::uint64_t at =
            (i->more & bulk_to_is_generic) != 0 ? shared_cluster_address(*w->host->launch, given) : given;
        const auto found = find_distributed(*w->owner, at);
        const std::uint64_t size = w->host->launch->shared_bytes;
        if (bytes % unit != 0) {
            raise(w, i, fault_kind::trap, "st.bulk of a size that is no multiple of 8", 1u << l);
            return false;
        }
        const bool inside = found && found->owner == w->owner && found->offset <= size && bytes <= size - found->offset;
        if (!inside || found->offset % unit != 0) {
            raise_access(w, i, "write", "shared", given, static_cast<std::uint32_t>(bytes), inside, l);
            return false;
        }
        const auto offset = static_cast<std::uint32_t>(found->offset);
        if (w->owner->view != nullptr) {
            check_zeros(i, w, l, offset, static_cast<std::uint32_t>(bytes));
        }
        std::memset(w->owner->shared + offset, 0, static_cast<std::size_t>(bytes));
        return true;
    });
}

} // namespace softgpu::machine
