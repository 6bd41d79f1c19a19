// SPDX-License-Identifier: MIT
// Ranks of NCCL (2.18 and later), one GPU each, for nvcc. Needs NCCL's header and library; no other header of the library
// does.
//
//      nccl_communicator comm(others, stream);                 // others: ranks of MPI, or threads
//      reduce(gpu{stream}.over(comm), data, n, out);           // enqueued: *out is set in stream order, at every rank
//      double total = exact_sum(gpu{stream}.over(comm), data, n);
//
// Reductions, segmented reductions, scans and exact sums with an output, of values that fit one frame (ranks/agreement.hpp),
// are enqueued, and may be captured in a graph; so are reproducible ones, and histograms of few bins. Such a call cannot throw what another rank did: if
// a rank failed or made another call, outputs are not written (those of segments inside a part may be), and
// check_enqueued() and the next call throw.
// Counts of histograms of many bins are added by NCCL, halos stay on the devices; other values pass through the host's memory.
//
// Where NVLink connects all GPUs (ranks/nccl/mailboxes.cuh), a call in another stream than the last one waits for the device
// first. Whoever launches graphs orders them.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "warpfold/communicator.hpp"
#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/ranks.cuh"
#include "warpfold/ranks/nccl/gather_streams.cuh"
#include "warpfold/ranks/nccl/mailboxes.cuh"
#include "warpfold/ranks/nccl/staging.cuh"

namespace warpfold {

// A communicator of NCCL with the current device at each rank. Used by one thread at a time.
class nccl_communicator {
public:
    // Wraps the user's communicator, which outlives it. Collective. `stream` is used by steps that wait; it is best that
    // of the calls. `limit`: how long a rank waits for the others in one step of a call that waits, 0 for ever; after that
    // `comm` is aborted.
    explicit nccl_communicator(ncclComm_t comm, cudaStream_t stream = nullptr, time_limit limit = time_limit{0})
        : comm_(comm), stream_(stream), limit_(limit) {
        start();
    }
    // Makes a communicator of the ranks of another one. Collective.
    template <communicator Others>
    explicit nccl_communicator(Others& others, cudaStream_t stream = nullptr, time_limit limit = time_limit{0})
        : stream_(stream), limit_(limit), owned_(true) {
        ncclUniqueId id{};
        if (others.rank() == 0) {
            check(ncclGetUniqueId(&id), "ncclGetUniqueId", "nccl_communicator");
        }
        std::vector<ncclUniqueId> ids(static_cast<std::size_t>(others.size()));
        others.all_gather(&id, ids.data(), sizeof(id), "nccl_communicator");
        check(ncclCommInitRank(&comm_, others.size(), ids[0], others.rank()), "ncclCommInitRank", "nccl_communicator");
        start();
    }
    nccl_communicator(const nccl_communicator&) = delete;
    nccl_communicator& operator=(const nccl_communicator&) = delete;
    // Aborts a communicator of its own while an exception ends the rank's work: gathers may wait for other ranks in vain.
    ~nccl_communicator() {
        if (owned_ && comm_ != nullptr && std::uncaught_exceptions() > exceptions_) {
            give_up("the rank has ended by an exception", stream_);
        }
        boxes_.reset();
        if (owned_ && comm_ != nullptr) {
            (void)ncclCommDestroy(comm_);
        }
    }

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] std::uint64_t gathers() const { return gathers_; }
    [[nodiscard]] ncclComm_t get() const { return comm_; }

    // Waits for `stream`, and throws rank_error if a rank failed or made another call in an enqueued step.
    void check_enqueued(cudaStream_t stream, const char* call = "check_enqueued") {
        wait(stream, call);
        check_usable(call);
    }

