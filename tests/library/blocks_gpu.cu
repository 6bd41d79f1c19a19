// SPDX-License-Identifier: MIT
// The building blocks for kernels of one's own: scans over warps and blocks, loads and stores of tiles.
#include "warpfold/block/load.cuh"
#include "warpfold/block/scan.cuh"
#include "warpfold/block/store.cuh"
#include "warpfold/operation.hpp"
#include "warpfold/warp/scan.cuh"

#include <cstdint>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/scan/scan_cases.hpp"

using namespace warpfold;
using tests::affine;
using tests::on_device;
using tests::scanned;
using tests::then;

namespace {

std::vector<affine> maps(std::uint64_t n) {
    std::vector<affine> all(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        all[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k + 7)};
    }
    return all;
}

template <class T>
std::vector<T> part(const std::vector<T>& all, std::uint64_t begin, std::uint64_t count) {
    std::vector<T> some(count);
    for (std::uint64_t k = 0; k < count; ++k) {
        some[k] = all[begin + k];
    }
    return some;
}

__global__ void scan_warps(const affine* in, const std::uint8_t* heads, affine* inclusive, affine* exclusive,
                           affine* total, affine* segmented, affine* few, affine* each, unsigned* head_bits) {
    const unsigned k = threadIdx.x;
    inclusive[k] = warp::inclusive_scan(in[k], then{});
    affine all;
    exclusive[k] = warp::exclusive_scan(in[k], then{}, affine{3, 4}, all);
    total[k] = all;
    segmented[k] = warp::inclusive_scan(in[k], then{}, heads[k] != 0, head_bits[k]);
    few[k] = warp::inclusive_scan<6>(in[k], then{});
    affine two[] = {in[k], then{}(in[k], affine{5, 6})};
    warp::inclusive_scan_each(two, then{});
    each[2 * k] = two[0];
    each[2 * k + 1] = two[1];
}

TEST(blocks, scans_of_a_warp) {
    const auto all = maps(64);
    std::vector<std::uint8_t> heads(64);
    for (const unsigned k : {5u, 6u, 20u, 31u, 33u, 63u}) {
        heads[k] = 1;
    }
    const on_device<affine> in(all), out(std::vector<affine>(448));
    const on_device<std::uint8_t> flags(heads);
    const on_device<unsigned> bits(std::vector<unsigned>(64));
    scan_warps<<<1, 64>>>(in.data(), flags.data(), out.data(), out.data() + 64, out.data() + 128, out.data() + 192,
                          out.data() + 256, out.data() + 320, bits.data());
    CUDA(cudaDeviceSynchronize());
    const auto results = out.read();
    const auto head_bits = bits.read();
    for (unsigned w = 0; w < 2; ++w) {
        const auto mine = part(all, 32 * w, 32);
        EXPECT_EQ(part(results, 32 * w, 32), (scanned<affine, affine>(mine, then{}, true)));
        EXPECT_EQ(part(results, 64 + 32 * w, 32), (scanned<affine, affine>(mine, then{}, false, affine{3, 4})));
        EXPECT_EQ(part(results, 192 + 32 * w, 32),
                  (scanned<affine, affine>(mine, then{}, true, {}, false, part(heads, 32 * w, 32))));
        EXPECT_EQ(part(results, 256 + 32 * w, 6), (scanned<affine, affine>(part(mine, 0, 6), then{}, true)));
        std::vector<affine> further(32);
        for (unsigned k = 0; k < 32; ++k) {
            further[k] = then{}(mine[k], affine{5, 6});
        }
        const auto both = scanned<affine, affine>(further, then{}, true);
        for (unsigned k = 0; k < 32; ++k) {
            EXPECT_EQ(results[320 + 64 * w + 2 * k], results[32 * w + k]);
            EXPECT_EQ(results[320 + 64 * w + 2 * k + 1], both[k]);
            EXPECT_EQ(results[128 + 32 * w + k], (scanned<affine, affine>(mine, then{}, true, affine{3, 4})[31]));
            EXPECT_EQ(head_bits[32 * w + k], (w == 0 ? 1u << 5 | 1u << 6 | 1u << 20 | 1u << 31 : 1u << 1 | 1u << 31));
        }
    }
}

template <unsigned Warps>
__global__ void scan_block(const affine* in, affine* inclusive, affine* exclusive, affine* totals) {
    __shared__ block::scan_storage<affine, Warps> storage;
    const unsigned k = threadIdx.x;
    affine first, second;
    inclusive[k] = block::inclusive_scan(in[k], then{}, storage, first);
    __syncthreads();
    exclusive[k] = block::exclusive_scan(in[k], then{}, affine{3, 4}, storage, second);
    if (k == blockDim.x - 1) {
        totals[0] = first;
        totals[1] = second;
    }
}

