// SPDX-License-Identifier: MIT
// Exact sums of float, double and 16-bit numbers: the true sum, or the true sum of products, rounded once to nearest, ties to even. The
// result has the same bits on every GPU and on the host, for any number of threads and any order of the elements. This
// header serves the host; exact_sum.cuh adds the GPU, with the same calls.
//
//  exact_sum(on, in, n)      sum of in[k], which are float, double, half, bfloat16 or complex
//  exact_dot(on, a, b, n)    sum of a[k] * b[k], each float, double, half, bfloat16 or complex
//  exact_vdot(on, a, b, n)   sum of conj(a[k]) * b[k], of which one may be real
//
// Complex numbers are std::complex, cuda::std::complex and thrust::complex of float or double, cuComplex and
// cuDoubleComplex: pairs of real numbers. Each part of a result is the true sum, rounded once, as if it were the only one;
// a NaN or an infinity of one part does not reach the other, except through a product. The output is none of the inputs.
//
// Special values:
//  - A sum of zero is +0, also for no elements and for elements that are all -0.
//  - The result is infinity if the true sum rounds to no finite number, or if there are infinities of one sign. Large
//    intermediate sums do not matter.
//  - The result is NaN if there is a NaN, infinities of both signs, or infinity times zero. It is always the same NaN:
//    0x7fc00000 for float, 0x7ff8000000000000 for double.
//  - Subnormal numbers are not flushed. A sum of products too small for the format rounds to a subnormal number or to a
//    zero of its sign.
//
// Inputs, outputs and errors are those of reduce.hpp; n may be a count_at (detail/element_count.hpp). Cost: O(n); on a GPU one launch and a workspace of
// exact_sum_workspace() bytes; of complex numbers one launch for each part. Method: U. Kulisch's long accumulator
// (detail/exact/exact_integer.hpp), filled from windows after J. Demmel and H. D. Nguyen (gpu/exact_sum/window.cuh).
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_complex.hpp"
#include "warpfold/detail/exact/exact_finish.hpp"
#include "warpfold/detail/exact/exact_half.hpp"
#include "warpfold/error.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/host/exact_sum/exact_sum.hpp"
#include "warpfold/host/exact_sum/finish.hpp"

