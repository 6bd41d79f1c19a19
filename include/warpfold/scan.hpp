// SPDX-License-Identifier: MIT
// Scans (prefix sums). This header serves the host; scan.cuh adds the GPU, with the same calls.
//
//      inclusive_scan(on, in, n, out);                   out[k] = in[0] + ... + in[k]
//      exclusive_scan(on, in, n, out);                   out[k] = in[0] + ... + in[k - 1], and out[0] = 0
//      inclusive_scan(on, in, n, out, maximum{});        another operation, see operation.hpp
//      transform_inclusive_scan(on, in, n, out, map);    of map(in[k]), or map(in[k], k)
//      transform_exclusive_scan(on, in, n, out, map);
//
// Arguments. `on` is the target: host{} or gpu{stream}. `in` is a pointer, or any object with in[k], and `out` one with
// out[k] = value, both in the target's memory; n counts elements. Ranges with data() and size() replace `in, n` and
// `out`. In place of n, count_at(number, most) (detail/element_count.hpp) is read in the target's memory, in the target's
// order; whether arrays overlap is not checked then. `out` may be `in` if their elements have one size; otherwise they must not
// overlap. On a GPU the call returns at once. A map may be called more than once per element.
//
// Options, after the operation, in any order:
//      a value            the initial value, before the first element of each segment, on the left of the operation.
//                         Exclusive scans by operations without an identity need one.
//      reversed           from the last element to the first: out[k] = in[n - 1] + ... + in[k]
//      heads(flags)       segments: each k where flags[k] is true begins one
//      offsets(b, count)  segments that begin at b[0] <= b[1] <= ...
//      equal_segments{length}   segments of one length
//
// Type. Sums and products are folded in the type of out's elements, to which elements are converted first: int32 into
// int32 wraps like unsigned, int32 into int64 does not, uint8 into uint32 counts. reduce(), by contrast, always widens.
// Other operations fold in the type of the (mapped) input, or in their `accumulator`; values are converted when they
// are written.
//
// Order. Only neighbours are combined, left with right: the operation is associative and need not commute. The order
// depends only on n, the types and, on a GPU, the alignment of `in` and `out` modulo 16 bytes: results have the same
// bits in every run and, on the host, for any number of threads. Floating-point results may differ between targets in
// the last bits.
//
// Cost. O(n); each element is read and written once. On a GPU one launch; workspace: scan.cuh.
//
// Errors. Throws invalid_argument if a pointer is null or misaligned, arrays overlap or an output range is too short,
// and what the target throws.
#pragma once

#include <cstdint>
#include <iterator>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_call.hpp"
#include "warpfold/host/scan/scan.hpp"
#include "warpfold/operation.hpp"

namespace warpfold {

template <class On, class In, detail::element_count N, class Out, class Op = sum, class... How>
requires(!detail::array_like<In>) void inclusive_scan(const On& on, const In& in, const N& n, Out&& out,
                                                      const Op& op = {}, const How&... how) {
    detail::scan_call<true>("inclusive_scan", on, in, n, out, detail::identity_map{}, op, how...);
}
template <class On, class In, detail::element_count N, class Out, class Op = sum, class... How>
requires(!detail::array_like<In>) void exclusive_scan(const On& on, const In& in, const N& n, Out&& out,
                                                      const Op& op = {}, const How&... how) {
    detail::scan_call<false>("exclusive_scan", on, in, n, out, detail::identity_map{}, op, how...);
}
template <class On, class In, detail::element_count N, class Out, class Map, class Op = sum, class... How>
requires(!detail::array_like<In> &&
         detail::maps<Map, In>) void transform_inclusive_scan(const On& on, const In& in, const N& n, Out&& out,
                                                              const Map& map, const Op& op = {}, const How&... how) {
    detail::scan_call<true>("transform_inclusive_scan", on, in, n, out, map, op, how...);
}
template <class On, class In, detail::element_count N, class Out, class Map, class Op = sum, class... How>
requires(!detail::array_like<In> &&
         detail::maps<Map, In>) void transform_exclusive_scan(const On& on, const In& in, const N& n, Out&& out,
                                                              const Map& map, const Op& op = {}, const How&... how) {
    detail::scan_call<false>("transform_exclusive_scan", on, in, n, out, map, op, how...);
}

// --- the same calls for one range ------------------------------------------------------------------------------------

template <class On, detail::array_like In, class Out, class... Rest>
void inclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    detail::with_elements(
        in, [&](auto&&... of) { return warpfold::inclusive_scan(on, of...); }, out, rest...);
}
template <class On, detail::array_like In, class Out, class... Rest>
void exclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    detail::with_elements(
        in, [&](auto&&... of) { return warpfold::exclusive_scan(on, of...); }, out, rest...);
}
template <class On, detail::array_like In, class Out, class... Rest>
void transform_inclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    detail::with_elements(
        in, [&](auto&&... of) { return warpfold::transform_inclusive_scan(on, of...); }, out, rest...);
}
template <class On, detail::array_like In, class Out, class... Rest>
void transform_exclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    detail::with_elements(
        in, [&](auto&&... of) { return warpfold::transform_exclusive_scan(on, of...); }, out, rest...);
}

} // namespace warpfold
