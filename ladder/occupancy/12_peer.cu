// SPDX-License-Identifier: MIT
// Memory of another GPU: copied from there, and read where it is. A device alone copies to itself. (380 "GPU Memory System",
// "Access Path".)
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/definition/cycles.hpp"
#include "ladder/occupancy/definition/figures.hpp"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"
#include "measure/flush.hpp"

namespace warpfold::ladder::occupancy {

namespace {

template <bool InL1>
__global__ void follow_to_the_end(std::int32_t* out, const std::byte* chain, unsigned warm, unsigned rounds,
                                  std::int64_t* cycles) {
    const std::byte* at = chain;
    const auto hop = [&] {
        if constexpr (InL1) {
            asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at) : : "memory");
        } else {
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at) : : "memory");
        }
    };
#pragma unroll 1
    for (unsigned k = 0; k < warm; ++k) {
        hop();
    }
    const std::int64_t begin = clock64();
#pragma unroll 1
    for (unsigned k = 0; k < rounds; ++k) {
#pragma unroll
        for (unsigned u = 0; u < hops_at_once; ++u) {
            hop();
        }
    }
    const std::int64_t end = clock64();
    *out = static_cast<std::int32_t>((at - chain) / static_cast<std::int64_t>(line_bytes));
    *cycles = end - begin;
}

// A chain through `lines` lines that begins at `where`.
std::vector<std::byte> chain_at(const std::byte* where, std::uint64_t lines) {
    std::vector<std::byte> all(lines * line_bytes);
    for (std::uint64_t i = 0; i < lines; ++i) {
        const std::byte* const next = where + next_line(i, lines) * line_bytes;
        std::memcpy(all.data() + i * line_bytes, &next, sizeof next);
    }
    return all;
}

int this_device() {
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    return device;
}

// Another device whose memory this one can read; this one where there is none.
int peer_device() {
    const int here = this_device();
    int count = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDeviceCount(&count));
    for (int other = 0; other < count; ++other) {
        int can = 0;
        if (other != here) {
            WARPFOLD_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, here, other));
        }
        if (can != 0) {
            const cudaError_t answer = cudaDeviceEnablePeerAccess(other, 0);
            if (answer == cudaErrorPeerAccessAlreadyEnabled) {
                (void)cudaGetLastError();
            } else {
                WARPFOLD_CUDA_CHECK(answer);
            }
            return other;
        }
    }
    return here;
}

// Memory on that device, freed there.
class memory_on {
public:
    memory_on(int device, std::size_t bytes) : device_(device), here_(this_device()) {
        WARPFOLD_CUDA_CHECK(cudaSetDevice(device_));
        memory_ = measure::device_memory(bytes);
        WARPFOLD_CUDA_CHECK(cudaSetDevice(here_));
    }
    memory_on(const memory_on&) = delete;
    memory_on& operator=(const memory_on&) = delete;
    ~memory_on() {
        (void)cudaSetDevice(device_);
        memory_ = {};
        (void)cudaSetDevice(here_);
    }
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_.data()); }

private:
    int device_, here_;
    measure::device_memory memory_;
};

struct after_a_peer_copy {
    bool of_a_peer = false;
    double copied = 0, flushed = 0; // cycles of a read by ld.cg
};

after_a_peer_copy measure_copy(std::uint64_t l2_bytes) {
    constexpr std::uint64_t lines = 4096;
    const int here = this_device();
    const int other = peer_device();
    after_a_peer_copy all{other != here};
    const memory_on chain(here, lines * line_bytes);
    const memory_on source(other, lines * line_bytes);
    const auto content = chain_at(chain.data(), lines);
    WARPFOLD_CUDA_CHECK(cudaMemcpy(source.data(), content.data(), content.size(), cudaMemcpyHostToDevice));
    stopwatch_in_cycles watch;
    measure::l2_flush flush(l2_bytes);
    for (const bool flushed : {false, true}) {
        (flushed ? all.flushed
                 : all.copied) = watch.each(64, [&](cudaStream_t on, std::int32_t* out, std::int64_t* cycles) {
            WARPFOLD_CUDA_CHECK(cudaMemcpyPeerAsync(chain.data(), here, source.data(), other, lines * line_bytes, on));
            if (flushed) {
                flush.run(watch.stream());
            }
            follow_to_the_end<false><<<1, 1, 0, on>>>(out, chain.data(), 0, 64, cycles);
        });
    }
    return all;
}

