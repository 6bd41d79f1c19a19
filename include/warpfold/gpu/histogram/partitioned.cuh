// SPDX-License-Identifier: MIT
// Histograms of more bins than a few blocks have counters for. The bins are cut into partitions, each of as many bins as
// a block has 32-bit counters for. The samples are counted in chunks, each by two kernels:
//
//  partition_samples_kernel   sorts the bins of a tile of samples by partition, in shared memory, and writes them as 16
//                             bits, with the places in the tile where the partitions begin
//  count_partitions_kernel    counts them, each block those of a few partitions, one after the other
//
// The bins of a tile have a place of their own in memory, so the memory does not depend on the samples.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/block/scan.cuh"
#include "warpfold/gpu/core/resident_blocks.cuh"
#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/gpu/histogram/layout.cuh"
#include "warpfold/gpu/histogram/packed_counters.cuh"
#include "warpfold/operation.hpp"

namespace warpfold::detail {

// Partitions at most. Their numbers fit the shared memory that the counters leave.
inline constexpr unsigned most_partitions = 704;

struct partition_layout {
    unsigned parts = 0;
    unsigned bins = 0; // of a partition, 4 to 7 times 2^shift
    unsigned shift = 0, factor = 0;
    unsigned copies = 1;     // of a partition's counter in a tile, a power of two: lanes of a warp differ in theirs
    unsigned tile = 0;       // samples
    unsigned before = 15;    // places of the first tile without a sample, since vectors begin at a 16-byte boundary
    std::uint64_t chunk = 0; // samples, a multiple of 16, so that `before` is the same in all chunks

    // Of `codes` bins, at most `bins_at_most` and what a block of `shared` bytes holds in a partition. There is a place
    // for one code more, which samples outside have. More than most_partitions parts mean that it cannot be used.
    static partition_layout of(unsigned codes, unsigned shared, unsigned bins_at_most, unsigned threads, unsigned tile,
                               std::uint64_t chunk) {
        partition_layout made;
        const unsigned room = shared - most_partitions * 4 - 256;
        const unsigned most = std::clamp(std::min(room / 4, bins_at_most), 4u, 65536u);
        made.shift = static_cast<unsigned>(std::bit_width(most)) - 3;
        const unsigned times = most >> made.shift;
        made.bins = times << made.shift;
        made.factor = (65536 + times - 1) / times << 16;
        made.parts = codes / made.bins + 1;
        while (made.copies < 32 && made.parts * made.copies * 2 <= 4 * threads) {
            made.copies *= 2;
        }
        made.tile = tile;
        made.chunk = (chunk + 15) / 16 * 16;
        return made;
    }

    // Exact for the bins of up to most_partitions partitions.
    [[nodiscard]] __device__ unsigned part_of(unsigned bin) const { return __umulhi(bin >> shift, factor); }

    // Tiles of so many samples.
    [[nodiscard]] __host__ __device__ unsigned tiles(std::uint64_t samples) const {
        return samples == 0 ? 0 : static_cast<unsigned>((samples + before + tile - 1) / tile);
    }
};

// partition_layout::before of these samples.
template <class In>
unsigned samples_before(const In& in) {
    using T = element_t<In>;
    if constexpr (std::is_pointer_v<In> && fits_vectors_v<T>) {
        return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in) % 16 / sizeof(T));
    } else {
        return 0;
    }
}

// The memory of a chunk.
struct partition_lists {
    std::uint16_t* bins;   // of each tile, place for all its samples; 16-byte aligned
    std::uint16_t* begins; // of each tile, parts + 1
    unsigned* totals;      // samples of each partition, in two chunks: zero before the first

    partition_lists(void* memory, const partition_layout& layout, std::uint64_t samples)
        : bins(static_cast<std::uint16_t*>(memory)),
          begins(bins + std::size_t{layout.tiles(samples)} * layout.tile),
          totals(reinterpret_cast<unsigned*>(begins + begins_of(layout, samples))) {}

    [[nodiscard]] static std::size_t bytes(const partition_layout& layout, std::uint64_t samples) {
        return (std::size_t{layout.tiles(samples)} * layout.tile + begins_of(layout, samples)) * 2 +
               totals_bytes(layout);
    }
    [[nodiscard]] static std::size_t totals_bytes(const partition_layout& layout) {
        return std::size_t{layout.parts} * 2 * sizeof(unsigned);
    }

private:
    [[nodiscard]] static std::size_t begins_of(const partition_layout& layout, std::uint64_t samples) {
        return (std::size_t{layout.tiles(samples)} * (layout.parts + 1) + 7) / 8 * 8;
    }
};

