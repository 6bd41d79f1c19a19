// SPDX-License-Identifier: MIT
// Frames between GPUs that NVLink connects, written by the kernel that folds them: NCCL (2.28 and later) makes the memory
// that all ranks can access, a window, and no call of NCCL is needed in a call over ranks.
//
// Each rank has a mailbox with a place for a frame of every rank, twice, for odd and even gathers. Words of 8 bytes hold
// 4 of the frame and 4 of the gather's number, so that neither fences nor flags are needed. The number is counted on the
// device: a call may be in a graph. A place is written again two gathers later. By then its reader has taken part in the
// gather between, so it has read the place.
//
// Behind the frames are places for longer values, counts, which are written in the same way.
//
// Who waits in vain ends at the time limit, by itself, and marks its mailbox: kernels behind it touch no mailbox any more. So
// does the host before the communicator is aborted, which unmaps the others' mailboxes.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>

#define WARPFOLD_NCCL_WINDOWS 0
#if defined(NCCL_VERSION_CODE) && __has_include(<nccl_device.h>)
#if NCCL_VERSION_CODE >= 22800
#include <nccl_device.h>
#undef WARPFOLD_NCCL_WINDOWS
#define WARPFOLD_NCCL_WINDOWS 1
#endif
#endif

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/ranks/agreement.hpp"
#include "warpfold/ranks/nccl/staging.cuh"

namespace warpfold::detail {

inline constexpr unsigned fold_frames_threads = 128;
inline constexpr int most_mailboxes = 32;
inline constexpr unsigned frame_lines = sizeof(rank_frame) / 8; // of 8 bytes, 16 in a mailbox

inline constexpr std::size_t longest_counts = 16384; // bytes of a rank
inline constexpr std::size_t count_lines = longest_counts / 8;

// Lines of 16 bytes: a mailbox_head; frame_lines a rank, twice; the rank's own frame; count_lines a rank, twice.
struct mailbox_layout {
    [[nodiscard]] __host__ __device__ std::size_t frame(unsigned gather, int rank) const {
        return 1 + place(gather, rank) * frame_lines;
    }
    [[nodiscard]] __host__ __device__ std::size_t own_frame() const { return 1 + 2 * size() * frame_lines; }
    [[nodiscard]] __host__ __device__ std::size_t counts(unsigned gather, int rank) const {
        return own_frame() + sizeof(rank_frame) / sizeof(uint4) + place(gather, rank) * count_lines;
    }
    [[nodiscard]] __host__ __device__ std::size_t lines() const { return counts(1, ranks); }

    [[nodiscard]] __host__ __device__ std::size_t size() const { return static_cast<std::size_t>(ranks); }
    [[nodiscard]] __host__ __device__ std::size_t place(unsigned gather, int rank) const {
        return (gather & 1) * size() + static_cast<std::size_t>(rank);
    }

    int ranks;
};

// Written by its rank alone.
struct mailbox_head {
    unsigned gathers; // that have ended
    unsigned stopped; // other than 0: the communicator was given up
    unsigned unused[2];
};
static_assert(sizeof(mailbox_head) == sizeof(uint4));

// The mailboxes of all ranks, at addresses of this one.
struct mailbox_addresses {
    uint4* of[most_mailboxes];
    uint4* own; // where this rank's was allocated: it stays there when the others are unmapped
    int rank, ranks;

