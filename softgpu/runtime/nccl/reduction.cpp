// SPDX-License-Identifier: MIT
#include "softgpu/runtime/nccl/reduction.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"

namespace softgpu::runtime::nccl {
namespace {

// How a type is stored and computed with.
template <class Number>
struct plain {
    using stored = Number;
    using number = Number;
    static number value(stored x) { return x; }
    static stored rounded(number x) { return x; }
};
template <class Format>
struct small {
    using stored = typename Format::bits;
    using number = double;
    static number value(stored x) { return machine::SOFTGPU_TARGET::widened<Format>(x); }
    static stored rounded(number x) { return static_cast<stored>(machine::SOFTGPU_TARGET::narrowed<Format>(x)); }
};

template <class Number>
Number combined(Number a, Number b, ncclRedOp_t op) {
    if constexpr (std::is_integral_v<Number>) { // wraps round
        using wide = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;
        const auto x = static_cast<wide>(a);
        const auto y = static_cast<wide>(b);
        switch (op) {
        case ncclProd: return static_cast<Number>(x * y);
        case ncclMax: return std::max(a, b);
        case ncclMin: return std::min(a, b);
        default: return static_cast<Number>(x + y);
        }
    } else {
        switch (op) {
        case ncclProd: return a * b;
        case ncclMax: return a != a || a > b ? a : b;
        case ncclMin: return a != a || a < b ? a : b;
        default: return a + b;
        }
    }
}

template <class Number>
Number divided(Number total, std::size_t ranks) {
    using wide = std::conditional_t<std::is_floating_point_v<Number>, Number,
                                    std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>>;
    return static_cast<Number>(static_cast<wide>(total) / static_cast<wide>(ranks));
}

template <class Type>
std::vector<std::byte> fold(std::span<const void* const> in, std::size_t count, ncclRedOp_t op,
                            std::span<const void* const> scales) {
    using stored = typename Type::stored;
    const auto read = [&](std::size_t rank, std::size_t k) {
        stored x;
        std::memcpy(&x, static_cast<const std::byte*>(in[rank]) + k * sizeof(stored), sizeof(stored));
        if (!scales.empty()) {
            stored by;
            std::memcpy(&by, scales[rank], sizeof by);
            x = Type::rounded(combined(Type::value(x), Type::value(by), ncclProd));
        }
        return x;
    };
    std::vector<std::byte> out(count * sizeof(stored));
    for (std::size_t k = 0; k < count; ++k) {
        stored total = read(0, k);
        for (std::size_t rank = 1; rank < in.size(); ++rank) {
            total = Type::rounded(combined(Type::value(total), Type::value(read(rank, k)), op));
        }
        if (op == ncclAvg) {
            total = Type::rounded(divided(Type::value(total), in.size()));
        }
        std::memcpy(out.data() + k * sizeof(stored), &total, sizeof(stored));
    }
    return out;
}

} // namespace

std::size_t bytes_of(ncclDataType_t type) noexcept {
    switch (type) {
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    default: return 1;
    }
}

std::vector<std::byte> reduced(std::span<const void* const> in, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               std::span<const void* const> scales) {
    namespace formats = machine::SOFTGPU_TARGET;
    switch (type) {
    case ncclInt8: return fold<plain<std::int8_t>>(in, count, op, scales);
    case ncclUint8: return fold<plain<std::uint8_t>>(in, count, op, scales);
    case ncclInt32: return fold<plain<std::int32_t>>(in, count, op, scales);
    case ncclUint32: return fold<plain<std::uint32_t>>(in, count, op, scales);
    case ncclInt64: return fold<plain<std::int64_t>>(in, count, op, scales);
    case ncclUint64: return fold<plain<std::uint64_t>>(in, count, op, scales);
    case ncclFloat16: return fold<small<formats::f16_format>>(in, count, op, scales);
    case ncclFloat32: return fold<plain<float>>(in, count, op, scales);
    case ncclFloat64: return fold<plain<double>>(in, count, op, scales);
    case ncclBfloat16: return fold<small<formats::bf16_format>>(in, count, op, scales);
    case ncclFloat8e4m3: return fold<small<formats::e4m3_format>>(in, count, op, scales);
    default: return fold<small<formats::e5m2_format>>(in, count, op, scales);
    }
}

} // namespace softgpu::runtime::nccl
