// SPDX-License-Identifier: MIT
// Scans. This header serves the host's cores; scan.cuh adds the GPU, with the same calls.
//
//     inclusive_scan(on, in, n, out);                   out[k] = in[0] + ... + in[k]
//     exclusive_scan(on, in, n, out);                   out[k] = in[0] + ... + in[k - 1], and out[0] = 0
//     inclusive_scan(on, in, n, out, maximum{});        by another operation, see operation.hpp
//
// `on` is the target, host{} or gpu{stream}; `in` a pointer or any other random access object with in[k], and `out` one
// with out[k] = value; or `in` is a range that has data() and size(), and `out` may be one. On a GPU memory is the
// device's, and the call returns at once. `out` may be `in` if their elements have one size; else they must not
// overlap.
//
// Behind the operation, in any order:
//     a value            the initial value: it stands in front of the first element of each segment, on the left of
//                        the operation. An exclusive scan by an operation without an identity needs one.
//     reversed           from the last element to the first: out[k] = in[n - 1] + ... + in[k]
//     heads(flags)       in segments: every k where flags[k] is true begins one
//     offsets(b, count)  in segments that begin at b[0] <= b[1] <= ...
//
// **In which type.** Sums and products are folded in the type of the elements of `out`: int32 into int32 wraps as
// unsigned numbers do, int32 into int64 does not, uint8 into uint32 counts; an element is converted before it is added.
// That differs from reduce(), which always widens: a scan has a result an element, and its width is the caller's to
// say. Minimum, maximum, std::plus<> and operations of your own fold in the type of the (mapped) input or as the
// operation's `accumulator` says, and the value is converted when it is written.
//
// **In which order.** Only neighbours are combined, left with right: the operation needs to be associative, not
// commutative. Floating-point numbers are added in a tree that depends on nothing but n, the types and, on a GPU, where
// `in` and `out` begin modulo 16 bytes: the result has the same bits in every run and, on the host, for any number of
// threads. Targets differ from each other in the last bits.
//
// transform_inclusive_scan and transform_exclusive_scan scan map(in[k]), or map(in[k], k); `map` may be called more
// than once for an element.
//
// Throws invalid_argument where an array is not aligned to its type, a pointer to elements is null or arrays overlap,
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

template <class On, class In, class Out, class Op = sum, class... How>
requires(!detail::array_like<In>) void inclusive_scan(const On& on, const In& in, std::uint64_t n, Out&& out,
                                                      const Op& op = {}, const How&... how) {
    detail::scan_call<true>("inclusive_scan", on, in, n, out, detail::identity_map{}, op, how...);
}
template <class On, class In, class Out, class Op = sum, class... How>
requires(!detail::array_like<In>) void exclusive_scan(const On& on, const In& in, std::uint64_t n, Out&& out,
                                                      const Op& op = {}, const How&... how) {
    detail::scan_call<false>("exclusive_scan", on, in, n, out, detail::identity_map{}, op, how...);
}
template <class On, class In, class Out, class Map, class Op = sum, class... How>
requires(!detail::array_like<In> &&
         detail::maps<Map, In>) void transform_inclusive_scan(const On& on, const In& in, std::uint64_t n, Out&& out,
                                                              const Map& map, const Op& op = {}, const How&... how) {
    detail::scan_call<true>("transform_inclusive_scan", on, in, n, out, map, op, how...);
}
template <class On, class In, class Out, class Map, class Op = sum, class... How>
requires(!detail::array_like<In> &&
         detail::maps<Map, In>) void transform_exclusive_scan(const On& on, const In& in, std::uint64_t n, Out&& out,
                                                              const Map& map, const Op& op = {}, const How&... how) {
    detail::scan_call<false>("transform_exclusive_scan", on, in, n, out, map, op, how...);
}

// --- the same of one range -------------------------------------------------------------------------------------------

template <class On, detail::array_like In, class Out, class... Rest>
void inclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    if constexpr (detail::counted_array_v<In, Out>) {
        warpfold::inclusive_scan(on, detail::decayed(in), out, rest...);
    } else {
        warpfold::inclusive_scan(on, std::data(in), std::uint64_t{std::size(in)}, out, rest...);
    }
}
template <class On, detail::array_like In, class Out, class... Rest>
void exclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    if constexpr (detail::counted_array_v<In, Out>) {
        warpfold::exclusive_scan(on, detail::decayed(in), out, rest...);
    } else {
        warpfold::exclusive_scan(on, std::data(in), std::uint64_t{std::size(in)}, out, rest...);
    }
}
template <class On, detail::array_like In, class Out, class... Rest>
void transform_inclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    if constexpr (detail::counted_array_v<In, Out>) {
        warpfold::transform_inclusive_scan(on, detail::decayed(in), out, rest...);
    } else {
        warpfold::transform_inclusive_scan(on, std::data(in), std::uint64_t{std::size(in)}, out, rest...);
    }
}
template <class On, detail::array_like In, class Out, class... Rest>
void transform_exclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    if constexpr (detail::counted_array_v<In, Out>) {
        warpfold::transform_exclusive_scan(on, detail::decayed(in), out, rest...);
    } else {
        warpfold::transform_exclusive_scan(on, std::data(in), std::uint64_t{std::size(in)}, out, rest...);
    }
}

} // namespace warpfold
