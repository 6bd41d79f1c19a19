// SPDX-License-Identifier: MIT
// The library's histograms alone, 2^28 samples, cold, one line each, to compare tunings (WARPFOLD_TUNING_HISTOGRAM at
// compile time). With any argument each call runs once, for a profiler. Needs a GPU with 4 GiB.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/histogram_samples.cuh"
#include "warpfold/histogram.cuh"

using namespace warpfold;
using bench::shape;

namespace {

constexpr std::uint64_t n = std::uint64_t{1} << 28;

struct room {
    measure::stream stream;
    measure::device_memory samples{n * 8};
    measure::device_memory counts{std::size_t{64} << 20};
    workspace memory{histogram_workspace()};
    double read = 0;
    bool once = false;
};

template <class T, class Level>
void row(room& in, const char* type, unsigned bins, Level upper, shape which) {
    T* const data = static_cast<T*>(in.samples.data());
    const auto copies = static_cast<unsigned>(8 / sizeof(T));
    bench::fill<<<2048, 256>>>(data, n * copies, static_cast<double>(upper), which);
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    const bench::call work = [&](cudaStream_t s, unsigned k) {
        histogram(gpu{s, &in.memory}, static_cast<const T*>(data + k * n), n, static_cast<unsigned*>(in.counts.data()),
                  even_bins<Level>(0, upper, bins));
    };
    if (in.once) {
        work(in.stream.handle(), 0);
        in.stream.synchronize();
        return;
    }
    const bench::captured graph(in.stream, work, 2, copies);
    measure::event begin, end;
    std::vector<double> seconds;
    for (unsigned k = 0; k < 6; ++k) {
        begin.record(in.stream.handle());
        graph.run(in.stream);
        end.record(in.stream.handle());
        end.synchronize();
        seconds.push_back(end.seconds_since(begin) / 2);
    }
    const double once = measure::quantile(seconds, 0.5), rate = static_cast<double>(n * sizeof(T)) / once * 1e-9;
    std::printf("%s\t%u\t%s\t%.1f us\t%.1f GB/s\t%.1f %% of read\n", type, bins,
                bench::shape_names[static_cast<int>(which)], once * 1e6, rate, 100 * rate / in.read);
    std::fflush(stdout);
}

} // namespace

int main(int count, char** /*arguments*/) {
    try {
        room in;
        in.once = count > 1;
        in.read = bench::measure_and_print_ceilings(in.stream).read_gb_per_s;
        for (const shape which : {shape::uniform, shape::skewed, shape::constant}) {
            row<std::uint8_t>(in, "u8", 256, 256, which);
            for (const unsigned bins : {256u, 2048u, 16384u, 65536u, 1u << 20, 1u << 24}) {
                row<std::int32_t>(in, "i32", bins, static_cast<int>(bins), which);
            }
            row<float>(in, "f32", 2048, 1.0f, which);
            row<float>(in, "f32", 1 << 20, 1.0f, which);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
