// SPDX-License-Identifier: MIT
// Scans of long arrays on a GPU: as many blocks as fit, each of which goes from tile to tile and has the next ones on
// their way into shared memory. A block posts the total of its next tile before it finishes the present one, so that
// the totals that it needs are there, mostly, when it looks (gpu/scan/ahead.cuh), and memory never waits for that.
//
// In a tile each thread has consecutive elements, `chunks` runs of 16 bytes, so that a warp's scan is paid once for all
// of them. Memory is read and written in the other direction, a warp neighbouring runs at a time: they change places in
// shared memory, where runs are put so that neither order meets the same banks.
//
// A card that has not so much shared memory for a block (compute capability 7.5) gets one tile a block instead of
// `stages`, which is fetched, posted and finished before the next: other blocks use memory meanwhile. Tiles are the
// same, and so are results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/scan/ahead.cuh"
#include "warpfold/gpu/scan/scan_elements.cuh"
#include "warpfold/tuning/scan.hpp"
#include "warpfold/warp/scan.cuh"

namespace warpfold::detail {

template <class Elements>
struct scan_stream_work {
    using elements_type = Elements;
    static constexpr tuning::scan_stream how = tuning::scan_stream_default;
    static constexpr unsigned run = Elements::run, chunks = how.chunks, threads = how.threads, stages = how.stages;
    static constexpr unsigned warps = threads / warp::lanes;
    static constexpr unsigned of_warp = warp::lanes * chunks * run; // elements
    static constexpr unsigned tile = of_warp * warps;               // elements
    static constexpr unsigned read_bytes = run * sizeof(typename Elements::T);
    static constexpr unsigned write_bytes = run * sizeof(typename Elements::U);
    static constexpr unsigned region = warp::lanes * chunks * (read_bytes > write_bytes ? read_bytes : write_bytes);
    static constexpr unsigned stage = region * warps; // bytes
    static constexpr std::size_t shared = std::size_t{stage} * stages;
    static constexpr unsigned ahead = how.ahead, held = stages + 1;
    static_assert(stages >= ahead + 2 && ahead >= 1 && warps <= warp::lanes && (chunks & (chunks - 1)) == 0);

    // Where in a warp's part of a stage a thread's run stands, so many bytes long.
    template <unsigned Bytes>
    __device__ static unsigned place(unsigned thread, unsigned chunk) {
        constexpr unsigned in_line = Bytes >= 128 ? 1 : 128 / Bytes, of_line = in_line > chunks ? in_line / chunks : 1;
        return (thread * chunks + (chunk ^ (thread / of_line % chunks))) * Bytes;
    }

