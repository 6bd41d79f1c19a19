// SPDX-License-Identifier: MIT
// The options of chunked calls, and how a source is divided.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "warpfold/chunk_source.hpp"
#include "warpfold/detail/threads/thread_pool.hpp"
#include "warpfold/error.hpp"
#include "warpfold/tuning/chunked.hpp"

namespace warpfold {

class transfer_buffers; // pinned memory (gpu/chunked/buffers.hpp)

// Optional arguments. Zero: the library chooses.
struct chunked_options {
    std::size_t chunk_bytes = 0; // of the source, per chunk
    unsigned threads = 0;        // of the host, for reading and writing
    // Called on the caller's thread after each chunk: `done` of `of` elements are processed; `of` is 0 if the source
    // does not know its size. An exception ends the call.
    std::function<void(std::uint64_t done, std::uint64_t of)> progress = {};
    // Pinned memory that calls share one after another, on a GPU only. Without it each call allocates its own.
    transfer_buffers* buffers = nullptr;
    // What the two zeros above mean, how many buffers there are, and how much a thread reads at a time.
    tuning::chunked_policy policy = {};
};

namespace detail {

inline constexpr std::uint64_t chunk_multiple = std::uint64_t{1} << 16; // chunks are multiples of it, or smaller

// How a source is divided.
struct chunked_plan {
    std::uint64_t each = 1;  // elements per chunk
    std::uint64_t piece = 1; // elements that a thread reads at a time
    unsigned threads = 1;
    tuning::chunked_policy policy = {};
};

template <class Source>
chunked_plan plan_chunks(Source& source, const chunked_options& options) {
    const tuning::chunked_policy& policy = options.policy;
    policy.check();
    const std::uint64_t bytes = std::max<std::uint64_t>(stored_bytes(source), 1);
    chunked_plan plan;
    plan.policy = policy;
    plan.each = (options.chunk_bytes != 0 ? options.chunk_bytes : policy.chunk_bytes) / bytes;
    if (plan.each > chunk_multiple) {
        plan.each -= plan.each % chunk_multiple;
    }
    if constexpr (random_access_source<Source>) {
        plan.each = std::min<std::uint64_t>(plan.each, source.size());
    }
    plan.each = std::max<std::uint64_t>(plan.each, 1);
    plan.piece = std::max<std::uint64_t>(policy.piece_bytes / bytes, 1);
    const unsigned cores = machine_threads();
    plan.threads = options.threads != 0 ? options.threads : std::min(cores, policy.max_host_threads);
    return plan;
}

// The same for a call that also writes: reading and writing threads share the cores.
template <class Source>
chunked_plan plan_read_and_write(Source& source, const chunked_options& options, bool reads, bool writes) {
    chunked_plan plan = plan_chunks(source, options);
    if (reads && writes) {
        plan.threads = (plan.threads + 1) / 2;
    }
    return plan;
}

// Throws if a sink in memory is too small.
template <class Sink>
void check_room(const Sink& sink, std::uint64_t elements, const char* call) {
    if constexpr (in_memory_v<Sink>) {
        if (elements > sink.count) {
            throw invalid_argument(std::string("warpfold: ") + call + ": the sink has room for " +
                                   std::to_string(sink.count) + " elements, and there are more");
        }
    }
}

// Reports progress.
class chunked_progress {
public:
    template <class Source>
    chunked_progress(const chunked_options& options, Source& source)
        : tell_(options.progress), of_(known_size(source)) {}

    void add(std::uint64_t elements) {
        done_ += elements;
        if (tell_ && elements != 0) {
            tell_(done_, of_);
        }
    }

private:
    const std::function<void(std::uint64_t, std::uint64_t)>& tell_;
    std::uint64_t of_, done_ = 0;
};

} // namespace detail
} // namespace warpfold