    void all_gather(const void* mine, void* all, std::size_t bytes, const char* call) {
        const std::size_t ranks = static_cast<std::size_t>(size_);
        if (bytes == sizeof(detail::rank_frame) && boxes().is_open()) { // as ranks do whose calls stay on the devices
            auto* const frames = reinterpret_cast<detail::rank_frame*>(staging_.host(bytes * (ranks + 1)));
            std::memcpy(static_cast<void*>(frames + ranks), mine, bytes);
            const cudaStream_t stream = streams_->take(stream_);
            gather_frames(frames + ranks, frames, stream, call);
            wait(stream, call);
            std::memcpy(all, frames, bytes * ranks);
            return;
        }
        count_gather(call);
        unsigned char* const host = staging_.host(bytes * ranks);
        unsigned char* const device = staging_.device(bytes * (ranks + 1), stream_);
        std::memcpy(host, mine, bytes);
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(device + bytes * ranks, host, bytes, cudaMemcpyHostToDevice, stream_));
        check(ncclAllGather(device + bytes * ranks, device, bytes, ncclUint8, comm_, stream_), "ncclAllGather", call);
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(host, device, bytes * ranks, cudaMemcpyDeviceToHost, stream_));
        wait(stream_, call);
        std::memcpy(all, host, bytes * ranks);
    }

    void add(std::uint64_t* values, std::uint64_t n, int root, const char* call) { add_staged(values, n, root, call); }
    void add(std::uint32_t* values, std::uint64_t n, int root, const char* call) { add_staged(values, n, root, call); }

    void exchange(std::span<const message> sent, std::span<const message> received, const char* call) {
        check_usable(call);
        const auto all = [](std::span<const message> of) {
            return std::accumulate(of.begin(), of.end(), std::size_t{0},
                                   [](std::size_t bytes, const message& one) { return bytes + one.bytes; });
        };
        const std::size_t out = all(sent), in = all(received);
        unsigned char* const host = staging_.host(out + in);
        unsigned char* const device = staging_.device(out + in, stream_);
        std::size_t at = 0;
        for (const message& one : sent) {
            std::memcpy(host + at, one.data, one.bytes);
            at += one.bytes;
        }
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(device, host, out, cudaMemcpyHostToDevice, stream_));
        const auto on_device = [&](std::span<const message> of, std::size_t first) {
            std::vector<message> messages(of.begin(), of.end());
            for (message& one : messages) {
                one.data = device + first;
                first += one.bytes;
            }
            return messages;
        };
        exchange_on_device(on_device(sent, 0), on_device(received, out), stream_, call);
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(host + out, device + out, in, cudaMemcpyDeviceToHost, stream_));
        wait(stream_, call);
        at = out;
        for (const message& one : received) {
            std::memcpy(one.data, host + at, one.bytes);
            at += one.bytes;
        }
    }

    // Steps on the devices, enqueued. `frames`: of all ranks, in rank order; `mine` may be its place there.
    void gather_frames(const detail::rank_frame* mine, detail::rank_frame* frames, cudaStream_t stream,
                       const char* call) {
        begin_gather(stream, call);
        if (boxes().is_open()) {
            constexpr auto kernel = &detail::gather_frames_kernel;
            detail::pdl_launch(detail::properties_of<kernel>(), kernel, 1, detail::fold_frames_threads, 0, stream,
                               boxes().addresses(), mine, frames, static_cast<const int*>(&fault_->stop));
        } else {
            gather_on_device(mine, frames, sizeof(*mine), stream, call);
        }
    }
    // The next gather of frames that waits runs beside what `stream` gets from now on, behind what it holds.
    void gather_beside(cudaStream_t stream) {
        if (boxes().is_open()) {
            streams_->begin_beside(stream);
        }
    }
    // Before each gather of frames. The second one of a call takes place whatever the first one has shown by then, as it does
    // at the other ranks.
    void begin_gather(cudaStream_t stream, const char* call) {
        count_gather(call);
        if (boxes().is_open()) {
            streams_->order(stream);
        }
    }
    void expect_second_gather() { is_second_ = true; }
    // Of the gather that begins next.
    [[nodiscard]] detail::gather_place next_place(cudaStream_t stream, detail::gather_order order) const {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        WARPFOLD_CHECK_CUDA(cudaStreamIsCapturing(stream, &status));
        return {is_second_ ? detail::gather_order::second : order, &scratch().first_refused,
                status == cudaStreamCaptureStatusNone ? gathers_ + 1 : 0};
    }
    // Of any size. `mine` may be its place in `all`.
    void gather_on_device(const void* mine, void* all, std::size_t bytes, cudaStream_t stream, const char* call) {
        check_not_given_up(call);
        const ncclResult_t code = ncclAllGather(mine, all, bytes, ncclUint8, comm_, stream);
        if (code != ncclSuccess && code != ncclInProgress) { // the ranks may be out of step: the gather before says why
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
            while (!fault_->is_there() && cudaStreamQuery(stream) == cudaErrorNotReady &&
                   std::chrono::steady_clock::now() < end) {
                std::this_thread::yield();
            }
            (void)cudaGetLastError();
            if (fault_->is_there()) {
                give_up_for_difference(stream);
            }
        }
        check(code, "ncclAllGather", call);
    }
    [[nodiscard]] const detail::mailboxes& boxes() const { return *boxes_; }
    [[nodiscard]] detail::nccl_scratch& scratch() const {
        return *static_cast<detail::nccl_scratch*>(scratch_->data());
    }
    [[nodiscard]] void* pinned_result(std::size_t bytes) { return results_.host(bytes); }
    // As exchange(), with data in device memory.
    void exchange_on_device(std::span<const message> sent, std::span<const message> received, cudaStream_t stream,
                            const char* call) {
        check_usable(call);
        check(ncclGroupStart(), "ncclGroupStart", call);
        for (const message& one : sent) {
            if (one.bytes != 0) {
                check(ncclSend(one.data, one.bytes, ncclUint8, one.rank, comm_, stream), "ncclSend", call);
            }
        }
        for (const message& one : received) {
            if (one.bytes != 0) {
                check(ncclRecv(one.data, one.bytes, ncclUint8, one.rank, comm_, stream), "ncclRecv", call);
            }
        }
        check(ncclGroupEnd(), "ncclGroupEnd", call);
    }
    // The same beside what enqueue() puts into `stream`; what follows there waits for both.
    template <class Enqueue>
    void exchange_beside(std::span<const message> sent, std::span<const message> received, cudaStream_t stream,
                         const char* call, const Enqueue& enqueue) {
        streams_->begin_beside(stream);
        const cudaStream_t side = streams_->take(stream);
        exchange_on_device(sent, received, side, call);
        enqueue();
        streams_->end_beside(stream);
    }
    template <class Word>
    void add_on_device(Word* values, std::uint64_t n, int root, cudaStream_t stream, const char* call) {
        static_assert(sizeof(Word) == 4 || sizeof(Word) == 8);
        const ncclDataType_t type = sizeof(Word) == 8 ? ncclUint64 : ncclUint32;
        check_usable(call);
        check(root == every_rank ? ncclAllReduce(values, values, n, type, ncclSum, comm_, stream)
                                 : ncclReduce(values, values, n, type, ncclSum, root, comm_, stream),
              "ncclAllReduce", call);
    }
    // Where a kernel copies the frames of ranks that differ: host memory that it can access.
    [[nodiscard]] detail::enqueued_fault* fault() const { return fault_.get(); }
    // Waits within the time limit.
    void wait(cudaStream_t stream, const char* call) {
        if (limit_.count() == 0) {
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(stream));
        } else {
            const auto end = std::chrono::steady_clock::now() + limit_;
            for (cudaError_t state = cudaStreamQuery(stream); state != cudaSuccess; state = cudaStreamQuery(stream)) {
                if (state != cudaErrorNotReady) {
                    WARPFOLD_CHECK_CUDA(state);
                }
                (void)cudaGetLastError(); // a query may leave it
                const bool is_late = std::chrono::steady_clock::now() >= end;
                if (fault_->is_there() && (is_late || is_out_of_step())) {
                    check_async(call); // frames of a gather that has failed hold anything
                    give_up_for_difference(stream);
                }
                if (is_late) {
                    give_up("the time limit of " + std::to_string(limit_.count()) +
                                " ms passed; NCCL does not say for which rank it waits",
                            stream);
                    throw time_limit_error(std::string("warpfold: ") + call + ": " + failure_);
                }
                std::this_thread::yield();
            }
        }
        check_async(call);
    }

