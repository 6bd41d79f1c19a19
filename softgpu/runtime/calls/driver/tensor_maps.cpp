// SPDX-License-Identifier: MIT
// Tensor maps. As on a GPU, encoding needs neither a device nor a context, and refuses what the hardware cannot do.
#include <cstdint>
#include <cstring>
#include <limits>

#include "softgpu/machine/tensor_map.hpp"
#include "softgpu/runtime/calls/driver/driver_call.hpp"

namespace softgpu::runtime {
namespace {

using machine::tensor_map;

// What both forms of a tensor map take.
struct tensor_facts {
    unsigned type;
    unsigned rank;
    void* address;
    const std::uint64_t* size;
    const std::uint64_t* stride;
    const std::uint32_t* element_stride;
    unsigned interleave;
    unsigned swizzle;
    unsigned l2_promotion;
    unsigned fill;
};

constexpr unsigned most_interleave = 2;
constexpr unsigned most_swizzle = 3;
constexpr unsigned most_l2_promotion = 3;

template <class To, class From>
To narrowed(From value) {
    // What does not fit is out of range anyway.
    return static_cast<To>(value > static_cast<From>(std::numeric_limits<To>::max()) ? std::numeric_limits<To>::max()
                                                                                     : static_cast<To>(value));
}

// false: an argument is out of range.
bool take(tensor_map& m, const tensor_facts& f) {
    if (f.type >= machine::tensor_types || f.rank < 1 || f.rank > machine::most_tensor_dimensions ||
        f.size == nullptr || f.element_stride == nullptr || (f.stride == nullptr && f.rank > 1) ||
        f.interleave > most_interleave || f.swizzle > most_swizzle || f.l2_promotion > most_l2_promotion ||
        f.fill > 1) {
        return false;
    }
    m = {};
    m.mark = machine::tensor_map_mark;
    m.address = reinterpret_cast<std::uint64_t>(f.address);
    m.rank = static_cast<std::uint8_t>(f.rank);
    m.type = static_cast<machine::tensor_type>(f.type);
    m.interleave = static_cast<machine::tensor_interleave>(f.interleave);
    m.swizzle = static_cast<machine::tensor_swizzle>(f.swizzle);
    m.fill = static_cast<machine::tensor_fill>(f.fill);
    for (unsigned k = 0; k < f.rank; ++k) {
        m.size[k] = f.size[k];
        m.element_stride[k] = narrowed<std::uint8_t>(f.element_stride[k]);
        if (k + 1 < f.rank) {
            m.stride[k] = f.stride[k];
        }
    }
    return true;
}

result write_map(tensor_map* to, const tensor_map& m) {
    if (to == nullptr || machine::wrong_with(m) != nullptr) {
        return result::invalid_value;
    }
    std::memcpy(to, &m, sizeof(m));
    return result::success;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuTensorMapEncodeTiled(tensor_map* to, unsigned type, std::uint32_t rank, void* address,
                              const std::uint64_t* size, const std::uint64_t* stride, const std::uint32_t* box,
                              const std::uint32_t* element_stride, unsigned interleave, unsigned swizzle,
                              unsigned l2_promotion, unsigned fill) {
    tensor_map m;
    if (box == nullptr ||
        !take(m, {type, rank, address, size, stride, element_stride, interleave, swizzle, l2_promotion, fill})) {
        return result::invalid_value;
    }
    m.walk = machine::tensor_walk::tiled;
    for (unsigned k = 0; k < rank; ++k) {
        m.box[k] = narrowed<std::uint16_t>(box[k]);
    }
    return write_map(to, m);
}

result cuTensorMapEncodeIm2col(tensor_map* to, unsigned type, std::uint32_t rank, void* address,
                               const std::uint64_t* size, const std::uint64_t* stride, const int* lower,
                               const int* upper, std::uint32_t channels, std::uint32_t pixels,
                               const std::uint32_t* element_stride, unsigned interleave, unsigned swizzle,
                               unsigned l2_promotion, unsigned fill) {
    tensor_map m;
    if (lower == nullptr || upper == nullptr ||
        !take(m, {type, rank, address, size, stride, element_stride, interleave, swizzle, l2_promotion, fill})) {
        return result::invalid_value;
    }
    m.walk = machine::tensor_walk::im2col;
    m.channels = narrowed<std::uint16_t>(channels);
    m.pixels = narrowed<std::uint16_t>(pixels);
    for (unsigned k = 0; k + 2 < rank; ++k) {
        if (lower[k] != static_cast<std::int16_t>(lower[k]) || upper[k] != static_cast<std::int16_t>(upper[k])) {
            return result::invalid_value;
        }
        m.lower[k] = static_cast<std::int16_t>(lower[k]);
        m.upper[k] = static_cast<std::int16_t>(upper[k]);
    }
    return write_map(to, m);
}

result cuTensorMapReplaceAddress(tensor_map* map, void* address) {
    if (map == nullptr || machine::wrong_with(*map) != nullptr) {
        return result::invalid_value;
    }
    tensor_map changed = *map;
    changed.address = reinterpret_cast<std::uint64_t>(address);
    return write_map(map, changed);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
