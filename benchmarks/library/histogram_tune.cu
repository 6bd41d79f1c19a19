// SPDX-License-Identifier: MIT
// The library's histograms alone, 2^28 samples, cold, a line each: to compare policies. Arguments such as
// copies_max_bytes=65536 set run-time values of tuning::histogram_policy; compile-time ones are `kernels` below. With the
// argument `once` each call is made once, for a profiler. Needs a GPU with 4 GiB.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/histogram_samples.cuh"
#include "warpfold/histogram.cuh"

using namespace warpfold;
using bench::shape;

namespace {

constexpr tuning::histogram_kernels kernels{};
using policy = tuning::histogram_policy<kernels>;

struct field {
    const char* name;
    unsigned policy::*value;
};
constexpr field fields[] = {{"full_counters_max_blocks", &policy::full_counters_max_blocks},
                            {"packed_counters_max_blocks", &policy::packed_counters_max_blocks},
                            {"private_min_samples_per_counter", &policy::private_min_samples_per_counter},
                            {"copies_max_bytes", &policy::copies_max_bytes},
                            {"block_min_samples", &policy::block_min_samples},
                            {"pass_max_bytes", &policy::pass_max_bytes},
                            {"blocks_per_multiprocessor", &policy::blocks_per_multiprocessor},
                            {"packed_blocks_per_multiprocessor", &policy::packed_blocks_per_multiprocessor},
                            {"direct_blocks_per_multiprocessor", &policy::direct_blocks_per_multiprocessor},
                            {"partition_min_packed_blocks", &policy::partition_min_packed_blocks},
                            {"partition_min_samples", &policy::partition_min_samples},
                            {"partition_max_bins", &policy::partition_max_bins},
                            {"partition_chunk_samples", &policy::partition_chunk_samples}};

// "name=value"
void set_field(policy& of, const std::string& argument) {
    const std::size_t equals = argument.find('=');
    for (const field& one : fields) {
        if (equals != std::string::npos && argument.substr(0, equals) == one.name) {
            of.*one.value = static_cast<unsigned>(std::stoul(argument.substr(equals + 1)));
            return;
        }
    }
    throw std::invalid_argument(argument + " is no FIELD=VALUE of a histogram's policy");
}

constexpr std::uint64_t n = std::uint64_t{1} << 28;

struct room {
    measure::stream stream;
    measure::device_memory samples{n * 8};
    measure::device_memory counts{std::size_t{64} << 20};
    workspace memory{std::size_t{1} << 30};
    double read = 0;
    bool once = false;
    policy tried = policy::of(device_compute_capability());
};

template <class T, class Level>
void row(room& in, const char* type, unsigned bins, Level upper, shape which) {
    T* const data = static_cast<T*>(in.samples.data());
    const auto copies = static_cast<unsigned>(8 / sizeof(T));
    bench::fill<<<2048, 256>>>(data, n * copies, static_cast<double>(upper), which);
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    const bench::call work = [&](cudaStream_t s, unsigned k) {
        histogram(gpu{s, &in.memory}.with(in.tried), static_cast<const T*>(data + k * n), n,
                  static_cast<unsigned*>(in.counts.data()), even_bins<Level>(0, upper, bins));
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

int main(int count, char** arguments) {
    try {
        room in;
        for (int k = 1; k < count; ++k) {
            if (std::string(arguments[k]) == "once") {
                in.once = true;
            } else {
                set_field(in.tried, arguments[k]);
            }
        }
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
