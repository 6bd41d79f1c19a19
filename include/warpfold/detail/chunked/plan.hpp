// SPDX-License-Identifier: MIT
// What calls on streams are told, and what it comes to for a target.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "warpfold/chunk_source.hpp"
#include "warpfold/error.hpp"
#include "warpfold/tuning/chunked.hpp"

namespace warpfold {

class transfer_buffers; // pinned memory, see gpu/chunked/buffers.hpp

// What a call may be told behind its other arguments. A zero leaves the choice to the library.
struct chunked_options {
    std::size_t chunk_bytes = 0; // of the source, in one go
    unsigned threads = 0;        // of the host, that read and write
    // Called on the caller's thread now and then, behind the last chunk too: `done` of `of` elements are through; `of`
    // is 0 where the source does not know how many it has. What it throws ends the call.
    std::function<void(std::uint64_t done, std::uint64_t of)> progress = {};
    // Pinned memory to be used again by one call after the other; on a GPU only. Else each call takes its own.
    transfer_buffers* buffers = nullptr;
    // What the two zeros above mean, how many buffers there are, and how much a thread reads at a time.
    tuning::chunked_policy policy = {};
};

namespace detail {

inline constexpr std::uint64_t chunk_multiple = std::uint64_t{1} << 16; // chunks have so many elements, or few ones

// How a source is cut up.
struct chunked_plan {
    std::uint64_t each = 1;  // elements of a chunk
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
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    plan.threads = options.threads != 0 ? options.threads : std::min(cores, policy.max_host_threads);
    return plan;
}

// The same for a call that writes too: threads that read and threads that write share the cores.
template <class Source>
chunked_plan plan_read_and_write(Source& source, const chunked_options& options, bool reads, bool writes) {
    chunked_plan plan = plan_chunks(source, options);
    if (reads && writes) {
        plan.threads = (plan.threads + 1) / 2;
    }
    return plan;
}

// Throws where a sink in memory ends before the chunk does.
template <class Sink>
void check_room(const Sink& sink, std::uint64_t elements, const char* call) {
    if constexpr (in_memory_v<Sink>) {
        if (elements > sink.count) {
            throw invalid_argument(std::string("warpfold: ") + call + ": the sink has room for " +
                                   std::to_string(sink.count) + " elements, and there are more");
        }
    }
}

// Says how far a call has come.
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
