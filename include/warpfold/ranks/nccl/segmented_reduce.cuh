// SPDX-License-Identifier: MIT
// Segmented reductions over ranks of NCCL, enqueued. One pass over the part folds what continues an earlier rank's segment, the
// part's own segments and the beginning of its last one; the frames then give what later ranks have of that.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/ranks/nccl/first_index.cuh"
#include "warpfold/ranks/nccl/frames.cuh"
#include "warpfold/ranks/segmented_reduce.hpp"

namespace warpfold {

class nccl_communicator;

namespace detail {

// The offsets with what comes before the first one as a segment of its own.
template <class Offsets>
struct offsets_with_head {
    WARPFOLD_HD constexpr std::uint64_t operator[](std::uint64_t s) const {
        return s == 0 ? 0 : static_cast<std::uint64_t>(offsets[s - 1]);
    }

    Offsets offsets;
};

// What other ranks have a part of.
template <class V>
struct segment_ends {
    V head, tail;
};

// Where the totals of those segments go: result(total) of a whole segment, end(total) of the others.
template <class A, class V, class Result, class End, class Out>
struct segment_places {
    struct place {
        WARPFOLD_CALLS_ANY
        WARPFOLD_HD void operator=(const A& total) const {
            if (s == 0) {
                of.ends->head = of.end(total);
            } else if (s == of.segments) {
                of.ends->tail = of.end(total);
            } else {
                of.out[s - 1] = of.result(total);
            }
        }

        const segment_places& of;
        std::uint64_t s;
    };
    WARPFOLD_HD place operator[](std::uint64_t s) const { return {*this, s}; }

    Out out;
    Result result;
    End end;
    segment_ends<V>* ends;
    std::uint64_t segments;
};

// As shifted_located, with the first index in device memory.
template <class Result>
struct located_from_device {
    template <class C>
    WARPFOLD_HD constexpr auto operator()(const C& best) const {
        return shifted_located<Result>{result, *first}(best);
    }

    Result result;
    const std::uint64_t* first;
};

template <class Offsets>
__global__ void write_length_kernel(rank_frame head, Offsets offsets, std::uint64_t segments, rank_frame* to) {
    head.n = static_cast<std::uint64_t>(offsets[segments]);
    *to = head;
}

template <class V, class Offsets>
__global__ void write_border_kernel(rank_frame head, Offsets offsets, std::uint64_t segments,
                                    const segment_ends<V>* ends, rank_frame* to) {
    const auto n = static_cast<std::uint64_t>(offsets[segments]), begin = static_cast<std::uint64_t>(offsets[0]);
    head.n = n;
    if (begin > n || (segments != 0 && static_cast<std::uint64_t>(offsets[segments - 1]) > n)) {
        constexpr char message[] = "the last offset is less than another one";
        head.failed = 1;
        for (unsigned k = 0; k < sizeof(message); ++k) {
            head.values[k] = static_cast<unsigned char>(message[k]);
        }
    } else {
        *reinterpret_cast<segment_border<V>*>(head.values) = {ends->head, segments != 0};
    }
    *to = head;
}

// The last segment's result, of its own elements and of those of the ranks behind up to the next beginning.
// total(1 + ranks behind, of): of(0) is the rank's own value, of(1) that of the next rank.
template <class V, class Total>
struct finish_segment {
    WARPFOLD_CALLS_ANY
    __device__ auto operator()(const rank_frame* frames, int ranks) const {
        const auto border = [&](int r) -> const segment_border<V>& {
            return *reinterpret_cast<const segment_border<V>*>(frames[r].values);
        };
        int count = 1;
        while (rank + count < ranks && !border(rank + count).begins) {
            ++count;
        }
        count += rank + count < ranks ? 1 : 0;
        return total(count, [&](int r) -> const V& { return r == 0 ? ends->tail : border(rank + r).value; });
    }

    Total total;
    const segment_ends<V>* ends;
    int rank;
};

template <class Op, class Result>
struct total_of_segment {
    WARPFOLD_CALLS_ANY
    template <class Of>
    __device__ auto operator()(int count, const Of& of) const {
        auto total = of(0);
        for (int r = 1; r < count; ++r) {
            total = op(total, of(r));
        }
        return result(total);
    }

