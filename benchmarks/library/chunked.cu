// SPDX-License-Identifier: MIT
// Chunked calls beside a copy of all data followed by CUB or Thrust, and the copy rate of large pinned buffers. Times are
// medians by the host's clock around whole calls. Needs a GPU with 12 GiB and a host with 24 GiB of memory, 4 of them for
// a file in /dev/shm.
//   chunked [tune]    the table, or every chunk size and number of threads
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "measure/device.hpp"
#include "measure/facts.hpp"
#include "measure/statistics.hpp"
#include "warpfold/chunked.cuh"

using namespace warpfold;

namespace {

std::uint64_t bytes = std::uint64_t{4} << 30; // of each array
constexpr const char* file_name = "/dev/shm/warpfold_stream_benchmark";

double seconds_of(const std::function<void()>& work, unsigned samples = 5) {
    std::vector<double> all;
    work();
    for (unsigned k = 0; k < samples; ++k) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return measure::quantile(all, 0.5);
}

double rate(std::uint64_t moved, double seconds) { return static_cast<double>(moved) / seconds * 1e-9; }

// Host memory, pinned or pageable; all pages are touched.
struct pinned_free {
    void operator()(void* p) const { (void)cudaFreeHost(p); }
};
using pinned = std::unique_ptr<void, pinned_free>;
pinned take_pinned(std::uint64_t size) {
    void* p = nullptr;
    WARPFOLD_CUDA_CHECK(cudaMallocHost(&p, size));
    return pinned(p);
}

template <class T>
void fill(T* data, std::uint64_t n) { // sums stay exact
    detail::parallel_for(0, 1024, [&](std::uint64_t part) {
        for (std::uint64_t k = n / 1024 * part; k < n / 1024 * (part + 1); ++k) {
            data[k] = static_cast<T>(static_cast<int>((k * 0x9E3779B97F4A7C15ull >> 40) % 3) - 1);
        }
    });
}

// A source larger than any memory: one array, repeated.
struct repeated {
    using element = std::int32_t;

    [[nodiscard]] std::uint64_t size() const { return count; }
    void read(std::uint64_t first, std::int32_t* to, std::uint64_t n) const {
        while (n != 0) {
            const std::uint64_t at = first % of, now = std::min(n, of - at);
            std::memcpy(to, data + at, now * sizeof(*to));
            to += now;
            first += now;
            n -= now;
        }
    }

    const std::int32_t* data;
    std::uint64_t of, count;
};

struct bench {
    pinned in = take_pinned(bytes), out = take_pinned(bytes);
    std::vector<unsigned char> pageable = std::vector<unsigned char>(bytes),
                               pageable_out = std::vector<unsigned char>(bytes);
    measure::device_memory there{bytes}, there_out{bytes}, room{std::size_t{256} << 20};
    transfer_buffers buffers;
    double up = 0, down = 0; // GB/s