TEST(blocks, scans_of_a_block) {
    for (const unsigned threads : {32u, 64u, 96u, 256u, 1024u}) {
        const auto all = maps(threads);
        const on_device<affine> in(all), out(std::vector<affine>(2 * threads + 2));
        const auto kernel = threads <= 96 ? &scan_block<3> : &scan_block<32>;
        kernel<<<1, threads>>>(in.data(), out.data(), out.data() + threads, out.data() + 2 * threads);
        CUDA(cudaDeviceSynchronize());
        const auto results = out.read();
        const auto inclusive = scanned<affine, affine>(all, then{}, true);
        EXPECT_EQ(part(results, 0, threads), inclusive);
        EXPECT_EQ(part(results, threads, threads), (scanned<affine, affine>(all, then{}, false, affine{3, 4})));
        EXPECT_EQ(results[2 * threads], inclusive[threads - 1]);
        EXPECT_EQ(results[2 * threads + 1], (scanned<affine, affine>(all, then{}, true, affine{3, 4})[threads - 1]));
    }
}

// What the loads give each thread, its items one behind the other, and what goes out again.
template <unsigned Threads, unsigned Items, class T>
__global__ void move_tile(const T* in, std::uint64_t n, T* striped, T* blocked, T* out) {
    __shared__ block::exchange_storage<T, Threads, Items> storage;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * Threads * Items;
    T items[Items];
    block::load_striped(in, first, n, T(99), items);
    for (unsigned k = 0; k < Items; ++k) {
        striped[first + threadIdx.x * Items + k] = items[k];
    }
    block::load_blocked<Threads>(in, first, n, T(99), items, storage);
    for (unsigned k = 0; k < Items; ++k) {
        blocked[first + threadIdx.x * Items + k] = items[k];
    }
    __syncthreads();
    block::store_blocked<Threads>(out, first, n, items, storage);
}

template <unsigned Threads, unsigned Items, class T>
void tiles(std::uint64_t n, std::uint64_t skip) {
    constexpr std::uint64_t tile = Threads * Items;
    const std::uint64_t whole = (n + tile - 1) / tile * tile;
    std::vector<T> all(n + skip);
    for (std::uint64_t k = 0; k < all.size(); ++k) {
        all[k] = static_cast<T>(k * 7 + 1);
    }
    const on_device<T> in(all), out(std::vector<T>(3 * whole, T(55)));
    move_tile<Threads, Items><<<static_cast<unsigned>(whole / tile), Threads>>>(
        in.data() + skip, n, out.data(), out.data() + whole, out.data() + 2 * whole);
    CUDA(cudaDeviceSynchronize());
    const auto results = out.read();
    for (std::uint64_t t = 0; t < whole; t += tile) {
        for (std::uint64_t k = 0; k < tile; ++k) {
            const auto expected = [&](std::uint64_t at) { return at < n ? all[skip + at] : T(99); };
            EXPECT_EQ(results[t + k], expected(t + k % Items * Threads + k / Items));
            EXPECT_EQ(results[whole + t + k], expected(t + k));
            EXPECT_EQ(results[2 * whole + t + k], (t + k < n ? expected(t + k) : T(55)));
        }
    }
}

// Tiles in rows, of Rows runs of Run elements a lane; each thread's elements of the first row go to `rows`.
template <unsigned Rows, unsigned Run, class T>
__global__ void move_rows(const T* in, std::uint64_t n, T* rows, T* out) {
    const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x * Rows * Run;
    T items[Rows][Run];
    block::load_rows(in, first, n, T(99), items);
    for (unsigned r = 0; r < Rows; ++r) {
        for (unsigned j = 0; j < Run; ++j) {
            rows[first + (threadIdx.x * Rows + r) * Run + j] = items[r][j];
        }
    }
    block::store_rows(out, first, n, items);
}

template <unsigned Rows, unsigned Run, class T>
void in_rows(std::uint64_t n, std::uint64_t skip) {
    constexpr std::uint64_t threads = 64, tile = threads * Rows * Run;
    const std::uint64_t whole = (n + tile - 1) / tile * tile;
    std::vector<T> all(n + skip);
    for (std::uint64_t k = 0; k < all.size(); ++k) {
        all[k] = static_cast<T>(k * 7 + 1);
    }
    const on_device<T> in(all), out(std::vector<T>(2 * whole, T(55)));
    move_rows<Rows, Run>
        <<<static_cast<unsigned>(whole / tile), threads>>>(in.data() + skip, n, out.data(), out.data() + whole);
    CUDA(cudaDeviceSynchronize());
    const auto results = out.read();
    for (std::uint64_t t = 0; t < whole; t += tile) {
        for (std::uint64_t k = 0; k < tile; ++k) {
            const std::uint64_t thread = k / (Rows * Run), r = k / Run % Rows, j = k % Run;
            const std::uint64_t at = t + ((thread / 32 * Rows + r) * 32 + thread % 32) * Run + j;
            EXPECT_EQ(results[t + k], (at < n ? all[skip + at] : T(99)));
            EXPECT_EQ(results[whole + t + k], (t + k < n ? all[skip + t + k] : T(55)));
        }
    }
}

