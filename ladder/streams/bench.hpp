// SPDX-License-Identifier: MIT
// What the steps of the laboratory of streams share: the lecture's kernel, arrays on the host and on the device, streams and
// events, and the calls that issue work, which record it for the timeline.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ladder/engine/definition/step.hpp"
#include "ladder/engine/operation_timer.hpp"

namespace warpfold::ladder::streams {

// Page-locked memory of the host.
class pinned_memory {
public:
    explicit pinned_memory(std::size_t bytes);
    pinned_memory(const pinned_memory&) = delete;
    pinned_memory& operator=(const pinned_memory&) = delete;
    ~pinned_memory();

    [[nodiscard]] int* data() const noexcept { return static_cast<int*>(data_); }

private:
    void* data_ = nullptr;
};

class own_stream {
public:
    explicit own_stream(unsigned flags);
    own_stream(const own_stream&) = delete;
    own_stream& operator=(const own_stream&) = delete;
    ~own_stream();

    [[nodiscard]] cudaStream_t handle() const noexcept { return handle_; }

private:
    cudaStream_t handle_ = nullptr;
};

// A part of the arrays, in elements.
struct part {
    std::uint64_t first = 0, count = 0;
};
[[nodiscard]] std::vector<part> parts(std::uint64_t n, unsigned pieces);

// Made once for a step: the host's arrays and the streams.
struct bench {
    bench(const engine::stage& on, bool pageable);
    bench(const bench&) = delete;
    bench& operator=(const bench&) = delete;
    ~bench();

    int* in = nullptr; // of the host, page-locked unless `pageable`
    int* out = nullptr;
    const int* data = nullptr;           // the same as in, where pageable memory has it
    std::deque<own_stream> streams;      // blocking, as cudaStreamCreate makes them
    std::deque<own_stream> non_blocking; // that do not wait for the default stream
    bool pageable = false;

    // An event that no other call of this run uses. begin_run() before the first.
    [[nodiscard]] cudaEvent_t next_event();
    void begin_run() { next_event_ = 0; }

private:
    std::unique_ptr<pinned_memory> pinned_in_, pinned_out_;
    std::vector<int> pageable_in_, pageable_out_;
    std::vector<cudaEvent_t> events_;
    std::size_t next_event_ = 0;
};

[[nodiscard]] inline bench& bench_of(const engine::stage& on) { return *static_cast<bench*>(on.kept); }

// The arrays on the device: input in stage::scratch, output in stage::out.
[[nodiscard]] inline int* device_in(const engine::stage& on) { return on.temporary<int>(); }
[[nodiscard]] inline int* device_out(const engine::stage& on) { return on.output<int>(); }

// cudaMemcpyAsync of a part from and to the bench's arrays; nothing where the part is empty.
void copy_in(const engine::stage& on, cudaStream_t stream, const part& p);
void copy_out(const engine::stage& on, cudaStream_t stream, const part& p);
// out = 3 in + 1, the long way, so that it takes about as long as a copy.
void compute(const engine::stage& on, cudaStream_t stream, const part& p);

// So that all of a run lies between what was issued to the stage's stream before and what comes after: `stream` waits for
// what that has, or it waits for what `stream` has.
void fork(const engine::stage& on, cudaStream_t stream);
void join(const engine::stage& on, cudaStream_t stream);
// `later` waits for all that `earlier` has been given so far.
void wait_for(const engine::stage& on, cudaStream_t later, cudaStream_t earlier);

// The parts of a step's definition that all of them have alike.
[[nodiscard]] engine::step_definition step(std::string id, std::string title, std::string source, std::string idea,
                                           std::string lecture, void (*run)(const engine::stage&),
                                           std::vector<engine::claim_check> claims);
[[nodiscard]] std::shared_ptr<void> pageable_bench(const engine::stage& on);

} // namespace warpfold::ladder::streams