private:
    void start() {
        check(ncclCommUserRank(comm_, &rank_), "ncclCommUserRank", "nccl_communicator");
        check(ncclCommCount(comm_, &size_), "ncclCommCount", "nccl_communicator");
        fault_ = detail::make_enqueued_fault(size_);
        scratch_.emplace(stream_, sizeof(detail::nccl_scratch));
        WARPFOLD_CHECK_CUDA(cudaMemsetAsync(scratch_->data(), 0, sizeof(detail::nccl_scratch::zero), stream_));
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(stream_));
        boxes_->open(comm_, rank_, size_, stream_, [this](bool condition) {
            const char mine = condition ? 1 : 0;
            std::vector<char> all(static_cast<std::size_t>(size_));
            all_gather(&mine, all.data(), 1, "nccl_communicator");
            return std::memchr(all.data(), 0, all.size()) == nullptr;
        });
    }

    template <class Word>
    void add_staged(Word* values, std::uint64_t n, int root, const char* call) {
        const std::size_t bytes = n * sizeof(Word);
        unsigned char* const host = staging_.host(bytes);
        auto* const device = reinterpret_cast<Word*>(staging_.device(bytes, stream_));
        std::memcpy(host, values, bytes);
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_));
        add_on_device(device, n, root, stream_, call);
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_));
        wait(stream_, call);
        if (root == every_rank || root == rank_) {
            std::memcpy(values, host, bytes);
        }
    }

    void check(ncclResult_t code, const char* function, const char* call) {
        if (code != ncclSuccess && code != ncclInProgress) {
            failure_ = std::string(function) + ": " + ncclGetErrorString(code);
            throw communicator_error(std::string("warpfold: ") + call + ": " + failure_);
        }
    }
    void check_async(const char* call) {
        ncclResult_t state = ncclSuccess;
        check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError", call);
        check(state, "an operation of NCCL", call);
    }
    // An abort unmaps the mailboxes: kernels of `stream` that still read them end first. Nothing but the abort ends NCCL's.
    void give_up(const std::string& why, cudaStream_t stream) {
        failure_ = why;
        *static_cast<volatile int*>(&fault_->stop) = 1;
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(boxes_->is_open() ? 200 : 0);
        while (std::chrono::steady_clock::now() < end && cudaStreamQuery(stream) == cudaErrorNotReady) {
            std::this_thread::yield();
        }
        (void)cudaGetLastError(); // a query may leave it
        boxes_->abandon();
        (void)ncclCommAbort(comm_);
        comm_ = nullptr;
    }
    void check_not_given_up(const char* call) const {
        if (!failure_.empty()) {
            throw communicator_error(std::string("warpfold: ") + call + ": the communicator was given up: " + failure_);
        }
    }
    // Whether this rank can no longer take part in the gather that others have enqueued behind the one with the fault.
    [[nodiscard]] bool is_out_of_step() const {
        const detail::second_gather second = detail::second_gather_of(fault_->frames());
        const bool owes = second.bytes != 0 && fault_->first()[rank_].follows == 0;
        return !second.is_agreed || (owes && fault_->number != gathers_);
    }
    // Throws what ranks differ in.
    void give_up_for_difference(cudaStream_t stream) {
        try {
            detail::check_frames(fault_->frames(), "bins", rank_);
        } catch (const rank_error& difference) {
            give_up(difference.what(), stream);
            throw;
        }
    }
    void check_usable(const char* call) {
        check_not_given_up(call);
        if (!fault_->is_there()) {
            return;
        }
        if (is_out_of_step()) {
            give_up_for_difference(stream_);
        }
        const std::vector<detail::rank_frame> frames = fault_->frames();
        fault_->there = 0;
        if (frames[static_cast<std::size_t>(rank_)].follows == 0) {
            const std::uint64_t count = gathers_;
            detail::take_part_in_second_gather(*this, frames, call);
            gathers_ = count; // it is of the call before
        }
        detail::check_frames(frames, "bins", rank_);
    }
    void count_gather(const char* call) {
        if (std::exchange(is_second_, false)) {
            check_not_given_up(call);
        } else {
            check_usable(call);
        }
        ++gathers_;
    }

    ncclComm_t comm_ = nullptr;
    cudaStream_t stream_;
    time_limit limit_;
    bool owned_ = false;
    int exceptions_ = std::uncaught_exceptions();
    std::optional<detail::gather_streams> streams_{std::in_place};
    int rank_ = 0, size_ = 1;
    std::uint64_t gathers_ = 0;
    bool is_second_ = false;
    std::string failure_;
    detail::staging staging_, results_;
    std::optional<detail::mailboxes> boxes_{std::in_place};
    std::optional<detail::stream_ordered_memory> scratch_;
    std::unique_ptr<detail::enqueued_fault, detail::free_pinned> fault_{nullptr, {}};
};

} // namespace warpfold

#include "warpfold/ranks/nccl/exact_sum.cuh"
#include "warpfold/ranks/nccl/halo_memory.cuh"
#include "warpfold/ranks/nccl/histogram.cuh"
#include "warpfold/ranks/nccl/reduce.cuh"
#include "warpfold/ranks/nccl/reproducible.cuh"
#include "warpfold/ranks/nccl/scan.cuh"
#include "warpfold/ranks/nccl/segmented_reduce.cuh"
