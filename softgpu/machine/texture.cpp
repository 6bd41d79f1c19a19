// SPDX-License-Identifier: MIT
#include "softgpu/machine/texture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace softgpu::machine {

std::uint64_t texture_descriptor::bytes() const noexcept {
    const std::uint64_t slices = std::max(1u, depth != 0 ? depth : layers);
    const std::uint64_t rows = std::max(1u, height);
    return (slices - 1) * slice_bytes + (rows - 1) * row_bytes + std::uint64_t{width} * element_bytes();
}

float linear_light(std::uint32_t byte) {
    static const std::array<float, 256> known = [] {
        std::array<float, 256> of{};
        for (std::size_t k = 0; k < of.size(); ++k) {
            const double v = static_cast<double>(k) / 255.0;
            const double exact = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
            const double step = exact == 0 ? 1 : std::max(0x1p-14, std::ldexp(1.0, std::ilogb(exact) - 7));
            of[k] = static_cast<float>(std::nearbyint(exact / step) * step);
        }
        return of;
    }();
    return known[byte & 255];
}

std::byte* surface_bytes(const texture_descriptor& t, geometry g, std::int32_t x, std::int32_t y, std::int32_t z,
                         std::uint32_t layer, unsigned bytes, bool clamped) {
    const std::int64_t row = std::int64_t{t.width} * t.element_bytes();
    const bool flat = g == geometry::line || g == geometry::lines;
    const std::int64_t rows = flat ? 1 : std::max(1u, t.height);
    const std::int64_t slices = g == geometry::space                            ? std::max(1u, t.depth)
                                : g == geometry::lines || g == geometry::planes ? std::max(1u, t.layers)
                                                                                : 1;
    std::int64_t at = x;
    std::int64_t j = flat ? 0 : y;
    std::int64_t k = g == geometry::space ? z : slices > 1 ? std::int64_t{layer} : 0;
    if (clamped) {
        at = std::clamp<std::int64_t>(at, 0, std::max<std::int64_t>(0, row - bytes));
        j = std::clamp<std::int64_t>(j, 0, rows - 1);
        k = std::clamp<std::int64_t>(k, 0, slices - 1);
    }
    if (at < 0 || at + bytes > row || j < 0 || j >= rows || k < 0 || k >= slices) {
        return nullptr;
    }
    return reinterpret_cast<std::byte*>(t.data) + static_cast<std::uint64_t>(k) * t.slice_bytes +
           static_cast<std::uint64_t>(j) * t.row_bytes + static_cast<std::uint64_t>(at);
}

} // namespace softgpu::machine