    void ceilings() {
        const double h2d = seconds_of([&] {
            WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(there.data(), in.get(), bytes, cudaMemcpyHostToDevice, nullptr));
            WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(nullptr));
        });
        const double d2h = seconds_of([&] {
            WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(out.get(), there.data(), bytes, cudaMemcpyDeviceToHost, nullptr));
            WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(nullptr));
        });
        measure::stream one, other;
        const double both = seconds_of([&] {
            WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(there.data(), in.get(), bytes, cudaMemcpyHostToDevice, one.handle()));
            WARPFOLD_CUDA_CHECK(
                cudaMemcpyAsync(out.get(), there_out.data(), bytes, cudaMemcpyDeviceToHost, other.handle()));
            one.synchronize();
            other.synchronize();
        });
        const double plain = seconds_of(
            [&] { WARPFOLD_CUDA_CHECK(cudaMemcpy(there.data(), pageable.data(), bytes, cudaMemcpyHostToDevice)); }, 3);
        up = rate(bytes, h2d);
        down = rate(bytes, d2h);
        std::printf(
            "# to the device %.1f GB/s, from it %.1f, both at once %.1f each way; from pageable memory by cudaMemcpy "
            "%.1f\n",
            up, down, rate(bytes, both), rate(bytes, plain));
        const std::size_t some = std::size_t{64} << 20;
        const double take = seconds_of([&] { transfer_buffers().reserve(some); });
        const double enroll = seconds_of([&] {
            WARPFOLD_CUDA_CHECK(cudaHostRegister(pageable.data(), 1 << 30, cudaHostRegisterPortable));
            WARPFOLD_CUDA_CHECK(cudaHostUnregister(pageable.data()));
        });
        const double copy_one = seconds_of([&] { std::memcpy(out.get(), pageable.data(), 1 << 30); });
        const double copy_all = seconds_of([&] {
            detail::parallel_for(0, bytes >> 20, [&](std::uint64_t k) {
                std::memcpy(static_cast<char*>(out.get()) + (k << 20), pageable.data() + (k << 20), 1 << 20);
            });
        });
        std::printf("# %u threads; memcpy by one %.1f GB/s, by all %.1f; 64 MiB pinned in %.2f ms, 1 GiB registered in "
                    "%.1f ms\n",
                    std::thread::hardware_concurrency(), rate(1 << 30, copy_one), rate(bytes, copy_all), take * 1e3,
                    enroll * 1e3);
    }

    // `ours` and its peers; all return the same result.
    using call = std::function<double()>;
    void row(const char* what, const char* type, const char* where, std::uint64_t moved, double limit, const call& ours,
             const std::vector<call>& peers) {
        double result = ours();
        std::printf("%s\t%s\t%s", what, type, where);
        const double mine = seconds_of([&] { result = ours(); });
        std::printf("\t%.2f\t%.1f\t%.1f", mine * 1e3, rate(moved, mine), 100 * rate(moved, mine) / limit);
        for (const call& peer : peers) {
            double theirs = 0;
            const double time = seconds_of([&] { theirs = peer(); }, 2);
            if (theirs != result) {
                std::printf("\tresults differ: %g and %g", result, theirs);
            } else {
                std::printf("\t%.2f\t%.3f", time * 1e3, mine / time);
            }
        }
        std::printf("\n");
        std::fflush(stdout);
    }

    chunked_options with_buffers() {
        chunked_options options;
        options.buffers = &buffers;
        return options;
    }

    template <class T>
    double copy_and_cub(const T* data) {
        using A = accumulator_t<sum, T>;
        auto* const to = static_cast<T*>(there.data());
        WARPFOLD_CUDA_CHECK(cudaMemcpy(to, data, bytes, cudaMemcpyHostToDevice));
        std::size_t size = room.bytes() - 256;
        auto* const result = reinterpret_cast<A*>(static_cast<char*>(room.data()) + size);
        WARPFOLD_CUDA_CHECK(
            cub::DeviceReduce::Reduce(room.data(), size, to, result, bytes / sizeof(T), cuda::std::plus<>{}, A{}));
        A got;
        WARPFOLD_CUDA_CHECK(cudaMemcpy(&got, result, sizeof(A), cudaMemcpyDeviceToHost));
        return static_cast<double>(got);
    }
    template <class T>
    double copy_and_thrust(const T* data) {
        using A = accumulator_t<sum, T>;
        const thrust::device_vector<T> to(data, data + bytes / sizeof(T));
        return static_cast<double>(thrust::reduce(to.begin(), to.end(), A{}));
    }
    double copy_and_scan(const float* data, float* results) {
        auto* const to = static_cast<float*>(there.data());
        auto* const from = static_cast<float*>(there_out.data());
        WARPFOLD_CUDA_CHECK(cudaMemcpy(to, data, bytes, cudaMemcpyHostToDevice));
        std::size_t size = room.bytes();
        WARPFOLD_CUDA_CHECK(cub::DeviceScan::InclusiveSum(room.data(), size, to, from, bytes / 4));
        WARPFOLD_CUDA_CHECK(cudaMemcpy(results, from, bytes, cudaMemcpyDeviceToHost));
        return static_cast<double>(results[bytes / 4 - 1]);
    }

    template <class T>
    void sums(const char* type) {
        const std::uint64_t n = bytes / sizeof(T);
        auto* const a = static_cast<T*>(in.get());
        auto* const b = reinterpret_cast<T*>(pageable.data());
        fill(a, n);
        fill(b, n);
        write_file(a);
        const std::span<const T> fixed(a, n), loose(b, n);
        const chunked_options options = with_buffers();
        const file_source<T> file(file_name);
        row("sum", type, "pinned", bytes, up, [&] { return static_cast<double>(chunked_reduce(gpu{}, fixed)); },
            {[&] { return copy_and_cub(a); }, [&] { return copy_and_thrust(a); }});
        row("sum", type, "pageable", bytes, up,
            [&] { return static_cast<double>(chunked_reduce(gpu{}, loose, sum{}, options)); },
            {[&] { return copy_and_cub(b); }, [&] { return copy_and_thrust(b); }});
        row("sum", type, "pageable, buffers taken anew", bytes, up,
            [&] { return static_cast<double>(chunked_reduce(gpu{}, loose)); }, {});
        row("sum", type, "file", bytes, up,
            [&] { return static_cast<double>(chunked_reduce(gpu{}, file, sum{}, options)); }, {});
    }
    template <class T>
    void write_file(const T* data) {
        const file_sink<T> to(file_name);
        detail::parallel_for(0, bytes >> 24,
                             [&](std::uint64_t k) { to.write(k << 24 >> 2, data + (k << 24 >> 2), (1 << 24) >> 2); });
        static_assert(sizeof(T) == 4);
    }
    void others() {
        const std::uint64_t n = bytes / 4;
        for (const unsigned mib : {16, 64, 256}) {
            const std::uint64_t moved = std::uint64_t{mib} << 20;
            const std::string size = std::to_string(mib) + " MiB, ";
            const std::span<const float> fixed(static_cast<const float*>(in.get()), moved / 4);
            const std::span<const float> loose(reinterpret_cast<const float*>(pageable.data()), moved / 4);
            const chunked_options options = with_buffers();
            row("sum", "f32", (size + "pinned").c_str(), moved, up,
                [&] { return static_cast<double>(chunked_reduce(gpu{}, fixed)); }, {});
            row("sum", "f32", (size + "pageable").c_str(), moved, up,
                [&] { return static_cast<double>(chunked_reduce(gpu{}, loose, sum{}, options)); }, {});
        }
        auto* const a = static_cast<float*>(in.get());
        auto* const b = reinterpret_cast<float*>(pageable.data());
        const std::span<const float> fixed(a, n), loose(b, n);
        const chunked_options options = with_buffers();
        row("arg_max", "f32", "pinned", bytes, up,
            [&] { return static_cast<double>(chunked_arg_max(gpu{}, fixed).index); }, {});
        row("exact_sum", "f32", "pinned", bytes, up,
            [&] { return static_cast<double>(chunked_exact_sum(gpu{}, fixed)); }, {[&] { return copy_and_cub(a); }});
        row("exact_sum", "f32", "file", bytes, up,
            [&] { return static_cast<double>(chunked_exact_sum(gpu{}, file_source<float>(file_name), options)); }, {});
        const std::span<const std::uint8_t> samples(reinterpret_cast<const std::uint8_t*>(a), bytes);
        row("histogram, 256 bins", "u8", "pinned", bytes, up,
            [&] {
                return static_cast<double>(
                    chunked_histogram(gpu{}, samples, even_bins<std::uint8_t>::whole_range(256))[0]);
            },
            {});
        auto* const c = static_cast<float*>(out.get());
        auto* const d = reinterpret_cast<float*>(pageable_out.data());
        row("inclusive_scan", "f32", "pinned to pinned", bytes, up,
            [&] {
                chunked_inclusive_scan(gpu{}, fixed, std::span(c, n));
                return static_cast<double>(c[n - 1]);
            },
            {[&] { return copy_and_scan(a, c); }});
        row("inclusive_scan", "f32", "pageable to pageable", bytes, up,
            [&] {
                chunked_inclusive_scan(gpu{}, loose, std::span(d, n), sum{}, options);
                return static_cast<double>(d[n - 1]);
            },
            {[&] { return copy_and_scan(b, d); }});
    }
    void beyond_memory() {
        auto* const data = static_cast<std::int32_t*>(in.get());
        fill(data, bytes / 4);
        const std::uint64_t of = (std::uint64_t{1} << 28) + 1, times = 100;
        const std::int64_t once = reduce(host{}, data, of);
        const chunked_options options = with_buffers();
        const auto begin = std::chrono::steady_clock::now();
        const std::int64_t all = chunked_reduce(gpu{}, repeated{data, of, of * times}, sum{}, options);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        std::printf("sum\ti32\t%.0f GB from a source of one's own%s\t%.2f\t%.1f\t%.1f\n",
                    static_cast<double>(of * times) * 4e-9,
                    all == once * static_cast<std::int64_t>(times) ? "" : " IS WRONG", seconds * 1e3,
                    rate(of * times * 4, seconds), 100 * rate(of * times * 4, seconds) / up);
    }
    // Chunk sizes and numbers of threads.
    void tune() {
        const std::uint64_t n = bytes / 4;
        const std::span<const float> fixed(static_cast<const float*>(in.get()), n);
        const std::span<const float> loose(reinterpret_cast<const float*>(pageable.data()), n);
        const std::span<float> fixed_out(static_cast<float*>(out.get()), n);
        const std::span<float> loose_out(reinterpret_cast<float*>(pageable_out.data()), n);
        const file_source<float> file(file_name);
        for (const unsigned mib : {1, 2, 4, 8, 16, 32, 64}) {
            chunked_options options = with_buffers();
            options.chunk_bytes = std::size_t{mib} << 20;
            const double direct = seconds_of([&] { (void)chunked_reduce(gpu{}, fixed, sum{}, options); }, 3);
            const double scan = seconds_of([&] { chunked_inclusive_scan(gpu{}, fixed, fixed_out, sum{}, options); }, 3);
            std::printf("tune\t%u MiB\tpinned: sum %.1f GB/s, scan %.1f\n", mib, rate(bytes, direct),
                        rate(bytes, scan));
            for (const unsigned threads : {2, 4, 8, 12, 16, 24}) {
                options.threads = threads;
                const double staged = seconds_of([&] { (void)chunked_reduce(gpu{}, loose, sum{}, options); }, 2);
                const double read = seconds_of([&] { (void)chunked_reduce(gpu{}, file, sum{}, options); }, 2);
                std::printf("tune\t%u MiB\t%u threads\tpageable %.1f GB/s\tfile %.1f GB/s", mib, threads,
                            rate(bytes, staged), rate(bytes, read));
                if (mib >= 4 && threads >= 8) {
                    const double both =
                        seconds_of([&] { chunked_inclusive_scan(gpu{}, loose, loose_out, sum{}, options); }, 1);
                    std::printf("\tscan %.1f GB/s", rate(bytes, both));
                }
                std::printf("\n");
                std::fflush(stdout);
            }
        }
    }
};

} // namespace

int main(int count, char** words) {
    const bool tune = count > 1 && std::strcmp(words[1], "tune") == 0;
    try {
        if (tune) {
            bytes = std::uint64_t{1} << 30;
        }
        bench b;
        fill(reinterpret_cast<float*>(b.pageable.data()), bytes / 4);
        std::printf("# %s\n", measure::current_device().name.c_str());
        b.ceilings();
        if (tune) {
            b.write_file(reinterpret_cast<const float*>(b.pageable.data()));
            b.tune();
        } else {
            std::printf("# what\ttype\twhere\tours ms\tGB/s\t%% of the rate\tcopy and CUB ms\tratio\tcopy and Thrust "
                        "ms\tratio\n");
            b.sums<std::int32_t>("i32");
            b.sums<float>("f32");
            b.others();
            b.beyond_memory();
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        ::unlink(file_name);
        return 1;
    }
    ::unlink(file_name);
}