// Byte offset of place k of a tile's sorted bins in shared memory. 16 bytes after each 512 are unused, so that places
// that are a multiple of 256 apart are not in one bank.
__host__ __device__ constexpr unsigned sorted_place(unsigned k) { return k * 2 + (k >> 8) * 16; }

// Shared memory of partition_samples_kernel: the sorted bins, the counters, and the totals of the block.
[[nodiscard]] inline unsigned partition_shared_bytes(const partition_layout& layout) {
    return (sorted_place(layout.tile) + 15) / 16 * 16 + (layout.parts * layout.copies + layout.parts) * 4;
}

// Replaces `count` words in shared memory by their exclusive sums, count <= 4 * Threads, and returns the sum of all. All
// threads call it, between barriers.
template <unsigned Threads>
__device__ unsigned scan_words(unsigned* words, unsigned count, block::scan_storage<unsigned, Threads / 32>& storage) {
    const unsigned first = threadIdx.x * 4;
    unsigned held[4], own = 0;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
        held[i] = first + i < count ? words[first + i] : 0;
        own += held[i];
    }
    unsigned all;
    unsigned before = block::exclusive_scan(own, sum{}, 0u, storage, all);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
        if (first + i < count) {
            words[first + i] = before;
        }
        before += held[i];
    }
    return all;
}

// The bins of the calling thread's samples of a tile; `none` for samples outside all bins or behind the last of the n
// from `begin` on.
template <unsigned Threads, unsigned Items, class In, class Code>
__device__ void tile_codes(const In& in, std::uint64_t begin, std::uint64_t n, std::uint64_t tile, unsigned before,
                           const Code& code, unsigned none, unsigned (&codes)[Items]) {
    using T = element_t<In>;
    if constexpr (std::is_pointer_v<In> && fits_vectors_v<T>) {
        constexpr unsigned width = 16 / sizeof(T), loads = Items / width, batch = loads < 4 ? loads : 4;
        static_assert(Items % width == 0);
        const std::uint64_t first = tile * (Threads * Items);
        if (reinterpret_cast<std::uintptr_t>(in) % sizeof(T) == 0 && first >= before &&
            first + Threads * Items <= n + before) {
            const uint4* const at = reinterpret_cast<const uint4*>(in + begin + (first - before)) + threadIdx.x;
            std::uint64_t k = begin + (first - before) + threadIdx.x * width;
#pragma unroll
            for (unsigned i = 0; i < loads; i += batch) {
                uint4 loaded[batch];
                load_vectors<cache_hint::stream>(loaded, at + i * Threads, Threads);
#pragma unroll
                for (unsigned b = 0; b < batch; ++b) {
#pragma unroll
                    for (unsigned j = 0; j < width; ++j) {
                        const auto channel =
                            static_cast<unsigned>((k + (i + b) * Threads * width + j) % Code::channels);
                        codes[(i + b) * width + j] = min(code(element_of<T>(loaded[b], j), channel), none);
                    }
                }
            }
            return;
        }
    }
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) {
        const std::uint64_t k = (tile * Items + i) * Threads + threadIdx.x - before;
        codes[i] = k < n ? min(code(in[begin + k], static_cast<unsigned>((begin + k) % Code::channels)), none) : none;
    }
}

// The samples from `begin` on that a chunk has, of n.
__device__ inline std::uint64_t chunk_samples(const partition_layout& layout, std::uint64_t n, std::uint64_t begin) {
    return n <= begin ? 0 : (n - begin < layout.chunk ? n - begin : layout.chunk);
}