// A warp's tile, copied into shared memory in rows and taken blocked, and put back the other way.
template <unsigned Rows, unsigned Run, class T>
__global__ void move_runs(const T* in, T* blocked, T* out) {
    using runs = block::warp_runs<T, Run, Rows>;
    __shared__ alignas(16) unsigned char memory[2][2 * runs::bytes];
    constexpr unsigned tile = 32 * Rows * Run;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const runs first(memory[0] + warp * runs::bytes), second(memory[1] + warp * runs::bytes);
    block::start_copy(in + warp * tile, first);
    block::start_copy(in + (2 + warp) * tile, second);
    block::await_copies<1>();
    for (unsigned c = 0; c < Rows; ++c) {
        for (unsigned j = 0; j < Run; ++j) {
            blocked[warp * tile + (lane * Rows + c) * Run + j] = first.blocked(c)[j];
            first.blocked(c)[j] = static_cast<T>(first.blocked(c)[j] + static_cast<T>(c));
        }
    }
    block::await_copies();
    for (unsigned r = 0; r < Rows; ++r) {
        for (unsigned j = 0; j < Run; ++j) {
            out[warp * tile + (r * 32 + lane) * Run + j] = first.in_row(r)[j];
            out[(2 + warp) * tile + (r * 32 + lane) * Run + j] = second.in_row(r)[j];
        }
    }
}

template <unsigned Rows, unsigned Run, class T>
void runs() {
    constexpr std::uint64_t tile = 32 * Rows * Run;
    std::vector<T> all(4 * tile);
    for (std::uint64_t k = 0; k < all.size(); ++k) {
        all[k] = static_cast<T>(k * 5 + 3);
    }
    const on_device<T> in(all), out(std::vector<T>(6 * tile));
    move_runs<Rows, Run><<<1, 64>>>(in.data(), out.data(), out.data() + 2 * tile);
    CUDA(cudaDeviceSynchronize());
    const auto results = out.read();
    EXPECT_EQ(part(results, 0, 2 * tile), part(all, 0, 2 * tile));
    EXPECT_EQ(part(results, 4 * tile, 2 * tile), part(all, 2 * tile, 2 * tile));
    for (std::uint64_t k = 0; k < 2 * tile; ++k) {
        EXPECT_EQ(results[2 * tile + k], static_cast<T>(all[k] + static_cast<T>(k / Run % Rows)));
    }
}

template <unsigned Items, class T>
__global__ void move_vectors(const T* in, T* out) {
    T items[Items];
    block::load_vectors(in, items);
    for (unsigned k = 0; k < Items; ++k) {
        items[k] = static_cast<T>(items[k] + static_cast<T>(k));
    }
    block::store_vectors(out, items);
}

template <unsigned Items, class T>
void vectors() {
    static_assert(block::run_alignment<T, Items> <= 16 && sizeof(T) * Items % block::run_alignment<T, Items> == 0);
    std::vector<T> all(64 * Items);
    for (std::size_t k = 0; k < all.size(); ++k) {
        all[k] = static_cast<T>(k * 3);
    }
    const on_device<T> in(all), out(std::vector<T>(all.size()));
    move_vectors<Items><<<1, 64>>>(in.data(), out.data());
    CUDA(cudaDeviceSynchronize());
    const auto results = out.read();
    for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_EQ(results[k], static_cast<T>(all[k] + static_cast<T>(k % Items)));
    }
}

TEST(blocks, loads_and_stores_of_tiles) {
    tiles<128, 7, std::int32_t>(5000, 1);
    tiles<128, 4, double>(4096, 0);
    tiles<64, 16, std::uint8_t>(1000, 3);
}

TEST(blocks, loads_and_stores_in_rows) {
    in_rows<4, 4, float>(3000, 0);
    in_rows<2, 16, std::uint8_t>(5000, 3);
    in_rows<3, 1, double>(500, 1);
}

TEST(blocks, runs_of_a_warp) {
    runs<8, 4, float>();
    runs<2, 16, std::uint8_t>();
    runs<4, 2, std::int16_t>();
}

TEST(blocks, loads_and_stores_of_vectors) {
    vectors<4, float>();
    vectors<3, std::int32_t>();
    vectors<16, std::uint8_t>();
    vectors<3, std::uint16_t>();
    vectors<6, double>();
}

} // namespace
