// SPDX-License-Identifier: MIT
// Exact sums over ranks: the integers of all ranks are added, so the result depends neither on the split nor on the
// kind of the ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_finish.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/ranks/agreement.hpp"

namespace warpfold::detail {

// A long accumulator after its carries: 32 bits a limb, but 64 bits for the highest.
template <class T, unsigned Factors>
struct carried_limbs {
    static constexpr unsigned limbs = exact_layout<T, Factors>::limbs;

    std::uint32_t low[limbs - 1];
    std::uint32_t met;
    std::int64_t highest;

    static carried_limbs of(const long_accumulator<T, Factors>& sum) {
        std::int64_t limb[limbs];
        carried_limbs to{};
        to.met = sum.copy_to(limb);
        std::int64_t carry = 0;
        for (unsigned k = 0; k + 1 < limbs; ++k) {
            const std::int64_t low_half = (limb[k] & 0xffffffff) + carry;
            to.low[k] = static_cast<std::uint32_t>(low_half & 0xffffffff);
            carry = (limb[k] >> 32) + (low_half >> 32);
        }
        to.highest = limb[limbs - 1] + carry;
        return to;
    }
    void add_to(long_accumulator<T, Factors>& sum) const {
        std::int64_t limb[limbs];
        std::copy_n(low, limbs - 1, limb);
        limb[limbs - 1] = highest;
        sum.add_limbs(limb, met);
    }
};
static_assert(sizeof(carried_limbs<double, 1>) <= rank_frame::room);

// The sum of the terms of all ranks.
template <class T, class On, class Comm, class... Ins>
long_accumulator<T, sizeof...(Ins)> exact_over_ranks(const over_ranks<On, Comm>& on, std::uint64_t n, const char* call,
                                                     const Ins&... ins) {
    using accumulator = long_accumulator<T, sizeof...(Ins)>;
    using record = carried_limbs<T, sizeof...(Ins)>;
    accumulator mine;
    rank_target<On>::template add_exact<T>(on.on, mine, n, call, ins...);
    const auto parts = detail::gather(on, detail::signature_of<T, record>(call, on.root), n, record::of(mine));
    accumulator total;
    for (const record& part : parts.value) {
        part.add_to(total);
    }
    return total;
}

// Accumulators pass through the host's memory.
template <class On, class Comm>
struct staged_exact {
    using target = over_ranks<On, Comm>;

    template <class T, class... Ins>
    static T value(const target& on, std::uint64_t n, const char* call, const Ins&... ins) {
        return call_frame<target>::run(on, call,
                                       [&] { return detail::exact_over_ranks<T>(on, n, call, ins...).value(); });
    }
    template <class T, class Out, class... Ins>
    static void into(const target& on, std::uint64_t n, const Out& out, const char* call, const Ins&... ins) {
        call_frame<target>::run(on, call, [&] {
            if (on.has_result()) {
                detail::check_array(out, 1, call);
            }
            const T got = value<T>(on, n, call, ins...);
            if (on.has_result()) {
                rank_target<On>::put(on.on, out, got);
            }
        });
    }
};

template <class On, class Comm>
struct exact_engine<over_ranks<On, Comm>> : staged_exact<On, Comm> {};

// Exact sums of 16-bit numbers; moments count a rank's own elements, so they are refused.
template <class On, class Comm>
struct exact_finish_engine<over_ranks<On, Comm>> {
    using target = over_ranks<On, Comm>;

    template <class T, class In, class Finish>
    static typename Finish::result value(const target& on, const In& in, std::uint64_t n, const Finish& finish,
                                         const char* call) {
        static_assert(std::is_same_v<Finish, finish_sum<typename Finish::result>>,
                      "mean, variance and norm are not there over ranks");
        return call_frame<target>::run(on, call, [&] {
            const auto total = detail::exact_over_ranks<T>(on, n, call, in);
            std::int64_t limb[exact_totals<T>::sum_limbs];
            const unsigned met = total.copy_to(limb);
            return finish(exact_totals<T>{limb, nullptr, met, 0});
        });
    }
    template <class T, class In, class Out, class Finish>
    static void into(const target& on, const In& in, std::uint64_t n, const Out& out, const Finish& finish,
                     const char* call) {
        call_frame<target>::run(on, call, [&] {
            if (on.has_result()) {
                detail::check_array(out, 1, call);
            }
            const auto got = value<T>(on, in, n, finish, call);
            if (on.has_result()) {
                rank_target<On>::put(on.on, out, got);
            }
        });
    }
};

} // namespace warpfold::detail
