// SPDX-License-Identifier: MIT
// Calls over ranks: host{}.over(comm) as the target of a call. Every rank makes the same call with its part of the
// arrays; the parts follow each other in rank order and may be empty. Guide: docs/many-gpus.md.
//
//      reduce, transform_reduce, count_if, arg_min, arg_max, min_max   (reduce.hpp)
//      exact_sum, exact_dot, exact_mean, exact_variance, exact_norm    (exact_sum.hpp)
//      inclusive_scan, exclusive_scan and the others of scan.hpp
//      segmented_reduce and the others of segmented_reduce.hpp
//      histogram, weighted_histogram, histogram_channels, histogram_nd (histogram.hpp)
//      convolve, correlate of arrays and of images                     (convolve.hpp)
//      the calls of chunked.hpp: a rank's source and sink are those of its part
//
// Results. The same at every rank, or at one: over_ranks::at_root (ranks/target.hpp). Scans, segmented reductions and
// convolutions write the results of the rank's own part. Indices are those in the whole array.
//
// Bits. Exact sums and moments, integer results and indices do not depend on the number of ranks or on the split. Other
// floating-point results have the same bits in every run with the same split: values of ranks are folded in rank order.
// Reductions and scans of host{}.over(comm).reproducible() have the same bits for any split, number and kind of ranks.
//
// Cost. The call on the part, and one all-gather of 384 bytes a rank. Maps that take an index, and values of more than
// 288 bytes, take one more. Scans read their part twice, except on the last rank in the order of the scan; so a source
// that comes in order cannot be scanned over ranks.
//
// Errors. A rank that throws before the gather, or that makes another call, has elements of another type, another number
// of bins: rank_error at every rank. Ranks that do not call: time_limit_error after the communicator's time limit
// (communicator.hpp). No output is written then.
#pragma once

#include "warpfold/ranks/chunked.hpp"
#include "warpfold/ranks/convolve.hpp"
#include "warpfold/ranks/exact_sum.hpp"
#include "warpfold/ranks/histogram.hpp"
#include "warpfold/ranks/host_target.hpp"
#include "warpfold/ranks/reduce.hpp"
#include "warpfold/ranks/refused.hpp"
#include "warpfold/ranks/reproducible/calls.hpp"
#include "warpfold/ranks/reproducible/segmented_reduce.hpp"
#include "warpfold/ranks/scan.hpp"
#include "warpfold/ranks/segmented_reduce.hpp"
#include "warpfold/ranks/target.hpp"
