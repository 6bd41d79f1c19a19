// SPDX-License-Identifier: MIT
// Scan, step 5: the balanced tree of Harris, Sengupta and Owens: up-sweep and down-sweep in place, two elements a thread,
// exclusive. (759 "Parallel Scan Algorithm: Solution #2", "The Down-Sweep Phase".)
// As on the slide, with int instead of float, and volatile where the slide writes "extern volatile __shared__". Of a
// power of two of elements, 2048 at most: "Going Beyond 2048 Entries" is step 8.
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/definition/tree_claims.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

__global__ void prescan(int* g_odata, const int* g_idata, int n) {
    extern volatile __shared__ int temp[];
    const int thid = static_cast<int>(threadIdx.x);
    int offset = 1;

    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];

    for (int d = n >> 1; d > 0; d >>= 1) { // build sum in place up the tree
        __syncthreads();
        if (thid < d) {
            const int ai = offset * (2 * thid + 1) - 1;
            const int bi = offset * (2 * thid + 2) - 1;
            temp[bi] = temp[bi] + temp[ai];
        }
        offset <<= 1;
    }
    if (thid == 0) {
        temp[n - 1] = 0; // clear the last element
    }
    for (int d = 1; d < n; d *= 2) { // traverse down the tree and build the scan
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            const int ai = offset * (2 * thid + 1) - 1;
            const int bi = offset * (2 * thid + 2) - 1;
            const int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] = temp[bi] + t;
        }
    }
    __syncthreads();
    g_odata[2 * thid] = temp[2 * thid];
    g_odata[2 * thid + 1] = temp[2 * thid + 1];
}

void run(const engine::stage& on) {
    const auto n = static_cast<unsigned>(on.n);
    if (n >= 2) {
        engine::launch(on, "prescan", prescan, 1, n / 2, n * sizeof(int), on.output<int>(), on.input<int>(),
                       static_cast<int>(n));
    } else {
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.out, 0, n * sizeof(int), on.stream));
    }
}

verdict halving_levels(const engine::evidence& e) {
    const auto up = balanced_work(e).up;
    bool holds = true;
    std::uint64_t expected = e.n();
    for (const std::uint64_t additions : up) {
        expected /= 2;
        holds = holds && additions == expected;
    }
    return seen(holds && engine::sum(up) == e.n() - 1, "additions level by level: " + list(up) + "; in all " +
                                                           std::to_string(engine::sum(up)) + " for " +
                                                           std::to_string(e.n()) + " elements");
}

verdict down_sweep(const engine::evidence& e) {
    const tree_work work = balanced_work(e);
    const auto additions = engine::sum(work.down);
    const auto swaps = engine::sum(work.overwrites);
    return seen(additions == e.n() - 1 && swaps == e.n() - 1,
                std::to_string(additions) + " additions, " + std::to_string(swaps) + " overwrites");
}

verdict in_all(const engine::evidence& e) {
    const tree_work work = balanced_work(e);
    const auto additions = engine::sum(work.up) + engine::sum(work.down);
    const auto n = e.n();
    return seen(additions == 2 * n - 2 && engine::sum(work.overwrites) == n - 1,
                std::to_string(additions) + " additions and " + std::to_string(engine::sum(work.overwrites)) +
                    " overwrites; Hillis and Steele makes " + std::to_string(n * engine::log2_up(n) - (n - 1)) +
                    " additions of as many elements");
}

verdict strides_conflict(const engine::evidence& e) {
    if (e.n() < 64) {
        return unseen("needs a full warp");
    }
    const auto& c = e.step.launches[0].total;
    const double passes = static_cast<double>(c.shared_load_wavefronts + c.shared_store_wavefronts);
    const double share = static_cast<double>(engine::bank_conflicts(c)) / passes;
    return seen(share > 0.5, number(100 * share, 0) +
                                 " % of the passes of the banks are conflicts; passes over those needed, level by "
                                 "level, up and down: " +
                                 list(conflict_degrees(e, e.step, 1), 1));
}

verdict two_way_load(const engine::evidence& e) {
    if (e.n() < 64) {
        return unseen("needs a full warp");
    }
    const auto& load = e.step.launches[0].by_interval.at(0);
    const auto degree =
        static_cast<double>(load.shared_store_wavefronts) / static_cast<double>(load.shared_store_requests);
    const auto sectors = static_cast<double>(load.global_load_sectors) / static_cast<double>(load.global_load_requests);
    return seen(degree == 2 && sectors == 8, number(degree, 1) + " passes a store to shared memory, " +
                                                 number(sectors, 1) + " sectors a load where 4 would do");
}

verdict compares_well(const engine::evidence& e) {
    const tree_work work = balanced_work(e);
    const double ratio =
        static_cast<double>(engine::sum(work.up) + engine::sum(work.down)) / static_cast<double>(e.n() - 1);
    return seen(ratio <= 2, number(ratio, 2) + "x the additions of the sequential scan");
}

} // namespace

engine::step_definition balanced_tree() {
    return {.about =
                step_description{
                    "5", "balanced tree, up-sweep and down-sweep", "ladder/scan/05_balanced_tree.cu",
                    "build sums up a tree in place, clear the root, and pass them down again: work in proportion to n",
                    "759, Parallel Scan Algorithm: Solution #2"}
                    .leads_to("6"),
            .data = exclusive,
            .run = run,
            .size = [](std::uint64_t n) { return power_of_two(n, 2048); },
            .least_bytes = engine::read_and_written,
            .claims = {
                {"the reduction takes n/2 + n/4 + ... + 1 = n-1 additions", "759, Operation Count, Reduce Phase",
                 engine::counted(halving_levels).refuted_by(engine::step_in_place("2"))},
                {"down-sweep: n-1 additions and n-1 swaps (each swap shadows an addition)",
                 "759, Down-Sweep Phase, Remarks", engine::counted(down_sweep).refuted_by(engine::step_in_place("7"))},
                {"in all 2n-2 additions and n-1 swaps, against n log n", "759, Down-Sweep Phase, Remarks",
                 engine::counted(in_all).refuted_by(engine::step_in_place("7"))},
                {"very comparable with the work load in the sequential solution", "759, Down-Sweep Phase, Remarks",
                 engine::counted(compares_well).refuted_by(engine::step_in_place("2"))},
                {"numerous shared memory bank conflicts since strides are powers of 2",
                 "759, Going Beyond 2048 Entries [3/3]",
                 engine::counted(strides_conflict).refuted_by(engine::step_in_place("6"))},
                {"2-way-interleaved loads result in 2-way bank conflicts, and halve the device memory bandwidth",
                 "759, Exercise: Is ShMem access below good or bad?",
                 engine::counted(two_way_load).refuted_by(engine::step_in_place("6"))},
            }};
}

} // namespace warpfold::ladder::scan
