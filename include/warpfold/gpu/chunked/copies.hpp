// SPDX-License-Identifier: MIT
// Copies between host and GPU in streams of their own, beside the stream of the kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "warpfold/detail/chunked/plan.hpp"
#include "warpfold/detail/chunked/read_ahead.hpp"
#include "warpfold/detail/chunked/write_behind.hpp"
#include "warpfold/gpu/chunked/buffers.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::detail {

// A non-blocking stream.
class cuda_stream {
public:
    cuda_stream() { WARPFOLD_CHECK_CUDA(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking)); }
    cuda_stream(const cuda_stream&) = delete;
    cuda_stream& operator=(const cuda_stream&) = delete;
    ~cuda_stream() {
        (void)cudaStreamSynchronize(handle_);
        (void)cudaStreamDestroy(handle_);
    }
    [[nodiscard]] cudaStream_t handle() const noexcept { return handle_; }

private:
    cudaStream_t handle_ = nullptr;
};

// An event without timing.
class cuda_event {
public:
    cuda_event() { WARPFOLD_CHECK_CUDA(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    cuda_event(cuda_event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    cuda_event& operator=(cuda_event&&) = delete;
    ~cuda_event() {
        if (event_ != nullptr) {
            (void)cudaEventDestroy(event_);
        }
    }
    void record(cudaStream_t in) { WARPFOLD_CHECK_CUDA(cudaEventRecord(event_, in)); }
    // Later work in `stream` waits for the event.
    void make_wait(cudaStream_t stream) const { WARPFOLD_CHECK_CUDA(cudaStreamWaitEvent(stream, event_, 0)); }
    void wait() const { WARPFOLD_CHECK_CUDA(cudaEventSynchronize(event_)); }

private:
    cudaEvent_t event_ = nullptr;
};

// Synchronizes a stream on destruction, also when an exception is thrown.
class synchronize_on_exit {
public:
    explicit synchronize_on_exit(cudaStream_t stream) : stream_(stream) {}
    synchronize_on_exit(const synchronize_on_exit&) = delete;
    synchronize_on_exit& operator=(const synchronize_on_exit&) = delete;
    ~synchronize_on_exit() { (void)cudaStreamSynchronize(stream_); }

private:
    cudaStream_t stream_;
};

inline constexpr std::size_t chunk_alignment = 256;
inline std::size_t aligned_bytes(std::uint64_t bytes) {
    return (bytes + chunk_alignment - 1) / chunk_alignment * chunk_alignment;
}

// Copies the chunks of a source to the device, one after another.
template <class Source>
class chunked_uploads {
public:
    struct arrived {
        const void* data;
        chunk_range at; // count 0: no more chunks
    };

    // `pinned`: buffers for data that the device cannot reach; empty if it can.
    chunked_uploads(const gpu& on, Source& source, const chunked_plan& plan, std::vector<void*> pinned, bool backwards,
                    const chunked_options& options)
        : on_(on),
          source_(source),
          plan_(plan),
          backwards_(backwards),
          progress_(options, source),
          chunk_bytes_(plan.each * stored_bytes(source)),
          chunks_(chunks_of(known_size(source), plan.each)),
          memory_(on.stream, aligned_bytes(chunk_bytes_) * plan.policy.device_buffers, on.resource),
          copied_(std::max<std::size_t>(pinned.size(), 3)),
          free_(plan.policy.device_buffers),
          synchronize_(on.stream) {
        free_[0].record(on.stream); // the memory is allocated
        free_[0].make_wait(copies_.handle());
        if (!pinned.empty()) {
            reader_.emplace(source, std::move(pinned), plan.each, plan.piece, plan.threads, backwards);
        }
    }

    // Starts the copy of the next chunk; later work in the target's stream sees it. Call used() when all kernels that
    // read it are enqueued.
    [[nodiscard]] arrived next() {
        if (in_flight_.size() == 2) {
            retire();
        }
        const void* from = nullptr;
        chunk_range at;
        if (reader_) {
            const auto chunk = reader_->next();
            from = chunk.data;
            at = chunk.at;
        } else if constexpr (in_memory_v<Source>) {
            if (count_ != chunks_) {
                at = chunk_at(source_.size(), plan_.each, count_, backwards_);
                from = source_.data + at.first;
            }
        }
        if (at.count == 0) {
            return {nullptr, {}};
        }
        const unsigned slot = device_slot();
        void* const to = static_cast<unsigned char*>(memory_.data()) + slot * aligned_bytes(chunk_bytes_);
        if (count_ >= free_.size()) {
            free_[slot].make_wait(copies_.handle());
        }
        WARPFOLD_CHECK_CUDA(
            cudaMemcpyAsync(to, from, at.count * stored_bytes(source_), cudaMemcpyDefault, copies_.handle()));
        cuda_event& copied = copied_[count_ % copied_.size()];
        copied.record(copies_.handle());
        copied.make_wait(on_.stream);
        in_flight_.push_back(at.count);
        return {to, at};
    }
    void used() {
        free_[device_slot()].record(on_.stream);
        elements_ += in_flight_.back();
        ++count_;
    }
    // Waits until all chunks are copied. Returns the number of elements.
    std::uint64_t finish() {
        while (!in_flight_.empty()) {
            retire();
        }
        return elements_;
    }

private:
    [[nodiscard]] unsigned device_slot() const { return static_cast<unsigned>(count_ % free_.size()); }
    // Waits for the oldest copy in flight and releases its buffer.
    void retire() {
        copied_[(count_ - in_flight_.size()) % copied_.size()].wait();
        if (reader_) {
            reader_->release();
        }
        progress_.add(in_flight_.front());
        in_flight_.pop_front();
    }

    const gpu on_;
    Source& source_;
    const chunked_plan plan_;
    const bool backwards_;
    chunked_progress progress_;
    const std::uint64_t chunk_bytes_, chunks_;
    stream_ordered_memory memory_;
    std::vector<cuda_event> copied_, free_;
    synchronize_on_exit synchronize_;
    cuda_stream copies_;
    std::optional<read_ahead<Source>> reader_;
    std::deque<std::uint64_t> in_flight_; // elements of the chunks in flight
    std::uint64_t count_ = 0, elements_ = 0;
};

// Copies chunks of results from the device to a sink.
template <class Sink>
class chunked_downloads {
public:
    using U = typename Sink::element;

    chunked_downloads(const gpu& on, Sink& sink, const chunked_plan& plan, std::vector<void*> pinned)
        : on_(on),
          sink_(sink),
          buffer_bytes_(aligned_bytes(plan.each * sizeof(U)) + 2 * chunk_alignment),
          memory_(on.stream, buffer_bytes_ * plan.policy.device_buffers, on.resource),
          ready_(plan.policy.device_buffers),
          copied_out_(std::max<std::size_t>(pinned.size(), std::max(3u, plan.policy.device_buffers))),
          synchronize_(on.stream) {
        if (!pinned.empty()) {
            writer_.emplace(sink, std::move(pinned), std::max<std::uint64_t>(plan.policy.piece_bytes / sizeof(U), 1),
                            plan.threads);
        }
    }

    // Where the next chunk's results go, in the order of the target's stream, with room for one more element on both
    // sides.
    [[nodiscard]] U* room() {
        const unsigned slot = static_cast<unsigned>(count_ % ready_.size());
        if (count_ >= ready_.size()) {
            copied_out_[(count_ - ready_.size()) % copied_out_.size()].make_wait(on_.stream);
        }
        return reinterpret_cast<U*>(static_cast<unsigned char*>(memory_.data()) + slot * buffer_bytes_ +
                                    chunk_alignment);
    }
    // Copies the results at `from` when the work enqueued so far in the target's stream has ended.
    void send(const U* from, chunk_range at) {
        ready_[count_ % ready_.size()].record(on_.stream);
        ready_[count_ % ready_.size()].make_wait(copies_.handle());
        void* to = nullptr;
        if (writer_) {
            if (in_flight_.size() == 2) {
                retire();
            }
            to = writer_->acquire();
        } else if constexpr (in_memory_v<Sink>) {
            if (in_flight_.size() == 2) {
                retire();
            }
            to = sink_.data + at.first;
        }
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(to, from, at.count * sizeof(U), cudaMemcpyDefault, copies_.handle()));
        copied_out_[count_ % copied_out_.size()].record(copies_.handle());
        in_flight_.push_back(at);
        ++count_;
    }
    // Waits until the sink has all n elements.
    void finish(std::uint64_t n) {
        while (!in_flight_.empty()) {
            retire();
        }
        if (writer_) {
            writer_->finish();
        }
        if constexpr (requires { sink_.finish(n); }) {
            sink_.finish(n);
        }
    }

private:
    void retire() {
        copied_out_[(count_ - in_flight_.size()) % copied_out_.size()].wait();
        if (writer_) {
            writer_->submit(in_flight_.front());
        }
        in_flight_.pop_front();
    }

    const gpu on_;
    Sink& sink_;
    const std::size_t buffer_bytes_;
    stream_ordered_memory memory_;
    std::vector<cuda_event> ready_, copied_out_;
    synchronize_on_exit synchronize_;
    std::optional<write_behind<Sink>> writer_;
    cuda_stream copies_;
    std::deque<chunk_range> in_flight_;
    std::uint64_t count_ = 0;
};

// True if a source or sink is memory that the device can reach directly.
template <class S>
bool goes_direct([[maybe_unused]] const S& s) {
    if constexpr (in_memory_v<S>) {
        return s.count == 0 || is_reachable(s.data, s.count * sizeof(typename S::element));
    } else {
        return false;
    }
}

} // namespace warpfold::detail
