// SPDX-License-Identifier: MIT
#include "softgpu/machine/tensor_map.hpp"

namespace softgpu::machine {

namespace {

constexpr std::uint64_t most_elements = 1ull << 32;
constexpr std::uint64_t most_stride = 1ull << 40;
constexpr unsigned most_box = 256;
constexpr std::uint64_t most_box_bytes = 256 << 10; // an H200 refuses 512 KiB and accepts 128
constexpr const char* too_large = "the box has more than 256 KiB";
constexpr unsigned most_element_stride = 8;
constexpr unsigned most_pixels = 1024;
constexpr unsigned swizzled_piece = 16; // bytes

bool is_floating(tensor_type t) { return t >= tensor_type::f16; }

const char* wrong_with_inner(const tensor_map& m, unsigned elements) {
    const unsigned bytes = elements * bytes_of(m.type);
    if (m.interleave == tensor_interleave::none) {
        if (bytes % swizzled_piece != 0) {
            return "the bytes of the box's first dimension are no multiple of 16";
        }
        if (m.swizzle != tensor_swizzle::none && bytes > swizzle_bytes(m.swizzle)) {
            return "the box's first dimension is wider than the swizzle";
        }
    }
    return nullptr;
}

const char* wrong_with_im2col(const tensor_map& m) {
    if (m.rank < 3) {
        return "im2col needs three dimensions";
    }
    if (m.channels == 0 || m.channels > most_box || m.pixels == 0 || m.pixels > most_pixels) {
        return "im2col takes 1 to 256 channels per pixel and 1 to 1024 pixels per column";
    }
    const int bits = m.rank == 3 ? 15 : m.rank == 4 ? 7 : 4;
    for (unsigned k = 0; k + 2 < m.rank; ++k) {
        for (const int corner : {int{m.lower[k]}, int{m.upper[k]}}) {
            if (corner < -(1 << bits) || corner >= 1 << bits) {
                return "a corner of the pixel box is out of range";
            }
        }
    }
    for (unsigned k = 0; k + 2 < m.rank; ++k) {
        if (m.lower[k] >= static_cast<std::int64_t>(m.size[k + 1]) + m.upper[k]) {
            return "the pixel box is empty";
        }
    }
    const unsigned bytes = m.channels * bytes_of(m.type);
    if (std::uint64_t{bytes} * m.pixels > most_box_bytes) {
        return too_large;
    }
    if (bytes % swizzled_piece != 0) {
        return "the bytes of a pixel's channels are no multiple of 16";
    }
    return wrong_with_inner(m, m.channels);
}

} // namespace

unsigned swizzle_bytes(tensor_swizzle s) noexcept { return 16u << static_cast<unsigned>(s); }

unsigned bytes_of(tensor_type t) noexcept {
    switch (t) {
    case tensor_type::u8: return 1;
    case tensor_type::u16:
    case tensor_type::f16:
    case tensor_type::bf16: return 2;
    case tensor_type::u64:
    case tensor_type::s64:
    case tensor_type::f64: return 8;
    default: return 4;
    }
}

const char* wrong_with(const tensor_map& m) noexcept {
    if (m.mark != tensor_map_mark || static_cast<unsigned>(m.type) >= tensor_types ||
        m.swizzle > tensor_swizzle::by_128 || m.interleave > tensor_interleave::by_32 || m.fill > tensor_fill::nan ||
        m.walk > tensor_walk::im2col) {
        return "it is no tensor map";
    }
    if (m.rank < 1 || m.rank > most_tensor_dimensions) {
        return "a tensor has 1 to 5 dimensions";
    }
    const unsigned unit = m.interleave == tensor_interleave::by_32 ? 32 : 16;
    if (m.address % unit != 0) {
        return "the tensor's address is misaligned";
    }
    if (m.interleave != tensor_interleave::none && m.rank < 3) {
        return "an interleaved tensor has three dimensions or more";
    }
    for (unsigned k = 0; k < m.rank; ++k) {
        if (m.size[k] == 0 || m.size[k] > most_elements) {
            return "a dimension has 1 to 2^32 elements";
        }
        if (k > 0 && (m.stride[k - 1] % unit != 0 || m.stride[k - 1] >= most_stride)) {
            return "a stride is a multiple of 16 bytes, and less than 2^40";
        }
        if (m.element_stride[k] == 0 || m.element_stride[k] > most_element_stride) {
            return "an element stride is 1 to 8";
        }
        if (m.walk == tensor_walk::tiled && (m.box[k] == 0 || m.box[k] > most_box)) {
            return "a dimension of the box has 1 to 256 elements";
        }
    }
    if (m.fill == tensor_fill::nan && !is_floating(m.type)) {
        return "only floating-point elements can be filled with NaN";
    }
    if (m.walk == tensor_walk::im2col) {
        return wrong_with_im2col(m);
    }
    std::uint64_t bytes = bytes_of(m.type);
    for (unsigned k = 0; k < m.rank; ++k) {
        bytes *= m.box[k];
    }
    return bytes > most_box_bytes ? too_large : wrong_with_inner(m, m.box[0]);
}

} // namespace softgpu::machine
