// SPDX-License-Identifier: MIT
// Compactions and reductions by key beside CUB's, as lines of a table. The ceiling is the copy rate; bytes are those of
// elements, flags, keys and values that have to be read, and of results. Needs a GPU with 12 GiB.
#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/device_data.cuh"
#include "warpfold/by_key.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/select.cuh"

using namespace warpfold;

namespace {

__host__ __device__ std::uint32_t random_of(std::uint64_t k) {
    std::uint64_t x = (k + 1) * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ull;
    return static_cast<std::uint32_t>(x >> 32);
}

// Elements are random. Keys are sorted, and a key begins a run with probability 1 / run.
template <class T>
__global__ void fill(T* elements, unsigned char* flags, std::uint64_t n, std::uint32_t selected) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        elements[k] = static_cast<T>(random_of(k));
        flags[k] = random_of(k) < selected ? 1 : 0;
    }
}
struct begins {
    __host__ __device__ std::uint32_t operator()(std::uint32_t, std::uint64_t k) const {
        return random_of(k) < limit ? 1 : 0;
    }
    std::uint32_t limit;
};

template <class T>
struct below {
    __host__ __device__ bool operator()(T x) const { return x < limit; }
    T limit;
};

constexpr std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

struct room {
    measure::stream stream;
    workspace memory{std::size_t{16} << 20};
    measure::device_memory peer_memory{std::size_t{256} << 20};
    measure::device_memory counts{256};
    bool timed = false; // the peer writes where ours does then, so that no cache holds its results either

    [[nodiscard]] std::uint32_t* count() const { return static_cast<std::uint32_t*>(counts.data()); }
    [[nodiscard]] std::uint32_t* peer_count() const { return count() + 1; }
};

// Compares the results of both calls, of `width` arrays, and prints the row. `read` are bytes per element, `written` are
// bytes per result.
template <class T>
void row(room& in, const std::string& what, const char* type, std::uint64_t n, double read, double written,
         std::uint64_t apart, unsigned copies, const bench::call& ours, const bench::call& peer, const T* out,
         const T* peer_out) {
    ours(in.stream.handle(), 0);
    peer(in.stream.handle(), 0);
    in.stream.synchronize();
    std::uint32_t found[2];
    WARPFOLD_CUDA_CHECK(cudaMemcpy(found, in.count(), sizeof found, cudaMemcpyDeviceToHost));
    if (found[0] != found[1] || count_if(gpu{}, out, found[0], bench::differs<T>{peer_out}) != 0) {
        std::printf("%s\t%s\t%llu\tresults differ\n", what.c_str(), type, static_cast<unsigned long long>(n));
        return;
    }
    const double bytes = static_cast<double>(n) * read + found[0] * written;
    in.timed = true;
    bench::measure_and_print_row(in.stream, what, type, n, bytes, apart, copies, ours, peer);
    in.timed = false;
}

