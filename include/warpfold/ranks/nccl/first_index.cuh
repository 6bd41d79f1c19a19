// SPDX-License-Identifier: MIT
// How many elements precede a rank's part, in device memory, and maps that take their index from there.
#pragma once

#include <cstdint>

#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/ranks/nccl/frames.cuh"

namespace warpfold::detail {

struct first_of_frames {
    __device__ std::uint64_t operator()(const rank_frame* frames, int /*ranks*/) const {
        std::uint64_t first = 0;
        for (int r = 0; r < rank; ++r) {
            first += frames[r].n;
        }
        return first;
    }
    __device__ static std::uint64_t refused() { return 0; }

    int rank;
};

// `map` with the index in the whole array, as shifted_map, of a first index in device memory. Backwards: of element
// first + last - index.
template <class Map, bool Backwards = false>
struct map_from_device {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr auto operator()(const T& x, std::uint64_t index) const -> typename map_result<Map, T>::type {
        return detail::mapped(map, x, *first + (Backwards ? last - index : index));
    }

    Map map;
    const std::uint64_t* first;
    std::uint64_t last = 0;
};
template <class Map, bool Backwards>
struct user_callable<map_from_device<Map, Backwards>> : user_callable<Map> {};

// Gathers the frames that write(mine) enqueues, which have the parts' lengths and follows_of_frames. The result is valid for
// this call. Frames of the second gather say that nothing follows.
inline constexpr std::size_t follows_of_frames = sizeof(rank_frame) / follows_unit;
template <class On, class Comm, class Write>
const std::uint64_t* enqueue_first_index(const over_ranks<On, Comm>& on, const Write& write, const char* call) {
    std::uint64_t* const first = &on.comm->scratch().first;
    detail::fold_enqueued(on, write, first_of_frames{on.comm->rank()}, first, nullptr, call,
                          gather_order::first_of_two);
    on.comm->expect_second_gather();
    return first;
}

static __global__ void write_frame_kernel(rank_frame frame, rank_frame* to) { *to = frame; }

// As write(mine): a frame that the host knows.
struct known_frame {
    void operator()(rank_frame* mine) const {
        write_frame_kernel<<<1, 1, 0, stream>>>(frame, mine);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }

    rank_frame frame;
    cudaStream_t stream;
};

} // namespace warpfold::detail