    Elements elements;
    void* memory;
    unsigned tiles, slots;
    bool frugal; // one tile in shared memory
};

// turn(0), turn(1), ... turn(Count - 1), the number as a type's value.
template <unsigned Count, class Turn>
__device__ void first_turns(const Turn& turn) {
    if constexpr (Count > 0) {
        first_turns<Count - 1>(turn);
        turn(std::integral_constant<unsigned, Count - 1>{});
    }
}

template <class Work>
__global__ void __launch_bounds__(Work::threads, Work::how.blocks_per_multiprocessor)
    scan_stream_kernel(const Work work) {
    using Elements = typename Work::elements_type;
    using T = typename Elements::T;
    using A = typename Elements::A;
    using U = typename Elements::U;
    using How = typename Elements::how_type;
    constexpr unsigned run = Work::run, chunks = Work::chunks, stages = Work::stages, warps = Work::warps;
    constexpr unsigned ahead = Work::ahead, sets = ahead + 2;
    using front_of = looking_back<A, warps>;
    extern __shared__ uint4 stage_memory[];
    __shared__ alignas(A) unsigned char storage[sets * warps * sizeof(A)];
    __shared__ typename front_of::shared shared_front;
    __shared__ unsigned tile_of[stages + 1]; // the last: the next one
    auto* const stage_bytes = reinterpret_cast<unsigned char*>(stage_memory);
    auto* const of_warp = reinterpret_cast<A*>(storage); // of several tiles

    const Elements& elements = work.elements;
    const auto& op = elements.op;
    const unsigned warp = threadIdx.x / warp::lanes, lane = threadIdx.x % warp::lanes;
    const unsigned tiles = work.tiles;
    const bool frugal = work.frugal;
    const tile_ring<A> ring(work.memory, work.slots);
    unsigned char* const region = stage_bytes + warp * Work::region;

    const auto begin_of = [&](unsigned tile) { // may wrap in tile 0: then not inside
        return std::uint64_t{tile} * Work::tile - elements.shift + warp * Work::of_warp;
    };
    const auto is_inside = [&](unsigned tile) {
        return (tile != 0 || elements.shift == 0) &&
               std::uint64_t{tile + 1} * Work::tile - elements.shift <= elements.n;
    };
#pragma unroll
    for (unsigned r = 0; r < chunks; ++r) { // it will be one of the first tiles, and some block takes each of them
        elements.expect(begin_of(blockIdx.x) + (r * warp::lanes + lane) * run);
    }
    await_earlier();
    const auto run_of = [&](unsigned stage, unsigned c) { // the c-th of the warp's, as they stand in memory
        return reinterpret_cast<T*>(region + stage * Work::stage +
                                    Work::template place<Work::read_bytes>(c / chunks, c % chunks));
    };
    const auto fetch = [&](unsigned stage, unsigned tile) {
        if (tile < tiles) {
            const std::uint64_t begin = begin_of(tile);
            const bool inside = is_inside(tile);
            if (inside && elements.in_runs) {
#pragma unroll
                for (unsigned r = 0; r < chunks; ++r) {
                    const unsigned c = r * warp::lanes + lane;
                    elements.fetch_whole(begin + c * run, run_of(stage, c));
                }
            } else {
#pragma unroll 1
                for (unsigned r = 0; r < chunks; ++r) {
                    const unsigned c = r * warp::lanes + lane;
                    elements.fetch(begin + c * run, inside, run_of(stage, c));
                }
            }
        }
        close_runs();
    };
    const auto take = [&](unsigned stage, unsigned chunk, T(&items)[run]) {
        Elements::take(reinterpret_cast<const T*>(region + stage * Work::stage +
                                                  Work::template place<Work::read_bytes>(lane, chunk)),
                       items);
    };
    const auto skip_of = [&](unsigned tile) { return tile == 0 && threadIdx.x == 0 ? elements.shift : 0u; };
    // The thread's sum goes to its warp's total; what stands before the thread in the warp is returned, but to lane 0.
    const auto fold = [&](unsigned stage, unsigned tile, unsigned set) {
        const std::uint64_t first = begin_of(tile) + lane * (chunks * run);
        const unsigned skip = skip_of(tile);
        A sum{};
#pragma unroll
        for (unsigned c = 0; c < chunks; ++c) {
            T items[run];
            take(stage, c, items);
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                const A x = elements.value(items[j], first + c * run + j);
                sum = c == 0 && j <= skip ? x : static_cast<A>(op(sum, x));
            }
        }
        sum = warp::inclusive_scan(sum, op);
        if (lane == warp::lanes - 1) {
            of_warp[set * warps + warp] = sum;
        }
        return warp::shuffle_up(sum, 1);
    };
    // By the first warp.
    const auto post = [&](unsigned tile, unsigned set) {
        const A total = fold_lanes(of_warp[set * warps + (lane < warps ? lane : warps - 1)], warps, op);
        if (lane == 0 && tile + 1 < tiles) {
            ring.post(tile, total);
        }
    };

