// SPDX-License-Identifier: MIT
// Reductions, places, extremes and scans of 16-bit numbers against the same calls of floats on the host, on any target.
// `Place<T>` is an array of the target's memory: made of a vector and a number of elements to skip, with data() and read().
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/library/along_axis/axis_cases.hpp"
#include "tests/library/cases.hpp"
#include "tests/library/compact/compact_cases.hpp"
#include "tests/library/segmented_reduce/segmented_kinds_cases.hpp"
#include "warpfold/along_axis.hpp"
#include "warpfold/by_key.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::tests {

// The same numbers as H and as floats.
template <class H>
struct short_data {
    std::vector<H> shorts;
    std::vector<float> floats;

    explicit short_data(const std::vector<float>& from) {
        for (const float x : from) {
            shorts.push_back(H(x));
            floats.push_back(static_cast<float>(shorts.back()));
        }
    }
};
// Whole numbers, so that every sum is exact in a float.
template <class H>
short_data<H> whole_numbers(std::uint64_t n) {
    return short_data<H>(small_numbers<float>(n, 9));
}
// With equal neighbours, both zeros, infinities and NaN.
template <class H>
short_data<H> special_numbers(std::uint64_t n) {
    std::vector<float> data = numbers_with_nan(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        data[k] = k % 97 == 5 ? std::copysign(INFINITY, data[k]) : data[k];
    }
    return short_data<H>(data);
}

inline bool alike(float a, float b) { return same_bits(a, b) || (std::isnan(a) && std::isnan(b)); }
template <class H>
bool alike(H a, float b) {
    return alike(static_cast<float>(a), static_cast<float>(H(b)));
}
template <class A, class B>
bool alike(const located<A>& a, const located<B>& b) {
    return alike(a.value, b.value) && a.index == b.index;
}
template <class A, class B>
bool alike(const extremes<A>& a, const extremes<B>& b) {
    return alike(a.smallest, b.smallest) && alike(a.largest, b.largest);
}

// call(target, in, out) writes `results` of type R, of floats those of type F, which are alike.
template <class R, class F, template <class> class Place, class On, class H, class Call>
void expect_like_floats(const On& on, const short_data<H>& data, std::size_t results, const Call& call) {
    for (const std::size_t skip : {0u, 1u}) {
        std::vector<F> right(results);
        call(host{1}, data.floats.data(), right.data());
        const Place<H> in(data.shorts, skip);
        const Place<R> out(std::vector<R>(results), skip);
        call(on, static_cast<const H*>(in.data()), out.data());
        const auto got = out.read();
        for (std::size_t k = 0; k < results; ++k) {
            ASSERT_TRUE(alike(got[k], right[k])) << "result " << k << " of " << results << ", skip " << skip;
        }
    }
}

// fold(in, out, op...) of whole numbers with sums as H and as floats, and of special ones with others.
template <class H, template <class> class Place, class On, class Sum, class Least, class Arg, class Both>
void short_folds(const On& on, std::uint64_t n, std::size_t results, const Sum& total, const Least& least,
                 const Arg& first, const Both& both) {
    const auto whole = whole_numbers<H>(n), special = special_numbers<H>(n);
    expect_like_floats<H, float, Place>(on, whole, results, total);
    expect_like_floats<float, float, Place>(on, whole, results, total);
    expect_like_floats<H, float, Place>(on, special, results, least);
    expect_like_floats<located<H>, located<float>, Place>(on, special, results, first);
    expect_like_floats<extremes<H>, extremes<float>, Place>(on, special, results, both);
}

template <class H, template <class> class Place, class On>
void short_reductions(const On& on) {
    for (const std::uint64_t n : {1u, 2u, 31u, 1023u, 1024u, 1025u, 4099u, 70001u}) {
        SCOPED_TRACE(n);
        short_folds<H, Place>(
            on, n, 1, [n](const auto& target, auto in, auto out) { reduce(target, in, n, out); },
            [n](const auto& target, auto in, auto out) { reduce(target, in, n, out, minimum{}, 5.0f); },
            [n](const auto& target, auto in, auto out) { arg_max(target, in, n, out); },
            [n](const auto& target, auto in, auto out) { min_max(target, in, n, out); });
    }
    // Sums are in float: of 16-bit numbers one would no longer change them.
    const Place<H> ones(std::vector<H>(4099, H(1)), 0);
    EXPECT_EQ(reduce(on, static_cast<const H*>(ones.data()), 4099), 4099.0f);
    EXPECT_EQ(reduce(on, static_cast<const H*>(ones.data()), 0, minimum{}), INFINITY);
}

template <class H, template <class> class Place, class On>
void short_segments(const On& on) {
    for (const auto& one : segment_kinds()) {
        SCOPED_TRACE(one.name);
        const std::uint64_t segments = one.offsets.size() - 1;
        const Place<std::uint64_t> there(one.offsets, 0);
        const auto offsets = [&](const auto& target) {
            return std::is_same_v<decltype(target), const host&> ? one.offsets.data() : there.data();
        };
        short_folds<H, Place>(
            on, one.offsets.back(), segments,
            [&](const auto& target, auto in, auto out) {
                segmented_reduce(target, in, offsets(target), segments, out);
            },
            [&](const auto& target, auto in, auto out) {
                segmented_reduce(target, in, offsets(target), segments, out, maximum{});
            },
            [&](const auto& target, auto in, auto out) {
                segmented_arg_min(target, in, offsets(target), segments, out);
            },
            [&](const auto& target, auto in, auto out) {
                segmented_min_max(target, in, offsets(target), segments, out);
            });
    }
    // Of one length, by each of their kernels.
    for (const std::uint64_t length : {0u, 1u, 3u, 8u, 17u, 1000u, 9001u}) {
        SCOPED_TRACE(length);
        const std::uint64_t segments = length < 20 ? 301 : 5;
        short_folds<H, Place>(
            on, length * segments, segments,
            [=](const auto& target, auto in, auto out) {
                segmented_reduce(target, in, equal_segments{length}, segments, out);
            },
            [=](const auto& target, auto in, auto out) {
                segmented_reduce(target, in, equal_segments{length}, segments, out, minimum{});
            },
            [=](const auto& target, auto in, auto out) {
                segmented_arg_max(target, in, equal_segments{length}, segments, out);
            },
            [=](const auto& target, auto in, auto out) {
                segmented_min_max(target, in, equal_segments{length}, segments, out);
            });
    }
}

