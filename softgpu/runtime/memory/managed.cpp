// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/managed.hpp"

#include <algorithm>
#include <iterator>

#include "softgpu/memory/alignment.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"

namespace softgpu::runtime {
namespace {

void require_location(context& gpu, const memory_location& at) {
    switch (at.type) {
    case location_type::device: (void)gpu.group().at(at.id); return;
    case location_type::host:
    case location_type::host_numa:
    case location_type::host_numa_current: return;
    case location_type::none: break;
    }
    fail(error::invalid_value);
}

// The pieces that the pages of a range have, from `first` to before `last`.
struct advised_range {
    advice_pieces& all;
    memory::address first = 0;
    memory::address last = 0;

    // The piece that holds `at`; with a piece of its own that begins there.
    [[nodiscard]] advice_pieces::iterator piece_at(memory::address at) const { return std::prev(all.upper_bound(at)); }
    void split(memory::address at) const { all.emplace(at, piece_at(at)->second); }

    template <class Change>
    void change(Change&& body) const {
        split(first);
        split(last);
        for (auto piece = all.find(first); piece->first < last; ++piece) {
            body(piece->second);
        }
    }
};

// The allocation ends with a piece that nothing refers to: `last` is in it or before it.
advised_range range_of(context& gpu, const void* pointer, std::size_t bytes) {
    require(bytes != 0);
    constexpr memory::address page = 4096;
    const auto at = reinterpret_cast<memory::address>(pointer);
    context& home = home_of(gpu, at);
    const auto found = memory_of(gpu, at).find(at, bytes);
    require(found.has_value() && found->kind == memory::allocation_kind::managed);
    const memory::address end = found->base + found->bytes;
    advice_pieces& all = home.part<managed_ranges>().advice[found->base];
    all.try_emplace(found->base);
    all.try_emplace(end);
    return {all, std::max(found->base, at / page * page), std::min(end, round_up(at + bytes, page))};
}

void keep_common(managed_advice& common, const managed_advice& other) {
    constexpr memory_location none{location_type::none, no_device_number};
    const auto same = [](const memory_location& a, const memory_location& b) {
        return a.type == b.type && a.id == b.id;
    };
    common.read_mostly = common.read_mostly && other.read_mostly;
    std::erase_if(common.accessed_by, [&](int device) { return !other.accessed_by.contains(device); });
    common.preferred = same(common.preferred, other.preferred) ? common.preferred : none;
    common.last_prefetch = same(common.last_prefetch, other.last_prefetch) ? common.last_prefetch : none;
}

} // namespace

managed_advice advice_of(context& gpu, const void* pointer, std::size_t bytes) {
    const advised_range range = range_of(gpu, pointer, bytes);
    auto piece = range.piece_at(range.first);
    managed_advice common = piece->second;
    while ((++piece)->first < range.last) {
        keep_common(common, piece->second);
    }
    return common;
}

void prefetch(context& gpu, const void* pointer, std::size_t bytes, memory_location to, unsigned flags, stream* on) {
    require(flags == 0);
    require_location(gpu, to);
    gpu.require_usable();
    require_not_capturing(gpu.streams(), gpu.checked(on));
    range_of(gpu, pointer, bytes).change([&](managed_advice& advice) { advice.last_prefetch = to; });
}

void discard(context& gpu, const void* pointer, std::size_t bytes, stream* on) {
    gpu.require_usable();
    require_not_capturing(gpu.streams(), gpu.checked(on));
    (void)range_of(gpu, pointer, bytes);
}

void advise(context& gpu, const void* pointer, std::size_t bytes, memory_advice what, memory_location at) {
    gpu.require_usable();
    const advised_range range = range_of(gpu, pointer, bytes);
    const bool sets_reader = what == memory_advice::set_accessed_by;
    switch (what) {
    case memory_advice::set_read_mostly:
    case memory_advice::unset_read_mostly:
        return range.change([&](managed_advice& a) { a.read_mostly = what == memory_advice::set_read_mostly; });
    case memory_advice::set_preferred_location: require_location(gpu, at); break;
    case memory_advice::unset_preferred_location: at = {location_type::none, no_device_number}; break;
    case memory_advice::set_accessed_by:
    case memory_advice::unset_accessed_by:
        require_location(gpu, at);
        if (at.type == location_type::device) {
            range.change([&](managed_advice& a) {
                sets_reader ? (void)a.accessed_by.insert(at.id) : (void)a.accessed_by.erase(at.id);
            });
        }
        return;
    default: fail(error::invalid_value);
    }
    range.change([&](managed_advice& a) { a.preferred = at; });
}

} // namespace softgpu::runtime