// With the latency of L2, for comparison.
struct peer_copy {
    after_a_peer_copy after;
    double l2 = 0;
};
peer_copy measure_peer_copy(const engine::evidence& e) {
    return {measure_copy(e.report.device.l2_bytes), memory_of(e).l2};
}
verdict copies_go_through_l2(const engine::evidence& /*e*/, const peer_copy& t) {
    const std::string figure = number(t.after.copied, 0) +
                               " cycles a read of what was just copied by cudaMemcpyPeer(), " +
                               number(t.after.flushed, 0) + " once the L2 cache was emptied";
    const bool in_l2 = t.after.copied < (t.l2 + t.after.flushed) / 2;
    return t.after.of_a_peer ? seen(in_l2, figure) : unseen("needs two GPUs; from this one to itself: " + figure);
}

struct peer_reads {
    bool of_a_peer = false;
    double ca = 0, cg = 0, l1 = 0; // cycles
};
peer_reads measure_peer_reads(const engine::evidence& e) {
    constexpr std::uint64_t lines = 128;
    const int other = peer_device();
    if (other == this_device()) {
        return {};
    }
    const memory_on chain(other, lines * line_bytes);
    const auto content = chain_at(chain.data(), lines);
    WARPFOLD_CUDA_CHECK(cudaMemcpy(chain.data(), content.data(), content.size(), cudaMemcpyHostToDevice));
    stopwatch_in_cycles watch;
    const auto by = [&](auto kernel) {
        return watch.each(16, [&](cudaStream_t on, std::int32_t* out, std::int64_t* cycles) {
            kernel<<<1, 1, 0, on>>>(out, chain.data(), static_cast<unsigned>(lines), 16, cycles);
        });
    };
    return {true, by(follow_to_the_end<true>), by(follow_to_the_end<false>), memory_of(e).l1};
}

verdict peers_take_the_l1_path(const engine::evidence& /*e*/, const peer_reads& t) {
    if (!t.of_a_peer) {
        return unseen("needs two GPUs");
    }
    return seen(std::abs(t.ca - t.l1) < std::abs(t.ca - t.cg),
                number(t.ca, 0) + " cycles to read a peer's memory again by ld.ca, " + number(t.cg, 0) +
                    " by ld.cg; L1 " + number(t.l1, 0));
}

engine::sample copied_over(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::bytes_of(engine::numbers(n, seed));
    return {n, {in}, in};
}

// To the peer and back; a device alone copies to its own memory and back.
void run_there_and_back(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const std::size_t bytes = on.n * sizeof(int);
    const int here = this_device();
    const int other = peer_device();
    const memory_on there(other, bytes);
    WARPFOLD_CUDA_CHECK(cudaMemcpyPeerAsync(there.data(), other, on.in[0], here, bytes, on.stream));
    WARPFOLD_CUDA_CHECK(cudaMemcpyPeerAsync(on.out, here, there.data(), other, bytes, on.stream));
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream));
}

} // namespace

engine::step_definition peer_memory() {
    return {.about = {"peer", "another GPU's memory", "ladder/occupancy/12_peer.cu",
                      "copied from there, and read where it is", "380, GPU Memory System"},
            .data = copied_over,
            .run = run_there_and_back,
            .size = engine::at_most(1u << 20),
            .least_bytes = [](std::uint64_t n) { return 4 * n * sizeof(int); },
            .claims = {
                {"all DRAM accesses go through L2, including copies P2P", "380, GPU Memory System",
                 engine::measured(measure_peer_copy, copies_go_through_l2)
                     .refuted_by(engine::figures_in_place("as slow as from DRAM", peer_copy{{true, 663, 663}, 280}))},
                {"peer GPU memory takes the L1 path", "380, Access Path",
                 engine::measured(measure_peer_reads, peers_take_the_l1_path)
                     .refuted_by(engine::figures_in_place("as slow as by ld.cg", peer_reads{true, 1500, 1500, 32}))}}};
}

} // namespace warpfold::ladder::occupancy