    Op op;
    Result result;
};
template <class T, class Map, class Op>
struct best_of_segment {
    template <class Of>
    __device__ located<T> operator()(int count, const Of& of) const {
        return detail::best_of_ranks<T>(
            count, of, [](int) { return std::uint64_t{0}; }, map, op);
    }

    Map map;
    Op op;
};

template <gpu_target On>
struct segmented_engine<over_ranks<On, nccl_communicator>> {
    using target = over_ranks<On, nccl_communicator>;
    using staged = staged_segments<On, nccl_communicator>;

    template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
    static void into(const target& on, const In& in, const Offsets& offsets, std::uint64_t segments, const Map& map,
                     const Op& op, const Result& result, const Out& out, const char* call) {
        static_assert(std::is_pointer_v<Out>, "over ranks of GPUs an output is a pointer");
        if constexpr (sizeof(segment_border<A>) > rank_frame::room) {
            staged::template into<A>(on, in, offsets, segments, map, op, result, out, call);
        } else {
            call_scope<target>::run(on, call, [&] {
                detail::check_array(offsets, segments + 1, call);
                detail::check_array(out, segments, call);
                detail::check_root(on, call);
                const rank_frame head =
                    detail::frame_of(detail::signature_of<element_t<In>, A, Map, Op, Result>(call, on.root), 0,
                                     sizeof(segment_border<A>));
                const auto first = [&] {
                    rank_frame lengths = head;
                    lengths.follows = follows_of_frames;
                    return detail::enqueue_first_index(
                        on,
                        [&](rank_frame* mine) {
                            write_length_kernel<<<1, 1, 0, on.on.stream>>>(lengths, offsets, segments, mine);
                            WARPFOLD_CHECK_CUDA(cudaGetLastError());
                        },
                        call);
                };
                if constexpr (is_located_v<Result>) {
                    using T = element_t<In>;
                    const std::uint64_t* const from = first();
                    call_scope<target>::run(on, call, [&] {
                        fold<A, located<T>>(on, head, in, offsets, segments, map, op,
                                            located_from_device<Result>{result, from},
                                            located_from_device<located_or_none<In>>{{{in}}, from},
                                            best_of_segment<T, Map, Op>{map, op}, out, call);
                    });
                } else {
                    const auto with = [&](const auto& of) {
                        fold<A, A>(on, head, in, offsets, segments, of, op, result, identity_result{},
                                   total_of_segment<Op, Result>{op, result}, out, call);
                    };
                    if constexpr (takes_index_v<Map, element_t<In>>) {
                        const std::uint64_t* const from = first();
                        call_scope<target>::run(on, call, [&] { with(map_from_device<Map>{map, from}); });
                    } else {
                        with(map);
                    }
                }
            });
        }
    }

private:
    template <class A, class V, class In, class Offsets, class Map, class Op, class Result, class End, class Total,
              class Out>
    static void fold(const target& on, const rank_frame& head, const In& in, const Offsets& offsets,
                     std::uint64_t segments, const Map& map, const Op& op, const Result& result, const End& end,
                     const Total& total, const Out& out, const char* call) {
        const stream_ordered_memory memory(on.on.stream, sizeof(segment_ends<V>), on.on.resource);
        auto* const ends = static_cast<segment_ends<V>*>(memory.data());
        WARPFOLD_CHECK_CUDA(cudaMemsetAsync(memory.data(), 0, sizeof(*ends), on.on.stream)); // no segment: no tail
        segmented_engine<On>::template into<A>(
            on.on, in, offsets_with_head<Offsets>{offsets}, segments + 1, map, op, identity_result{},
            segment_places<A, V, Result, End, Out>{out, result, end, ends, segments}, call);
        const auto write = [&](rank_frame* mine) {
            write_border_kernel<<<1, 1, 0, on.on.stream>>>(head, offsets, segments,
                                                           static_cast<const segment_ends<V>*>(ends), mine);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        };
        detail::fold_enqueued(on, write, finish_segment<V, Total>{total, ends, on.comm->rank()},
                              segments == 0 ? nullptr : out + (segments - 1), nullptr, call);
    }
};

} // namespace detail
} // namespace warpfold
