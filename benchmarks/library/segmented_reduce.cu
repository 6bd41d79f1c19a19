// SPDX-License-Identifier: MIT
// Sums of segments beside CUB's, as lines of a table, for lengths from one to all. The ceiling is the read rate, with
// values, offsets and results moved once each. Needs a GPU with 12 GiB.
#include <cub/device/device_segmented_reduce.cuh>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/device_data.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/segmented_reduce.cuh"

using namespace warpfold;

namespace {

// Reference if the peer is skipped: one warp per segment.
template <class T, class Offset>
__global__ void reference(const T* data, const Offset* offsets, std::uint64_t segments, T* out) {
    const unsigned lane = threadIdx.x % 32;
    for (std::uint64_t s = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; s < segments;
         s += std::uint64_t{gridDim.x} * blockDim.x / 32) {
        T mine{};
        for (Offset k = offsets[s] + static_cast<Offset>(lane); k < offsets[s + 1]; k += 32) {
            mine += data[k];
        }
        for (unsigned distance = 16; distance != 0; distance /= 2) {
            mine += __shfl_down_sync(~0u, mine, distance);
        }
        if (lane == 0) {
            out[s] = mine;
        }
    }
}

struct room {
    measure::stream stream;
    workspace memory{std::size_t{1} << 20};
    measure::device_memory peer_memory{std::size_t{1} << 20};
};

// Copies of the values and of the offsets; together they exceed the cache.
template <class T, class Offset>
void row(room& in, const std::string& what, const char* type, const std::vector<Offset>& offsets, std::uint64_t length,
         bool alone = false) {
    const std::uint64_t segments = offsets.size() - 1, n = static_cast<std::uint64_t>(offsets.back());
    const std::uint64_t value_bytes = (n * sizeof(T) + 255) / 256 * 256;
    const std::uint64_t offset_bytes = (offsets.size() * sizeof(Offset) + 255) / 256 * 256;
    const std::uint64_t out_bytes = (segments * sizeof(T) + 255) / 256 * 256;
    const bool equal = length != 0;
    const std::uint64_t apart = value_bytes + offset_bytes + out_bytes;
    const auto copies = static_cast<unsigned>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / apart, 1, 64));
    const measure::device_memory pool(apart * copies), peer_out(out_bytes);
    const auto at = [&](unsigned k) { return static_cast<unsigned char*>(pool.data()) + k * apart; };
    for (unsigned k = 0; k < copies; ++k) {
        bench::fill<<<2048, 256>>>(reinterpret_cast<T*>(at(k)), n);
        WARPFOLD_CUDA_CHECK(
            cudaMemcpy(at(k) + value_bytes, offsets.data(), offsets.size() * sizeof(Offset), cudaMemcpyHostToDevice));
    }
    const bench::call a = [&](cudaStream_t s, unsigned k) {
        const T* const values = reinterpret_cast<const T*>(at(k));
        T* const out = reinterpret_cast<T*>(at(k) + value_bytes + offset_bytes);
        const gpu on{s, &in.memory};
        if (equal) {
            segmented_reduce(on, values, equal_segments{length}, segments, out);
        } else {
            segmented_reduce(on, values, reinterpret_cast<const Offset*>(at(k) + value_bytes), segments, out);
        }
    };
    bool timed = false; // the peer writes where ours does then, so that no cache holds its results either
    const bench::call b = [&](cudaStream_t s, unsigned k) {
        std::size_t room = in.peer_memory.bytes();
        const T* const values = reinterpret_cast<const T*>(at(k));
        T* const out =
            timed ? reinterpret_cast<T*>(at(k) + value_bytes + offset_bytes) : static_cast<T*>(peer_out.data());
        // CUB has no form for equal lengths.
        const Offset* const first = reinterpret_cast<const Offset*>(at(k) + value_bytes);
        WARPFOLD_CUDA_CHECK(cub::DeviceSegmentedReduce::Sum(in.peer_memory.data(), room, values, out,
                                                            static_cast<std::int64_t>(segments), first, first + 1, s));
    };
    a(in.stream.handle(), 0);
    if (alone) {
        reference<<<2048, 256>>>(reinterpret_cast<const T*>(at(0)),
                                 reinterpret_cast<const Offset*>(at(0) + value_bytes), segments,
                                 static_cast<T*>(peer_out.data()));
    } else {
        b(in.stream.handle(), 0);
    }
    in.stream.synchronize();
    const auto wrong = count_if(gpu{}, reinterpret_cast<const T*>(at(0) + value_bytes + offset_bytes), segments,
                                bench::differs<T>{static_cast<const T*>(peer_out.data())});
    if (wrong != 0) {
        std::printf("%s\t%s\t%llu\t%llu results differ\n", what.c_str(), type, static_cast<unsigned long long>(n),
                    static_cast<unsigned long long>(wrong));
        return;
    }
    timed = true;
    const unsigned samples = n > 1u << 25 ? 3 : 9; // the peer takes its time
    const std::uint64_t moved = n * sizeof(T) + segments * sizeof(T) + (equal ? 0 : offsets.size() * sizeof(Offset));
    bench::measure_and_print_row(in.stream, what, type, n, static_cast<double>(moved), apart, copies, a, alone ? a : b,
                                 samples);
}

