// SPDX-License-Identifier: MIT
// Exact sums and moments over ranks: the integers of all ranks are added, so the result depends neither on the split nor
// on the kind of the ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_complex.hpp"
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

// The sum of what all ranks have.
template <class T, unsigned Factors, class On, class Comm>
long_accumulator<T, Factors> total_of_ranks(const over_ranks<On, Comm>& on, const long_accumulator<T, Factors>& mine,
                                            std::uint64_t n, const char* call) {
    using record = carried_limbs<T, Factors>;
    const auto parts = detail::gather(on, detail::signature_of<T, record>(call, on.root), n, record::of(mine));
    long_accumulator<T, Factors> total;
    for (const record& part : parts.value) {
        part.add_to(total);
    }
    return total;
}

// The sum of the terms of all ranks.
template <class T, class On, class Comm, class... Ins>
long_accumulator<T, sizeof...(Ins)> exact_over_ranks(const over_ranks<On, Comm>& on, std::uint64_t n, const char* call,
                                                     const Ins&... ins) {
    long_accumulator<T, sizeof...(Ins)> mine;
    rank_target<On>::template add_exact<T>(on.on, mine, n, call, ins...);
    return detail::total_of_ranks(on, mine, n, call);
}

// Accumulators pass through the host's memory.
template <class On, class Comm>
struct staged_exact {
    using target = over_ranks<On, Comm>;

    template <class T, class... Ins>
    static T value(const target& on, std::uint64_t n, const char* call, const Ins&... ins) {
        return call_scope<target>::run(on, call,
                                       [&] { return detail::exact_over_ranks<T>(on, n, call, ins...).value(); });
    }
    template <class T, class Out, class... Ins>
    static void into(const target& on, std::uint64_t n, const Out& out, const char* call, const Ins&... ins) {
        call_scope<target>::run(on, call, [&] {
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

// What a rank adds to a result of exact sums: the sums that it needs.
template <class T, class Finish>
struct rank_sums {
    std::conditional_t<Finish::sums != 0, carried_limbs<T, 1>[Finish::sums + (Finish::sums == 0)], no_value> sum;
    std::conditional_t<Finish::squares, carried_limbs<T, 2>, no_value> squares;
};

template <class T, class Finish>
rank_signature signature_of_finish(const char* call, int root, const Finish& finish) {
    std::uint64_t less = 0;
    if constexpr (requires { finish.less; }) {
        less = finish.less;
    }
    return detail::signature_of<T, rank_sums<T, Finish>, Finish>(call, root, less, "for ddof");
}

// Exact sums of 16-bit numbers, and moments, whose n is that of the whole array.
template <class On, class Comm>
struct exact_finish_engine<over_ranks<On, Comm>> {
    using target = over_ranks<On, Comm>;

    template <class T, class In, class Finish>
    static typename Finish::result value(const target& on, const In& in, std::uint64_t n, const Finish& finish,
                                         const char* call) {
        return call_scope<target>::run(on, call, [&] {
            using totals = exact_totals<T>;
            rank_sums<T, Finish> mine{};
            if constexpr (Finish::sums != 0) {
                for (unsigned p = 0; p < Finish::sums; ++p) {
                    mine.sum[p] = part<T, 1>(on, n, call, detail::part_of_elements<T, Finish::parts>(in, p));
                }
            }
            if constexpr (Finish::squares) {
                const auto numbers = detail::all_parts<T, Finish::parts>(in);
                mine.squares = part<T, 2>(on, Finish::parts * n, call, numbers, numbers);
            }
            const auto all = detail::gather(on, detail::signature_of_finish<T>(call, on.root, finish), n, mine);
            std::int64_t sum[Finish::sums != 0 ? Finish::sums * totals::sum_limbs : 1];
            std::int64_t squares[totals::square_limbs + totals::more_limbs];
            totals of{sum, squares, 0, 0};
            if constexpr (Finish::sums != 0) {
                for (unsigned p = 0; p < Finish::sums; ++p) {
                    of.sum_met |= total<T, 1>(
                        all, sum + p * totals::sum_limbs, [p](const auto& one) -> const auto& { return one.sum[p]; });
                }
            }
            if constexpr (Finish::squares) {
                of.squares_met = total<T, 2>(
                    all, squares, [](const auto& one) -> const auto& { return one.squares; });
            }
            return detail::finish_of(finish, all.all())(of);
        });
    }
    template <class T, class In, class Out, class Finish>
    static void into(const target& on, const In& in, std::uint64_t n, const Out& out, const Finish& finish,
                     const char* call) {
        call_scope<target>::run(on, call, [&] {
            if (on.has_result()) {
                detail::check_array(out, 1, call);
            }
            const auto got = value<T>(on, in, n, finish, call);
            if (on.has_result()) {
                rank_target<On>::put(on.on, out, got);
            }
        });
    }

private:
    template <class T, unsigned Factors, class... Ins>
    static carried_limbs<T, Factors> part(const target& on, std::uint64_t n, const char* call, const Ins&... ins) {
        long_accumulator<T, Factors> sum;
        rank_target<On>::template add_exact<T>(on.on, sum, n, call, ins...);
        return carried_limbs<T, Factors>::of(sum);
    }
    // Sets `limb` to the sum over all ranks; returns the special values that were met.
    template <class T, unsigned Factors, class All, class Of>
    static unsigned total(const All& all, std::int64_t* limb, const Of& of) {
        long_accumulator<T, Factors> sum;
        for (const auto& one : all.value) {
            of(one).add_to(sum);
        }
        return sum.copy_to(limb);
    }
};

} // namespace warpfold::detail
