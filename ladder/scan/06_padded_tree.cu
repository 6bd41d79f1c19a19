// SPDX-License-Identifier: MIT
// Scan, step 6: the same tree with padding: an unused word after every 32, so that the strides of powers of two fall into
// different banks. A thread loads two elements half an array apart. (759 "Going Beyond 2048 Entries [3/3]": "get rid of
// the bank conflict through padding".)
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/definition/tree_claims.hpp"
#include "ladder/scan/device/padding.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

__global__ void padded_prescan(int* output, const int* input, unsigned n) {
    extern __shared__ int temp[];
    const unsigned tid = threadIdx.x;
    temp[padded(tid)] = input[tid];
    temp[padded(tid + n / 2)] = input[tid + n / 2];

    unsigned offset = 1;
    for (unsigned d = n / 2; d > 0; d /= 2) {
        __syncthreads();
        if (tid < d) {
            temp[padded(offset * (2 * tid + 2) - 1)] += temp[padded(offset * (2 * tid + 1) - 1)];
        }
        offset *= 2;
    }
    if (tid == 0) {
        temp[padded(n - 1)] = 0;
    }
    for (unsigned d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (tid < d) {
            const unsigned ai = padded(offset * (2 * tid + 1) - 1);
            const unsigned bi = padded(offset * (2 * tid + 2) - 1);
            const int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    output[tid] = temp[padded(tid)];
    output[tid + n / 2] = temp[padded(tid + n / 2)];
}

void run(const engine::stage& on) {
    const auto n = static_cast<unsigned>(on.n);
    if (n >= 2) {
        engine::launch(on, "padded_prescan", padded_prescan, 1, n / 2, padded(n) * sizeof(int), on.output<int>(),
                       on.input<int>(), n);
    } else {
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.out, 0, n * sizeof(int), on.stream));
    }
}

verdict no_conflicts_left(const engine::evidence& e, const step_result& other) {
    const auto here = engine::bank_conflicts(e.step.launches[0].total);
    const auto before = engine::bank_conflicts(other.launches[0].total);
    const std::string figure = std::to_string(here) + " conflicts with a word of padding after every 32, " +
                               std::to_string(before) +
                               " in step 5; degree level by level: " + list(conflict_degrees(e, e.step, 1), 1) +
                               "; before: " + list(conflict_degrees(e, other, 1), 1);
    if (here == 0 || here >= before) {
        return seen(here < before, figure);
    }
    const double gone = 100 - 100 * static_cast<double>(here) / static_cast<double>(before);
    return holds_only_for(number(gone, 0) + " % of the conflicts", figure);
}

verdict coalesced_again(const engine::evidence& e) {
    if (e.n() < 64) {
        return unseen("needs a full warp");
    }
    const auto& c = e.step.launches[0].total;
    const double sectors = static_cast<double>(c.global_load_sectors) / static_cast<double>(c.global_load_requests);
    return seen(sectors == 4, number(sectors, 1) + " sectors a load");
}

} // namespace

engine::step_definition padded_tree() {
    return {.about = {"6", "balanced tree, padded", "ladder/scan/06_padded_tree.cu",
                      "one unused word after every 32 moves each row of the tree to other banks",
                      "759, Going Beyond 2048 Entries [3/3]"},
            .data = exclusive,
            .run = run,
            .size = [](std::uint64_t n) { return power_of_two(n, 2048); },
            .least_bytes = engine::read_and_written,
            .claims = {
                {"get rid of the bank conflicts through padding", "759, Going Beyond 2048 Entries [3/3]",
                 engine::compared("5", no_conflicts_left)},
                {"a better way: each thread loads one element in every consecutive group",
                 "759, A Better Array Access Pattern",
                 engine::counted(coalesced_again).refuted_by(engine::step_in_place("5"))},
                {"faster than step 5", "beyond the lectures", engine::faster_than("5")},
            }};
}

} // namespace warpfold::ladder::scan
