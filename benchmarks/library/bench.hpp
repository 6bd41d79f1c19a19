// SPDX-License-Identifier: MIT
// Times a call of the library and a peer's alternately, captured in CUDA graphs. Cold: every call on uncached memory.
// Warm: every call on the same memory.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "measure/ceilings.hpp"
#include "measure/device.hpp"
#include "measure/facts.hpp"
#include "measure/statistics.hpp"

namespace warpfold::bench {

// A call on the k-th copy of its input.
using call = std::function<void(cudaStream_t, unsigned)>;

class captured {
public:
    captured(const measure::stream& on, const call& work, unsigned calls, unsigned copies) {
        cudaGraph_t graph = nullptr;
        WARPFOLD_CUDA_CHECK(cudaStreamBeginCapture(on.handle(), cudaStreamCaptureModeRelaxed));
        for (unsigned k = 0; k < calls; ++k) {
            work(on.handle(), k % copies);
        }
        WARPFOLD_CUDA_CHECK(cudaStreamEndCapture(on.handle(), &graph));
        WARPFOLD_CUDA_CHECK(cudaGraphInstantiate(&instance_, graph, 0));
        WARPFOLD_CUDA_CHECK(cudaGraphDestroy(graph));
    }
    captured(const captured&) = delete;
    captured& operator=(const captured&) = delete;
    ~captured() { (void)cudaGraphExecDestroy(instance_); }

    void run(const measure::stream& on) const { WARPFOLD_CUDA_CHECK(cudaGraphLaunch(instance_, on.handle())); }

private:
    cudaGraphExec_t instance_ = nullptr;
};

struct times {
    double ours = 0; // seconds a call, medians
    double peer = 0;
};

// Medians of single calls on a stream, ours and the peer's alternately, with events around each. Every call uses another
// copy, and the host launches meanwhile. At least `least` of each; more of short calls, whose launch times vary.
inline times streamed(const measure::stream& on, const call& ours, const call& peer, unsigned copies, unsigned least) {
    constexpr unsigned most = 301;
    constexpr double long_enough = 0.02; // seconds
    measure::event begin, end;
    std::vector<double> of_ours, of_peer;
    unsigned copy = 0;
    double taken = 0;
    const auto sample = [&](const call& work, std::vector<double>& into) {
        begin.record(on.handle());
        work(on.handle(), copy++ % copies);
        end.record(on.handle());
        end.synchronize();
        into.push_back(end.seconds_since(begin));
        taken += into.back();
    };
    while (of_ours.size() < least || (of_ours.size() < most && taken < long_enough)) {
        sample(ours, of_ours);
        sample(peer, of_peer);
    }
    return {measure::quantile(of_ours, 0.5), measure::quantile(of_peer, 0.5)};
}

// `copies` of the input are contiguous and exceed the cache together, unless they are short or there is only one.
inline times compare(const measure::stream& on, const call& ours, const call& peer, unsigned copies, unsigned calls,
                     unsigned samples) {
    const captured a(on, ours, calls, copies);
    const captured b(on, peer, calls, copies);
    measure::event begin, end;
    std::vector<double> of_ours, of_peer;
    const auto sample = [&](const captured& work, std::vector<double>& into) {
        begin.record(on.handle());
        work.run(on);
        end.record(on.handle());
        end.synchronize();
        into.push_back(end.seconds_since(begin) / calls);
    };
    a.run(on);
    b.run(on);
    on.synchronize();
    for (unsigned k = 0; k < samples; ++k) {
        sample(a, of_ours);
        sample(b, of_peer);
    }
    return {measure::quantile(of_ours, 0.5), measure::quantile(of_peer, 0.5)};
}

// A line with the device and its read and copy rates in 1e9 bytes per second, measured over `bytes` of memory.
inline measure::ceilings measure_and_print_ceilings(const measure::stream& on,
                                                    std::size_t bytes = std::size_t{1} << 30) {
    const measure::device_facts device = measure::current_device();
    measure::timer clock(on, device.l2_bytes);
    const measure::ceilings best = measure::measure_ceilings(on, clock, device.multiprocessors, bytes, {});
    std::printf("# %s, read %.1f GB/s, copy %.1f GB/s\n", device.name.c_str(), best.read_gb_per_s, best.copy_gb_per_s);
    return best;
}

// That line, and one with the column names: print_row's and the benchmark's own.
inline void print_head(const measure::stream& on, const char* peer = "CUB", const char* more = "",
                       std::size_t bytes = std::size_t{1} << 30) {
    measure_and_print_ceilings(on, bytes);
    std::printf("# what\ttype\tn");
    for (const char* way : {"stream", "graph cold", "graph warm"}) {
        std::printf("\t%s ours us\t%s us\tratio", way, peer);
    }
    std::printf("\tGB/s%s\n", more);
}

// One line: what, type, n; microseconds of ours and of the peer and their ratio for calls on a stream with a cold
// cache, for a graph of calls with a cold cache, for one with a warm cache; GB/s of ours in the second.
inline void print_row(const std::string& what, const std::string& type, std::uint64_t n, double bytes,
                      const times& stream, const times& cold, const times& warm) {
    std::printf("%s\t%s\t%llu", what.c_str(), type.c_str(), static_cast<unsigned long long>(n));
    for (const times& t : {stream, cold, warm}) {
        std::printf("\t%.2f\t%.2f\t%.3f", t.ours * 1e6, t.peer * 1e6, t.ours / t.peer);
    }
    std::printf("\t%.1f\n", bytes / cold.ours * 1e-9);
    std::fflush(stdout);
}

// Times both calls, whose input on the k-th copy begins `apart` bytes behind the one before, and prints the row. `bytes`
// are those that have to be read and written at least.
inline void measure_and_print_row(const measure::stream& on, const std::string& what, const std::string& type,
                                  std::uint64_t n, double bytes, std::uint64_t apart, unsigned copies, const call& ours,
                                  const call& peer, unsigned samples = 9) {
    const auto calls = static_cast<unsigned>(std::clamp<std::uint64_t>((std::uint64_t{1} << 28) / apart, 1, 32));
    const times cold = compare(on, ours, peer, copies, std::max(calls, copies > 8 ? 16u : 2u), samples);
    const times warm = compare(on, ours, peer, 1, calls, samples);
    const times stream = streamed(on, ours, peer, copies, samples);
    print_row(what, type, n, bytes, stream, cold, warm);
}

} // namespace warpfold::bench
