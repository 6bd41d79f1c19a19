// SPDX-License-Identifier: MIT
#include "warpfold/reduce.hpp"

#include <numeric>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "warpfold/along_axis.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::python {

namespace {

// The axes that `in` has behind those of the results.
axes last_axes(const array& in, const array& out) {
    std::vector<int> last(in.shape.size() - out.shape.size());
    std::iota(last.begin(), last.end(), static_cast<int>(out.shape.size()));
    return axes(last);
}

// Folds elements of type T along axes, if both arrays are views of their types.
template <class T, class Op>
bool fold_as(element type, const array& in, element result, const array& out, const Op& op) {
    using R = accumulator_t<Op, T>;
    const auto from = in.view<const T>(type);
    const auto to = out.view<R>(result);
    if (from && to) {
        reduce_along(host{}, *from, last_axes(in, out), *to, op);
    }
    return from && to;
}

template <class Op>
bool fold_fast(const array& in, const array& out, const Op& op) {
    constexpr bool widens = std::is_same_v<Op, sum>;
    switch (in.type) {
    case element::boolean: // its bytes are 0 and 1
        return fold_as<std::uint8_t>(element::boolean, in, widens ? element::int64 : element::boolean, out, op);
    case element::uint8:
        return fold_as<std::uint8_t>(element::uint8, in, widens ? element::uint64 : element::uint8, out, op);
    case element::int32:
        return fold_as<std::int32_t>(element::int32, in, widens ? element::int64 : element::int32, out, op);
    case element::int64: return fold_as<std::int64_t>(element::int64, in, element::int64, out, op);
    case element::float32: return fold_as<float>(element::float32, in, element::float32, out, op);
    case element::float64: return fold_as<double>(element::float64, in, element::float64, out, op);
    default: return false;
    }
}

// The largest or smallest value of the elements' type, as A.
template <class A>
A extreme_of(element type, bool largest) {
    const auto of = [largest](auto x) {
        using T = decltype(x);
        if constexpr (std::is_floating_point_v<T>) {
            return static_cast<A>(largest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity());
        } else {
            return static_cast<A>(largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min());
        }
    };
    switch (type) {
    case element::boolean: return static_cast<A>(largest);
    case element::int8: return of(std::int8_t{});
    case element::int16: return of(std::int16_t{});
    case element::int32: return of(std::int32_t{});
    case element::int64: return of(std::int64_t{});
    case element::uint8: return of(std::uint8_t{});
    case element::uint16: return of(std::uint16_t{});
    case element::uint32: return of(std::uint32_t{});
    case element::uint64: return of(std::uint64_t{});
    default:
        if constexpr (std::is_floating_point_v<A>) {
            return of(A{});
        } else {
            throw std::invalid_argument("warpfold: floating-point numbers are not folded as integers");
        }
    }
}

template <class A>
A neutral(operation op, element type) {
    switch (op) {
    case operation::sum: return A{0};
    case operation::product: return A{1};
    case operation::minimum: return extreme_of<A>(type, true);
    default: return extreme_of<A>(type, false);
    }
}

// work(op) with the library's operation.
template <class Work>
void with_operation(operation op, const Work& work) {
    switch (op) {
    case operation::sum: return work(sum{});
    case operation::product: return work(product{});
    case operation::minimum: return work(minimum{});
    case operation::maximum: return work(maximum{});
    }
}

// Segments of one length, or between offsets.
struct bounds {
    std::uint64_t operator[](std::uint64_t s) const {
        return offsets == nullptr ? s * length : static_cast<std::uint64_t>(offsets[s]);
    }

    std::uint64_t length = 0;
    const std::int64_t* offsets = nullptr;
};

void reduce_segments(operation op, element fold, const array& in, const bounds& segments, const array* mask,
                     const array& out) {
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        const A none = neutral<A>(op, in.type);
        with_operation(op, [&](const auto& by) {
            segmented_reduce(host{}, elements<A>(in, mask, none), segments, out.size(), results<A>(out), by, none);
        });
    });
}

struct nonzeros {
    std::uint64_t operator[](std::uint64_t k) const { return from[k] != 0 ? 1 : 0; }

    elements<double> from; // no integer becomes 0 by rounding to double
};

template <class A>
struct squares {
    A operator[](std::uint64_t k) const {
        const A deviation = from[k] - means[k / length];
        return from.is_chosen(k) ? deviation * deviation : A{0};
    }

    elements<A> from;
    const A* means;
    std::uint64_t length;
};

template <class A>
struct squared_deviation {
    A operator()(A x) const { return (x - mean) * (x - mean); }

    A mean;
};

template <class A>
void deviations(element fold, const array& in, std::uint64_t length, const array* mask, const A* means,
                const array& out) {
    const A* const from = in.contiguous<const A>(fold);
    A* const to = out.contiguous<A>(fold);
    if (mask == nullptr && out.size() == 1 && from != nullptr && to != nullptr) {
        transform_reduce(host{}, from, length, to, squared_deviation<A>{*means});
        return;
    }
    segmented_reduce(host{}, squares<A>{elements<A>(in, mask), means, length}, equal_segments{length}, out.size(),
                     results<A>(out));
}

} // namespace

void reduce(operation op, element fold, const array& in, std::uint64_t length, const array* mask, const array& out) {
    if (out.size() == 0) {
        return;
    }
    if (mask == nullptr && ((op == operation::sum && fold_fast(in, out, sum{})) ||
                            (op == operation::minimum && fold_fast(in, out, minimum{})) ||
                            (op == operation::maximum && fold_fast(in, out, maximum{})))) {
        return;
    }
    reduce_segments(op, fold, in, {length, nullptr}, mask, out);
}

void count_nonzero(const array& in, std::uint64_t length, const array* mask, const array& out) {
    const bool is_sum = in.type == element::boolean && mask == nullptr; // of bytes 0 and 1
    if (out.size() != 0 && !(is_sum && fold_fast(in, out, sum{}))) {
        segmented_reduce(host{}, nonzeros{elements<double>(in, mask)}, equal_segments{length}, out.size(),
                         results<std::uint64_t>(out));
    }
}

void squared_deviations(element fold, const array& in, std::uint64_t length, const array* mask, const array& means,
                        const array& out) {
    if (out.size() == 0 || length == 0) {
        return;
    }
    if (fold == element::float32) {
        deviations(fold, in, length, mask, means.required<const float>(fold), out);
    } else {
        deviations(fold, in, length, mask, means.required<const double>(fold), out);
    }
}

void segment_reduce(operation op, element fold, const array& in, const array& offsets, const array& out) {
    if (out.size() != 0) {
        reduce_segments(op, fold, in, {0, offsets.required<const std::int64_t>(element::int64)}, nullptr, out);
    }
}

} // namespace warpfold::python