    [[nodiscard]] __device__ volatile mailbox_head& head() const { return *reinterpret_cast<mailbox_head*>(own); }
    [[nodiscard]] __device__ unsigned gathers() const { return head().gathers; }
    [[nodiscard]] __device__ mailbox_layout layout() const { return {ranks}; }
    // By one thread. missing: bit r: nothing came from rank r.
    __device__ void stop(enqueued_fault* fault, unsigned missing) const {
        head().stopped = 1;
        fault->missing = missing;
        __threadfence_system();
        *static_cast<volatile int*>(&fault->late) = 1;
    }
};

__device__ inline void put_line(uint4* to, const uint2& word, unsigned gather) {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %3, %2, %3};" ::"l"(__cvta_generic_to_global(to)), "r"(word.x),
                 "r"(word.y), "r"(gather)
                 : "memory");
}
// False if the line is not there yet.
__device__ inline bool take_line(const uint4* from, uint2& word, unsigned gather) {
    uint4 line{};
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(line.x), "=r"(line.y), "=r"(line.z), "=r"(line.w)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    word = {line.x, line.z};
    return line.y == gather && line.w == gather;
}
// Whether the host said stop, or the time limit has passed since the first call for this `begin`, which is 0 before.
__device__ inline bool is_over(const volatile enqueued_fault& fault, std::uint64_t& begin) {
    std::uint64_t now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    begin = begin == 0 ? now : begin;
    return fault.stop != 0 || (fault.limit != 0 && now - begin >= fault.limit);
}
// Calls are_there() until it is true. False where the wait was over before that.
template <class Are_there>
__device__ bool wait_for_lines(const enqueued_fault* fault, const Are_there& are_there) {
    std::uint64_t begin = 0;
    for (unsigned loads = 1; !are_there(); ++loads) {
        if (loads % 4096 == 0 && detail::is_over(*fault, begin)) {
            return false;
        }
    }
    return true;
}

// By one block: writes this rank's frame, which source() returns, to all mailboxes, and gathers those of all ranks. False in
// all threads where the wait for a frame was over, or the communicator was given up before.
template <class Source>
__device__ bool gather_from_mailboxes(const mailbox_addresses& boxes, const Source& source, rank_frame* all,
                                      enqueued_fault* fault) {
    __shared__ unsigned missing;
    if (threadIdx.x == 0) {
        missing = 0;
    }
    const unsigned gather = boxes.gathers() + 1;
    if (__syncthreads_or(boxes.head().stopped != 0) != 0) {
        return false;
    }
    const rank_frame* const mine = source();
    const auto lines = static_cast<unsigned>(boxes.ranks) * frame_lines;
    const std::size_t to = boxes.layout().frame(gather, boxes.rank), from = boxes.layout().frame(gather, 0);
    for (unsigned k = threadIdx.x; k < lines; k += blockDim.x) {
        const unsigned peer = k / frame_lines, line = k % frame_lines;
        detail::put_line(boxes.of[peer] + to + line, reinterpret_cast<const uint2*>(mine)[line], gather);
    }
    bool stopped = false;
    for (unsigned k = threadIdx.x; k < lines && !stopped; k += blockDim.x) {
        uint2 word{};
        stopped = !detail::wait_for_lines(fault, [&] { return detail::take_line(boxes.own + from + k, word, gather); });
        reinterpret_cast<uint2*>(all)[k] = word;
        if (stopped) {
            atomicOr(&missing, 1u << k / frame_lines);
        }
    }
    if (__syncthreads_or(stopped) != 0) {
        if (threadIdx.x == 0) {
            boxes.stop(fault, missing);
        }
        return false;
    }
    if (threadIdx.x == 0) {
        boxes.head().gathers = gather;
    }
    return true;
}

// One block. `mine` and `all` may be pinned memory of the host.
static __global__ void __launch_bounds__(fold_frames_threads)
    gather_frames_kernel(mailbox_addresses boxes, const rank_frame* mine, rank_frame* all, enqueued_fault* fault) {
    pdl_wait();
    (void)gather_from_mailboxes(
        boxes, [mine] { return mine; }, all, fault);
}

#if WARPFOLD_NCCL_WINDOWS

static __global__ void mailbox_addresses_kernel(ncclWindow_t window, mailbox_addresses* to) {
    for (int r = 0; r < to->ranks; ++r) {
        to->of[r] = static_cast<uint4*>(ncclGetLsaPointer(window, 0, r));
    }
}