template <class Offset>
std::vector<Offset> offsets_each(std::uint64_t n, std::uint64_t length) {
    std::vector<Offset> offsets;
    for (std::uint64_t at = 0; at < n; at += length) {
        offsets.push_back(static_cast<Offset>(at));
    }
    offsets.push_back(static_cast<Offset>(n));
    return offsets;
}

// Lengths from 0 to 7, each as often.
std::vector<std::int32_t> offsets_of_short_segments(std::uint64_t n) {
    std::vector<std::int32_t> offsets{0};
    std::uint64_t state = 1;
    while (static_cast<std::uint64_t>(offsets.back()) < n) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        offsets.push_back(
            static_cast<std::int32_t>(std::min(n, static_cast<std::uint64_t>(offsets.back()) + (state >> 61))));
    }
    return offsets;
}

// Power law: lengths are distributed as 1 / (length * length).
std::vector<std::int64_t> offsets_of_power_law(std::uint64_t n) {
    std::vector<std::int64_t> offsets{0};
    std::uint64_t state = 1;
    while (static_cast<std::uint64_t>(offsets.back()) < n) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        const std::uint64_t length = (std::uint64_t{1} << 24) / ((state >> 40) + 1);
        offsets.push_back(static_cast<std::int64_t>(std::min(n, static_cast<std::uint64_t>(offsets.back()) + length)));
    }
    return offsets;
}

// Many segments of one element, at most half of all elements, and one segment with the rest.
std::vector<std::int64_t> offsets_of_extremes(std::uint64_t n, std::uint64_t many) {
    many = std::min(many, n / 2);
    std::vector<std::int64_t> offsets = offsets_each<std::int64_t>(many, 1);
    offsets.push_back(static_cast<std::int64_t>(n));
    return offsets;
}

} // namespace

// segmented_reduce [E [S]]: only arrays of 2^E elements, only segments of 2^S. WARPFOLD_BENCH_SHORT, for a tuner, skips
// the peer and defaults to one size.
int main(int argc, char** argv) {
    try {
        room in;
        bench::print_head(in.stream);
        const bool brief = std::getenv("WARPFOLD_BENCH_SHORT") != nullptr;
        const auto argument = [&](int k) { return static_cast<unsigned>(std::atoi(argv[k])); };
        const std::vector<unsigned> sizes =
            argc > 1 ? std::vector<unsigned>{argument(1)}
                     : (brief ? std::vector<unsigned>{28} : std::vector<unsigned>{10, 16, 20, 24, 28});
        for (const unsigned e : sizes) {
            const std::uint64_t n = std::uint64_t{1} << e;
            for (const unsigned l : {0u, 4u, 6u, 8u, 10u, 14u, 20u, 26u}) {
                if (l > e || (brief && l == 26) || (argc > 2 && l != argument(2))) {
                    continue;
                }
                const std::uint64_t length = std::uint64_t{1} << l;
                row<float>(in, "segments of " + std::to_string(length), "f32", offsets_each<std::int32_t>(n, length), 0,
                           brief);
                row<float>(in, "equal segments of " + std::to_string(length), "f32",
                           offsets_each<std::int32_t>(n, length), length, brief);
            }
            if (argc > 2) {
                continue;
            }
            for (const std::uint64_t length : {33u, 100u}) {
                row<float>(in, "equal segments of " + std::to_string(length), "f32",
                           offsets_each<std::int32_t>(n / length * length, length), length, brief);
            }
            row<float>(in, "segments of 0 to 7", "f32", offsets_of_short_segments(n), 0, brief);
            row<float>(in, "power law", "f32", offsets_of_power_law(n), 0, brief);
            row<float>(in, "a million of 1, one of the rest", "f32", offsets_of_extremes(n, 1000000), 0, brief);
            if (e >= 20) {
                row<float>(in, "8000 of 1, one of the rest", "f32", offsets_of_extremes(n, 8000), 0, brief);
                row<double>(in, "segments of 64", "f64", offsets_each<std::int64_t>(n / 2, 64), 0, brief);
                row<std::int32_t>(in, "segments of 64", "i32", offsets_each<std::int64_t>(n, 64), 0, brief);
                row<std::int32_t>(in, "equal segments of 64", "i32", offsets_each<std::int32_t>(n, 64), 64, brief);
            }
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
