// SPDX-License-Identifier: MIT
// Sums of squared deviations from the mean.
#include <cstdint>
#include <type_traits>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/fold.cuh"
#include "python/src/gpu/for_each.cuh"

namespace warpfold::python::on_gpu {

namespace {

// How many elements, their mean, and the sum of their squared deviations from it.
template <class A>
struct moments {
    A count, mean, squares;
};

template <class A>
struct one_element {
    template <class T>
    WARPFOLD_HD moments<A> operator()(T element) const {
        const A x = static_cast<A>(element);
        return {A{1}, x, x - x}; // of infinity NaN
    }
};

// T. Chan, G. Golub, R. LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
struct join_moments {
    static constexpr bool commutative = true;

    template <class M>
    WARPFOLD_HD static constexpr M identity() {
        return {};
    }
    template <class M>
    WARPFOLD_HD M operator()(const M& a, const M& b) const {
        const auto count = a.count + b.count;
        const auto share = count > 0 ? b.count / count : count;
        const auto between = b.mean - a.mean;
        return {count, a.mean + between * share, a.squares + b.squares + between * between * a.count * share};
    }
};

template <class A>
struct squares_of {
    WARPFOLD_HD A operator()(const moments<A>& all) const { return all.squares; }
};

template <class A>
struct variance_of {
    WARPFOLD_HD A operator()(const moments<A>& all) const { return all.squares / number; }

    A number;
};

template <class T, class A>
bool deviations_of(const gpu& on, const array& in, const array& out) {
    const auto from = in.view<const T>(in.type);
    const auto to = out.view<A>(element_of<A>());
    if (from && to) {
        detail::into_axes<moments<A>, false>("squared_deviations", on, *from, last_axes(in, out), *to, one_element<A>{},
                                             join_moments{}, squares_of<A>{});
    }
    return from && to;
}

template <class A>
struct deviating {
    __device__ void operator()(std::uint64_t k) const {
        const A deviation = in.load<A>(k) - means[k / length];
        out[k] = mask.data == nullptr || mask.load<std::int64_t>(k) != 0 ? deviation * deviation : A{0};
    }

    device_elements in, mask;
    const A* means;
    std::uint64_t length;
    A* out;
};

// `out` is contiguous. From the elements' own means if `means` is null; then there is no mask.
template <class A>
void deviations(const gpu& on, const array& in, std::uint64_t length, const array* mask, const array* means,
                const array& out) {
    const auto in_place = [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_same_v<A, double> ? !std::is_same_v<T, float> : std::is_same_v<T, float>) {
            return deviations_of<T, A>(on, in, out);
        } else {
            return false;
        }
    };
    if (means == nullptr && in.type != element::boolean && with_common_type(in.type, in_place)) {
        return;
    }
    const auto results = static_cast<std::int64_t>(out.size());
    const temporary values(on, element_of<A>(), {results, static_cast<std::int64_t>(length)});
    const array row(out.data, out.type, {results}, {size_of(out.type)});
    if (means == nullptr) {
        convert<A>(on, in, nullptr, A{}, values.get());
        (void)deviations_of<A, A>(on, values.get(), row);
    } else {
        for_each(on, in.size(),
                 deviating<A>{device_elements(in), device_elements(mask), means->required<const A>(element_of<A>()),
                              length, values.as<A>()});
        reduce(on, operation::sum, element_of<A>(), values.get(), length, nullptr, row);
    }
}

} // namespace

bool variance_of_all(const gpu& on, const array& in, const array& out) {
    const auto of = [&](auto zero) {
        using T = decltype(zero);
        return in.size() != 0 && in.type == out.type &&
               fold_all<moments<T>, T, T>(on, in, out.type, out, one_element<T>{}, join_moments{},
                                          variance_of<T>{static_cast<T>(in.size())}, "var");
    };
    return in.type == element::float32 ? of(float{}) : in.type == element::float64 && of(double{});
}

void squared_deviations(const gpu& on, element fold, const array& in, std::uint64_t length, const array* mask,
                        const array* means, const array& out) {
    if (out.size() == 0) {
        return;
    }
    if (fold == element::float32) {
        deviations<float>(on, in, length, mask, means, out);
    } else {
        deviations<double>(on, in, length, mask, means, out);
    }
}

} // namespace warpfold::python::on_gpu
