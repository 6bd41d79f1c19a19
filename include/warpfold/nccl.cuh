// SPDX-License-Identifier: MIT
// Ranks of NCCL (2.18 and later), one GPU each, for nvcc. Needs NCCL's header and library; no other header of the library
// does.
//
//      nccl_communicator comm(others, stream);                 // others: ranks of MPI, or threads
//      reduce(gpu{stream}.over(comm), data, n, out);           // enqueued: *out is set in stream order, at every rank
//      double total = exact_sum(gpu{stream}.over(comm), data, n);
//
// Reductions, segmented reductions and scans with an output, of values that fit one frame (ranks/agreement.hpp), are
// enqueued, and may be captured in a graph; so are reproducible reductions and scans, exact sums and moments, and
// histograms of few bins. Such a call cannot throw what another rank did: if a rank failed or made another call,
// outputs are not written (those of segments inside a part may be), and check_enqueued() and the next call throw. Wait
// by check_enqueued(): where NCCL itself waits for a rank, a wait for the stream has no time limit. Convolutions and
// histograms of many bins wait for what the ranks agree on; of a call that is captured that happens at the capture.
// Counts of histograms of many bins are added by NCCL, halos stay on the devices; other values pass through the host's memory.
//
// Where NVLink connects all GPUs (ranks/nccl/mailboxes.cuh), a call in another stream than the last one waits for the device
// first. Whoever launches graphs orders them.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
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
#include "warpfold/ranks/nccl/long_values.cuh"
#include "warpfold/ranks/nccl/mailboxes.cuh"
#include "warpfold/ranks/nccl/staging.cuh"
#include "warpfold/ranks/nccl/steps.cuh"
#include "warpfold/ranks/nccl/within.hpp"

namespace warpfold {

// A communicator of NCCL with the current device at each rank. Used by one thread at a time.
class nccl_communicator {
public:
    // Wraps the user's communicator, which outlives it. Collective. `stream` is used by steps that wait; it is best that
    // of the calls. `limit`: how long a rank waits for the others in one step of a call, 0 for ever; after that `comm` is
    // aborted. Who aborts it for another reason does so by abort().
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
    // Aborts a communicator of its own that has failed, or while an exception ends the rank's work: gathers may wait for other
    // ranks in vain. Otherwise waits for the device, within the time limit.
    ~nccl_communicator() {
        const bool has_failed = !failure_.empty() || std::uncaught_exceptions() > exceptions_;
        const bool waits = limit_.count() != 0 && (owned_ || boxes_->is_open());
        if (comm_ != nullptr && ((owned_ && has_failed) || (waits && detail::device_ends(limit_) != cudaSuccess))) {
            give_up("the rank has ended its work");
        }
        boxes_.reset();
        if (owned_ && comm_ != nullptr) {
            (void)ncclCommDestroy(comm_);
        }
        if (comm_ == nullptr) {
            (void)detail::ended_within(abort_grace, aborted_);
            (void)fault_.release(); // a device that is still busy would hold up its end
        }
    }

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] std::uint64_t gathers() const { return gathers_; }
    [[nodiscard]] ncclComm_t get() const { return comm_; }

    // Aborts the communicator. This rank's calls throw communicator_error after it; the others learn of it at their time limit.
    void abort() {
        if (comm_ != nullptr) {
            give_up("its user has aborted it");
        }
    }

    // Waits for `stream`, and throws rank_error if a rank failed or made another call in an enqueued step.
    void check_enqueued(cudaStream_t stream, const char* call = "check_enqueued") {
        wait(stream, call);
        check_usable(call);
    }

