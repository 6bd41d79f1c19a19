// SPDX-License-Identifier: MIT
#include "softgpu/runtime/texture/texture_object.hpp"

#include <algorithm>

#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/memory/arrays.hpp"
#include "softgpu/runtime/texture/descriptors.hpp"

namespace softgpu::runtime {
namespace {

using machine::texture_descriptor;

constexpr std::size_t texture_alignment = 512;
constexpr std::size_t pitch_alignment = 32;

// Alignment counts from the begin of the allocation, because cudaMalloc here aligns to 256 bytes only.
bool is_aligned(context& gpu, const void* p) {
    const auto at = reinterpret_cast<memory::address>(p);
    const auto found = gpu.memory().find(at);
    return (found ? at - found->base : at) % texture_alignment == 0;
}

// The elements of a view. Throws invalid_value for an unknown format and not_supported for a compressed one.
element_kind element_of(view_format f) {
    const int n = static_cast<int>(f) - 1;
    require(n >= 0 && n <= 0x21);
    if (f > view_format::real_32x4) {
        fail(error::not_supported, "views of arrays in block-compressed formats are not supported");
    }
    constexpr unsigned channels[] = {1, 2, 4};
    element_kind e;
    e.channels = channels[n % 3];
    e.real = f >= view_format::real_16x1;
    if (e.real) {
        e.channel_bytes = f >= view_format::real_32x1 ? 4 : 2;
    } else {
        e.channel_bytes = 1u << n / 6;
        e.is_signed = n / 3 % 2 == 1;
    }
    return e;
}

struct made_texture {
    std::vector<texture_descriptor> levels;
    element_kind element;
    bool cube = false;
    bool fetches_only = false; // linear memory
    unsigned dimensions = 1;
};

// Restricts a texture to the levels and layers of a view.
void apply_view(made_texture& t, const array_memory& first, const view_description& v, bool mipmapped) {
    const element_kind e = element_of(v.format);
    require(e.bytes() == t.element.bytes());
    require(v.width == first.size.width && v.height == first.size.height && v.depth == first.size.depth);
    require(v.first_level <= v.last_level && v.first_layer <= v.last_layer);
    require(mipmapped ? v.first_level < t.levels.size() && v.last_level <= t.levels.size() : v.last_level == 0);
    const auto layers = first.has_layers() ? static_cast<unsigned>(first.size.depth) : 1u;
    require(first.has_layers() ? v.first_layer < layers && v.last_layer <= layers : v.last_layer == 0);
    t.element = e;
    const std::size_t levels = std::min<std::size_t>(v.last_level + std::size_t{1}, t.levels.size());
    t.levels = {t.levels.begin() + v.first_level, t.levels.begin() + static_cast<std::ptrdiff_t>(levels)};
    for (texture_descriptor& d : t.levels) {
        set_element(d, e);
        if (first.has_layers()) {
            d.data += v.first_layer * d.slice_bytes;
            d.layers = std::min(v.last_layer + 1, layers) - v.first_layer;
        }
    }
}

unsigned dimensions_of(const array_memory& a) {
    return a.size.height == 0 ? 1 : a.size.depth == 0 || a.has_layers() ? 2 : 3;
}

made_texture of_array(context& gpu, const resource_description& r, const view_description* v) {
    const bool mipmapped = r.type == resource_type::mipmaps;
    made_texture t;
    const array_memory* first = nullptr;
    if (mipmapped) {
        const mipmap_memory& m = checked(gpu, r.mipmaps);
        for (const array_memory& level : m.levels) {
            t.levels.push_back(descriptor_of(level));
        }
        first = m.levels.data();
    } else {
        first = &checked(gpu, r.array);
        t.levels.push_back(descriptor_of(*first));
    }
    t.element = first->element;
    t.cube = (first->flags & array_cubemap) != 0;
    t.dimensions = dimensions_of(*first);
    if (v != nullptr) {
        apply_view(t, *first, *v, mipmapped);
    }
    return t;
}

made_texture of_linear(context& gpu, const linear_resource& r) {
    made_texture t;
    t.element = element_of(r.format);
    require(r.pointer != nullptr && is_aligned(gpu, r.pointer));
    const std::size_t elements = r.bytes / t.element.bytes();
    require(elements <= max_linear_elements(gpu.device(), t.element));
    texture_descriptor d;
    set_element(d, t.element);
    d.data = reinterpret_cast<memory::address>(r.pointer);
    d.width = static_cast<std::uint32_t>(elements);
    d.row_bytes = r.bytes;
    t.levels.push_back(d);
    t.fetches_only = true;
    return t;
}

made_texture of_plane(context& gpu, const plane_resource& r) {
    made_texture t;
    t.element = element_of(r.format);
    const texture_limits& limits = gpu.device().limits;
    const auto fits = [](std::size_t value, int most) { return value <= static_cast<std::size_t>(most); };
    require(r.pointer != nullptr && is_aligned(gpu, r.pointer) && r.pitch % pitch_alignment == 0);
    require(fits(r.width, limits.linear_2d[0]) && fits(r.height, limits.linear_2d[1]) &&
            fits(r.pitch, limits.linear_2d[2]));
    texture_descriptor d;
    set_element(d, t.element);
    d.data = reinterpret_cast<memory::address>(r.pointer);
    d.width = static_cast<std::uint32_t>(r.width);
    d.height = static_cast<std::uint32_t>(r.height);
    d.row_bytes = r.pitch;
    t.levels.push_back(d);
    t.dimensions = 2;
    return t;
}

// Fills in how the texture is read. Throws the errors of CUDA if the elements cannot be read so.
void apply(made_texture& t, const texture_description& how) {
    for (unsigned k = 0; k < t.dimensions; ++k) {
        require(how.mode[k] >= address_mode::wrap && how.mode[k] <= address_mode::border);
    }
    require(how.filter == filter_mode::point || how.filter == filter_mode::linear);
    const bool unit = how.read == read_mode::unit;
    require(!t.element.unit || unit, error::invalid_norm_setting);
    require(!unit || (!t.element.real && t.element.channel_bytes < 4), error::invalid_norm_setting);
    require(how.filter == filter_mode::point || t.element.real || unit, error::invalid_filter_setting);
    require(how.seamless == 0 || t.cube);
    for (texture_descriptor& d : t.levels) {
        for (unsigned k = 0; k < 3; ++k) {
            const bool known = k < t.dimensions && how.seamless == 0;
            d.mode[k] = known ? static_cast<machine::addressing>(how.mode[k]) : machine::addressing::clamp;
        }
        d.linear = how.filter == filter_mode::linear && !t.fetches_only;
        d.normalized = how.normalized != 0 && !t.fetches_only;
        d.reads_normalized = unit;
        d.srgb = how.srgb != 0 && unit && t.element.channel_bytes == 1 && !t.element.is_signed;
        if (!t.fetches_only) {
            std::copy_n(how.border, 4, d.border);
        }
        d.levels = static_cast<std::uint32_t>(t.levels.size());
        d.mixes_levels = how.between_levels == filter_mode::linear;
        d.level_bias = how.level_bias;
        d.least_level = how.least_level;
        d.most_level = how.most_level;
    }
}

} // namespace

std::size_t max_linear_elements(const card& c, const element_kind& e) {
    const std::size_t bytes = static_cast<std::size_t>(c.limits.linear_1d) * 16;
    return std::min<std::size_t>(std::size_t{1} << 30, bytes / e.bytes());
}

texture_handle create_texture(context& gpu, const resource_description& resource, const texture_description& how,
                              const view_description* view) {
    made_texture made;
    switch (resource.type) {
    case resource_type::array:
    case resource_type::mipmaps: made = of_array(gpu, resource, view); break;
    case resource_type::linear: made = of_linear(gpu, resource.linear); break;
    case resource_type::plane: made = of_plane(gpu, resource.plane); break;
    default: fail(error::invalid_value);
    }
    apply(made, how);
    const memory::address at = place_descriptors(gpu, made.levels);
    gpu.part<texture_state>().textures[at] = {resource, how, view != nullptr ? *view : view_description{}};
    return at;
}

} // namespace softgpu::runtime
