// SPDX-License-Identifier: MIT
// What the occupancy calculator says of every kernel of the ladders: they run once, small, and their launches are recorded.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ladder/engine/installed.hpp"
#include "ladder/engine/launched_kernels.hpp"
#include "ladder/engine/run_ladder.hpp"
#include "ladder/occupancy/definition/sweep.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr std::uint64_t n_run = 4099;

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

// Runs every installed ladder once; the laboratory of errors launches nothing of interest.
std::vector<engine::launched_kernel> all_kernels() {
    const engine::kernel_watch watch;
    for (const std::string& name : engine::installed_ladders()) {
        if (name == "errors") {
            continue;
        }
        const engine::ladder_definition& ladder = engine::find_ladder(name);
        ladder_request request;
        request.name = name;
        request.n = ladder.most == 0 ? n_run : std::min(n_run, ladder.most);
        for (const auto& step : ladder.steps) { // named, so that no tables are made
            if (!step.about.peer && !step.on_host) {
                request.steps.push_back(step.about.id);
            }
        }
        static_cast<void>(engine::run_ladder(request));
    }
    return watch.ours();
}

extra_table make_table() {
    extra_table table{
        "Occupancy of every kernel of the ladders, as cudaOccupancyMaxActiveBlocksPerMultiprocessor has it "
        "for the blocks that " +
            std::to_string(n_run) + " elements are given",
        {"kernel", "threads\nof a block", "registers\nof a thread", "static\nshared", "dynamic\nshared",
         "blocks on a\nmultiprocessor", "warps", "of all", "limited by"},
        {}};
    const limits most = of_the_device();
    for (const auto& kernel : all_kernels()) {
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

extra_table kernel_table() {
    static const extra_table all = make_table();
    return all;
}

} // namespace warpfold::ladder::occupancy
