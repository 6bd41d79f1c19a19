// SPDX-License-Identifier: MIT
// Minima, maxima, both, and their places.
#include <cstdint>
#include <type_traits>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/fold.cuh"
#include "python/src/gpu/sums.hpp"
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
    }
}

// The order of results: zeros of both signs are equal, NaN comes first. The largest element is the smallest of the keys
// turned round.
template <class T>
struct place_map {
    WARPFOLD_HD auto operator()(const T& x, std::uint64_t index) const {
        T key = x;
        if constexpr (std::is_floating_point_v<T>) {
            key = (largest ? -x : x) + T{0};
        } else if (largest) {
            key = static_cast<T>(~x);
        }
        return detail::candidate_map<T, true>{}(key, index);
    }

    bool largest;
};

// An int64 that takes the index of a result.
struct index_place {
    template <class T>
    WARPFOLD_HD index_place& operator=(const located<T>& found) {
        index = static_cast<std::int64_t>(found.index);
        return *this;
    }

    std::int64_t index;
};

template <class T>
bool places_in(const gpu& on, bool smallest, const array& in, const array& out) {
    using fold = detail::arg_fold<true, T>;
    const auto from = in.view<const T>(in.type);
    const auto to = out.view<index_place>(element::int64);
    if (from && to) {
        detail::into_axes<typename fold::A, true>("arg_extreme", on, *from, last_axes(in, out), *to,
                                                  place_map<T>{!smallest}, typename fold::op{},
                                                  detail::located_by_key<T>{});
    }
    return from && to;
}

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
    const auto in_place = [&](auto zero) { return places_in<decltype(zero)>(on, smallest, in, out); };
    if (with_common_type(in.type, in_place)) {
        return;
    }
    const std::int64_t results = static_cast<std::int64_t>(out.size());
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        const temporary values(on, fold, {results, static_cast<std::int64_t>(length)});
        convert<A>(on, in, nullptr, A{}, values.get());
        const contiguous_output<std::int64_t> to(on, out);
        const array row(reinterpret_cast<char*>(to.data()), element::int64, {results}, {8});
        (void)places_in<A>(on, smallest, values.get(), row);
        to.finish();
    });
}

void min_max(const gpu& on, element fold, const array& in, std::uint64_t length, const array& smallest,
             const array& largest) {
    const bool is_done = smallest.size() == 1 && with_common_type(in.type, [&](auto zero) {
                             using T = decltype(zero);
                             const T* const all = in.contiguous<const T>(in.type);
                             if (all == nullptr) {
                                 return false;
                             }
                             const temporary both(on, in.type, {2});
                             warpfold::min_max(on, all, in.size(), both.as<extremes<T>>());
                             char* const found = both.as<char>();
                             copy(on, array(found, in.type, {}, {}), smallest);
                             copy(on, array(found + sizeof(T), in.type, {}, {}), largest);
                             return true;
                         });
    if (!is_done) {
        reduce(on, operation::minimum, fold, in, length, nullptr, smallest);
        reduce(on, operation::maximum, fold, in, length, nullptr, largest);
    }
}

} // namespace warpfold::python::on_gpu