// One tile after the other is counted by partition, and then its bins are written to the places of their partitions. A
// lane counts in a copy of its own, as far as there are enough, so that skewed samples do not wait for each other.
template <class Kernels, class In, class Count, class Code>
__global__ void
__launch_bounds__(Kernels::value.partition_block_threads,
                  bounded_blocks_v<Kernels::value.partition_block_threads, Kernels::value.partition_resident_blocks>)
    partition_samples_kernel(In in, Count number, std::uint64_t begin, Code code, partition_layout layout,
                             partition_lists lists) {
    constexpr unsigned threads = Kernels::value.partition_block_threads;
    constexpr unsigned items = Kernels::value.partition_samples_per_thread;
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    auto* const counters = reinterpret_cast<unsigned*>(histogram_shared + sorted_place(threads * items));
    const unsigned words = layout.parts * layout.copies;
    unsigned* const totals = counters + words;
    __shared__ block::scan_storage<unsigned, threads / 32> storage;
    detail::load_bins(code.of);
    for (unsigned k = threadIdx.x; k < words + layout.parts; k += threads) {
        counters[k] = 0;
    }
    // Addresses in shared memory, for atomics without branches.
    const auto sorted_at = static_cast<unsigned>(__cvta_generic_to_shared(histogram_shared));
    const auto mine = static_cast<unsigned>(__cvta_generic_to_shared(counters + (threadIdx.x & (layout.copies - 1))));
    const unsigned stride = layout.copies * 4, none = code.count();
    const std::uint64_t n = chunk_samples(layout, number.value(), begin);
    const unsigned tiles = layout.tiles(n);
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        unsigned codes[items];
        with_cheapest_code(code, [&](const auto& cheapest) {
            tile_codes<threads>(in, begin, n, tile, layout.before, cheapest, none, codes);
        });
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < items; ++i) {
            asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(mine + layout.part_of(codes[i]) * stride) : "memory");
        }
        __syncthreads();
        scan_words<threads>(counters, words, storage);
        __syncthreads();
        for (unsigned part = threadIdx.x; part <= layout.parts; part += threads) {
            const unsigned from = part < layout.parts ? counters[part * layout.copies] : threads * items;
            lists.begins[std::size_t{tile} * (layout.parts + 1) + part] = static_cast<std::uint16_t>(from);
            if (part < layout.parts) {
                totals[part] +=
                    (part + 1 < layout.parts ? counters[(part + 1) * layout.copies] : threads * items) - from;
            }
        }
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < items; ++i) {
            asm volatile("" : "+r"(codes[i])); // its partition is found again: there are no registers to keep it
            const unsigned part = layout.part_of(codes[i]);
            unsigned place;
            asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(place) : "r"(mine + part * stride) : "memory");
            asm volatile("st.shared.u16 [%0], %1;" ::"r"(sorted_at + sorted_place(place)),
                         "h"(static_cast<std::uint16_t>(codes[i] - part * layout.bins))
                         : "memory");
        }
        __syncthreads();
        for (unsigned k = threadIdx.x; k < words; k += threads) {
            counters[k] = 0;
        }
        uint4* const to = reinterpret_cast<uint4*>(lists.bins + std::size_t{tile} * (threads * items));
#pragma unroll
        for (unsigned i = 0; i < items / 8; ++i) {
            const unsigned k = i * threads + threadIdx.x;
            to[k] = *reinterpret_cast<const uint4*>(histogram_shared + sorted_place(k * 8));
        }
    }
    __syncthreads();
    unsigned* const of_chunk = lists.totals + begin / layout.chunk % 2 * layout.parts;
    for (unsigned part = threadIdx.x; part < layout.parts; part += threads) {
        if (totals[part] != 0) {
            atomicAdd(of_chunk + part, totals[part]);
        }
    }
}

// Lanes that read the bins of one tile together; the whole warp reads what a tile has behind this many.
inline constexpr unsigned partition_lanes = 8, partition_long_run = 1024;
// The pieces of a block, about, and what a tile costs for a partition besides its samples, in samples.
inline constexpr unsigned partition_pieces = 16, partition_tile_cost = 64;

// Counts bins[from .. to], by one of `Lanes` lanes. `bins` is aligned to 8 bytes.
template <unsigned Lanes>
__device__ void count_run(unsigned* counters, const std::uint16_t* bins, unsigned from, unsigned to) {
    constexpr unsigned loads = 2;
    const auto* const vectors = reinterpret_cast<const uint2*>(bins);
    for (unsigned v = from / 4 + threadIdx.x % Lanes; v * 4 < to; v += Lanes * loads) {
        uint2 loaded[loads];
#pragma unroll
        for (unsigned d = 0; d < loads; ++d) {
            loaded[d] = (v + d * Lanes) * 4 < to ? vectors[v + d * Lanes] : uint2{0, 0};
        }
#pragma unroll
        for (unsigned d = 0; d < loads; ++d) {
            const unsigned first = (v + d * Lanes) * 4 - from;
            const unsigned of[4] = {loaded[d].x & 0xffff, loaded[d].x >> 16, loaded[d].y & 0xffff, loaded[d].y >> 16};
#pragma unroll
            for (unsigned j = 0; j < 4; ++j) {
                if (first + j < to - from) {
                    atomicAdd(counters + of[j], 1u);
                }
            }
        }
    }
}

