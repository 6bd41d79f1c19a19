// SPDX-License-Identifier: MIT
#include "ladder/streams/bench.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>
#include <utility>

#include "ladder/engine/definition/launch.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::streams {

namespace {

using device_engine = softgpu::observe::engine;

// The lecture's MyKernel, of which it says nothing: here 3 in + 1, after so many rounds there and back by a permutation of
// all words, x -> a x + b, and its inverse.
__global__ void my_kernel(int* out, const int* in, std::uint64_t n, unsigned rounds, unsigned a, unsigned b,
                          unsigned inverse_of_a) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned x = static_cast<unsigned>(in[i]);
#pragma unroll 4
        for (unsigned k = 0; k < rounds; ++k) {
            x = x * a + b;
        }
#pragma unroll 4
        for (unsigned k = 0; k < rounds; ++k) {
            x = (x - b) * inverse_of_a;
        }
        out[i] = static_cast<int>(3 * x + 1);
    }
}

constexpr unsigned threads = 512; // as on the slide
constexpr unsigned rounds = 256;
constexpr unsigned a = 1664525;
constexpr unsigned b = 1013904223;

constexpr unsigned inverse(unsigned odd) { // of an odd number, modulo 2^32
    unsigned x = odd;
    for (int k = 0; k < 5; ++k) {
        x *= 2 - odd * x;
    }
    return x;
}
static_assert(inverse(a) * a == 1);

engine::sample data(std::uint64_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::int32_t> in(n);
    std::vector<std::int32_t> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        in[i] = static_cast<std::int32_t>(random());
        right[i] = static_cast<std::int32_t>(3 * static_cast<unsigned>(in[i]) + 1);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

std::shared_ptr<void> pinned_bench(const engine::stage& on) { return std::make_shared<bench>(on, false); }

engine::bytes result_of(const engine::stage& on) {
    const auto* const first = reinterpret_cast<const std::byte*>(bench_of(on).out);
    return {first, first + on.n * sizeof(int)};
}

} // namespace

pinned_memory::pinned_memory(std::size_t bytes) { WARPFOLD_CUDA_CHECK(cudaMallocHost(&data_, bytes)); }

pinned_memory::~pinned_memory() { (void)cudaFreeHost(data_); }

own_stream::own_stream(unsigned flags) { WARPFOLD_CUDA_CHECK(cudaStreamCreateWithFlags(&handle_, flags)); }

own_stream::~own_stream() { (void)cudaStreamDestroy(handle_); }

std::vector<part> parts(std::uint64_t n, unsigned pieces) {
    std::vector<part> all;
    for (std::uint64_t k = 0; k < pieces; ++k) {
        const std::uint64_t first = n / pieces * k + std::min(n % pieces, k);
        all.push_back({first, n / pieces + (k < n % pieces ? 1 : 0)});
    }
    return all;
}

bench::bench(const engine::stage& on, bool without_pinned) : pageable(without_pinned) {
    const std::size_t bytes = on.n * sizeof(int);
    data = reinterpret_cast<const int*>(on.data->in.at(0).data());
    if (pageable) {
        pageable_in_.resize(on.n);
        pageable_out_.resize(on.n);
        in = pageable_in_.data();
        out = pageable_out_.data();
    } else {
        pinned_in_ = std::make_unique<pinned_memory>(std::max<std::size_t>(bytes, 16));
        pinned_out_ = std::make_unique<pinned_memory>(std::max<std::size_t>(bytes, 16));
        in = pinned_in_->data();
        out = pinned_out_->data();
    }
    std::memcpy(in, data, bytes);
    std::memset(out, 0x5a, bytes);
    for (int k = 0; k < 4; ++k) {
        streams.emplace_back(cudaStreamDefault);
    }
    for (int k = 0; k < 2; ++k) {
        non_blocking.emplace_back(cudaStreamNonBlocking);
    }
}

bench::~bench() {
    for (const cudaEvent_t event : events_) {
        (void)cudaEventDestroy(event);
    }
}

cudaEvent_t bench::next_event() {
    if (next_event_ == events_.size()) {
        cudaEvent_t made = nullptr;
        WARPFOLD_CUDA_CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
        events_.push_back(made);
    }
    return events_[next_event_++];
}

void copy_in(const engine::stage& on, cudaStream_t stream, const part& p) {
    const bench& b = bench_of(on);
    const std::size_t bytes = p.count * sizeof(int);
    if (bytes != 0) {
        engine::operate(on, stream, {"copy to the device", device_engine::to_device, bytes, b.pageable}, [&] {
            WARPFOLD_CUDA_CHECK(
                cudaMemcpyAsync(device_in(on) + p.first, b.in + p.first, bytes, cudaMemcpyHostToDevice, stream));
        });
    }
}

void copy_out(const engine::stage& on, cudaStream_t stream, const part& p) {
    const bench& b = bench_of(on);
    const std::size_t bytes = p.count * sizeof(int);
    if (bytes != 0) {
        engine::operate(on, stream, {"copy to the host", device_engine::to_host, bytes, b.pageable}, [&] {
            WARPFOLD_CUDA_CHECK(
                cudaMemcpyAsync(b.out + p.first, device_out(on) + p.first, bytes, cudaMemcpyDeviceToHost, stream));
        });
    }
}

void compute(const engine::stage& on, cudaStream_t stream, const part& p) {
    if (p.count == 0) {
        return;
    }
    engine::operate(on, stream, {"my_kernel"}, [&] {
        engine::stage here = on;
        here.stream = stream;
        const auto blocks = static_cast<unsigned>(
            std::min<std::uint64_t>(engine::divide_up(p.count, threads), std::uint64_t{4} * on.multiprocessors));
        static std::mutex noting; // steps with several threads
        const std::lock_guard lock(noting);
        engine::launch(here, "my_kernel", my_kernel, blocks, threads, 0, device_out(on) + p.first,
                       static_cast<const int*>(device_in(on) + p.first), p.count, rounds, a, b, inverse(a));
    });
}

void wait_for(const engine::stage& on, cudaStream_t later, cudaStream_t earlier) {
    const cudaEvent_t event = bench_of(on).next_event();
    WARPFOLD_CUDA_CHECK(cudaEventRecord(event, earlier));
    WARPFOLD_CUDA_CHECK(cudaStreamWaitEvent(later, event, 0));
}

void fork(const engine::stage& on, cudaStream_t stream) { wait_for(on, stream, on.stream); }

void join(const engine::stage& on, cudaStream_t stream) { wait_for(on, on.stream, stream); }

engine::step_definition step(std::string id, std::string title, std::string source, std::string idea,
                             std::string lecture, void (*run)(const engine::stage&),
                             std::vector<engine::claim_check> claims) {
    return {.about = {std::move(id), std::move(title), std::move(source), std::move(idea), std::move(lecture)},
            .data = data,
            .run =
                [run](const engine::stage& on) {
                    bench_of(on).begin_run();
                    run(on);
                },
            .prepare = pinned_bench,
            .collect = result_of,
            .scratch_bytes = [](std::uint64_t n) { return std::max<std::uint64_t>(n, 4) * sizeof(int); },
            .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
            .claims = std::move(claims)};
}

std::shared_ptr<void> pageable_bench(const engine::stage& on) { return std::make_shared<bench>(on, true); }

} // namespace warpfold::ladder::streams
