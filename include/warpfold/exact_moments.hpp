// SPDX-License-Identifier: MIT
// Mean, variance and norm of float, double, half and bfloat16, each rounded once: the result is the number nearest to the
// true value, with ties to even, and has the same bits on every GPU and on the host. Intermediate values neither overflow
// nor underflow. This header serves the host; exact_moments.cuh adds the GPU, with the same calls.
//
//  exact_mean(on, in, n)             the sum of in[k], divided by n
//  exact_variance(on, in, n, ddof)   the sum of |in[k] - mean|^2, divided by n - ddof; the mean is the true one
//  exact_norm(on, in, n)             the square root of the sum of |in[k]|^2
//
// Elements may be complex (exact_sum.hpp). Their mean is that of each part; their variance and norm are real numbers.
//
// Special values:
//  - Results that are zero are +0, except a mean that is too small for the format, which has its sign.
//  - NaN, always that of exact_sum.hpp: if there is a NaN; the mean of infinities of both signs or of no elements; the
//    variance if there is an infinity, or n <= ddof. Otherwise infinities give an infinite mean or norm.
//  - The result is infinity if the true value rounds to no finite number, which happens to the variance and the norm
//    only. Subnormal numbers are not flushed.
//
// Inputs, outputs and errors are those of reduce.hpp; n may be a count_at. Cost: O(n). On a GPU the variance reads the elements twice and
// takes three launches, the others two; of complex numbers the mean takes four launches, the variance four. A workspace has
// exact_moments_workspace() bytes.
#pragma once

#include <cstdint>
#include <iterator>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/exact/exact_finish.hpp"
#include "warpfold/exact_sum.hpp"

namespace warpfold {

// What the variance's divisor is less than n: 1 for the unbiased estimate from a sample.
struct ddof {
    std::uint64_t value = 0;
};

// Real numbers. Results have the type of the elements.
template <class On, detail::real_summable In, detail::element_count N>
[[nodiscard]] detail::element_t<In> exact_mean(const On& on, const In& in, const N& n) {
    return detail::exact_finished<detail::term_t<In>>("exact_mean", on, in, n,
                                                      detail::finish_mean<detail::element_t<In>>{});
}
template <class On, detail::real_summable In, detail::element_count N, detail::place_for<detail::element_t<In>> Out>
void exact_mean(const On& on, const In& in, const N& n, const Out& out) {
    detail::exact_finished<detail::term_t<In>>("exact_mean", on, in, n, detail::finish_mean<detail::element_t<In>>{},
                                               out);
}

// The means of the parts of complex numbers.
template <class On, detail::complex_summable In, detail::element_count N>
[[nodiscard]] detail::element_t<In> exact_mean(const On& on, const In& in, const N& n) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::check_inputs(on, detail::most_of(n), "exact_mean", in);
    const auto part = [&](unsigned which) {
        return detail::exact_finished<T>("exact_mean", on, detail::complex_parts<T, In>{in, which}, n,
                                         detail::finish_mean<T>{});
    };
    const T real = part(0);
    return {real, part(1)};
}
template <class On, detail::complex_summable In, detail::element_count N,
          detail::complex_place_for<detail::complex_part_t<detail::element_t<In>>> Out>
void exact_mean(const On& on, const In& in, const N& n, const Out& out) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::check_inputs(on, detail::most_of(n), "exact_mean", in);
    detail::check_complex_place(on, out, "exact_mean");
    for (const unsigned which : {0u, 1u}) {
        detail::exact_finished<T>("exact_mean", on, detail::complex_parts<T, In>{in, which}, n,
                                  detail::finish_mean<T>{}, detail::part_place(detail::decayed_output(out), which));
    }
}

template <class On, detail::real_summable In, detail::element_count N>
[[nodiscard]] detail::element_t<In> exact_variance(const On& on, const In& in, const N& n, ddof less = {}) {
    return detail::exact_finished<detail::term_t<In>>("exact_variance", on, in, n,
                                                      detail::finish_variance<detail::element_t<In>>{less.value});
}
template <class On, detail::real_summable In, detail::element_count N, detail::place_for<detail::element_t<In>> Out>
void exact_variance(const On& on, const In& in, const N& n, const Out& out, ddof less = {}) {
    detail::exact_finished<detail::term_t<In>>("exact_variance", on, in, n,
                                               detail::finish_variance<detail::element_t<In>>{less.value}, out);
}

// Of complex numbers, a real number: the sum of the variances of both parts.
template <class On, detail::complex_summable In, detail::element_count N>
[[nodiscard]] detail::complex_part_t<detail::element_t<In>> exact_variance(const On& on, const In& in, const N& n,
                                                                           ddof less = {}) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    return detail::exact_finished<T>("exact_variance", on, in, n, detail::finish_variance<T, 2>{less.value});
}
template <class On, detail::complex_summable In, detail::element_count N,
          detail::place_for<detail::complex_part_t<detail::element_t<In>>> Out>
void exact_variance(const On& on, const In& in, const N& n, const Out& out, ddof less = {}) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::exact_finished<T>("exact_variance", on, in, n, detail::finish_variance<T, 2>{less.value}, out);
}

template <class On, detail::real_summable In, detail::element_count N>
[[nodiscard]] detail::element_t<In> exact_norm(const On& on, const In& in, const N& n) {
    return detail::exact_finished<detail::term_t<In>>("exact_norm", on, in, n,
                                                      detail::finish_norm<detail::element_t<In>>{});
}
template <class On, detail::real_summable In, detail::element_count N, detail::place_for<detail::element_t<In>> Out>
void exact_norm(const On& on, const In& in, const N& n, const Out& out) {
    detail::exact_finished<detail::term_t<In>>("exact_norm", on, in, n, detail::finish_norm<detail::element_t<In>>{},
                                               out);
}

// Of complex numbers, a real number: the norm of all parts.
template <class On, detail::complex_summable In, detail::element_count N>
[[nodiscard]] detail::complex_part_t<detail::element_t<In>> exact_norm(const On& on, const In& in, const N& n) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    return detail::exact_finished<T>("exact_norm", on, in, n, detail::finish_norm<T, 2>{});
}
template <class On, detail::complex_summable In, detail::element_count N,
          detail::place_for<detail::complex_part_t<detail::element_t<In>>> Out>
void exact_norm(const On& on, const In& in, const N& n, const Out& out) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::exact_finished<T>("exact_norm", on, in, n, detail::finish_norm<T, 2>{}, out);
}

// --- the same calls for one range ------------------------------------------------------------------------------------

template <class On, detail::array_like Range, class... Rest>
auto exact_mean(const On& on, const Range& range, const Rest&... rest) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::exact_mean(on, of...); }, rest...);
}
template <class On, detail::array_like Range, class... Rest>
auto exact_variance(const On& on, const Range& range, const Rest&... rest) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::exact_variance(on, of...); }, rest...);
}
template <class On, detail::array_like Range, class... Rest>
auto exact_norm(const On& on, const Range& range, const Rest&... rest) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::exact_norm(on, of...); }, rest...);
}

} // namespace warpfold