// The mailboxes of a communicator, if NVLink connects all its ranks.
class mailboxes {
public:
    mailboxes() = default;
    mailboxes(const mailboxes&) = delete;
    mailboxes& operator=(const mailboxes&) = delete;
    // While the communicator is there.
    ~mailboxes() {
        if (memory_ != nullptr) {
            (void)cudaDeviceSynchronize();
            if (window_ != nullptr) {
                (void)ncclCommWindowDeregister(comm_, window_);
            }
            (void)ncclMemFree(memory_);
        }
    }

    // Collective. agree(condition): whether the condition is true at all ranks.
    template <class Agree>
    void open(ncclComm_t comm, int rank, int ranks, cudaStream_t stream, const Agree& agree) {
        comm_ = comm;
        addresses_.rank = rank;
        addresses_.ranks = ranks;
        const mailbox_layout layout{ranks};
        const std::size_t bytes = (layout.lines() * sizeof(uint4) + 4095) / 4096 * 4096;
        bool possible = ranks > 1 && ranks <= most_mailboxes && ncclTeamLsa(comm).nRanks == ranks &&
                        ncclMemAlloc(&memory_, bytes) == ncclSuccess &&
                        cudaMemsetAsync(memory_, 0, bytes, stream) == cudaSuccess;
        if (!agree(possible)) { // the memory is zero at all ranks before any rank writes to it
            return;
        }
        possible = ncclCommWindowRegister(comm, memory_, bytes, &window_, NCCL_WIN_COLL_SYMMETRIC) == ncclSuccess &&
                   window_ != nullptr && find_addresses(stream);
        is_open_ = agree(possible);
        addresses_.own = static_cast<uint4*>(memory_);
        own_ = reinterpret_cast<rank_frame*>(static_cast<uint4*>(memory_) + layout.own_frame());
    }
    // Kernels that begin from now on touch no mailbox. Waits for the copy that says so.
    static void stop(const mailbox_addresses& of) {
        static const unsigned one = 1;
        cudaStream_t stream = nullptr;
        (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        (void)cudaMemcpyAsync(&reinterpret_cast<mailbox_head*>(of.own)->stopped, &one, sizeof(one),
                              cudaMemcpyHostToDevice, stream);
        (void)cudaStreamSynchronize(stream);
        (void)cudaStreamDestroy(stream);
    }
    // Before the communicator is aborted: its memory stays.
    void abandon() {
        window_ = nullptr;
        memory_ = nullptr;
        is_open_ = false;
    }

    [[nodiscard]] bool is_open() const { return is_open_; }
    [[nodiscard]] const mailbox_addresses& addresses() const { return addresses_; }
    // Where a call writes its frame, in stream order.
    [[nodiscard]] rank_frame* own_frame() const { return own_; }

private:
    bool find_addresses(cudaStream_t stream) {
        mailbox_addresses* found = nullptr;
        if (cudaMallocHost(&found, sizeof(*found)) != cudaSuccess) {
            return false;
        }
        *found = addresses_;
        mailbox_addresses_kernel<<<1, 1, 0, stream>>>(window_, found);
        const bool done = cudaGetLastError() == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess;
        addresses_ = *found;
        (void)cudaFreeHost(found);
        return done;
    }

    ncclComm_t comm_ = nullptr;
    ncclWindow_t window_ = nullptr;
    void* memory_ = nullptr;
    rank_frame* own_ = nullptr;
    bool is_open_ = false;
    mailbox_addresses addresses_{};
};

#else

// Without windows every gather is a call of NCCL.
struct mailboxes {
    template <class Agree>
    void open(ncclComm_t /*comm*/, int /*rank*/, int /*ranks*/, cudaStream_t /*stream*/, const Agree& /*agree*/) {}
    static void stop(const mailbox_addresses& /*of*/) {}
    void abandon() {}
    [[nodiscard]] static constexpr bool is_open() { return false; }
    [[nodiscard]] static mailbox_addresses addresses() { return {}; }
    [[nodiscard]] static rank_frame* own_frame() { return nullptr; }
};

#endif

} // namespace warpfold::detail
