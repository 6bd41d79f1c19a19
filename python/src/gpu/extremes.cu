// SPDX-License-Identifier: MIT
// Minima, maxima, both, and their places.
#include <cstdint>
#include <type_traits>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/fold.cuh"
#include "python/src/operations.hpp"

namespace warpfold::python::on_gpu {

namespace {

template <class Op>
void extreme(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array* mask,
             const array& out) {
    const bool is_done = mask == nullptr && out.type == in.type && with_common_type(in.type, [&](auto zero) {
                             using T = decltype(zero);
                             return fold_in_place<T, T>(on, in, in.type, out, Op{});
                         });
    if (!is_done) {
        with_fold_type(fold, [&](auto zero) {
            using A = decltype(zero);
            fold_converted<A>(on, in, length, mask, neutral<A>(op, in.type), out, Op{});
        });
    } else if (in.type == element::boolean) {
        plain_bools(on, out);
    }
}

// What elements are ordered by: themselves, or turned round for the largest. Zeros of both signs are equal, and all bytes of
// bool but 0.
struct order_of {
    template <class T>
    WARPFOLD_HD T operator()(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return (largest ? -x : x) + T{0};
        } else {
            x = is_bool ? static_cast<T>(x != 0) : x;
            return largest ? static_cast<T>(~x) : x;
        }
    }

    bool largest, is_bool;
};

// The place of the first smallest element is that of the smallest candidate. NaN comes first.
template <class T>
struct candidates {
    WARPFOLD_HD auto operator()(const T& x, std::uint64_t index) const {
        return detail::candidate_map<T, true>{}(key(x), index);
    }
    struct place {
        template <class C>
        WARPFOLD_HD std::int64_t operator()(const C& found) const {
            return static_cast<std::int64_t>(found.index);
        }
    };
    using op = detail::better_candidate<true>;

    order_of key;
};

// In a word, for keys and indices of up to 32 bits.
template <class T>
struct words {
    WARPFOLD_HD std::uint64_t operator()(const T& x, std::uint64_t index) const {
        return detail::pack_candidate<true>{}(key(x), index);
    }
    struct place {
        WARPFOLD_HD std::int64_t operator()(std::uint64_t word) const {
            return static_cast<std::int64_t>(word & 0xffffffffu);
        }
    };
    using op = minimum;

    order_of key;
};

template <class T>
bool places_in(const gpu& on, bool smallest, const array& in, std::uint64_t length, const array& out) {
    using map = std::conditional_t<sizeof(T) <= 4, words<T>, candidates<T>>;
    const auto from = in.view<const T>(in.type);
    const auto to = out.view<std::int64_t>(element::int64);
    if (!from || !to || (sizeof(T) <= 4 && length > detail::most_packed_elements)) {
        return false;
    }
    using A = decltype(map{}(T{}, 0));
    const map keys{{!smallest, in.type == element::boolean}};
    if (fold_all<A, T, std::int64_t>(on, in, element::int64, out, keys, typename map::op{}, typename map::place{},
                                     "arg_extreme")) {
        return true;
    }
    const workspace_of_stream memory(on, along_axis_workspace(sizeof(A)));
    detail::into_axes<A, true>("arg_extreme", memory.target(), *from, last_axes(in, out), *to, keys, typename map::op{},
                               typename map::place{});
    return true;
}

// Where both results of an array go.
template <class T>
struct two_places {
    struct both {
        WARPFOLD_HD void operator=(const extremes<T>& found) const { // NOLINT(misc-unconventional-assign-operator)
            *places.smallest = found.smallest;
            *places.largest = found.largest;
        }
        two_places places;
    };
    WARPFOLD_HD both operator*() const { return {*this}; }

    T* smallest;
    T* largest;
};

} // namespace

void reduce(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array* mask,
            const array& out) {
    if (out.size() == 0) {
        return;
    }
    if (op == operation::minimum) {
        extreme<minimum>(on, op, fold, in, length, mask, out);
    } else if (op == operation::maximum) {
        extreme<maximum>(on, op, fold, in, length, mask, out);
    } else {
        sum_or_product(on, op, fold, in, length, mask, out);
    }
}

void arg_extreme(const gpu& on, bool smallest, element fold, const array& in, std::uint64_t length, const array& out) {
    if (out.size() == 0) {
        return;
    }
    const auto in_place = [&](auto zero) { return places_in<decltype(zero)>(on, smallest, in, length, out); };
    if (with_common_type(in.type, in_place)) {
        return;
    }
    const std::int64_t results = static_cast<std::int64_t>(out.size());
    const bool is_long = length > detail::most_packed_elements;
    const element wide = fold == element::float32 && is_long ? element::float64 : fold;
    with_fold_type(wide, [&](auto zero) {
        using A = decltype(zero);
        const temporary values(on, wide, {results, static_cast<std::int64_t>(length)});
        convert<A>(on, in, nullptr, A{}, values.get());
        const contiguous_output<std::int64_t> to(on, out);
        const array row(reinterpret_cast<char*>(to.data()), element::int64, {results}, {8});
        (void)places_in<A>(on, smallest, values.get(), length, row);
        to.finish();
    });
}

void min_max(const gpu& on, element fold, const array& in, std::uint64_t length, const array& smallest,
             const array& largest) {
    const bool is_done = smallest.size() == 1 && with_common_type(in.type, [&](auto zero) {
                             using T = decltype(zero);
                             const T* const all = in.contiguous<const T>(in.type);
                             T* const first = smallest.contiguous<T>(in.type);
                             T* const last = largest.contiguous<T>(in.type);
                             if (all == nullptr || first == nullptr || last == nullptr) {
                                 return false;
                             }
                             const workspace_of_stream memory(on, reduce_workspace(sizeof(extremes<T>)));
                             warpfold::min_max(memory.target(), all, in.size(), two_places<T>{first, last});
                             return true;
                         });
    if (!is_done) {
        reduce(on, operation::minimum, fold, in, length, nullptr, smallest);
        reduce(on, operation::maximum, fold, in, length, nullptr, largest);
    } else if (in.type == element::boolean) {
        plain_bools(on, smallest);
        plain_bools(on, largest);
    }
}

} // namespace warpfold::python::on_gpu