namespace warpfold {

namespace detail {

template <class In>
concept summable = !array_like<In> && (std::is_same_v<element_t<In>, float> || std::is_same_v<element_t<In>, double>);
template <class In>
concept short_summable =
    !array_like<In> && (std::is_same_v<element_t<In>, half> || std::is_same_v<element_t<In>, bfloat16>);
template <class In>
concept real_summable = summable<In> || short_summable<In>;
template <class A, class B>
concept multipliable = real_summable<A> && real_summable<B>;
// What elements are added as: those of 16 bits as floats.
template <class In>
using term_t = std::conditional_t<short_summable<In>, float, element_t<In>>;
template <class A, class B>
using product_t = std::common_type_t<term_t<A>, term_t<B>>;

template <class On, class A, class B>
std::uint64_t common_size(const On& on, const A& a, const B& b, const char* call) {
    return call_scope<On>::run(on, call, [&] {
        if (std::size(a) != std::size(b)) {
            throw invalid_argument(std::string("warpfold: ") + call + ": one range has " +
                                   std::to_string(std::size(a)) + " elements, the other " +
                                   std::to_string(std::size(b)));
        }
        return std::uint64_t{std::size(a)};
    });
}

// Converted inputs hide their pointers from the engine.
template <class On, class... Ins>
void check_inputs(const On& on, std::uint64_t n, const char* call, const Ins&... ins) {
    call_scope<On>::run(on, call, [&] { (detail::check_array(ins, n, call), ...); });
}

// The number of elements for an engine: an integer or, on a GPU, a count_at.
template <class On, class N>
auto engine_count(const N& n, const char* call) {
    if constexpr (!is_count_at_v<N>) {
        return static_cast<std::uint64_t>(n);
    } else {
        static_assert(!is_split_v<On>, "over ranks the number of elements is an integer");
        const auto count = detail::checked_count(n, call);
        if constexpr (std::is_same_v<On, host>) {
            return count.value();
        } else {
            return count;
        }
    }
}

// `finish` of the sums of n elements, whose terms or parts are of type T: written to `out`, or returned.
template <class T, class On, class In, class N, class Finish, class... Out>
auto exact_finished(const char* call, const On& on, const In& in, const N& n, const Finish& finish, const Out&... out) {
    using engine = exact_finish_engine<On>;
    const auto count = detail::engine_count<On>(n, call);
    detail::check_inputs(on, detail::most_of(count), call, in);
    const auto finished = [&](const auto& terms) {
        if constexpr (sizeof...(Out) == 0) {
            return engine::template value<T>(on, terms, count, finish, call);
        } else {
            engine::template into<T>(on, terms, count, detail::decayed_output(out)..., finish, call);
        }
    };
    if constexpr (short_summable<In>) {
        return finished(detail::converted<T>(in));
    } else {
        return finished(in);
    }
}

template <class On, class Out>
void check_complex_place(const On& on, const Out& out, const char* call) {
    if constexpr (!is_split_v<On>) { // over ranks some have no result
        call_scope<On>::run(on, call, [&] { detail::check_array(detail::decayed_output(out), 1, call); });
    }
}

template <class A, class B>
concept complex_multipliable = complex_summable<A> && complex_summable<B>;
template <class A, class B>
using complex_product_t = std::conditional_t<sizeof(element_t<A>) >= sizeof(element_t<B>), element_t<A>, element_t<B>>;
template <class Out, class A, class B>
concept complex_product_place = complex_place_for<Out, complex_part_t<complex_product_t<A, B>>>;

// Real numbers times complex ones: the type of the parts of a result, and of the result.
template <class R, class C>
using scaled_part_t = std::common_type_t<term_t<R>, complex_part_t<element_t<C>>>;
template <class R, class C>
using scaled_t = typename with_parts<element_t<C>, scaled_part_t<R, C>>::type;

// Each part of the sum of the products is an exact sum of n products, of conjugates if `Conjugates`.
template <bool Conjugates, class On, class R, class C, class N, class... Out>
auto scaled_dot(const char* call, const On& on, const R& real, const C& complex, const N& n, const Out&... out) {
    using T = scaled_part_t<R, C>;
    const auto count = detail::engine_count<On>(n, call);
    detail::check_inputs(on, detail::most_of(count), call, real, complex);
    const auto factors = detail::converted<T>(real);
    const complex_parts<T, C> first{complex, 0};
    const complex_parts<T, C, Conjugates> second{complex, 1};
    if constexpr (sizeof...(Out) == 0) {
        const T part = exact_engine<On>::template value<T>(on, count, call, factors, first);
        return scaled_t<R, C>{part, exact_engine<On>::template value<T>(on, count, call, factors, second)};
    } else {
        (detail::check_complex_place(on, out, call), ...);
        const auto sum_of = [&](const auto& parts) {
            exact_engine<On>::template into<T>(
                on, count, detail::part_place(detail::decayed_output(out...), parts.part), call, factors, parts);
        };
        sum_of(first);
        sum_of(second);
    }
}

// Each part of a result is the sum of 2 n products, of the numbers of `a` in order and of complex_pairs{b, part, negates}.
template <bool Conjugates, class SumOf>
void each_part_of_dot(const SumOf& sum_of) {
    sum_of(0u, !Conjugates);
    sum_of(1u, Conjugates);
}
template <bool Conjugates, class On, class A, class B, class N, class... Out>
auto complex_dot(const char* call, const On& on, const A& a, const B& b, const N& n, const Out&... out) {
    using C = complex_product_t<A, B>;
    using T = complex_part_t<C>;
    const auto count = detail::engine_count<On>(n, call);
    detail::check_inputs(on, detail::most_of(count), call, a, b);
    const auto products = detail::multiplied<2>(count);
    const auto left = detail::as_numbers<T>(a);
    if constexpr (sizeof...(Out) == 0) {
        T parts[2];
        detail::each_part_of_dot<Conjugates>([&](unsigned part, bool negates) {
            parts[part] =
                exact_engine<On>::template value<T>(on, products, call, left, complex_pairs<T, B>{b, part, negates});
        });
        return C{parts[0], parts[1]};
    } else {
        (detail::check_complex_place(on, out, call), ...);
        detail::each_part_of_dot<Conjugates>([&](unsigned part, bool negates) {
            exact_engine<On>::template into<T>(on, products, detail::part_place(detail::decayed_output(out...), part),
                                               call, left, complex_pairs<T, B>{b, part, negates});
        });
    }
}

} // namespace detail

// The sum of n elements.
template <class On, detail::summable In, detail::element_count N>
[[nodiscard]] detail::element_t<In> exact_sum(const On& on, const In& in, const N& n) {
    return detail::exact_engine<On>::template value<detail::element_t<In>>(on, detail::engine_count<On>(n, "exact_sum"),
                                                                           "exact_sum", in);
}
template <class On, detail::summable In, detail::element_count N, detail::place_for<detail::element_t<In>> Out>
void exact_sum(const On& on, const In& in, const N& n, const Out& out) {
    detail::exact_engine<On>::template into<detail::element_t<In>>(on, detail::engine_count<On>(n, "exact_sum"),
                                                                   detail::decayed_output(out), "exact_sum", in);
}
// The sum of n elements of 16 bits, rounded once to their type.
template <class On, detail::short_summable In, detail::element_count N>
[[nodiscard]] detail::element_t<In> exact_sum(const On& on, const In& in, const N& n) {
    return detail::exact_finished<float>("exact_sum", on, in, n, detail::finish_sum<detail::element_t<In>>{});
}
template <class On, detail::short_summable In, detail::element_count N, detail::place_for<detail::element_t<In>> Out>
void exact_sum(const On& on, const In& in, const N& n, const Out& out) {
    detail::exact_finished<float>("exact_sum", on, in, n, detail::finish_sum<detail::element_t<In>>{}, out);
}
// The sums of the parts of n complex numbers.
template <class On, detail::complex_summable In, detail::element_count N>
[[nodiscard]] detail::element_t<In> exact_sum(const On& on, const In& in, const N& n) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    const auto count = detail::engine_count<On>(n, "exact_sum");
    detail::check_inputs(on, detail::most_of(count), "exact_sum", in);
    const auto part = [&](unsigned which) {
        return detail::exact_engine<On>::template value<T>(on, count, "exact_sum",
                                                           detail::complex_parts<T, In>{in, which});
    };
    const T real = part(0);
    return {real, part(1)};
}
template <class On, detail::complex_summable In, detail::element_count N,
          detail::complex_place_for<detail::complex_part_t<detail::element_t<In>>> Out>
