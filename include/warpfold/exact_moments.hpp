// SPDX-License-Identifier: MIT
// Mean, variance and norm of float and double, each rounded once: the result is the number nearest to the true value,
// with ties to even, and has the same bits on every GPU and on the host. Intermediate values neither overflow nor
// underflow. This header serves the host; exact_moments.cuh adds the GPU, with the same calls.
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
// Inputs, outputs and errors are those of reduce.hpp. Cost: O(n). On a GPU the variance reads the elements twice and
// takes three launches, the others two; of complex numbers the mean takes four launches, the variance four. A workspace has
// exact_moments_workspace() bytes.
#pragma once

#include <cstdint>
#include <iterator>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_finish.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/host/exact_sum/finish.hpp"

namespace warpfold {

// What the variance's divisor is less than n: 1 for the unbiased estimate from a sample.
struct ddof {
    std::uint64_t value = 0;
};

namespace detail {

// With an output, or returning the value.
template <class On, class In, class Finish>
auto exact_moment(const char* call, const On& on, const In& in, std::uint64_t n, const Finish& finish) {
    detail::check_inputs(on, n, call, in);
    return exact_finish_engine<On>::template value<element_t<In>>(on, in, n, finish, call);
}
template <class On, class In, class Finish, class Out>
void exact_moment(const char* call, const On& on, const In& in, std::uint64_t n, const Finish& finish, const Out& out) {
    detail::check_inputs(on, n, call, in);
    exact_finish_engine<On>::template into<element_t<In>>(on, in, n, detail::decayed_output(out), finish, call);
}

} // namespace detail

template <class On, detail::summable In>
[[nodiscard]] detail::element_t<In> exact_mean(const On& on, const In& in, std::uint64_t n) {
    return detail::exact_moment("exact_mean", on, in, n, detail::finish_mean<detail::element_t<In>>{n});
}
template <class On, detail::summable In, detail::place_for<detail::element_t<In>> Out>
void exact_mean(const On& on, const In& in, std::uint64_t n, const Out& out) {
    detail::exact_moment("exact_mean", on, in, n, detail::finish_mean<detail::element_t<In>>{n}, out);
}

// The means of the parts of complex numbers.
template <class On, detail::complex_summable In>
[[nodiscard]] detail::element_t<In> exact_mean(const On& on, const In& in, std::uint64_t n) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::check_inputs(on, n, "exact_mean", in);
    const auto part = [&](unsigned which) {
        return detail::exact_finish_engine<On>::template value<T>(on, detail::complex_parts<T, In>{in, which}, n,
                                                                  detail::finish_mean<T>{n}, "exact_mean");
    };
    const T real = part(0);
    return {real, part(1)};
}
template <class On, detail::complex_summable In,
          detail::complex_place_for<detail::complex_part_t<detail::element_t<In>>> Out>
void exact_mean(const On& on, const In& in, std::uint64_t n, const Out& out) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::check_inputs(on, n, "exact_mean", in);
    detail::check_complex_place(on, out, "exact_mean");
    for (const unsigned which : {0u, 1u}) {
        detail::exact_finish_engine<On>::template into<T>(on, detail::complex_parts<T, In>{in, which}, n,
                                                          detail::part_place(detail::decayed_output(out), which),
                                                          detail::finish_mean<T>{n}, "exact_mean");
    }
}

template <class On, detail::summable In>
[[nodiscard]] detail::element_t<In> exact_variance(const On& on, const In& in, std::uint64_t n, ddof less = {}) {
    return detail::exact_moment("exact_variance", on, in, n,
                                detail::finish_variance<detail::element_t<In>>{n, less.value});
}
template <class On, detail::summable In, detail::place_for<detail::element_t<In>> Out>
void exact_variance(const On& on, const In& in, std::uint64_t n, const Out& out, ddof less = {}) {
    detail::exact_moment("exact_variance", on, in, n, detail::finish_variance<detail::element_t<In>>{n, less.value},
                         out);
}

// Of complex numbers, a real number: the sum of the variances of both parts.
template <class On, detail::complex_summable In>
[[nodiscard]] detail::complex_part_t<detail::element_t<In>> exact_variance(const On& on, const In& in, std::uint64_t n,
                                                                           ddof less = {}) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::check_inputs(on, n, "exact_variance", in);
    return detail::exact_finish_engine<On>::template value<T>(on, in, n, detail::finish_variance<T, 2>{n, less.value},
                                                              "exact_variance");
}
template <class On, detail::complex_summable In, detail::place_for<detail::complex_part_t<detail::element_t<In>>> Out>
void exact_variance(const On& on, const In& in, std::uint64_t n, const Out& out, ddof less = {}) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::check_inputs(on, n, "exact_variance", in);
    detail::exact_finish_engine<On>::template into<T>(on, in, n, detail::decayed_output(out),
                                                      detail::finish_variance<T, 2>{n, less.value}, "exact_variance");
}

template <class On, detail::summable In>
[[nodiscard]] detail::element_t<In> exact_norm(const On& on, const In& in, std::uint64_t n) {
    return detail::exact_moment("exact_norm", on, in, n, detail::finish_norm<detail::element_t<In>>{});
}
template <class On, detail::summable In, detail::place_for<detail::element_t<In>> Out>
void exact_norm(const On& on, const In& in, std::uint64_t n, const Out& out) {
    detail::exact_moment("exact_norm", on, in, n, detail::finish_norm<detail::element_t<In>>{}, out);
}

// Of complex numbers, a real number: the norm of all parts.
template <class On, detail::complex_summable In>
[[nodiscard]] detail::complex_part_t<detail::element_t<In>> exact_norm(const On& on, const In& in, std::uint64_t n) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::check_inputs(on, n, "exact_norm", in);
    return detail::exact_moment("exact_norm", on, detail::as_numbers<T>(in), 2 * n, detail::finish_norm<T>{});
}
template <class On, detail::complex_summable In, detail::place_for<detail::complex_part_t<detail::element_t<In>>> Out>
void exact_norm(const On& on, const In& in, std::uint64_t n, const Out& out) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    detail::check_inputs(on, n, "exact_norm", in);
    detail::exact_moment("exact_norm", on, detail::as_numbers<T>(in), 2 * n, detail::finish_norm<T>{}, out);
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
