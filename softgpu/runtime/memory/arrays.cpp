// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/arrays.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "softgpu/memory/alignment.hpp"
#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/memory/allocations.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::size_t level_alignment = 512;

memory::address address_of(const void* handle) { return reinterpret_cast<memory::address>(handle); }

bool is_at_most(std::size_t value, int most) { return value <= static_cast<std::size_t>(most); }

// Throws invalid_value for extents and flags that no array can have.
void require_shape(const card& c, const extent& e, unsigned flags, bool mipmaps) {
    if ((flags & (array_sparse | array_deferred)) != 0) {
        fail(error::not_supported, "arrays without memory of their own (sparse, deferred mapping) are not supported");
    }
    require((flags & 0x30) == 0);
    const texture_limits& limits = c.limits;
    const bool layered = (flags & array_layered) != 0;
    const bool cube = (flags & array_cubemap) != 0;
    const bool surface = (flags & array_surface) != 0;
    require(e.width != 0);
    if ((flags & array_gather) != 0) {
        require(e.height != 0 && e.depth == 0 && !layered && !cube);
        require(is_at_most(e.width, limits.gather) && is_at_most(e.height, limits.gather));
    }
    if (cube) {
        require(e.width == e.height && (layered ? e.depth != 0 && e.depth % 6 == 0 : e.depth == 6));
        require(is_at_most(e.width, limits.cubemap) && e.depth <= 2046);
    } else if (layered) {
        require(e.depth != 0 && e.depth <= 2048);
        const int width = surface ? std::min(limits.layered, limits.surface_layered[0]) : limits.layered;
        require(is_at_most(e.width, width) && is_at_most(e.height, limits.layered));
    } else if (e.depth != 0) {
        require(e.height != 0);
        const auto fits = [&](const int(&most)[3]) {
            return is_at_most(e.width, most[0]) && is_at_most(e.height, most[1]) && is_at_most(e.depth, most[2]);
        };
        require(fits({limits.texture_3d, limits.texture_3d, limits.texture_3d}) || fits(limits.texture_3d_alternate));
        require(!surface || fits(limits.surface_3d));
    } else if (e.height != 0) {
        require(is_at_most(e.width, limits.texture_2d[0]) && is_at_most(e.height, limits.texture_2d[1]));
        require(!surface || (is_at_most(e.width, limits.surface_2d[0]) && is_at_most(e.height, limits.surface_2d[1])));
    } else {
        require(is_at_most(e.width, surface ? limits.surface_1d : limits.texture_1d));
    }
    require(!mipmaps || (is_at_most(e.width, limits.mipmap) && is_at_most(e.height, limits.mipmap)));
}

std::string name_of(const array_memory& a, const char* what) {
    const extent& e = a.size;
    std::string text = std::string(what) + " of " + std::to_string(e.width);
    if (e.height != 0) {
        text += " x " + std::to_string(e.height);
    }
    if (e.depth != 0) {
        text += (a.has_layers() ? " in layers: " : " x ") + std::to_string(e.depth);
    }
    return text + " elements";
}

array_memory shaped(const channel_format& format, const extent& size, unsigned flags) {
    array_memory a;
    a.format = format;
    a.element = element_of(format);
    a.size = size;
    a.flags = flags;
    return a;
}

// The handle is not valid: reports whether it was before.
[[noreturn]] void refuse_to_free(context& gpu, memory::address at) {
    if (check::session* const s = checking::current()) {
        const auto gone = gpu.memory().find_released(at);
        const bool again = gone && gone->base == at && gone->kind == memory::allocation_kind::array;
        s->host_finding(again ? "double free" : "invalid free",
                        again ? "this array was freed before" : "there is no such array", at);
    }
    fail(error::invalid_value);
}

} // namespace

array* make_array(context& gpu, locked& lock, const channel_format* format, const extent& size, unsigned flags) {
    require(format != nullptr);
    gpu.require_usable();
    require_safe(gpu);
    array_memory a = shaped(*format, size, flags);
    require_shape(gpu.device(), size, flags, false);
    a.data = allocate_after_pending_frees(gpu, lock, [&] {
        return gpu.memory().allocate(a.bytes(), memory::allocation_kind::array, name_of(a, "a CUDA array"));
    });
    gpu.part<array_state>().arrays[a.data] = a;
    return reinterpret_cast<array*>(a.data);
}

