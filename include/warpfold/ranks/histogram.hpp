// SPDX-License-Identifier: MIT
// Histograms over ranks: each rank counts its part, and the counts are added. Floating-point sums of weights are added
// in rank order.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "warpfold/detail/bins/channels.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/ranks/agreement.hpp"
#include "warpfold/ranks/sum_in_order.hpp"

namespace warpfold::detail {

// Communicators that add arrays of the device's memory in stream order (nccl.cuh).
template <class Comm, class Count>
concept adds_on_device = requires(Comm& comm, Count* counts) {
    comm.add_on_device(counts, std::uint64_t{}, int{}, nullptr, "");
};

// Sums of few counts over ranks, in the order of a stream (ranks/nccl/histogram.cuh).
template <class On, class Comm>
struct enqueued_counts;
template <class On, class Comm>
concept adds_few_enqueued = requires(const over_ranks<On, Comm>& on) {
    enqueued_counts<On, Comm>::fits(on, std::size_t{});
};

// Communicators that may take arrays of the device's memory, once the stream is done (mpi.cuh).
template <class Comm, class Count>
concept adds_in_place = requires(Comm& comm, Count* counts) {
    comm.add_in_place(counts, std::uint64_t{}, int{}, "");
    { comm.is_cuda_aware() } -> std::convertible_to<bool>;
};

template <class On, class Comm>
struct histogram_engine<over_ranks<On, Comm>> {
    using target = over_ranks<On, Comm>;

    template <class In, class N, class Counter, class Of>
    static void count(const target& on, const In& in, const N& n, Counter* counts, const Of& of, update mode,
                      const char* call) {
        static_assert(!is_count_at_v<N>, "over ranks the number of samples is an integer");
        run<In, Of>(on, n, counts, of.bins, mode, call, [&](Counter* mine) {
            histogram_engine<On>::count(on.on, in, n, mine, of, update::overwrite, call);
        });
    }
    template <class In, class Weights, class N, class Sum, class Of>
    static void weigh(const target& on, const In& in, const Weights& weights, const N& n, Sum* sums, const Of& of,
                      update mode, const char* call) {
        static_assert(!is_count_at_v<N>, "over ranks the number of samples is an integer");
        run<In, Of>(on, n, sums, of.bins, mode, call, [&](Sum* mine) {
            histogram_engine<On>::weigh(on.on, in, weights, n, mine, of, update::overwrite, call);
        });
    }
    template <class Work>
    static std::vector<std::uint64_t> values(const target& on, std::uint32_t bins, const Work& work, const char* call) {
        const auto waiting = [&](std::uint64_t* counts) {
            work(counts);
            if constexpr (adds_few_enqueued<On, Comm>) {
                on.comm->check_enqueued(on.on.stream, call);
            }
        };
        if (!on.has_result()) {
            waiting(nullptr);
            return {};
        }
        return histogram_engine<On>::values(on.on, bins, waiting, call);
    }

private:
    // work(mine) sets the counts of this rank's part, in its target's memory.
    template <class In, class Of, class Count, class Work>
    static void run(const target& on, std::uint64_t n, Count* counts, std::uint32_t bins, update mode, const char* call,
                    const Work& work) {
        call_scope<target>::run(on, call, [&] {
            using memory = rank_target<On>;
            if (on.has_result()) {
                detail::check_array(counts, bins, call);
            }
            if (on.comm->size() == 1 && mode == update::overwrite) {
                detail::check_root(on, call);
                work(counts);
                return;
            }
            const auto signature = detail::signature_of<element_t<In>, Count, Of>(call, on.root, bins, "bins");
            if constexpr (adds_few_enqueued<On, Comm>) {
                if (enqueued_counts<On, Comm>::fits(on, bins * sizeof(Count))) {
                    enqueued_counts<On, Comm>::run(on, signature, n, counts, bins, mode == update::add, call, work);
                    return;
                }
            }
            if constexpr (std::is_integral_v<Count> && adds_on_device<Comm, Count>) {
                auto mine = memory::template allocate<Count>(on.on, bins);
                on.comm->gather_beside(on.on.stream);
                work(mine.data());
                detail::gather(on, signature, n, no_value{});
                on.comm->add_on_device(mine.data(), bins, on.root, on.on.stream, call);
                if (on.has_result()) {
                    memory::store(on.on, counts, mine.data(), bins, mode == update::add);
                }
                return;
            }
            if constexpr (std::is_integral_v<Count> && adds_in_place<Comm, Count> && memory::is_device) {
                if (on.comm->is_cuda_aware()) {
                    auto mine = memory::template allocate<Count>(on.on, bins);
                    work(mine.data());
                    memory::wait(on.on);
                    detail::gather(on, signature, n, no_value{});
                    on.comm->add_in_place(mine.data(), bins, on.root, call);
                    if (on.has_result()) {
                        memory::store(on.on, counts, mine.data(), bins, mode == update::add);
                    }
                    return;
                }
            }
            detail::wait_within_limit(on, call);
            std::vector<Count> total(bins), before;
            {
                auto mine = memory::template allocate<Count>(on.on, bins);
                work(mine.data());
                memory::read(on.on, total.data(), static_cast<const Count*>(mine.data()), bins);
            }
            if (mode == update::add && on.has_result()) {
                before.resize(bins);
                memory::read(on.on, before.data(), static_cast<const Count*>(counts), bins);
            }
            detail::gather(on, signature, n, no_value{});
            detail::add_over_ranks(on, total.data(), bins, call);
            if (!on.has_result()) {
                return;
            }
            for (std::size_t k = 0; k < before.size(); ++k) {
                total[k] = detail::wrapping_sum(before[k], total[k]);
            }
            memory::write(on.on, counts, total.data(), bins);
        });
    }
};

} // namespace warpfold::detail