    // Where the communicator's stream captures, the gather is no part of the graph: it takes place at once, so that arguments
    // and parts are known when the rest of the call is captured.
    void all_gather(const void* mine, void* all, std::size_t bytes, const char* call) {
        const std::size_t ranks = static_cast<std::size_t>(size_);
        const detail::relaxed_capture relaxed;
        const bool captures = detail::is_capturing(stream_);
        if (bytes == sizeof(detail::rank_frame) && boxes().is_open() && !captures) {
            // As ranks do whose calls stay on the devices.
            auto* const frames = reinterpret_cast<detail::rank_frame*>(staging_.host(bytes * (ranks + 1)));
            std::memcpy(static_cast<void*>(frames + ranks), mine, bytes);
            const cudaStream_t stream = streams_->take(stream_);
            gather_frames(frames + ranks, frames, stream, call);
            wait(stream, call);
            std::memcpy(all, frames, bytes * ranks);
            return;
        }
        count_gather(call);
        const cudaStream_t stream = captures ? streams_->at_capture() : stream_;
        unsigned char* const host = staging_.host(bytes * ranks);
        unsigned char* const device = staging_.device(bytes * (ranks + 1), stream);
        std::memcpy(host, mine, bytes);
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(device + bytes * ranks, host, bytes, cudaMemcpyHostToDevice, stream));
        check(ncclAllGather(device + bytes * ranks, device, bytes, ncclUint8, comm_, stream), "ncclAllGather", call);
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(host, device, bytes * ranks, cudaMemcpyDeviceToHost, stream));
        wait(stream, call);
        std::memcpy(all, host, bytes * ranks);
    }

    template <class Word>
    void add(Word* values, std::uint64_t n, int root, const char* call) {
        detail::add_staged(*this, staging_, values, n, root, stream_, call);
    }

    void exchange(std::span<const message> sent, std::span<const message> received, const char* call) {
        check_usable(call);
        detail::exchange_staged(*this, staging_, sent, received, stream_, call);
    }

    // Steps on the devices, enqueued. `frames`: of all ranks, in rank order; `mine` may be its place there.
    void gather_frames(const detail::rank_frame* mine, detail::rank_frame* frames, cudaStream_t stream,
                       const char* call) {
        begin_gather(stream, call);
        if (boxes().is_open()) {
            constexpr auto kernel = &detail::gather_frames_kernel;
            detail::pdl_launch(detail::properties_of<kernel>(), kernel, 1, detail::fold_frames_threads, 0, stream,
                               boxes().addresses(), mine, frames, fault());
        } else {
            gather_on_device(mine, frames, sizeof(*mine), stream, call);
        }
    }
    // The next gather of frames that waits runs beside what `stream` gets from now on, behind what it holds.
    void gather_beside(cudaStream_t stream) {
        if (boxes().is_open() && !detail::is_capturing(stream)) {
            streams_->begin_beside(stream, [this] { wait_for_device("gather_beside"); });
        }
    }
    // Before each gather of frames. The second one of a call takes place whatever the first one has shown by then, as it does
    // at the other ranks.
    void begin_gather(cudaStream_t stream, const char* call) {
        count_gather(call);
        if (boxes().is_open()) {
            streams_->order(stream, [&] { wait_for_device(call); });
        }
    }
    void expect_second_gather() { is_second_ = true; }
    // Of the gather that begins next.
    [[nodiscard]] detail::gather_place next_place(cudaStream_t stream, detail::gather_order order) const {
        return {is_second_ ? detail::gather_order::second : order, &scratch().first_refused,
                detail::is_capturing(stream) ? 0 : gathers_ + 1};
    }
    // Of any size. `mine` may be its place in `all`.
    void gather_on_device(const void* mine, void* all, std::size_t bytes, cudaStream_t stream, const char* call) {
        check_not_given_up(call);
        const ncclResult_t code = ncclAllGather(mine, all, bytes, ncclUint8, comm_, stream);
        if (code != ncclSuccess && code != ncclInProgress) { // the ranks may be out of step: the gather before says why
            const auto end = std::chrono::steady_clock::now() + std::max<time_limit>(limit_, std::chrono::seconds(1));
            while (!fault_->is_there() && cudaStreamQuery(stream) == cudaErrorNotReady &&
                   std::chrono::steady_clock::now() < end) {
                std::this_thread::yield();
            }
            (void)cudaGetLastError();
            if (fault_->is_there()) {
                give_up_for_difference();
            }
        }
        check(code, "ncclAllGather", call);
    }
    [[nodiscard]] const detail::mailboxes& boxes() const { return *boxes_; }
    [[nodiscard]] detail::nccl_scratch& scratch() const {
        return *static_cast<detail::nccl_scratch*>(scratch_->data());
    }
    [[nodiscard]] detail::slots_of_ranks slots() const {
        return detail::slots_of_ranks(static_cast<unsigned char*>(slots_->data()));
    }
    // Memory for a result that the host will wait for.
    [[nodiscard]] void* pinned_result(std::size_t bytes, cudaStream_t stream, const char* call) {
        detail::refuse_capture(stream, call);
        return results_.host(bytes);
    }
    // As exchange(), with data in device memory.
    void exchange_on_device(std::span<const message> sent, std::span<const message> received, cudaStream_t stream,
                            const char* call) {
        check_usable(call);
        check(detail::send_and_receive(comm_, sent, received, stream), "a group of ncclSend and ncclRecv", call);
    }
    // The same beside what enqueue() puts into `stream`; what follows there waits for both.
    template <class Enqueue>
    void exchange_beside(std::span<const message> sent, std::span<const message> received, cudaStream_t stream,
                         const char* call, const Enqueue& enqueue) {
        const detail::relaxed_capture relaxed;
        streams_->begin_beside(stream, [&] { wait_for_device(call); });
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
        check_not_given_up(call);
        detail::refuse_capture(stream, call);
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
                    give_up_for_difference();
                }
                if (is_late) {
                    end_late(call);
                }
                std::this_thread::yield();
            }
        }
        check_late(call);
        check_async(call);
    }

