// SPDX-License-Identifier: MIT
// When a launch returns: before its kernel is over; after it under a debugger, a profiler, or CUDA_LAUNCH_BLOCKING. Each in a
// process of its own, since these apply from the first call on. (759 "Asynchronous
// Concurrent Execution".)
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "ladder/engine/command.hpp"
#include "ladder/engine/definition/claims.hpp"
#include "ladder/streams/steps.hpp"

namespace warpfold::ladder::streams {

namespace {

__global__ void take_a_while(int* out, unsigned rounds) {
    unsigned x = static_cast<unsigned>(*out);
#pragma unroll 1
    for (unsigned k = 0; k < rounds; ++k) {
        x = x * 1664525 + 1013904223;
    }
    *out = static_cast<int>(x);
}

constexpr unsigned rounds = 200'000; // a millisecond on a GPU
constexpr std::int32_t not_ready = cudaErrorNotReady;
constexpr std::size_t codes_each = 4; // of a process

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

struct gate {
    std::atomic<bool> open{false};
};
void CUDART_CB wait_at_the_gate(void* data) {
    while (!static_cast<gate*>(data)->open) {
        std::this_thread::yield();
    }
}

// The codes of the launch, of a query whether the stream is done, of the wait for it, and of another query. `held`: a host
// function in the stream before the kernel lasts until after the first query.
std::vector<std::int32_t> launch_and_ask(bool held) {
    int* word = nullptr;
    (void)cudaMalloc(&word, sizeof *word);
    (void)cudaMemset(word, 0, sizeof *word);
    take_a_while<<<1, 1>>>(word, 1); // so that it is loaded
    (void)cudaDeviceSynchronize();
    gate before;
    if (held) {
        (void)cudaLaunchHostFunc(nullptr, wait_at_the_gate, &before);
    }
    const auto begin = std::chrono::steady_clock::now();
    take_a_while<<<1, 1>>>(word, rounds);
    const double launched = milliseconds_since(begin);
    const auto answer = static_cast<std::int32_t>(cudaGetLastError());
    const auto state = static_cast<std::int32_t>(cudaStreamQuery(nullptr));
    before.open = true;
    const auto end = static_cast<std::int32_t>(cudaDeviceSynchronize());
    const auto at_last = static_cast<std::int32_t>(cudaStreamQuery(nullptr));
    (void)cudaFree(word);
    std::fprintf(stderr, "launch: returned after %.3f ms, with the stream %s\n", launched,
                 state == not_ready ? "not ready" : "done");
    return {answer, state, end, at_last};
}

std::vector<std::int32_t> held_program() { return launch_and_ask(true); }
std::vector<std::int32_t> free_program() { return launch_and_ask(false); }

constexpr const char* when_free = "launch behind a gate";
constexpr const char* when_told = "launch@CUDA_LAUNCH_BLOCKING=1";

engine::sample both_answers(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    const std::vector<std::int32_t> codes{0, not_ready, 0, 0, 0, 0, 0, 0};
    return {codes.size(), {}, engine::bytes_of(codes)};
}

std::string line_of(const std::string& said, int which) {
    std::size_t at = 0;
    for (int k = 0; k <= which && at != std::string::npos; ++k) {
        at = said.find("launch: ", at + static_cast<std::size_t>(k > 0));
    }
    return at == std::string::npos ? "it said nothing" : said.substr(at + 8, said.find('\n', at) - at - 8);
}

verdict returns_before(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    return seen(codes[0] == 0 && codes[1] == not_ready, line_of(e.said, 0));
}

verdict returns_behind(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    return seen(codes[codes_each] == 0 && codes[codes_each + 1] == 0,
                "with CUDA_LAUNCH_BLOCKING=1 it " + line_of(e.said, 1));
}

verdict query_tells(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    const auto word = [](std::int32_t code) { return std::string(cudaGetErrorName(static_cast<cudaError_t>(code))); };
    return seen(codes[1] == not_ready && codes[3] == cudaSuccess,
                word(codes[1]) + " while the stream is held, " + word(codes[3]) + " after cudaDeviceSynchronize()");
}

// The codes of the process that waits in the place of the other's, and these in theirs.
engine::counterexample processes_exchanged() {
    return engine::planted("the two processes exchanged", [](engine::altered_evidence& e) {
        std::rotate(e.result.begin(), e.result.begin() + codes_each * sizeof(std::int32_t), e.result.end());
    });
}

// Nsight Compute, the profiler of today that counts by the hardware.
verdict under_a_profiler(const engine::evidence& e) {
    if (!e.report.request.time) { // without times another tool may be at work
        return unseen("needs a GPU, and its profiler");
    }
    if (engine::command_path("ncu").empty()) {
        return unseen("needs Nsight Compute: no ncu is in PATH");
    }
    const engine::child_outcome& watched = engine::run_child_processes("streams", "launch@ncu", false);
    return seen(watched.codes.size() == codes_each && watched.codes[1] == 0,
                "under ncu it " + line_of(watched.said, 0));
}

constexpr const char* section = "759, Asynchronous Concurrent Execution";

} // namespace

std::vector<engine::child_program> child_programs() { return {{when_free, held_program}, {"launch", free_program}}; }

engine::step_definition blocking_launches() {
    return {
        .about = {"launches", "launches that block", "ladder/streams/08_blocking_launches.cu",
                  "a launch, and at once the question whether its stream is done", section},
        .data = both_answers,
        .child_programs = std::string(when_free) + "," + when_told,
        .size = [](std::uint64_t) { return both_answers(0, 0).n; },
        .claims = {{"kernel launches are asynchronous: control is returned before the device has completed the task",
                    section, engine::check(returns_before).refuted_by(processes_exchanged())},
                   {"launches are synchronous where a program is run so: today's switch is CUDA_LAUNCH_BLOCKING",
                    section, engine::check(returns_behind).refuted_by(processes_exchanged())},
                   {"cudaStreamQuery() provides a way to know if all preceding commands in a stream have completed",
                    "759, CUDA Streams: Synchronization Aspects",
                    engine::check(query_tells).refuted_by(processes_exchanged())},
                   {"when an application is run via a CUDA debugger or profiler, all launches are synchronous", section,
                    under_a_profiler}}};
}

} // namespace warpfold::ladder::streams
