// SPDX-License-Identifier: MIT
// What the occupancy calculator says of every kernel of the ladders: they are run once, small, and the launches are noted.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ladder/frame/kernels.hpp"
#include "ladder/frame/runner.hpp"
#include "ladder/ladder.hpp"
#include "ladder/occupancy/sweep.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr std::uint64_t n_noted = 4099;

struct limits {
    int threads = 0, blocks = 0, shared = 0, reserved = 0, registers = 0;
};

limits of_the_device() {
    limits all;
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    for (const auto& [which, to] : {std::pair{cudaDevAttrMaxThreadsPerMultiProcessor, &all.threads},
                                    std::pair{cudaDevAttrMaxBlocksPerMultiprocessor, &all.blocks},
                                    std::pair{cudaDevAttrMaxSharedMemoryPerMultiprocessor, &all.shared},
                                    std::pair{cudaDevAttrReservedSharedMemoryPerBlock, &all.reserved},
                                    std::pair{cudaDevAttrMaxRegistersPerMultiprocessor, &all.registers}}) {
        WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(to, which, device));
    }
    return all;
}

// What runs out first. Registers are given to a warp in pieces of 256.
std::string limiter(const limits& most, const cudaFuncAttributes& facts, int threads, std::size_t dynamic, int blocks) {
    const int warps = (threads + 31) / 32;
    const auto shared = static_cast<int>(facts.sharedSizeBytes + dynamic);
    const int of_a_warp = (facts.numRegs * 32 + 255) / 256 * 256;
    const std::pair<const char*, int> by[] = {
        {"warps", most.threads / 32 / warps},
        {"blocks", most.blocks},
        {"shared memory", shared == 0 ? most.blocks + 1 : most.shared / (shared + most.reserved)},
        {"registers", of_a_warp == 0 ? most.blocks + 1 : most.registers / of_a_warp / warps}};
    const auto* const least = std::min_element(std::begin(by), std::end(by),
                                               [](const auto& a, const auto& b) { return a.second < b.second; });
    return least->second >= blocks ? least->first : "registers";
}

// Every ladder and laboratory once; errors are those of the laboratory of errors, which launches nothing of interest.
std::vector<frame::launched_kernel> noted() {
    const frame::kernel_watch watch;
    reduce_request reduce;
    reduce.n = n_noted;
    static_cast<void>(warpfold_ladder()->reduce(reduce));
    for (const auto* const study : frame::all_studies()) {
        const std::string name = study->name;
        if (name == "errors") {
            continue;
        }
        study_request request;
        request.name = name;
        request.n = std::min(n_noted, study->most);
        for (const auto& step : study->steps) { // named, so that no tables are made
            if (!step.about.peer && !step.on_host) {
                request.steps.push_back(step.about.id);
            }
        }
        static_cast<void>(warpfold_ladder()->study(request));
    }
    return watch.ours();
}

study_table make_table() {
    study_table table{
        "Occupancy of every kernel of the ladders, as cudaOccupancyMaxActiveBlocksPerMultiprocessor has it "
        "for the blocks that " +
            std::to_string(n_noted) + " elements are given",
        {"kernel", "threads\nof a block", "registers\nof a thread", "static\nshared", "dynamic\nshared",
         "blocks on a\nmultiprocessor", "warps", "of all", "limited by"},
        {}};
    const limits most = of_the_device();
    for (const auto& kernel : noted()) {
        cudaFuncAttributes facts{};
        WARPFOLD_CUDA_CHECK(cudaFuncGetAttributes(&facts, kernel.function));
        int blocks = 0;
        WARPFOLD_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel.function, static_cast<int>(kernel.threads), kernel.dynamic_shared));
        const int warps = blocks * static_cast<int>((kernel.threads + 31) / 32);
        table.rows.push_back({kernel.name, std::to_string(kernel.threads), std::to_string(facts.numRegs),
                              std::to_string(facts.sharedSizeBytes), std::to_string(kernel.dynamic_shared),
                              std::to_string(blocks), std::to_string(warps),
                              number(100.0 * warps * 32 / most.threads, 0) + " %",
                              limiter(most, facts, static_cast<int>(kernel.threads), kernel.dynamic_shared, blocks)});
    }
    // A kernel in a header is another one in each file that launches it, with the same figures.
    table.rows.erase(std::unique(table.rows.begin(), table.rows.end()), table.rows.end());
    return table;
}

} // namespace

study_table kernel_table() {
    static const study_table all = make_table();
    return all;
}

} // namespace warpfold::ladder::occupancy