template <class T>
void selections(room& in, const char* type, std::uint64_t n) {
    const std::uint64_t flags_at = rounded(n * sizeof(T)), out_at = flags_at + rounded(n),
                        rejected_at = out_at + flags_at, apart = rejected_at + flags_at;
    const auto copies = static_cast<unsigned>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / apart, 1, 64));
    const measure::device_memory pool(apart * copies), others(rounded(n * sizeof(T)));
    const auto at = [&](unsigned k) { return static_cast<unsigned char*>(pool.data()) + k * apart; };
    const auto elements = [&](unsigned k) { return reinterpret_cast<T*>(at(k)); };
    const auto flags = [&](unsigned k) { return at(k) + flags_at; };
    const auto out = [&](unsigned k) { return reinterpret_cast<T*>(at(k) + out_at); };
    const auto rejected = [&](unsigned k) { return reinterpret_cast<T*>(at(k) + rejected_at); };
    T* const compared = static_cast<T*>(others.data());
    const auto peer_out = [&](unsigned k) { return in.timed ? out(k) : compared; };
    const auto most = static_cast<std::int64_t>(n);
    const auto peer_call = [&](auto&& cub) -> bench::call {
        return [&in, cub](cudaStream_t s, unsigned k) {
            std::size_t bytes = in.peer_memory.bytes();
            WARPFOLD_CUDA_CHECK(cub(in.peer_memory.data(), bytes, s, k));
        };
    };
    for (const unsigned percent : {1u, 50u, 99u}) {
        const auto limit = static_cast<std::uint32_t>(std::uint64_t{percent} * 0xffffffffu / 100);
        for (unsigned k = 0; k < copies; ++k) {
            fill<<<2048, 256>>>(elements(k), flags(k), n, limit);
        }
        const std::string share = std::to_string(percent) + " %";
        const below<T> test{
            static_cast<T>(static_cast<std::uint64_t>(limit) >> (32 - 8 * std::min<std::size_t>(sizeof(T), 4)))};
        row(
            in, "select " + share, type, n, sizeof(T), sizeof(T), apart, copies,
            [&](cudaStream_t s, unsigned k) {
                select(gpu{s, &in.memory}, elements(k), n, out(k), in.count(), test);
            },
            peer_call([&](void* memory, std::size_t& bytes, cudaStream_t s, unsigned k) {
                return cub::DeviceSelect::If(memory, bytes, elements(k), peer_out(k), in.peer_count(), most, test, s);
            }),
            out(0), compared);
        row(
            in, "select by flags " + share, type, n, sizeof(T) + 1, sizeof(T), apart, copies,
            [&](cudaStream_t s, unsigned k) {
                select(gpu{s, &in.memory}, elements(k), n, out(k), in.count(), where(flags(k)));
            },
            peer_call([&](void* memory, std::size_t& bytes, cudaStream_t s, unsigned k) {
                return cub::DeviceSelect::Flagged(memory, bytes, elements(k), flags(k), peer_out(k), in.peer_count(),
                                                  most, s);
            }),
            out(0), compared);
        if (percent == 50) {
            // CUB writes the rejected elements behind the selected ones, in reverse.
            row(
                in, "partition " + share, type, n, 2 * sizeof(T), 0, apart, copies,
                [&](cudaStream_t s, unsigned k) {
                    partition(gpu{s, &in.memory}, elements(k), n, out(k), rejected(k), in.count(), test);
                },
                peer_call([&](void* memory, std::size_t& bytes, cudaStream_t s, unsigned k) {
                    return cub::DevicePartition::If(memory, bytes, elements(k), peer_out(k), in.peer_count(), most,
                                                    test, s);
                }),
                out(0), compared);
        }
    }
}