void exact_sum(const On& on, const In& in, const N& n, const Out& out) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    const auto count = detail::engine_count<On>(n, "exact_sum");
    detail::check_inputs(on, detail::most_of(count), "exact_sum", in);
    detail::check_complex_place(on, out, "exact_sum");
    for (const unsigned which : {0u, 1u}) {
        detail::exact_engine<On>::template into<T>(on, count, detail::part_place(detail::decayed_output(out), which),
                                                   "exact_sum", detail::complex_parts<T, In>{in, which});
    }
}
template <class On, detail::array_like Range, class... Out>
auto exact_sum(const On& on, const Range& range, const Out&... out) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::exact_sum(on, of...); }, out...);
}

// The sum of the n products a[k] * b[k]. Products are exact, also where the format cannot represent them. The result is a
// double if one input is double, else a float, also of half and bfloat16.
template <class On, class A, class B, detail::element_count N>
requires detail::multipliable<A, B>
[[nodiscard]] detail::product_t<A, B> exact_dot(const On& on, const A& a, const B& b, const N& n) {
    using T = detail::product_t<A, B>;
    const auto count = detail::engine_count<On>(n, "exact_dot");
    detail::check_inputs(on, detail::most_of(count), "exact_dot", a, b);
    return detail::exact_engine<On>::template value<T>(on, count, "exact_dot", detail::converted<T>(a),
                                                       detail::converted<T>(b));
}
template <class On, class A, class B, detail::element_count N, class Out>
requires(detail::multipliable<A, B>&& detail::place_for<Out, detail::product_t<A, B>>) void exact_dot(
    const On& on, const A& a, const B& b, const N& n, const Out& out) {
    using T = detail::product_t<A, B>;
    const auto count = detail::engine_count<On>(n, "exact_dot");
    detail::check_inputs(on, detail::most_of(count), "exact_dot", a, b);
    detail::exact_engine<On>::template into<T>(on, count, detail::decayed_output(out), "exact_dot",
                                               detail::converted<T>(a), detail::converted<T>(b));
}

// The sum of the n products a[k] * b[k] of complex numbers, and of conj(a[k]) * b[k]: of the parts a + ib and c + id the
// true sums of all a c - b d and a d + b c, of a c + b d and a d - b c. If the parts of one are float, and of the other
// double, the result has its type.
template <class On, class A, class B, detail::element_count N>
requires detail::complex_multipliable<A, B>
[[nodiscard]] detail::complex_product_t<A, B> exact_dot(const On& on, const A& a, const B& b, const N& n) {
    return detail::complex_dot<false>("exact_dot", on, a, b, n);
}
template <class On, class A, class B, detail::element_count N, class Out>
requires(detail::complex_multipliable<A, B>&& detail::complex_product_place<Out, A, B>) void exact_dot(
    const On& on, const A& a, const B& b, const N& n, const Out& out) {
    detail::complex_dot<false>("exact_dot", on, a, b, n, out);
}
// Of real numbers and complex ones, in either order: the true sums of the products with each part. The parts of the result
// are double if those of one array are.
template <class On, detail::real_summable A, detail::complex_summable B, detail::element_count N>
[[nodiscard]] detail::scaled_t<A, B> exact_dot(const On& on, const A& a, const B& b, const N& n) {
    return detail::scaled_dot<false>("exact_dot", on, a, b, n);
}
template <class On, detail::complex_summable A, detail::real_summable B, detail::element_count N>
[[nodiscard]] detail::scaled_t<B, A> exact_dot(const On& on, const A& a, const B& b, const N& n) {
    return detail::scaled_dot<false>("exact_dot", on, b, a, n);
}
template <class On, detail::real_summable A, detail::complex_summable B, detail::element_count N,
          detail::complex_place_for<detail::scaled_part_t<A, B>> Out>
