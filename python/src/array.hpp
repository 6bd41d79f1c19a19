// SPDX-License-Identifier: MIT
// Arrays whose element type, shape and strides are known at run time only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "warpfold/strided_view.hpp"

namespace warpfold::python {

// NumPy's types that the package takes. The order is that of `TYPES` in warpfold/_arrays.py.
enum class element : int {
    boolean, // one byte; all but 0 are true
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    float32,
    float64
};

[[nodiscard]] constexpr std::int64_t size_of(element type) {
    switch (type) {
    case element::boolean:
    case element::int8:
    case element::uint8: return 1;
    case element::int16:
    case element::uint16:
    case element::float16: return 2;
    case element::int32:
    case element::uint32:
    case element::float32: return 4;
    default: return 8;
    }
}

// work(U{}) with the unsigned integer of an element's size.
template <class Work>
auto with_bits(element type, const Work& work) {
    switch (size_of(type)) {
    case 1: return work(std::uint8_t{});
    case 2: return work(std::uint16_t{});
    case 4: return work(std::uint32_t{});
    default: return work(std::uint64_t{});
    }
}

// Strides in bytes of an array without gaps, of elements of `bytes`.
[[nodiscard]] inline std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape, std::int64_t bytes) {
    std::vector<std::int64_t> strides(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides[d] = bytes;
        bytes *= std::max<std::int64_t>(shape[d], 1);
    }
    return strides;
}

// Where element k of an array lies, k in row-major order. Axes of one element are dropped, and neighbouring axes that one
// stride describes become one axis.
class layout {
public:
    struct axis {
        std::uint64_t extent;
        std::int64_t stride; // in bytes
    };

    // Strides are in bytes, of any sign.
    layout(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
        if (shape.size() != strides.size()) {
            throw std::invalid_argument("warpfold: an array has as many strides as axes");
        }
        axes_.reserve(shape.size() + 1);
        for (std::size_t d = 0; d < shape.size(); ++d) {
            size_ *= static_cast<std::uint64_t>(shape[d]);
            if (shape[d] == 1) {
                continue;
            }
            const bool joined = !axes_.empty() && axes_.back().stride == strides[d] * shape[d];
            if (joined) {
                axes_.back().extent *= static_cast<std::uint64_t>(shape[d]);
                axes_.back().stride = strides[d];
            } else {
                axes_.push_back({static_cast<std::uint64_t>(shape[d]), strides[d]});
            }
        }
        if (axes_.empty()) {
            axes_.push_back({1, 0});
        }
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    // One at least.
    [[nodiscard]] const std::vector<axis>& axes() const noexcept { return axes_; }
    // True if elements of `bytes` follow each other without gaps.
    [[nodiscard]] bool is_contiguous(std::int64_t bytes) const noexcept {
        return size_ <= 1 || (axes_.size() == 1 && axes_[0].stride == bytes);
    }
    // run(offset, number, stride) for runs of elements [first, first + count) along the last axis.
    template <class Run>
    void for_runs(std::uint64_t first, std::uint64_t count, const Run& run) const {
        const axis& inner = axes_.back();
        while (count != 0) {
            const std::uint64_t number = std::min(count, inner.extent - first % inner.extent);
            run(offset(first), number, inner.stride);
            first += number;
            count -= number;
        }
    }
    // In bytes from the first element.
    [[nodiscard]] std::int64_t offset(std::uint64_t k) const noexcept {
        std::int64_t at = 0;
        for (std::size_t d = axes_.size() - 1; d != 0; --d) {
            const std::uint64_t rest = k / axes_[d].extent;
            at += static_cast<std::int64_t>(k - rest * axes_[d].extent) * axes_[d].stride;
            k = rest;
        }
        return at + static_cast<std::int64_t>(k) * axes_[0].stride;
    }

private:
    std::vector<axis> axes_;
    std::uint64_t size_ = 1;
};

// An array of the caller: it owns no elements.
struct array {
    array(char* data_, element type_, std::vector<std::int64_t> shape_, std::vector<std::int64_t> strides_)
        : data(data_), type(type_), at(shape_, strides_), shape(std::move(shape_)), strides(std::move(strides_)) {}

    char* data;
    element type;
    layout at;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides; // in bytes

    [[nodiscard]] std::uint64_t size() const noexcept { return at.size(); }
    // The elements as T, if they are of this type, aligned, and without gaps; else null.
    template <class T>
    [[nodiscard]] T* contiguous(element as) const noexcept {
        const bool fits =
            type == as && at.is_contiguous(sizeof(T)) && reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
        return fits ? reinterpret_cast<T*>(data) : nullptr;
    }
    // The elements as T in any layout, if they are of this type and at multiples of its size, and there are at most 8 axes.
    template <class T>
    [[nodiscard]] std::optional<strided_view<T>> view(element as) const {
        if (type != as || shape.size() > strided_view<T>::max_rank ||
            reinterpret_cast<std::uintptr_t>(data) % sizeof(T) != 0) {
            return std::nullopt;
        }
        std::vector<std::uint64_t> extents(shape.begin(), shape.end());
        std::vector<std::int64_t> steps(strides);
        for (std::int64_t& step : steps) {
            if (step % static_cast<std::int64_t>(sizeof(T)) != 0) {
                return std::nullopt;
            }
            step /= static_cast<std::int64_t>(sizeof(T));
        }
        return strided_view<T>(reinterpret_cast<T*>(data), extents, steps);
    }
    // contiguous(); throws std::invalid_argument instead of null, unless there are no elements.
    template <class T>
    [[nodiscard]] T* required(element as) const {
        T* const found = contiguous<T>(as);
        if (found == nullptr && size() != 0) { // no elements: at any address
            throw std::invalid_argument("warpfold: an array is not of the type, contiguous and aligned");
        }
        return found;
    }
};

} // namespace warpfold::python