    if (threadIdx.x == 0) {
        tile_of[0] = ring.take();
    }
    __syncthreads();
    unsigned tile = tile_of[0];
    fetch(0, tile);
    if (threadIdx.x == 0) {
        for (unsigned k = 1; k < stages; ++k) {
            tile_of[k] = frugal ? tiles : ring.take();
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 1; k < stages; ++k) {
        fetch(k, tile_of[k]);
    }
    A before[ahead + 1]; // in the thread's warp, in tiles k ... k + ahead
    first_turns<ahead>([&](auto turn) {
        constexpr unsigned k = decltype(turn)::value;
        await_runs_but<stages - 1 - k>();
        __syncwarp();
        if (!frugal && tile_of[k] < tiles) {
            before[k] = fold(k, tile_of[k], k);
        }
    });
    __syncthreads();
    if (warp == 0) {
#pragma unroll
        for (unsigned k = 0; k < ahead; ++k) {
            if (!frugal && tile_of[k] < tiles) {
                post(tile_of[k], k);
            }
        }
    }

    bool is_last = false; // of all blocks, as thread 0 knows
    if (tile >= tiles && threadIdx.x == 0) {
        is_last = ring.leave();
    }
    front_of fronts;
    if constexpr (How::has_first) {
        fronts.begin_with(elements.how.first);
    }
    unsigned stage = 0, set = 0;
    while (tile < tiles) {
        const unsigned next_stage = frugal ? stages : (stage + 1 == stages ? 0 : stage + 1);
        const unsigned next_set = set + 1 == sets ? 0 : set + 1;
        const unsigned further = frugal ? 0 : ahead; // turns from here to the tile whose total is posted
        const unsigned far_stage = stage + further < stages ? stage + further : stage + further - stages;
        const unsigned far_set = set + further < sets ? set + further : set + further - sets;
        const unsigned far_tile = frugal ? tile : tile_of[far_stage];
        unsigned fresh = 0;
        if (threadIdx.x == Work::threads - 1) {
            fresh = ring.take();
        }
        fronts.ask(ring, tile, tiles);
        if (frugal) {
            await_runs();
        } else {
            await_runs_but<stages - 1 - ahead>();
        }
        __syncwarp();
        if (far_tile < tiles) {
            before[ahead] = fold(far_stage, far_tile, far_set);
        }
        __syncthreads();
        if (warp == 0 && far_tile < tiles) {
            post(far_tile, far_set);
        }
        if (threadIdx.x == Work::threads - 1) {
            tile_of[stages] = fresh;
        }
        fronts.finish(ring, tile, tiles, shared_front, op);
        __syncthreads();

        // What stands in front of the thread.
        bool has_front = How::has_first || tile != 0;
        A sum = fronts.done(ring, tile, tiles, shared_front, op);
        const unsigned next_tile = tile_of[next_stage];
        if (next_tile >= tiles && threadIdx.x == 0) {
            is_last = fronts.leave(ring);
        }
        {
            A warps_through = of_warp[set * warps + (lane < warps ? lane : warps - 1)];
#pragma unroll
            for (unsigned distance = 1; distance < warps; distance *= 2) {
                const A other = warp::shuffle_up(warps_through, distance);
                if (lane >= distance) {
                    warps_through = op(other, warps_through);
                }
            }
            const A warps_before = warp::shuffle(warps_through, warp == 0 ? 0 : warp - 1);
            if (warp != 0) {
                sum = has_front ? static_cast<A>(op(sum, warps_before)) : warps_before;
                has_front = true;
            }
            if (lane != 0) {
                A lanes_before = before[0];
                if (frugal) {
                    lanes_before = before[ahead];
                }
                sum = has_front ? static_cast<A>(op(sum, lanes_before)) : lanes_before;
                has_front = true;
            }
        }
        const unsigned skip = skip_of(tile);
        const std::uint64_t begin = begin_of(tile);
        unsigned char* const here = region + stage * Work::stage;
        const auto scan = [&](unsigned c, const T(&items)[run]) {
            U results[run];
            const auto value = [&](unsigned j) {
                return elements.value(items[j], begin + (lane * chunks + c) * run + j);
            };
            elements.scan_run(
                sum, c == 0 && !has_front, c == 0 ? skip : 0, value, [](unsigned) { return false; }, results);
            store_run(reinterpret_cast<U*>(here + Work::template place<Work::write_bytes>(lane, c)), results);
        };
        if constexpr (Work::read_bytes == Work::write_bytes) {
#pragma unroll
            for (unsigned c = 0; c < chunks; ++c) {
                T items[run];
                take(stage, c, items);
                scan(c, items);
            }
        } else {
            T items[chunks][run];
#pragma unroll
            for (unsigned c = 0; c < chunks; ++c) {
                take(stage, c, items[c]);
            }
            __syncwarp();
#pragma unroll
            for (unsigned c = 0; c < chunks; ++c) {
                scan(c, items[c]);
            }
        }
        __syncwarp();
        const auto result_of = [&](unsigned c, U(&results)[run]) {
            load_run(reinterpret_cast<const U*>(here + Work::template place<Work::write_bytes>(c / chunks, c % chunks)),
                     results);
        };
        const bool inside = is_inside(tile);
        if (inside && elements.out_runs) {
#pragma unroll
            for (unsigned r = 0; r < chunks; ++r) {
                const unsigned c = r * warp::lanes + lane;
                U results[run];
                result_of(c, results);
                elements.store_whole(begin + c * run, results);
            }
        } else {
#pragma unroll 1
            for (unsigned r = 0; r < chunks; ++r) {
                const unsigned c = r * warp::lanes + lane;
                U results[run];
                result_of(c, results);
                elements.store(begin + c * run, inside, results);
            }
        }
        fresh = tile_of[stages];
        __syncwarp();
        fetch(stage, fresh);
        if (threadIdx.x == 0) {
            tile_of[stage] = fresh;
        }
        tile = next_tile;
        stage = frugal ? 0 : next_stage;
        set = next_set;
#pragma unroll
        for (unsigned k = 0; k < ahead; ++k) {
            before[k] = before[k + 1];
        }
    }
    allow_later();
    await_runs();
    if (__syncthreads_or(is_last ? 1 : 0) != 0) {
        ring.empty(tiles);
    }
}

template <class Elements>
struct scan_stream_shape {
    using Work = scan_stream_work<Elements>;

