// SPDX-License-Identifier: MIT
// Arrays of up to 8 dimensions in any layout, and sets of their axes: the arguments of along_axis.hpp.
//
//      strided_view<float> a(data, {rows, columns});                     row-major
//      strided_view<float> t(data, {columns, rows}, {1, columns});       its transpose
//      strided_view m(some_mdspan);                                      a strided std::mdspan or cuda::std::mdspan
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/error.hpp"

namespace warpfold {

namespace detail {

// std::mdspan, cuda::std::mdspan and others of their interface, whose elements have strides and are behind a pointer.
template <class View>
concept strided_mdspan = requires {
    typename View::extents_type;
    requires std::is_same_v<typename View::data_handle_type, typename View::element_type*>;
    requires View::is_always_strided();
};

} // namespace detail

// Element (i0, i1, ...) is first[i0 * strides[0] + i1 * strides[1] + ...], of extents[0] * extents[1] * ... elements.
// Strides count elements, and have any sign: with a stride of 0 all elements along the axis are one. A view of rank 0
// has one element. The view does not own its elements. Constructors throw invalid_argument if there are more than 8
// dimensions, strides and extents differ in number, or there are more than 2^60 elements.
template <class T>
struct strided_view {
    static constexpr unsigned max_rank = 8;

    constexpr strided_view() = default;
    // Row-major: the last axis is contiguous.
    strided_view(T* data, std::span<const std::uint64_t> shape) : first(data) {
        set(shape);
        std::int64_t next = 1;
        for (unsigned d = rank; d-- > 0;) {
            strides[d] = next;
            next *= static_cast<std::int64_t>(extents[d]);
        }
    }
    strided_view(T* data, std::span<const std::uint64_t> shape, std::span<const std::int64_t> steps) : first(data) {
        set(shape);
        if (steps.size() != shape.size()) {
            throw invalid_argument("warpfold: strided_view: " + std::to_string(shape.size()) + " extents and " +
                                   std::to_string(steps.size()) + " strides");
        }
        for (unsigned d = 0; d < rank; ++d) {
            strides[d] = steps[d];
        }
    }
    strided_view(T* data, std::initializer_list<std::uint64_t> shape)
        : strided_view(data, std::span<const std::uint64_t>(shape.begin(), shape.size())) {}
    strided_view(T* data, std::initializer_list<std::uint64_t> shape, std::initializer_list<std::int64_t> steps)
        : strided_view(data, std::span<const std::uint64_t>(shape.begin(), shape.size()),
                       std::span<const std::int64_t>(steps.begin(), steps.size())) {}
    template <detail::strided_mdspan View>
    // NOLINTNEXTLINE(google-explicit-constructor): an mdspan converts
    requires std::is_convertible_v<typename View::element_type (*)[], T (*)[]> strided_view(const View& view)
        : first(view.data_handle()) {
        static_assert(View::rank() <= max_rank);
        std::array<std::uint64_t, max_rank> shape{};
        if constexpr (View::rank() != 0) { // else it has no stride()
            for (std::size_t d = 0; d < View::rank(); ++d) {
                shape[d] = static_cast<std::uint64_t>(view.extent(d));
                strides[d] = static_cast<std::int64_t>(view.stride(d));
            }
        }
        set({shape.data(), View::rank()});
    }
    // A view of const elements of a view.
    template <class U>
    requires(std::is_same_v<const U, T>) constexpr strided_view(const strided_view<U>& other) // NOLINT: converts
        : first(other.first), rank(other.rank), extents(other.extents), strides(other.strides) {}

    [[nodiscard]] constexpr std::uint64_t size() const {
        std::uint64_t product = 1;
        for (unsigned d = 0; d < rank; ++d) {
            product *= extents[d];
        }
        return product;
    }

    T* first = nullptr;
    unsigned rank = 0;
    std::array<std::uint64_t, max_rank> extents{};
    std::array<std::int64_t, max_rank> strides{};

private:
    // Also without the axes of extent 0, so that no product of extents overflows.
    void set(std::span<const std::uint64_t> shape) {
        if (shape.size() > max_rank) {
            throw invalid_argument("warpfold: strided_view: " + std::to_string(shape.size()) +
                                   " dimensions, more than 8");
        }
        rank = static_cast<unsigned>(shape.size());
        std::uint64_t product = 1;
        for (unsigned d = 0; d < rank; ++d) {
            extents[d] = shape[d];
            if (shape[d] != 0) {
                detail::check_number(shape[d] > detail::most_elements / product ? ~std::uint64_t{0} : 0,
                                     "strided_view");
                product *= shape[d];
            }
        }
    }
};

template <detail::strided_mdspan View>
strided_view(const View&) -> strided_view<typename View::element_type>;

// A set of axes of an array, in any order. Negative numbers count from the last axis, -1.
class axes {
public:
    axes() = default; // or nvcc makes a list of one 0 of axes{}
    axes(std::initializer_list<int> list) : axes(std::span<const int>(list.begin(), list.size())) {}
    explicit axes(std::span<const int> list) {
        for (const int axis : list) {
            add(axis);
        }
    }
    // All axes of whatever array.
    [[nodiscard]] static axes all() {
        axes every;
        every.all_ = true;
        return every;
    }

    // Bit d: axis d of an array of `rank` dimensions is in the set. Throws invalid_argument for an axis that the array
    // does not have, and for one that is named twice.
    [[nodiscard]] unsigned mask(unsigned rank, const char* call) const {
        if (all_) {
            return (1u << rank) - 1;
        }
        unsigned set = 0;
        for (unsigned k = 0; k < count_; ++k) {
            const int axis = list_[k] < 0 ? list_[k] + static_cast<int>(rank) : list_[k];
            if (axis < 0 || axis >= static_cast<int>(rank)) {
                throw invalid_argument(std::string("warpfold: ") + call + ": there is no axis " +
                                       std::to_string(list_[k]) + " in an array of " + std::to_string(rank) +
                                       " dimensions");
            }
            if ((set >> axis & 1u) != 0) {
                throw invalid_argument(std::string("warpfold: ") + call + ": axis " + std::to_string(axis) +
                                       " is named twice");
            }
            set |= 1u << axis;
        }
        return set;
    }

private:
    static constexpr unsigned most = 8;

    void add(int axis) {
        if (count_ == most) {
            throw invalid_argument("warpfold: axes: more than 8 axes");
        }
        list_[count_++] = axis;
    }

    std::array<int, most> list_{};
    unsigned count_ = 0;
    bool all_ = false;
};

} // namespace warpfold
