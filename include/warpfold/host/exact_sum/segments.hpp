// SPDX-License-Identifier: MIT
// Exact sums of segments on the host. Threads share the elements of long segments, and many short ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/exact_sum/exact_sum.hpp"
#include "warpfold/host/exact_sum/short_sums.hpp"

namespace warpfold::detail {

template <>
struct segmented_exact_engine<host> {
    template <class T, class R, class In, class Offsets, class Out>
    static void into(const host& on, const In& in, const Offsets& offsets, std::uint64_t segments, const Out& out,
                     const char* call) {
        detail::check_segments(in, offsets, segments, out, call);
        if (segments == 0) {
            return;
        }
        if constexpr (std::is_signed_v<element_t<Offsets>>) {
            if (offsets[0] < 0) {
                throw invalid_argument(std::string("warpfold: ") + call + ": the first offset is negative");
            }
        }
        const auto at = [&](std::uint64_t s) { return static_cast<std::uint64_t>(offsets[s]); };
        // Units of consecutive segments with about as many elements each; a long segment is a unit of its own.
        constexpr std::uint64_t unit_work = std::uint64_t{1} << 14, segment_work = 64; // in elements
        std::vector<std::uint64_t> units{0};
        std::vector<std::uint64_t> long_segments;
        std::uint64_t work = 0;
        for (std::uint64_t s = 0; s < segments; ++s) {
            if (at(s + 1) < at(s)) {
                throw invalid_argument(std::string("warpfold: ") + call + ": the offsets decrease at " +
                                       std::to_string(s + 1));
            }
            const std::uint64_t length = at(s + 1) - at(s);
            if (length >= 4 * exact_piece) {
                long_segments.push_back(s);
            } else {
                work += length + segment_work;
            }
            if (work >= unit_work) {
                units.push_back(s + 1);
                work = 0;
            }
        }
        if (units.back() != segments) {
            units.push_back(segments);
        }
        detail::check_array(in, at(segments) - at(0), call);
        const auto sum_one = [&](std::uint64_t s, const auto& sum) {
            if constexpr (std::is_pointer_v<In>) {
                out[s] = sum(at(s + 1) - at(s), in + at(s));
            } else {
                out[s] = sum(at(s + 1) - at(s), elements_behind<In>{in, at(s)});
            }
        };
        for (const std::uint64_t s : long_segments) {
            sum_one(s, [&](std::uint64_t n, const auto& elements) { return exact_on_host<T, R>(on, n, elements); });
        }
        parallel_for(on.threads, units.size() - 1, [&](std::uint64_t unit) {
            const exact_sums<T, R> sum;
            for (std::uint64_t s = units[unit]; s < units[unit + 1]; ++s) {
                if (at(s + 1) - at(s) < 4 * exact_piece) {
                    sum_one(s, sum);
                }
            }
        });
    }

private:
    // Elements from `begin` on.
    template <class In>
    struct elements_behind {
        decltype(auto) operator[](std::uint64_t k) const { return in[begin + k]; }

        const In& in;
        std::uint64_t begin;
    };
};

} // namespace warpfold::detail