    explicit scan_stream_shape(std::uint64_t n) : tiles((n + Work::tile - 1) / Work::tile) {}

    // `blocks`: how many are launched.
    [[nodiscard]] unsigned slots(unsigned blocks) const {
        return tile_ring<typename Elements::A>::slots_of(tiles, Work::held, Work::ahead, blocks);
    }

    std::uint64_t tiles;
};

template <class Elements>
void launch_scan_stream(const gpu& on, const Elements& elements, const char* call) {
    using Work = scan_stream_work<Elements>;
    const scan_stream_shape<Elements> shape(elements.n + elements.shift);
    if (shape.tiles > 0x7fffffffu) {
        throw invalid_argument(std::string("warpfold: ") + call + ": more elements than one launch has tiles for");
    }
    const auto tiles = static_cast<unsigned>(shape.tiles);
    constexpr auto kernel = &scan_stream_kernel<Work>;
    const kernel_facts facts =
        facts_of<kernel>({Work::threads, Work::shared, Work::stage, Work::how.blocks_per_multiprocessor});
    const unsigned blocks = std::max(1u, std::min(facts.blocks, tiles));
    const unsigned slots = shape.slots(blocks);
    const call_memory memory(on, tile_ring<typename Elements::A>::bytes(slots), 0, call);
    const Work work{elements, memory.boxes(), tiles, slots, facts.frugal};
    const std::size_t shared = facts.frugal ? Work::stage : Work::shared;
    // Again for each launch: cudaDeviceReset() takes it back.
    WARPFOLD_CHECK_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    launch_after(facts, kernel, blocks, Work::threads, shared, on.stream, work);
}

} // namespace warpfold::detail
