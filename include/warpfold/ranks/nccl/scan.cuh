// SPDX-License-Identifier: MIT
// Scans over ranks of NCCL that stay on the devices: the kernel that folds the frames leaves what precedes the rank's part
// in device memory, and the scan takes it from there. Values of more than some 280 bytes pass through the host's memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/engines.hpp"
#include "warpfold/ranks/nccl/frames.cuh"
#include "warpfold/ranks/nccl/segmented_scan.cuh"
#include "warpfold/ranks/scan.hpp"

namespace warpfold {

class nccl_communicator;

namespace detail {

// op(neutral, x) has the bits of x: for a floating-point sum that is -0.
template <class A, class Op>
WARPFOLD_HD constexpr A neutral_of() {
    if constexpr (std::is_same_v<Op, sum> && std::is_floating_point_v<A>) {
        return -A{};
    } else {
        return Op::template identity<A>();
    }
}

// What precedes the part of `rank` in the order of the scan, the initial value included.
template <class A, class How, class Op>
struct carry_of_frames {
    WARPFOLD_CALLS_ANY
    __device__ carried<A> operator()(const rank_frame* frames, int ranks) const {
        A total{};
        bool there = How::has_first;
        if constexpr (How::has_first) {
            total = how.first;
        }
        for (int r = How::reverse ? ranks - 1 : 0; r != rank; r += How::reverse ? -1 : 1) {
            if (frames[r].n != 0) {
                const A value = detail::value_in<A>(frames[r]);
                total = there ? static_cast<A>(op(total, value)) : value;
                there = true;
            }
        }
        return {there ? total : detail::neutral_of<A, Op>(), 1};
    }
    __device__ static carried<A> refused() { return {A{}, 0}; }

    How how;
    Op op;
    int rank;
};

template <gpu_target On>
struct scan_engine<over_ranks<On, nccl_communicator>> {
    using target = over_ranks<On, nccl_communicator>;

    template <class In, class Out, class Map, class Op, class How>
    static void run(const target& on, const In& in, std::uint64_t n, const Out& out, const Map& map, const Op& op,
                    const How& how, const char* call) {
        using A = typename How::value;
        constexpr bool marked = How::segmented || takes_index_v<Map, element_t<In>> || !has_identity<Op, A>;
        using marked_scan = detail::marked_scan<On, nccl_communicator>;
        if (on.comm->size() == 1) {
            staged_scan<On, nccl_communicator>::run(on, in, n, out, map, op, how, call);
        } else if constexpr (marked && marked_scan::template fits<A>) {
            marked_scan::run(on, in, n, out, map, op, how, call);
        } else if constexpr (marked || sizeof(A) > rank_frame::room) {
            staged_scan<On, nccl_communicator>::run(on, in, n, out, map, op, how, call);
        } else {
            using U = std::conditional_t<std::is_void_v<written_t<Out>>, A, written_t<Out>>;
            detail::check_root(on, call);
            const rank_frame head =
                detail::frame_of(detail::signature_of<element_t<In>, A, U, Map, Op, How>(call, on.root), n, sizeof(A));
            const auto write = [&](rank_frame* mine) {
                if (n == 0 || !detail::hands_on<How>(on)) {
                    known_frame{head, on.on.stream}(mine);
                } else {
                    detail::folding<How::reverse>(in, 0, n, map, 0, op, [&](const auto& elements, const auto& of) {
                        reduce_engine<On>::template into<A>(on.on, elements, n, of, op,
                                                            in_frame<identity_result>{head, {}}, mine, call);
                    });
                }
            };
            static_assert(sizeof(carried<A>) <= sizeof(nccl_scratch::carried));
            auto* const start = reinterpret_cast<carried<A>*>(on.comm->scratch().carried);
            detail::fold_enqueued(on, write, carry_of_frames<A, How, Op>{how, op, on.comm->rank()}, start, nullptr,
                                  call);
            if (n != 0) {
                scan_engine<On>::run(
                    on.on, in, n, out, map, op,
                    scan_options<A, carried_at<A>, no_segments, How::inclusive, How::reverse>{{start}, {}}, call);
            }
        }
    }
};

} // namespace detail
} // namespace warpfold