private:
    void start() {
        check(ncclCommUserRank(comm_, &rank_), "ncclCommUserRank", "nccl_communicator");
        check(ncclCommCount(comm_, &size_), "ncclCommCount", "nccl_communicator");
        fault_ = detail::make_enqueued_fault(
            size_, static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(limit_).count()));
        scratch_.emplace(stream_, sizeof(detail::nccl_scratch));
        WARPFOLD_CHECK_CUDA(cudaMemsetAsync(scratch_->data(), 0, sizeof(detail::nccl_scratch::zero), stream_));
        const std::size_t slots = detail::slots_of_ranks::bytes_for(size_);
        slots_.emplace(stream_, slots);
        WARPFOLD_CHECK_CUDA(cudaMemsetAsync(slots_->data(), 0, slots, stream_));
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(stream_));
        boxes_->open(comm_, rank_, size_, stream_, [this](bool condition) {
            const char mine = condition ? 1 : 0;
            std::vector<char> all(static_cast<std::size_t>(size_));
            all_gather(&mine, all.data(), 1, "nccl_communicator");
            return std::memchr(all.data(), 0, all.size()) == nullptr;
        });
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
    // An abort unmaps the mailboxes: kernels that read them end first, and later ones find their own closed. Nothing but the abort
    // ends NCCL's. It waits for what streams of the device hold before them, and this rank no longer than a moment for it.
    void give_up(const std::string& why) {
        failure_ = why;
        *static_cast<volatile int*>(&fault_->stop) = 1;
        if (boxes_->is_open()) {
            (void)detail::within(std::chrono::milliseconds(200), [own = boxes_->addresses()] {
                detail::mailboxes::stop(own);
                return cudaDeviceSynchronize();
            });
        }
        boxes_->abandon();
        aborted_ = detail::start_aside([comm = std::exchange(comm_, nullptr)] { return ncclCommAbort(comm); });
        (void)detail::ended_within(abort_grace, aborted_);
    }
    // Ranks that did not come, where kernels waited for their mailboxes.
    [[noreturn]] void end_late(const char* call) {
        const std::string start = "after " + std::to_string(limit_.count()) + " ms, the time limit, ";
        give_up(start + "nothing was heard");
        failure_ = start + fault_->what_is_missing();
        throw time_limit_error(std::string("warpfold: ") + call + ": " + failure_);
    }
    void check_late(const char* call) {
        if (fault_->is_late() && failure_.empty()) {
            end_late(call);
        }
    }
    void wait_for_device(const char* call) {
        const cudaError_t ended =
            limit_.count() == 0 ? cudaDeviceSynchronize() : detail::device_ends(limit_).value_or(cudaErrorNotReady);
        if (ended == cudaErrorNotReady) {
            end_late(call);
        }
        WARPFOLD_CHECK_CUDA(ended);
        check_late(call);
    }
    void check_not_given_up(const char* call) {
        check_late(call);
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
    void give_up_for_difference() {
        try {
            detail::check_frames(fault_->frames(), "bins", rank_);
        } catch (const rank_error& difference) {
            give_up(difference.what());
            throw;
        }
    }
    void check_usable(const char* call) {
        check_not_given_up(call);
        if (!fault_->is_there()) {
            return;
        }
        if (is_out_of_step()) {
            give_up_for_difference();
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

    static constexpr std::chrono::seconds abort_grace{2};

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
    std::future<ncclResult_t> aborted_;
    detail::staging staging_, results_;
    std::optional<detail::mailboxes> boxes_{std::in_place};
    std::optional<detail::stream_ordered_memory> scratch_, slots_;
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
