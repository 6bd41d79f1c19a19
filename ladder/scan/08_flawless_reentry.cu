// SPDX-License-Identifier: MIT
// Scan, step 8: beyond one block by many launches. A launch brings 2048 elements a block into shared memory, takes six
// levels of the tree and writes back; the next re-enters where it stopped, at a stride 2^6 times as large, up to the root
// and down again. (759 "Going Beyond 2048 Entries", the flawless reentry requirement.)
// Any n: the tree is over a copy, filled with zeros to a power of two.
#include <algorithm>
#include <bit>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

using engine::counters;

constexpr unsigned most_elements = 2048; // of a block
constexpr unsigned levels_a_launch = 6;

// The element of x that is the k-th at a stride of 2^shift: the last of its group.
__device__ std::uint64_t place(std::uint64_t k, unsigned shift) { return ((k + 1) << shift) - 1; }

__global__ void reenter_up(int* x, unsigned shift, unsigned levels) {
    extern __shared__ int temp[];
    const unsigned tid = threadIdx.x;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * 2 * blockDim.x;
    temp[tid] = x[place(first + tid, shift)];
    temp[tid + blockDim.x] = x[place(first + tid + blockDim.x, shift)];
    unsigned offset = 1;
    unsigned d = blockDim.x;
    for (unsigned level = 0; level < levels; ++level) {
        __syncthreads();
        if (tid < d) {
            temp[offset * (2 * tid + 2) - 1] += temp[offset * (2 * tid + 1) - 1];
        }
        offset *= 2;
        d /= 2;
    }
    __syncthreads();
    x[place(first + tid, shift)] = temp[tid];
    x[place(first + tid + blockDim.x, shift)] = temp[tid + blockDim.x];
}

// `clear`: this launch begins at the root.
__global__ void reenter_down(int* x, unsigned shift, unsigned levels, bool clear) {
    extern __shared__ int temp[];
    const unsigned tid = threadIdx.x;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * 2 * blockDim.x;
    temp[tid] = x[place(first + tid, shift)];
    temp[tid + blockDim.x] = x[place(first + tid + blockDim.x, shift)];
    if (clear && tid == blockDim.x - 1) {
        temp[tid + blockDim.x] = 0;
    }
    unsigned offset = 1u << levels;
    unsigned d = 2 * blockDim.x >> levels;
    for (unsigned level = 0; level < levels; ++level) {
        offset /= 2;
        __syncthreads();
        if (tid < d) {
            const unsigned ai = offset * (2 * tid + 1) - 1;
            const unsigned bi = offset * (2 * tid + 2) - 1;
            const int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
        d *= 2;
    }
    __syncthreads();
    x[place(first + tid, shift)] = temp[tid];
    x[place(first + tid + blockDim.x, shift)] = temp[tid + blockDim.x];
}

std::uint64_t size_of(std::uint64_t n) { return std::max<std::uint64_t>(2, std::bit_ceil(n)); }

void run(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    int* const x = on.temporary<int>();
    const std::uint64_t size = size_of(on.n);
    const unsigned depth = engine::log2_up(size);
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(x, 0, size * sizeof(int), on.stream));
    WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(x, on.in[0], on.n * sizeof(int), cudaMemcpyDeviceToDevice, on.stream));
    const auto levels_from = [&](unsigned shift) { return std::min(levels_a_launch, depth - shift); };
    const auto elements_of = [&](unsigned shift) {
        return static_cast<unsigned>(std::min<std::uint64_t>(size >> shift, most_elements));
    };
    const auto blocks_of = [&](unsigned shift) { return static_cast<unsigned>((size >> shift) / elements_of(shift)); };
    for (unsigned shift = 0; shift < depth; shift += levels_a_launch) {
        const unsigned elements = elements_of(shift);
        engine::launch(on, "reenter_up", reenter_up, blocks_of(shift), elements / 2, elements * sizeof(int), x, shift,
                       levels_from(shift));
    }
    const unsigned last = (depth - 1) / levels_a_launch * levels_a_launch;
    for (int shift = static_cast<int>(last); shift >= 0; shift -= static_cast<int>(levels_a_launch)) {
        const auto s = static_cast<unsigned>(shift);
        const unsigned elements = elements_of(s);
        engine::launch(on, "reenter_down", reenter_down, blocks_of(s), elements / 2, elements * sizeof(int), x, s,
                       levels_from(s), s == last);
    }
    WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(on.out, x, on.n * sizeof(int), cudaMemcpyDeviceToDevice, on.stream));
}

verdict launches(const engine::evidence& e) {
    const unsigned depth = engine::log2_up(size_of(e.n()));
    const std::size_t expected = 2 * ((depth + levels_a_launch - 1) / levels_a_launch);
    std::vector<std::uint64_t> grids;
    for (const auto& launch : e.step.launches) {
        grids.push_back(launch.grid[0]);
    }
    return seen(e.step.launches.size() == expected,
                std::to_string(depth) + " levels in launches of " + list(grids) + " blocks, up and down");
}

verdict jumps(const engine::evidence& e) {
    if (size_of(e.n()) < 64 * 64) {
        return unseen("needs a full warp in the second launch");
    }
    const double first = engine::sectors_a_load(e.step.launches[0].total);
    const double second = engine::sectors_a_load(e.step.launches[1].total);
    return seen(second == 32,
                number(second, 1) + " sectors a load in the second launch, " + number(first, 1) + " in the first");
}

verdict work(const engine::evidence& e) {
    std::uint64_t up = 0;
    std::uint64_t down = 0;
    for (const auto& launch : e.step.launches) {
        const auto stored = (launch.total.shared_store_bytes - launch.total.global_load_bytes) / sizeof(int);
        (launch.kernel.find("up") != std::string::npos ? up : down) += stored;
    }
    const std::uint64_t pairs = down / 2; // an addition and an overwrite each; the root's clearing may be a store more
    const std::uint64_t size = size_of(e.n());
    return seen(up + pairs == 2 * size - 2 && down - 2 * pairs <= 1, std::to_string(up + pairs) + " additions, " +
                                                                         std::to_string(pairs) + " overwrites for " +
                                                                         std::to_string(size) + " elements");
}

} // namespace

engine::step_definition flawless_reentry() {
    return {
        .about = {"8", "many launches, flawless reentry", "ladder/scan/08_flawless_reentry.cu",
                  "each launch takes up the tree where the last one left it, at a stride 2^6 times as large",
                  "759, Going Beyond 2048 Entries"},
        .data = exclusive,
        .run = run,
        .scratch_bytes = [](std::uint64_t n) { return size_of(n) * sizeof(int); },
        .least_bytes = engine::read_and_written,
        .claims = {
            {"we will have to invoke the kernel several times, until the stride is 2^(M-1), and down in a similar "
             "fashion",
             "759, Going Beyond 2048 Entries [3/3]", engine::launched(launches).refuted_by(engine::step_in_place("5"))},
            {"you'll have to jump 2^k locations between elements: not a contiguous chunk",
             "759, Going Beyond 2048 Entries [2/3]",
             engine::counted(jumps).refuted_by(engine::launches_exchanged(0, 1))},
            {"2n-2 additions and n-1 swaps over all launches", "759, Down-Sweep Phase, Remarks",
             engine::counted(work).refuted_by(engine::step_in_place("7"))},
        }};
}

} // namespace warpfold::ladder::scan