// Keys in runs of about `run`.
void keyed(room& in, std::uint64_t n, std::uint32_t run) {
    using T = std::uint32_t;
    const std::uint64_t each = rounded(n * sizeof(T)), apart = 4 * each;
    const auto copies = static_cast<unsigned>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / apart, 1, 64));
    const measure::device_memory pool(apart * copies), others(2 * each);
    const auto array = [&](unsigned k, unsigned which) {
        return reinterpret_cast<T*>(static_cast<unsigned char*>(pool.data()) + k * apart + which * each);
    };
    T* const compared = static_cast<T*>(others.data());
    const auto peer_keys = [&](unsigned k) { return in.timed ? array(k, 2) : compared; };
    const auto peer_values = [&](unsigned k) { return in.timed ? array(k, 3) : compared + each / sizeof(T); };
    for (unsigned k = 0; k < copies; ++k) {
        fill<<<2048, 256>>>(array(k, 1), reinterpret_cast<unsigned char*>(array(k, 2)), n, 0);
        transform_inclusive_scan(gpu{}, array(k, 1), n, array(k, 0), begins{0xffffffffu / run});
    }
    const auto most = static_cast<std::int64_t>(n);
    const std::string runs = "runs of " + std::to_string(run);
    row(
        in, "unique, " + runs, "u32", n, sizeof(T), sizeof(T), apart, copies,
        [&](cudaStream_t s, unsigned k) {
            unique(gpu{s, &in.memory}, array(k, 0), n, array(k, 2), in.count());
        },
        [&](cudaStream_t s, unsigned k) {
            std::size_t bytes = in.peer_memory.bytes();
            WARPFOLD_CUDA_CHECK(cub::DeviceSelect::Unique(in.peer_memory.data(), bytes, array(k, 0), peer_keys(k),
                                                          in.peer_count(), most, s));
        },
        array(0, 2), peer_keys(0));
    row(
        in, "run_length_encode, " + runs, "u32", n, sizeof(T), 2 * sizeof(T), apart, copies,
        [&](cudaStream_t s, unsigned k) {
            run_length_encode(gpu{s, &in.memory}, array(k, 0), n, array(k, 2), array(k, 3), in.count());
        },
        [&](cudaStream_t s, unsigned k) {
            std::size_t bytes = in.peer_memory.bytes();
            WARPFOLD_CUDA_CHECK(cub::DeviceRunLengthEncode::Encode(
                in.peer_memory.data(), bytes, array(k, 0), peer_keys(k), peer_values(k), in.peer_count(), most, s));
        },
        array(0, 3), peer_values(0));
    row(
        in, "reduce_by_key, " + runs, "u32", n, 2 * sizeof(T), 2 * sizeof(T), apart, copies,
        [&](cudaStream_t s, unsigned k) {
            reduce_by_key(gpu{s, &in.memory}, array(k, 0), n, array(k, 1), array(k, 2), array(k, 3), in.count());
        },
        [&](cudaStream_t s, unsigned k) {
            std::size_t bytes = in.peer_memory.bytes();
            WARPFOLD_CUDA_CHECK(cub::DeviceReduce::ReduceByKey(in.peer_memory.data(), bytes, array(k, 0), peer_keys(k),
                                                               array(k, 1), peer_values(k), in.peer_count(),
                                                               cuda::std::plus<>{}, most, s));
        },
        array(0, 3), peer_values(0));
    WARPFOLD_CUDA_CHECK(cudaMemset(in.count(), 0, 8)); // scans by key: all results are compared below
    const bench::call ours = [&](cudaStream_t s, unsigned k) {
        inclusive_scan_by_key(gpu{s, &in.memory}, array(k, 0), n, array(k, 1), array(k, 2));
    };
    const bench::call peer = [&](cudaStream_t s, unsigned k) {
        std::size_t bytes = in.peer_memory.bytes();
        WARPFOLD_CUDA_CHECK(cub::DeviceScan::InclusiveSumByKey(in.peer_memory.data(), bytes, array(k, 0), array(k, 1),
                                                               peer_values(k), most, cuda::std::equal_to<>{}, s));
    };
    ours(in.stream.handle(), 0);
    peer(in.stream.handle(), 0);
    in.stream.synchronize();
    if (count_if(gpu{}, array(0, 2), n, bench::differs<T>{peer_values(0)}) != 0) {
        std::printf("inclusive_scan_by_key, %s\tu32\t%llu\tresults differ\n", runs.c_str(),
                    static_cast<unsigned long long>(n));
        return;
    }
    in.timed = true;
    bench::measure_and_print_row(in.stream, "inclusive_scan_by_key, " + runs, "u32", n,
                                 static_cast<double>(3 * n * sizeof(T)), apart, copies, ours, peer);
    in.timed = false;
}

} // namespace

// compact [E]: only arrays of 2^E elements.
int main(int argc, char** argv) {
    try {
        room in;
        bench::print_head(in.stream);
        const std::vector<unsigned> sizes = argc > 1 ? std::vector<unsigned>{static_cast<unsigned>(std::atoi(argv[1]))}
                                                     : std::vector<unsigned>{10, 16, 20, 24, 28};
        for (const unsigned e : sizes) {
            const std::uint64_t n = std::uint64_t{1} << e;
            selections<std::uint32_t>(in, "u32", n);
            selections<std::uint8_t>(in, "u8", n);
            selections<std::uint64_t>(in, "u64", n / 2);
            keyed(in, n, 2);
            keyed(in, n, 50);
            keyed(in, n, 10000);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
