// SPDX-License-Identifier: MIT
// What a target implements. A public call checks its arguments and calls the engine of its target; host/ and gpu/
// specialise these templates for host and gpu. `call` is the name of the public call, for messages.
#pragma once

namespace warpfold {

struct host;

} // namespace warpfold

namespace warpfold::detail {

// True if the arrays of a call are split over ranks (ranks/target.hpp).
template <class On>
inline constexpr bool is_split_v = false;

// Runs the checks and the work of a call. Targets over ranks tell the other ranks what this throws.
template <class On>
struct call_scope {
    template <class Work>
    static decltype(auto) run(const On& /*on*/, const char* /*call*/, const Work& work) {
        return work();
    }
};

// Reductions: fold n elements of `in`, n an integer or count_at, after `map`, by `op`, which has an identity; `result` converts the value.
//   value<A>(on, in, n, map, op, result, call)       waits and returns the result
//   into<A>(on, in, n, map, op, result, out, call)   *out = the result, in the order of the target
template <class On>
struct reduce_engine;

// Segmented reductions: out[s] = result(op over map(in[k], k) for the k of segment s); `op` has an identity.
//   into<A>(on, in, offsets, segments, map, op, result, out, call)
template <class On>
struct segmented_engine;

// Reductions along axes; `in` points to const elements, the plan (axis_plan.hpp) says where they and the results are.
//   into<A>(on, in, plan, out, map, op, result, call)   out's element = result(op over map(x, index) of its elements)
template <class On>
struct axis_engine;

// Scans along an axis; the plan is of plan_of_scan() (axis_scan.hpp). `initial`: an A or no_initial.
//   run<Inclusive, A>(on, in, plan, out, op, initial, call)
template <class On>
struct axis_scan_engine;

// Scans of n > 0 elements, or on a GPU of count_at; `how` is a scan_options.
//  run(on, in, n, out, map, op, how, call)
template <class On>
struct scan_engine;

// Compactions and reductions by key; `task` is a selection or a keyed_fold (compact.hpp), `count` has value() and most.
//   value(on, task, count, call)         waits and returns the number of results
//   into(on, task, count, place, call)   *place = the number, in the order of the target
template <class On>
struct compact_engine;

// Histograms; `of` gives a sample's index among the counts (channels.hpp).
//   count(on, in, n, counts, of, mode, call)
//   weigh(on, in, weights, n, sums, of, mode, call)
//   values(on, bins, work, call)   a vector of counts; work(pointer) enqueues what sets the target's counts
template <class On>
struct histogram_engine;

// Exact sums of the weights of samples, as weigh() above.
//   weigh(on, in, weights, n, sums, of, mode, call)
template <class On>
struct exact_histogram_engine;

// Exact sums: exact_sum has one input, exact_dot two.
//   value<T>(on, n, call, ins...)       waits and returns the rounded sum
//   into<T>(on, n, out, call, ins...)   *out = the same, in the order of the target
template <class On>
struct exact_engine;

// Results of exact sums and sums of squares of elements as T; `finish` is of exact_finish.hpp. The elements are checked.
//   value<T>(on, in, n, finish, call)       waits and returns the result
//   into<T>(on, in, n, out, finish, call)   *out = the same, in the order of the target
template <class On>
struct exact_finish_engine;

// Exact sums along axes; the plan is of axis_plan.hpp.
//   into(on, in, plan, out, call)
template <class On>
struct axis_exact_engine;

// Exact sums of segments of terms of type T, rounded to R.
//   into<T, R>(on, in, offsets, segments, out, call)
template <class On>
struct segmented_exact_engine;

// Adds n elements of `in` to a long_accumulator and waits.
//   add(on, to, in, n, call)
template <class On>
struct exact_add_engine;

// Convolutions; mask values are in the host's memory, in the order of a correlation.
//   direct(on, task, mask, width, height, call)
//   separable(on, task, across, kx, down, ky, call)
template <class On>
struct convolve_engine;

// Calls on chunked data.
//   fold(on, source, fold, options, n, call)   fold's value; n = the number of elements. Without elements: the initial
//                                              value or, without one, the fold of no elements where it is defined
//   count(on, source, bins, options, call)     std::vector<std::uint64_t>
//   exact(on, source, options, call)           the sum, a long_accumulator
//   scan<Inclusive, Reverse, A>(on, source, sink, map, op, initial, options, call)   initial: an A or no_initial
template <class On>
struct chunked_engine;

} // namespace warpfold::detail
