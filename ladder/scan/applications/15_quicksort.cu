// SPDX-License-Identifier: MIT
// Scan, step 15: flat quicksort (Blelloch, 1990). A round splits all segments at once, each by its first key, with
// three segmented scans. Rounds follow until the keys are sorted.
#include <algorithm>
#include <cmath>
#include <utility>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/library_workspace.hpp"
#include "ladder/scan/applications/applications.hpp"
#include "ladder/scan/steps.hpp"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"

namespace warpfold::ladder::scan {

namespace {

constexpr std::uint64_t descending_keys = 300; // of the counter-example

struct segment_start {
    int pivot;
    unsigned index;
};

struct tally {
    unsigned less, equal; // than the pivot, to it
};

// Arrays of n elements, in the scratch.
struct arrays {
    segment_start* start; // of the element's segment
    tally* upto;          // of the elements of its segment up to it
    tally* whole;         // of its segment
    int* keys;
    unsigned char* heads; // 1: a segment begins
    unsigned char* other_heads;
};
constexpr std::size_t bytes_a_key = sizeof(segment_start) + 2 * sizeof(tally) + sizeof(int) + 2;

struct start_of {
    WARPFOLD_HD segment_start operator()(int key, std::uint64_t k) const { return {key, static_cast<unsigned>(k)}; }
};

struct compared_with_pivot {
    const segment_start* start;

    __device__ tally operator()(int key, std::uint64_t k) const {
        const int pivot = start[k].pivot;
        return {key < pivot, key == pivot};
    }
};

struct add {
    WARPFOLD_HD tally operator()(const tally& a, const tally& b) const { return {a.less + b.less, a.equal + b.equal}; }
};

// Copies the first value of a segment to all its elements; of a scan in reverse, the last.
struct first {
    template <class T>
    WARPFOLD_HD T operator()(const T& a, const T& /*b*/) const {
        return a;
    }
};

struct in_wrong_order {
    const int* keys;

    __device__ bool operator()(int key, std::uint64_t k) const { return k != 0 && key < keys[k - 1]; }
};

__global__ void split_segments(int* output, unsigned char* output_heads, const int* keys, const segment_start* start,
                               const tally* upto, const tally* whole, std::uint64_t n) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k >= n) {
        return;
    }
    const int key = keys[k];
    const segment_start from = start[k];
    std::uint64_t place = from.index;
    std::uint64_t number = upto[k].less; // of the key in the part that it goes to, from 1
    if (key >= from.pivot) {
        place += whole[k].less;
        number = upto[k].equal;
    }
    if (key > from.pivot) {
        place += whole[k].equal;
        number = k + 1 - from.index - upto[k].less - upto[k].equal;
    }
    output[place + number - 1] = key;
    output_heads[place + number - 1] = number == 1;
}

__global__ void count_down(int* keys, std::uint64_t n) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k < n) {
        keys[k] = static_cast<int>(n - k);
    }
}

unsigned blocks(const engine::stage& on) { return static_cast<unsigned>(engine::divide_up(on.n, threads)); }

arrays in_scratch(const engine::stage& on) {
    arrays a{};
    a.start = on.temporary<segment_start>();
    a.upto = reinterpret_cast<tally*>(a.start + on.n);
    a.whole = a.upto + on.n;
    a.keys = reinterpret_cast<int*>(a.whole + on.n);
    a.heads = reinterpret_cast<unsigned char*>(a.keys + on.n);
    a.other_heads = a.heads + on.n;
    return a;
}

// Sorts the keys in the output.
void sort(const engine::stage& on) {
    static engine::kept_workspace memory;
    const gpu target =
        memory.target(on, std::max({scan_workspace<segment_start, segment_start, first>(on.n),
                                    scan_workspace<tally, tally, add>(on.n), reduce_workspace(sizeof(std::uint64_t))}));
    arrays a = in_scratch(on);
    int* keys = on.output<int>();
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(a.heads, 0, on.n, on.stream));
    while (warpfold::count_if(target, keys, on.n, in_wrong_order{keys}) != 0) {
        const heads segments(static_cast<const unsigned char*>(a.heads));
        warpfold::transform_inclusive_scan(target, keys, on.n, a.start, start_of{}, first{}, segments);
        warpfold::transform_inclusive_scan(target, keys, on.n, a.upto, compared_with_pivot{a.start}, add{}, segments);
        warpfold::inclusive_scan(target, a.upto, on.n, a.whole, first{}, reversed, segments);
        engine::launch(on, "split_segments", split_segments, blocks(on), threads, 0, a.keys, a.other_heads, keys,
                       a.start, a.upto, a.whole, on.n);
        std::swap(keys, a.keys);
        std::swap(a.heads, a.other_heads);
    }
    if (keys != on.output<int>()) {
        WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(on.out, keys, on.n * sizeof(int), cudaMemcpyDeviceToDevice, on.stream));
    }
}

void run(const engine::stage& on) {
    if (on.n != 0) {
        WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(on.out, on.in[0], on.n * sizeof(int), cudaMemcpyDeviceToDevice, on.stream));
        sort(on);
    }
}

// The first key of a segment is then its largest: a round takes one key from it. The run under the checks has
// more keys, of which this sorts the first.
void run_on_descending_keys(const engine::stage& all) {
    engine::stage on = all;
    on.n = std::min(all.n, descending_keys);
    engine::launch(on, "count_down", count_down, blocks(on), threads, 0, on.output<int>(), on.n);
    sort(on);
}

// The height of a random binary search tree is 4.311 ln n at most, for large n.
verdict rounds(const engine::evidence& e) {
    const auto count =
        static_cast<double>(std::count_if(e.step.launches.begin(), e.step.launches.end(), [](const auto& launch) {
            return launch.kernel.find("split_segments") != std::string::npos;
        }));
    if (e.n() < 100) {
        return unseen("needs 100 keys");
    }
    const double most = 4.311 * std::log(static_cast<double>(e.n()));
    return seen(count <= most,
                number(count, 0) + " rounds for " + std::to_string(e.n()) + " keys; 4.311 ln n is " + number(most, 1));
}

} // namespace

engine::step_definition quicksort() {
    engine::counterexample descending =
        engine::mutant(std::to_string(descending_keys) + " keys in descending order", run_on_descending_keys);
    descending.n = descending_keys;
    return {.about = {"15", "quicksort", "ladder/scan/applications/15_quicksort.cu",
                      "segmented scans split all segments at once, each by its first key", "Parallel patterns, Why?"},
            .data = numbers_to_sort,
            .run = run,
            .size = engine::at_most(1u << 20),
            .scratch_bytes = [](std::uint64_t n) { return bytes_a_key * n; },
            .least_bytes = engine::read_and_written,
            .claims = {
                {"all segments are split at once, so that the rounds grow with the logarithm of n",
                 "beyond the lectures: Blelloch (1990)", engine::launched(rounds).refuted_by(descending)},
            }};
}

} // namespace warpfold::ladder::scan
