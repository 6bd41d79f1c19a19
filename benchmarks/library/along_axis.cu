// SPDX-License-Identifier: MIT
// Sums and scans along axes, as lines of a table. Peers: CUB's segmented sum with a function of the index for offsets, CUB's
// scan by key with row numbers for keys, and for columns, which CUB has no call for, a kernel with a thread per column, or
// ours again where these are few. The ceiling is the copy rate; bytes are those of elements and results. Needs a GPU with 12 GiB.
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/device_data.cuh"
#include "warpfold/along_axis.cuh"
#include "warpfold/reduce.cuh"

using namespace warpfold;

namespace {

// The kernels that anyone would write first: result (i, k) of an array (outer, along, inner).
template <class T>
__global__ void sum_columns(const T* in, std::uint64_t outer, std::uint64_t along, std::uint64_t inner, T* out) {
    const std::uint64_t column = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (column < outer * inner) {
        const T* at = in + column / inner * along * inner + column % inner;
        T total{};
        for (std::uint64_t j = 0; j < along; ++j) {
            total += at[j * inner];
        }
        out[column] = total;
    }
}
template <class T>
__global__ void scan_columns(const T* in, std::uint64_t outer, std::uint64_t along, std::uint64_t inner, T* out) {
    const std::uint64_t column = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (column < outer * inner) {
        const std::uint64_t first = column / inner * along * inner + column % inner;
        T total{};
        for (std::uint64_t j = 0; j < along; ++j) {
            total += in[first + j * inner];
            out[first + j * inner] = total;
        }
    }
}

struct row_of {
    __host__ __device__ std::int64_t operator()(std::int64_t k) const { return k / length; }
    std::int64_t length;
};
struct begin_of {
    __host__ __device__ std::int64_t operator()(std::int64_t k) const { return k * length; }
    std::int64_t length;
};

struct room {
    measure::stream stream;
    workspace memory{std::size_t{64} << 20};
    measure::device_memory peer_memory{std::size_t{256} << 20};
};

// An array (outer, along, inner), by the second axis.
template <class T>
void shape(room& in, const char* type, std::uint64_t outer, std::uint64_t along, std::uint64_t inner) {
    const std::uint64_t n = outer * along * inner, results = outer * inner;
    const std::uint64_t each = (n * sizeof(T) + 255) / 256 * 256;
    const auto copies = static_cast<unsigned>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / (2 * each), 1, 64));
    const measure::device_memory pool(2 * each * copies), others(each);
    const auto from = [&](unsigned k) {
        return reinterpret_cast<T*>(static_cast<unsigned char*>(pool.data()) + 2 * each * k);
    };
    const auto to = [&](unsigned k) { return from(k) + each / sizeof(T); };
    bool timed = false; // the peer writes where ours does then, so that no cache holds its results either
    const auto peer_out = [&](unsigned k) { return timed ? to(k) : static_cast<T*>(others.data()); };
    for (unsigned k = 0; k < copies; ++k) {
        bench::fill<<<2048, 256>>>(from(k), n);
    }
    const auto view = [&](unsigned k) { return strided_view<const T>(from(k), {outer, along, inner}); };
    const std::string lengths = std::to_string(along) + (inner == 1 ? "" : " x " + std::to_string(inner));
    const std::string name = inner == 1   ? "rows, " + std::to_string(outer) + " x " + lengths
                             : outer == 1 ? "columns, " + lengths
                                          : "middle axis, " + std::to_string(outer) + " x " + lengths;
    const auto blocks = static_cast<unsigned>((results + 255) / 256);
    const auto row = [&](const std::string& what, std::uint64_t written, const bench::call& ours,
                         const bench::call& peer) {
        const bool alone = inner != 1 && results < 4096; // the plain kernel takes up to a second
        ours(in.stream.handle(), 0);
        peer(in.stream.handle(), 0);
        in.stream.synchronize();
        if (count_if(gpu{}, to(0), written, bench::differs<T>{peer_out(0)}) != 0) {
            std::printf("%s of %s\t%s\t%llu\tresults differ\n", what.c_str(), name.c_str(), type,
                        static_cast<unsigned long long>(n));
            return;
        }
        timed = true;
        bench::measure_and_print_row(in.stream, what + " of " + name + (alone ? " (alone)" : ""), type, n,
                                     static_cast<double>((n + written) * sizeof(T)), 2 * each, copies, ours,
                                     alone ? ours : peer, n > 1u << 25 ? 3 : 9);
        timed = false;
    };
    row(
        "sum", results,
        [&](cudaStream_t s, unsigned k) {
            reduce_along(gpu{s, &in.memory}, view(k), {1}, to(k));
        },
        [&](cudaStream_t s, unsigned k) {
            if (inner != 1) {
                sum_columns<<<blocks, 256, 0, s>>>(from(k), outer, along, inner, peer_out(k));
                return;
            }
            const auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}),
                                                               begin_of{static_cast<std::int64_t>(along)});
            std::size_t bytes = in.peer_memory.bytes();
            WARPFOLD_CUDA_CHECK(cub::DeviceSegmentedReduce::Sum(in.peer_memory.data(), bytes, from(k), peer_out(k),
                                                                static_cast<std::int64_t>(outer), begin, begin + 1, s));
        });
    row(
        "inclusive_scan", n,
        [&](cudaStream_t s, unsigned k) {
            inclusive_scan_along(gpu{s, &in.memory}, view(k), 1, to(k));
        },
        [&](cudaStream_t s, unsigned k) {
            if (inner != 1) {
                scan_columns<<<blocks, 256, 0, s>>>(from(k), outer, along, inner, peer_out(k));
                return;
            }
            const auto keys = thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}),
                                                              row_of{static_cast<std::int64_t>(along)});
            std::size_t bytes = in.peer_memory.bytes();
            WARPFOLD_CUDA_CHECK(cub::DeviceScan::InclusiveSumByKey(in.peer_memory.data(), bytes, keys, from(k),
                                                                   peer_out(k), static_cast<std::int64_t>(n),
                                                                   cuda::std::equal_to<>{}, s));
        });
}

} // namespace

int main() {
    try {
        room in;
        bench::print_head(in.stream, "peer");
        for (const unsigned e : {20u, 24u, 28u}) {
            const std::uint64_t n = std::uint64_t{1} << e;
            const std::uint64_t side = std::uint64_t{1} << e / 2;
            for (const std::uint64_t length :
                 {std::uint64_t{16}, std::uint64_t{64}, std::uint64_t{1000}, side, n / 4}) {
                shape<float>(in, "f32", n / length, length, 1); // rows
                shape<float>(in, "f32", 1, length, n / length); // columns
            }
            shape<float>(in, "f32", 1, n / 256, 256);               // a batch
            shape<float>(in, "f32", 1, n / 3, 3);                   // points in space
            shape<float>(in, "f32", 256, n >> 16, 256);             // in the middle
            shape<float>(in, "f32", n / side / 4 - 1, side - 3, 4); // odd, few neighbours
            shape<double>(in, "f64", side / 2, side, 1);
            shape<double>(in, "f64", 1, side, side / 2);
            shape<std::int64_t>(in, "i64", 1, side / 2, side);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
