// SPDX-License-Identifier: MIT
// Scans over ranks of NCCL that need more than a value before a rank's part: those with segments, with operations without an
// identity, with maps that take an index. What is folded is a value and two marks (ranks/reproducible/steps.hpp); the target
// scans those, and each element's result is made of the element and of what precedes it. Nothing waits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/ranks/gpu_target.cuh"
#include "warpfold/ranks/nccl/first_index.cuh"
#include "warpfold/ranks/reproducible/calls.hpp"
#include "warpfold/ranks/reproducible/gpu.cuh"
#include "warpfold/ranks/reproducible/steps.hpp"
#include "warpfold/ranks/scan.hpp"

namespace warpfold::detail {

// A step as the map, the operation and the output of a target's scan.
template <class Step>
struct leaf_of_step {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr auto operator()(const T& x, std::uint64_t k) const -> typename Step::node {
        return step.leaf_of(x, k);
    }

    Step step;
};
template <class Step>
struct join_of_step {
    static constexpr bool commutative = false;

    template <class V>
    WARPFOLD_HD static constexpr V identity() {
        return V{};
    }
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD constexpr typename Step::node operator()(const typename Step::node& a,
                                                         const typename Step::node& b) const {
        return step.join(a, b);
    }

    Step step;
};
template <class Step>
struct emit_of_step {
    struct place {
        WARPFOLD_CALLS_ANY
        WARPFOLD_HD void operator=(const typename Step::node& before) const {
            step.emit(k, step.leaf(k), before, true);
        }

        const Step& step;
        std::uint64_t k;
    };
    WARPFOLD_HD place operator[](std::uint64_t k) const { return {step, k}; }

    Step step;
};

// What precedes a rank's part.
template <class V>
struct carried {
    V value;
    int there; // 0: ranks differ, and nothing is scanned
};
// The same as the initial value of a scan, in device memory.
template <class V>
struct carried_at {
    __device__ operator V() const { return at->value; } // NOLINT(google-explicit-constructor): as a value is
    [[nodiscard]] __device__ bool is_there() const { return at->there != 0; }

    const carried<V>* at;
};

template <bool Reverse, class V, class Join>
struct join_of_frames {
    WARPFOLD_CALLS_ANY
    __device__ carried<V> operator()(const rank_frame* frames, int ranks) const {
        V total{};
        for (int r = Reverse ? ranks - 1 : 0; r != rank; r += Reverse ? -1 : 1) {
            if (frames[r].n != 0) {
                total = join(total, detail::value_in<V>(frames[r]));
            }
        }
        return {total, 1};
    }
    __device__ static carried<V> refused() { return {V{}, 0}; }

    Join join;
    int rank;
};

template <gpu_target On, class Comm>
struct marked_scan {
    using target = over_ranks<On, Comm>;
    template <class A>
    static constexpr bool fits = sizeof(open_segment<A>) <= rank_frame::room;

    template <class In, class Out, class Map, class Op, class How>
    static void run(const target& on, const In& in, std::uint64_t n, const Out& out, const Map& map, const Op& op,
                    const How& how, const char* call) {
        using A = typename How::value;
        using U = std::conditional_t<std::is_void_v<written_t<Out>>, A, written_t<Out>>;
        constexpr bool indexed = takes_index_v<Map, element_t<In>>;
        detail::check_root(on, call);
        const rank_frame head = detail::frame_of(detail::signature_of<element_t<In>, A, U, Map, Op, How>(call, on.root),
                                                 n, sizeof(open_segment<A>));
        detail::with_flags(on, how.segments, n, [&](const auto& flags) {
            if constexpr (indexed) {
                rank_frame first = head;
                first.follows = follows_of_frames;
                const map_from_device<Map> from{
                    map, detail::enqueue_first_index(on, known_frame{first, on.on.stream}, call)};
                call_scope<target>::run(on, call, [&] { scan(on, head, in, n, out, from, op, how, flags, call); });
            } else {
                scan(on, head, in, n, out, map, op, how, flags, call);
            }
        });
    }

private:
    template <class In, class Out, class Map, class Op, class How, class Flags>
    static void scan(const target& on, const rank_frame& head, const In& in, std::uint64_t n, const Out& out,
                     const Map& map, const Op& op, const How& how, const Flags& flags, const char* call) {
        using A = typename How::value;
        using step_type = segmented_step<How::reverse, A, In, Out, Map, Op, Flags, step_options<How>>;
        using V = typename step_type::node;
        const step_type step{{{in, map, op}, out, {how.first}}, flags};
        const leaf_of_step<step_type> leaf{step};
        const join_of_step<step_type> join{step};
        const auto write = [&](rank_frame* mine) {
            if (n == 0 || !detail::hands_on<How>(on)) {
                known_frame{head, on.on.stream}(mine);
            } else {
                detail::folding<How::reverse>(in, 0, n, leaf, 0, join, [&](const auto& elements, const auto& of) {
                    reduce_engine<On>::template into<V>(on.on, elements, n, of, join,
                                                        in_frame<identity_result>{head, {}}, mine, call);
                });
            }
        };
        static_assert(sizeof(carried<V>) <= sizeof(nccl_scratch::carried));
        auto* const start = reinterpret_cast<carried<V>*>(on.comm->scratch().carried);
        detail::fold_enqueued(on, write,
                              join_of_frames<How::reverse, V, join_of_step<step_type>>{join, on.comm->rank()}, start,
                              nullptr, call);
        if (n != 0) {
            scan_engine<On>::run(on.on, in, n, emit_of_step<step_type>{step}, leaf, join,
                                 scan_options<V, carried_at<V>, no_segments, false, How::reverse>{{start}, {}}, call);
        }
    }
};

} // namespace warpfold::detail