void exact_dot(const On& on, const A& a, const B& b, const N& n, const Out& out) {
    detail::scaled_dot<false>("exact_dot", on, a, b, n, out);
}
template <class On, detail::complex_summable A, detail::real_summable B, detail::element_count N,
          detail::complex_place_for<detail::scaled_part_t<B, A>> Out>
void exact_dot(const On& on, const A& a, const B& b, const N& n, const Out& out) {
    detail::scaled_dot<false>("exact_dot", on, b, a, n, out);
}

template <class On, class A, class B, detail::element_count N>
requires detail::complex_multipliable<A, B>
[[nodiscard]] detail::complex_product_t<A, B> exact_vdot(const On& on, const A& a, const B& b, const N& n) {
    return detail::complex_dot<true>("exact_vdot", on, a, b, n);
}
template <class On, class A, class B, detail::element_count N, class Out>
requires(detail::complex_multipliable<A, B>&& detail::complex_product_place<Out, A, B>) void exact_vdot(
    const On& on, const A& a, const B& b, const N& n, const Out& out) {
    detail::complex_dot<true>("exact_vdot", on, a, b, n, out);
}
template <class On, detail::real_summable A, detail::complex_summable B, detail::element_count N>
[[nodiscard]] detail::scaled_t<A, B> exact_vdot(const On& on, const A& a, const B& b, const N& n) {
    return detail::scaled_dot<false>("exact_vdot", on, a, b, n);
}
template <class On, detail::complex_summable A, detail::real_summable B, detail::element_count N>
[[nodiscard]] detail::scaled_t<B, A> exact_vdot(const On& on, const A& a, const B& b, const N& n) {
    return detail::scaled_dot<true>("exact_vdot", on, b, a, n);
}
template <class On, detail::real_summable A, detail::complex_summable B, detail::element_count N,
          detail::complex_place_for<detail::scaled_part_t<A, B>> Out>
void exact_vdot(const On& on, const A& a, const B& b, const N& n, const Out& out) {
    detail::scaled_dot<false>("exact_vdot", on, a, b, n, out);
}
template <class On, detail::complex_summable A, detail::real_summable B, detail::element_count N,
          detail::complex_place_for<detail::scaled_part_t<B, A>> Out>
void exact_vdot(const On& on, const A& a, const B& b, const N& n, const Out& out) {
    detail::scaled_dot<true>("exact_vdot", on, b, a, n, out);
}

// Two ranges of the same size; throws invalid_argument if the sizes differ.
template <class On, detail::sized_range A, detail::sized_range B, class... Out>
requires(!detail::counted_array_v<A, Out...>) auto exact_dot(const On& on, const A& a, const B& b, const Out&... out) {
    return warpfold::exact_dot(on, detail::data_of(a), detail::data_of(b), detail::common_size(on, a, b, "exact_dot"),
                               out...);
}
template <class On, detail::sized_range A, detail::sized_range B, class... Out>
requires(!detail::counted_array_v<A, Out...>) auto exact_vdot(const On& on, const A& a, const B& b, const Out&... out) {
    return warpfold::exact_vdot(on, detail::data_of(a), detail::data_of(b), detail::common_size(on, a, b, "exact_vdot"),
                                out...);
}
template <class On, class A, class B, detail::element_count N, class... Out>
requires(detail::decays<A> || detail::decays<B>) auto exact_dot(const On& on, const A& a, const B& b, const N& n,
                                                                const Out&... out) {
    return warpfold::exact_dot(on, detail::decayed(a), detail::decayed(b), n, out...);
}
template <class On, class A, class B, detail::element_count N, class... Out>
requires(detail::decays<A> || detail::decays<B>) auto exact_vdot(const On& on, const A& a, const B& b, const N& n,
                                                                 const Out&... out) {
    return warpfold::exact_vdot(on, detail::decayed(a), detail::decayed(b), n, out...);
}

} // namespace warpfold