// Reductions along axes, and scans along one, of arrays of all layouts.
template <class H, template <class> class Place, class On>
void short_axes(const On& on) {
    auto all = small_axis_cases(12, 700, 6);
    all.push_back(make_axis_case({701, 17}, {1}));   // rows at all alignments
    all.push_back(make_axis_case({2, 20011}, {1}));  // few long rows
    all.push_back(make_axis_case({1500, 8}, {0}));   // columns by vectors
    all.push_back(make_axis_case({3, 70, 67}, {1})); // columns in the middle
    for (const axis_case& one : all) {
        SCOPED_TRACE(one.name());
        const axes which{std::span<const int>(one.axes)};
        const std::vector<std::uint64_t> kept = one.kept();
        const std::uint64_t results = strided_view<float>(nullptr, std::span<const std::uint64_t>(kept)).size();
        bool none = false;
        for (unsigned d = 0; d < one.extents.size(); ++d) {
            none = none || one.extents[d] == 0;
        }
        if (none) { // extremes of no elements are errors
            continue;
        }
        short_folds<H, Place>(
            on, one.room, results,
            [&](const auto& target, auto in, auto out) { reduce_along(target, one.view(in), which, out); },
            [&](const auto& target, auto in, auto out) { reduce_along(target, one.view(in), which, out, minimum{}); },
            [&](const auto& target, auto in, auto out) { arg_min_along(target, one.view(in), which, out); },
            [&](const auto& target, auto in, auto out) { min_max_along(target, one.view(in), which, out); });
        const std::uint64_t elements = strided_view<float>(nullptr, std::span<const std::uint64_t>(one.extents)).size();
        for (int axis = 0; axis < static_cast<int>(one.extents.size()); ++axis) {
            expect_like_floats<H, float, Place>(
                on, whole_numbers<H>(one.room), elements,
                [&](const auto& target, auto in, auto out) { inclusive_scan_along(target, one.view(in), axis, out); });
            expect_like_floats<H, float, Place>(on, special_numbers<H>(one.room), elements,
                                                [&](const auto& target, auto in, auto out) {
                                                    exclusive_scan_along(target, one.view(in), axis, out, maximum{});
                                                });
        }
    }
}

template <class H, template <class> class Place, class On>
void short_scans(const On& on) {
    for (const std::uint64_t n : {1u, 2u, 31u, 1023u, 1024u, 1025u, 70001u}) {
        SCOPED_TRACE(n);
        const auto whole = whole_numbers<H>(n);
        const auto sums = [n](const auto& target, auto in, auto out) { inclusive_scan(target, in, n, out); };
        expect_like_floats<H, float, Place>(on, whole, n, sums);
        expect_like_floats<float, float, Place>(on, whole, n, sums);
        expect_like_floats<H, float, Place>(on, special_numbers<H>(n), n, [n](const auto& target, auto in, auto out) {
            exclusive_scan(target, in, n, out, maximum{}, reversed, equal_segments{300});
        });
    }
}

// Values of runs of equal keys, in one tile and in several.
template <class H, template <class> class Place, class On>
void short_by_key(const On& on) {
    for (const std::uint64_t n : {1u, 2u, 31u, 1023u, 1025u, 20011u}) {
        for (const auto& keys : key_cases(n, 9000)) {
            SCOPED_TRACE(n);
            const Place<std::uint32_t> there(keys, 1), keys_out(std::vector<std::uint32_t>(n), 0);
            std::vector<std::uint32_t> firsts(n);
            const auto of = [](const auto& target, std::uint32_t* here, std::uint32_t* elsewhere) {
                return std::is_same_v<decltype(target), const host&> ? here : elsewhere;
            };
            const auto with_keys = [&](const auto& call) {
                return [&, call](const auto& target, auto in, auto out) {
                    call(target, of(target, const_cast<std::uint32_t*>(keys.data()), there.data()), in, out);
                };
            };
            const auto whole = whole_numbers<H>(n), special = special_numbers<H>(n);
            const auto sums = with_keys([&](const auto& target, auto from, auto in, auto out) {
                (void)reduce_by_key(target, from, n, in, of(target, firsts.data(), keys_out.data()), out);
            });
            expect_like_floats<H, float, Place>(on, whole, n, sums);
            expect_like_floats<float, float, Place>(on, whole, n, sums);
            expect_like_floats<H, float, Place>(
                on, special, n, with_keys([&](const auto& target, auto from, auto in, auto out) {
                    (void)reduce_by_key(target, from, n, in, of(target, firsts.data(), keys_out.data()), out,
                                        minimum{});
                }));
            expect_like_floats<H, float, Place>(on, whole, n,
                                                with_keys([n](const auto& target, auto from, auto in, auto out) {
                                                    inclusive_scan_by_key(target, from, n, in, out);
                                                }));
            expect_like_floats<H, float, Place>(
                on, special, n, with_keys([n](const auto& target, auto from, auto in, auto out) {
                    exclusive_scan_by_key(target, from, n, in, out, maximum{}, equals{}, 2.0f, reversed);
                }));
        }
    }
}

} // namespace warpfold::tests