// The work on a partition is cut into pieces of about equal cost: piece j of k are the tiles j, j + k, ... A block has
// neighbouring pieces, so that it rarely changes the partition, after which it adds its counters to the counts.
template <class Kernels, class Count, class Counter>
__global__ void __launch_bounds__(Kernels::value.block_threads, 1)
    count_partitions_kernel(Count number, std::uint64_t begin, Counter* counts, unsigned codes, partition_layout layout,
                            partition_lists lists) {
    constexpr unsigned threads = Kernels::value.block_threads;
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    auto* const counters = reinterpret_cast<unsigned*>(histogram_shared);
    unsigned* const firsts = counters + layout.bins; // first piece of each partition
    __shared__ block::scan_storage<unsigned, threads / 32> storage;
    const std::uint64_t n = chunk_samples(layout, number.value(), begin);
    const unsigned tiles = layout.tiles(n), parity = static_cast<unsigned>(begin / layout.chunk % 2);
    const std::uint64_t extra = std::uint64_t{tiles} * partition_tile_cost;
    const std::uint64_t piece = (n + layout.parts * extra) / (gridDim.x * partition_pieces) + 1;
    for (unsigned part = threadIdx.x; part < layout.parts; part += threads) {
        const unsigned total = lists.totals[parity * layout.parts + part];
        firsts[part] = total == 0 ? 0 : min(tiles, static_cast<unsigned>((total + extra + piece - 1) / piece));
        if (blockIdx.x == 0) { // for the next chunk
            lists.totals[(1 - parity) * layout.parts + part] = 0;
        }
    }
    for (unsigned k = threadIdx.x; k < layout.bins; k += threads) {
        counters[k] = 0;
    }
    __syncthreads();
    const unsigned all = scan_words<threads>(firsts, layout.parts, storage);
    __syncthreads();
    const auto first_of = [&](unsigned part) { return part < layout.parts ? firsts[part] : all; };
    auto at = static_cast<unsigned>(std::uint64_t{all} * blockIdx.x / gridDim.x);
    const auto stop = static_cast<unsigned>(std::uint64_t{all} * (blockIdx.x + 1) / gridDim.x);
    constexpr unsigned groups = threads / partition_lanes;
    // Neighbouring tiles go to different warps.
    const unsigned group = threadIdx.x % 32 / partition_lanes * (threads / 32) + threadIdx.x / 32;
    const unsigned lane = threadIdx.x % partition_lanes;
    for (unsigned part = 0; at < stop; ++part) {
        const unsigned begins_at = firsts[part], pieces = first_of(part + 1) - begins_at;
        if (at >= begins_at + pieces) {
            continue;
        }
        // The tiles of `width` pieces: row + column, for columns below width. The group's next is `groups` tiles on.
        const unsigned width = min(stop - at, begins_at + pieces - at);
        const unsigned right = groups % width, down = groups / width * pieces;
        unsigned column = group % width, row = group / width * pieces + at - begins_at;
        unsigned from, to;
        const auto load_bounds = [&] {
            from = to = 0;
            if (row + column < tiles) {
                const std::uint16_t* const bounds =
                    lists.begins + std::size_t{row + column} * (layout.parts + 1) + part;
                from = bounds[0];
                to = bounds[1];
            }
        };
        load_bounds();
        while (__any_sync(0xffffffffu, row < tiles)) {
            const unsigned tile = row + column, first = from, end = to, near = min(end, first + partition_long_run);
            column += right;
            row += down;
            if (column >= width) {
                column -= width;
                row += pieces;
            }
            load_bounds();
            count_run<partition_lanes>(counters, lists.bins + std::size_t{tile} * layout.tile, first, near);
            for (unsigned left = __ballot_sync(0xffffffffu, lane == 0 && near < end); left != 0; left &= left - 1) {
                const unsigned leader = __ffs(static_cast<int>(left)) - 1;
                const std::size_t its_tile = __shfl_sync(0xffffffffu, tile, leader);
                const unsigned its_near = __shfl_sync(0xffffffffu, near, leader);
                count_run<32>(counters, lists.bins + its_tile * layout.tile, its_near,
                              __shfl_sync(0xffffffffu, end, leader));
            }
        }
        __syncthreads();
        const unsigned first_bin = part * layout.bins;
        for (unsigned bin = threadIdx.x; bin < layout.bins; bin += threads) {
            if (counters[bin] != 0) {
                if (bin < codes - first_bin) {
                    add_to_count(counts + first_bin + bin, counters[bin]);
                }
                counters[bin] = 0;
            }
        }
        __syncthreads();
        at += width;
    }
}

} // namespace warpfold::detail
