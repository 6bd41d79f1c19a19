// SPDX-License-Identifier: MIT
// Reductions over ranks of NCCL, folded on the devices.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/ranks/nccl/first_index.cuh"
#include "warpfold/ranks/nccl/frames.cuh"
#include "warpfold/ranks/reduce.hpp"

namespace warpfold {

class nccl_communicator;

namespace detail {

template <class A, class Op, class Result>
struct fold_values_of_frames {
    WARPFOLD_CALLS_ANY
    __device__ auto operator()(const rank_frame* frames, int ranks) const {
        A total = detail::value_in<A>(frames[0]);
        for (int r = 1; r < ranks; ++r) {
            total = op(total, detail::value_in<A>(frames[r]));
        }
        return result(total);
    }

    Op op;
    Result result;
};

template <class T, class Map, class Op>
struct choose_located_of_frames {
    __device__ located<T> operator()(const rank_frame* frames, int ranks) const {
        return detail::best_of_ranks<T>(
            ranks, [&](int r) { return detail::value_in<located<T>>(frames[r]); }, [&](int r) { return frames[r].n; },
            map, op);
    }

    Map map;
    Op op;
};

template <gpu_target On>
struct reduce_engine<over_ranks<On, nccl_communicator>> {
    using target = over_ranks<On, nccl_communicator>;
    using staged = staged_reduce<On, nccl_communicator>;

    template <class A, class In, class N, class Map, class Op, class Result>
    static auto value(const target& on, const In& in, const N& elements, const Map& map, const Op& op,
                      const Result& result, const char* call) {
        if constexpr (sizeof(A) > rank_frame::room) {
            return staged::template value<A>(on, in, elements, map, op, result, call);
        } else {
            using R = std::remove_cvref_t<decltype(result(std::declval<const A&>()))>;
            constexpr bool needs_elements = is_located_v<Result> || std::is_same_v<Op, extremes_operation>;
            return call_scope<target>::run(on, call, [&] {
                return run<A>(on, in, elements, map, op, result, call, [&](const auto& write, const auto& fold) {
                    return detail::fold_waiting<R>(on, write, fold, needs_elements, call);
                });
            });
        }
    }
    template <class A, class In, class N, class Map, class Op, class Result, class Out>
    static void into(const target& on, const In& in, const N& elements, const Map& map, const Op& op,
                     const Result& result, const Out& out, const char* call) {
        static_assert(std::is_pointer_v<Out>, "over ranks of GPUs an output is a pointer");
        if constexpr (sizeof(A) > rank_frame::room) {
            staged::template into<A>(on, in, elements, map, op, result, out, call);
        } else {
            call_scope<target>::run(on, call, [&] {
                if (on.has_result()) {
                    detail::check_array(out, 1, call);
                }
                run<A>(on, in, elements, map, op, result, call, [&](const auto& write, const auto& fold) {
                    detail::fold_enqueued(on, write, fold, on.has_result() ? out : nullptr, nullptr, call);
                });
            });
        }
    }

private:
    // go(write, fold): see fold_enqueued().
    template <class A, class In, class N, class Map, class Op, class Result, class Go>
    static auto run(const target& on, const In& in, const N& elements, const Map& map, const Op& op,
                    const Result& result, const char* call, const Go& go) {
        static_assert(!is_count_at_v<N>, "over ranks the number of elements is an integer");
        const std::uint64_t n = detail::checked_count(elements, call).value();
        detail::check_root(on, call);
        const auto signature = detail::signature_of<element_t<In>, A, Map, Op, Result>(call, on.root);
        const rank_frame head = detail::frame_of(signature, n, 0);
        const auto writer = [&](const auto& of, const auto& local, std::size_t bytes) {
            rank_frame own = head;
            own.bytes = static_cast<std::uint32_t>(bytes);
            return [&on, &in, n, of, &op, local, own, call](rank_frame* mine) {
                reduce_engine<On>::template into<A>(
                    on.on, in, n, of, op, in_frame<std::remove_cvref_t<decltype(local)>>{own, local}, mine, call);
            };
        };
        if constexpr (is_located_v<Result>) {
            using T = element_t<In>;
            return go(writer(map, located_or_none<In>{{in}}, sizeof(located<T>)),
                      choose_located_of_frames<T, Map, Op>{map, op});
        } else if constexpr (takes_index_v<Map, element_t<In>>) {
            rank_frame first = head;
            first.follows = follows_of_frames;
            const map_from_device<Map> shifted{map,
                                               detail::enqueue_first_index(on, known_frame{first, on.on.stream}, call)};
            return call_scope<target>::run(on, call, [&] {
                return go(writer(shifted, identity_result{}, sizeof(A)),
                          fold_values_of_frames<A, Op, Result>{op, result});
            });
        } else {
            return go(writer(map, identity_result{}, sizeof(A)), fold_values_of_frames<A, Op, Result>{op, result});
        }
    }
};

} // namespace detail
} // namespace warpfold
