// SPDX-License-Identifier: MIT
// Sums, products and counts.
#include <cstdint>
#include <type_traits>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/fold.cuh"

namespace warpfold::python::on_gpu {

namespace {

struct as_double {
    template <class T>
    WARPFOLD_HD double operator()(T x) const {
        return static_cast<double>(x);
    }
};

struct is_nonzero {
    template <class T>
    WARPFOLD_HD std::uint64_t operator()(T x) const {
        return x != T{0} ? 1 : 0;
    }
};

template <class T, class R, class Map>
bool transform_in_place(const gpu& on, const array& in, const array& out, const Map& map) {
    const auto from = in.view<const T>(in.type);
    const auto to = out.view<R>(out.type);
    if (from && to) {
        const workspace_of_stream memory(on, along_axis_workspace(sizeof(R)));
        transform_reduce_along(memory.target(), *from, last_axes(in, out), *to, map);
    }
    return from && to;
}

// Counts in place, if both arrays are views of their types.
bool count_in_place(const gpu& on, const array& in, const array& out) {
    return (out.type == element::int64 || out.type == element::uint64) && with_common_type(in.type, [&](auto zero) {
               return transform_in_place<decltype(zero), std::uint64_t>(on, in, out, is_nonzero{});
           });
}

// Integers of 64 bits wrap: the results' sign does not matter.
bool sum_in_place(const gpu& on, const array& in, const array& out) {
    return with_common_type(in.type, [&](auto zero) {
        using T = decltype(zero);
        using R = accumulator_t<sum, T>;
        if constexpr (std::is_integral_v<T>) {
            if (out.type == element::int64 || out.type == element::uint64) {
                return fold_in_place<T, R>(on, in, out.type, out, sum{});
            }
        } else if (out.type == in.type) {
            return fold_in_place<T, R>(on, in, out.type, out, sum{});
        }
        if constexpr (!std::is_same_v<T, double>) {
            if (out.type == element::float64) {
                return transform_in_place<T, double>(on, in, out, as_double{});
            }
        }
        return false;
    });
}

// All elements in one launch.
bool product_in_place(const gpu& on, const array& in, const array& out) {
    const auto of = [&](auto zero) {
        using T = decltype(zero);
        return fold_all<T, T, T>(on, in, out.type, out, detail::identity_map{}, product{}, detail::identity_result{},
                                 "reduce");
    };
    if (in.type != out.type) {
        return false;
    }
    return in.type == element::float32   ? of(float{})
           : in.type == element::float64 ? of(double{})
                                         : in.type == element::int64 && of(std::int64_t{});
}

template <class T>
struct divided {
    WARPFOLD_HD T operator()(const T& total) const { return total / number; }

    T number;
};

// Where a count goes: as it is, or as the answer to a question about it.
struct count_place {
    WARPFOLD_HD const count_place& operator*() const { return *this; }
    WARPFOLD_HD void operator=(std::uint64_t found) const { // NOLINT(misc-unconventional-assign-operator)
        if (number != nullptr) {
            *number = found;
        } else {
            *answer = is_all ? found == size : found != 0;
        }
    }

    std::uint64_t* number;
    bool* answer;
    std::uint64_t size;
    bool is_all;
};

template <class A>
void fold_in(const gpu& on, operation op, const array& in, std::uint64_t length, const array* mask, const array& out) {
    if (op == operation::sum) {
        fold_converted<A>(on, in, length, mask, A{0}, out, sum{});
    } else {
        fold_converted<A>(on, in, length, mask, A{1}, out, product{});
    }
}

} // namespace

void sum_or_product(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array* mask,
                    const array& out) {
    if (op == operation::sum && in.type == element::boolean) {
        return count_nonzero(on, in, length, mask, out);
    }
    if (mask == nullptr && (op == operation::sum ? sum_in_place(on, in, out) : product_in_place(on, in, out))) {
        return;
    }
    switch (signed_of(fold)) {
    case element::int64: return fold_in<std::int64_t>(on, op, in, length, mask, out);
    case element::float32: return fold_in<float>(on, op, in, length, mask, out);
    default: return fold_in<double>(on, op, in, length, mask, out);
    }
}

bool mean_of_all(const gpu& on, const array& in, const array& out) {
    const auto of = [&](auto zero) {
        using T = decltype(zero);
        return in.size() != 0 && in.type == out.type &&
               fold_all<T, T, T>(on, in, out.type, out, detail::identity_map{}, sum{},
                                 divided<T>{static_cast<T>(in.size())}, "mean");
    };
    return in.type == element::float32 ? of(float{}) : in.type == element::float64 && of(double{});
}

bool nonzero_of_all(const gpu& on, bool is_all, const array& in, const array& out) {
    const count_place place{out.contiguous<std::uint64_t>(element::int64), out.contiguous<bool>(element::boolean),
                            in.size(), is_all};
    return out.size() == 1 && (place.number != nullptr || place.answer != nullptr) &&
           with_common_type(in.type, [&](auto zero) {
               using T = decltype(zero);
               const T* const all = in.contiguous<const T>(in.type);
               if (all == nullptr) {
                   return false;
               }
               const workspace_of_stream memory(on, reduce_workspace(sizeof(std::uint64_t)));
               transform_reduce(memory.target(), all, in.size(), place, is_nonzero{}, sum{});
               return true;
           });
}

void count_nonzero(const gpu& on, const array& in, std::uint64_t length, const array* mask, const array& out) {
    if (out.size() == 0) {
        return;
    }
    if (mask == nullptr && count_in_place(on, in, out)) {
        return;
    }
    const contiguous_output<std::int64_t> to(on, out);
    char* const counts = reinterpret_cast<char*>(to.data());
    if (mask != nullptr || !count_in_place(on, in, array(counts, element::int64, out.shape, row_major(out.shape, 8)))) {
        const auto results = static_cast<std::int64_t>(out.size());
        // No integer becomes 0 by rounding to double.
        const temporary flags(on, element::boolean, {results, static_cast<std::int64_t>(length)});
        convert<double>(on, in, mask, 0, flags.get());
        (void)count_in_place(on, flags.get(), array(counts, element::int64, {results}, {8}));
    }
    to.finish();
}

} // namespace warpfold::python::on_gpu