mipmapped_array* make_mipmaps(context& gpu, locked& lock, const channel_format* format, const extent& size,
                              unsigned count, unsigned flags) {
    require(format != nullptr);
    gpu.require_usable();
    require_safe(gpu);
    const array_memory first = shaped(*format, size, flags);
    require_shape(gpu.device(), size, flags & ~array_gather, true);
    const std::size_t longest = std::max({size.width, size.height, first.has_layers() ? 0 : size.depth});
    const unsigned levels = std::clamp(count, 1u, static_cast<unsigned>(std::bit_width(longest)));
    mipmap_memory m;
    std::size_t bytes = 0;
    for (unsigned n = 0; n < levels; ++n) {
        const auto smaller = [&](std::size_t v) { return v == 0 ? 0 : std::max<std::size_t>(1, v >> n); };
        array_memory level = first;
        level.size = {smaller(size.width), smaller(size.height), first.has_layers() ? size.depth : smaller(size.depth)};
        level.is_level = true;
        level.data = bytes;
        bytes += round_up(level.bytes(), level_alignment);
        m.levels.push_back(level);
    }
    const memory::address base = allocate_after_pending_frees(gpu, lock, [&] {
        return gpu.memory().allocate(bytes, memory::allocation_kind::array, name_of(first, "a mipmapped CUDA array"));
    });
    for (array_memory& level : m.levels) {
        level.data += base;
        gpu.part<array_state>().arrays[level.data] = level;
    }
    gpu.part<array_state>().mipmaps[base] = std::move(m);
    return reinterpret_cast<mipmapped_array*>(base);
}

void free_array(context& current, locked& lock, array* handle) {
    context& gpu = home_of(current, address_of(handle));
    require_safe(gpu);
    gpu.synchronize(lock);
    if (handle == nullptr) {
        return;
    }
    auto& all = gpu.part<array_state>().arrays;
    const auto found = all.find(address_of(handle));
    if (found == all.end()) {
        refuse_to_free(gpu, address_of(handle));
    }
    if (!found->second.is_level) { // a level is freed with its mipmapped array
        gpu.memory().release(found->first);
        all.erase(found);
    }
}

void free_mipmaps(context& current, locked& lock, mipmapped_array* handle) {
    context& gpu = home_of(current, address_of(handle));
    require_safe(gpu);
    gpu.synchronize(lock);
    if (handle == nullptr) {
        return;
    }
    array_state& all = gpu.part<array_state>();
    const auto found = all.mipmaps.find(address_of(handle));
    if (found == all.mipmaps.end()) {
        refuse_to_free(gpu, address_of(handle));
    }
    for (const array_memory& level : found->second.levels) {
        all.arrays.erase(level.data);
    }
    gpu.memory().release(found->first);
    all.mipmaps.erase(found);
}

element_kind element_of(const channel_format& f) {
    const int bits[] = {f.x, f.y, f.z, f.w};
    unsigned count = 0;
    while (count < 4 && bits[count] != 0) {
        ++count;
    }
    const auto kind = static_cast<int>(f.kind);
    if (kind == 4 || (kind >= 17 && kind <= 31)) {
        fail(error::not_supported, "arrays in planar, block-compressed and 10-bit formats are not supported");
    }
    element_kind e;
    e.channels = count;
    e.channel_bytes = static_cast<unsigned>(f.x) / 8;
    require(kind >= 0 && f.kind <= channel_kind::signed_unit_16x4 && f.kind != channel_kind::none,
            error::invalid_channel_descriptor);
    require(f.x == 8 || f.x == 16 || f.x == 32, error::invalid_channel_descriptor);
    require(count == 1 || count == 2 || count == 4, error::invalid_channel_descriptor);
    for (unsigned k = 0; k < 4; ++k) {
        require(bits[k] == (k < count ? f.x : 0), error::invalid_channel_descriptor);
    }
    e.real = f.kind == channel_kind::real;
    require(!e.real || f.x != 8, error::invalid_channel_descriptor);
    e.is_signed = f.kind == channel_kind::signed_integer || f.kind >= channel_kind::signed_unit_8x1;
    if (f.kind >= channel_kind::unsigned_unit_8x1) {
        e.unit = true;
        constexpr unsigned channels[] = {1, 2, 4};
        const int n = kind - static_cast<int>(channel_kind::unsigned_unit_8x1);
        require(count == channels[n % 3] && f.x == (n / 3 % 2 == 0 ? 8 : 16), error::invalid_channel_descriptor);
    }
    return e;
}

const array_memory& checked(context& gpu, const array* handle) {
    const auto& all = home_of(gpu, address_of(handle)).part<array_state>().arrays;
    const auto found = all.find(address_of(handle));
    require(found != all.end(), error::invalid_resource_handle);
    return found->second;
}

const mipmap_memory& checked(context& gpu, const mipmapped_array* handle) {
    const auto& all = home_of(gpu, address_of(handle)).part<array_state>().mipmaps;
    const auto found = all.find(address_of(handle));
    require(found != all.end(), error::invalid_resource_handle);
    return found->second;
}

} // namespace softgpu::runtime
