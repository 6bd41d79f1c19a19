// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/bulk/tensor_walk.hpp"

#include <algorithm>
#include <cstring>

#include "softgpu/machine/code/tensor_kinds.hpp"

namespace softgpu::machine {

namespace {

// Appends the part of `elements` elements from `first` of the first dimension that is inside of the tensor, `step` apart.
void add_row(const tensor_map& m, std::uint64_t row_at, std::int64_t first, std::uint32_t elements, std::uint32_t box,
             std::vector<tensor_row>& rows) {
    const auto size = static_cast<std::int64_t>(m.size[0]);
    const std::int64_t begin = std::max<std::int64_t>(first, 0);
    const std::int64_t end = std::min<std::int64_t>(first + elements, size);
    if (begin < end) {
        const std::uint32_t bytes = bytes_of(m.type);
        rows.push_back({row_at + static_cast<std::uint64_t>(begin) * bytes,
                        box + static_cast<std::uint32_t>(begin - first) * bytes,
                        static_cast<std::uint32_t>(end - begin) * bytes});
    }
}

// What lies outside of the tensor, as an element of 8 bytes or several that are narrower. An H200 fills with this NaN, whatever
// the type is: as halves it is the one that fma.oob takes for 0.
std::uint64_t outside(const tensor_map& m) { return m.fill == tensor_fill::zero ? 0 : 0x7FF77FF77FF77FF7; }

tensor_tile empty_tile(const tensor_map& m, std::uint32_t elements) {
    tensor_tile t;
    t.inner = elements * bytes_of(m.type);
    t.pitch = m.swizzle == tensor_swizzle::none ? t.inner : swizzle_bytes(m.swizzle);
    return t;
}

// What a load makes of elements of these types: subnormal numbers become zero.
void convert(tensor_type t, std::byte* at, std::uint32_t bytes) {
    if (t != tensor_type::f32_ftz && t != tensor_type::tf32 && t != tensor_type::tf32_ftz) {
        return;
    }
    for (std::uint32_t k = 0; k + 4 <= bytes; k += 4) {
        std::uint32_t v;
        std::memcpy(&v, at + k, 4);
        if (t != tensor_type::tf32 && (v & 0x7F800000u) == 0) {
            v &= 0x80000000u;
        }
        std::memcpy(at + k, &v, 4);
    }
}

} // namespace

tensor_tile tile_at(const tensor_map& m, const tensor_point& corner) {
    tensor_tile t = empty_tile(m, m.box[0]);
    std::array<std::uint32_t, most_tensor_dimensions> count{};
    count.fill(1);
    for (unsigned k = 1; k < m.rank; ++k) {
        count[k] = (m.box[k] + m.element_stride[k] - 1u) / m.element_stride[k];
    }
    std::array<std::uint32_t, most_tensor_dimensions> n{};
    for (;;) {
        std::uint64_t at = m.address;
        bool inside = true;
        for (unsigned k = 1; k < m.rank; ++k) {
            const std::int64_t c = std::int64_t{corner[k]} + std::int64_t{n[k]} * m.element_stride[k];
            inside = inside && c >= 0 && c < static_cast<std::int64_t>(m.size[k]);
            at += static_cast<std::uint64_t>(c) * m.stride[k - 1];
        }
        if (inside) {
            add_row(m, at, corner[0], m.box[0], t.room(), t.rows);
        }
        ++t.count;
        unsigned k = 1;
        for (; k < m.rank && ++n[k] == count[k]; ++k) {
            n[k] = 0;
        }
        if (k >= m.rank) {
            return t;
        }
    }
}

tensor_tile rows_at(const tensor_map& m, const tensor_point& corners) {
    tensor_tile t = empty_tile(m, m.box[0]);
    for (unsigned n = 1; n <= walked_rows; ++n) {
        const std::int64_t row = corners[n];
        if (row >= 0 && row < static_cast<std::int64_t>(m.size[1])) {
            add_row(m, m.address + static_cast<std::uint64_t>(row) * m.stride[0], corners[0], m.box[0], t.room(),
                    t.rows);
        }
        ++t.count;
    }
    return t;
}

tensor_tile column_at(const tensor_map& m, const tensor_point& base, const std::array<std::uint16_t, 3>& offsets) {
    tensor_tile t = empty_tile(m, m.channels);
    const unsigned last = m.rank - 1u;
    std::array<std::int64_t, most_tensor_dimensions> pixel{};
    std::copy(base.begin(), base.end(), pixel.begin());
    for (unsigned n = 0; n < m.pixels; ++n) {
        std::uint64_t at = m.address;
        bool inside = true;
        for (unsigned k = 1; k <= last; ++k) {
            const std::int64_t c = pixel[k] + (k < last ? offsets[k - 1] : 0);
            inside = inside && c >= 0 && c < static_cast<std::int64_t>(m.size[k]);
            at += static_cast<std::uint64_t>(c) * m.stride[k - 1];
        }
        if (inside) {
            add_row(m, at, base[0], m.channels, t.room(), t.rows);
        }
        ++t.count;
        // The next base pixel: within the box of base pixels, then on to the next image.
        for (unsigned k = 1; k < last; ++k) {
            pixel[k] += m.element_stride[k];
            if (pixel[k] < static_cast<std::int64_t>(m.size[k]) + m.upper[k - 1]) {
                break;
            }
            pixel[k] = m.lower[k - 1];
            if (k + 1 == last) {
                ++pixel[last];
            }
        }
    }
    return t;
}

std::uint32_t swizzled(tensor_swizzle s, std::uint32_t base, std::uint32_t byte) noexcept {
    // Of each 128 bytes, the number of a piece of 16 is changed by the number of the row of 128 bytes.
    const std::uint32_t at = base + byte;
    const std::uint32_t bits = (1u << static_cast<unsigned>(s)) - 1;
    return (at ^ ((at >> 7 & bits) << 4)) - base;
}

void fill_box(const tensor_map& m, const tensor_tile& t, std::byte* shared, std::uint32_t base) {
    std::uint64_t inside = 0;
    for (const tensor_row& r : t.rows) {
        inside += r.bytes;
    }
    if (inside != t.bytes()) {
        const std::uint64_t filler[2] = {outside(m), outside(m)};
        for (std::uint32_t row = 0; row < t.count; ++row) {
            for (std::uint32_t k = 0; k < t.inner; k += sizeof(filler)) {
                std::memcpy(shared + swizzled(m.swizzle, base, row * t.pitch + k), filler, sizeof(filler));
            }
        }
    }
    each_piece(m, t, base, [&](std::uint64_t at, std::uint32_t box, std::uint32_t bytes) {
        std::memcpy(shared + box, reinterpret_cast<const void*>(at), bytes);
        convert(m.type, shared + box, bytes);
    });
}

} // namespace softgpu::machine
