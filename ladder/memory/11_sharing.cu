// SPDX-License-Identifier: MIT
// The column "Sharing" of the table of state spaces: which threads find the same value under one name. (380 "PTX State Spaces
// (2)".)
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

constexpr unsigned block = 64;
constexpr unsigned blocks = 4;
constexpr unsigned all_threads = block * blocks;
constexpr unsigned grids = 2;

enum space : unsigned { reg, sreg_block, sreg_thread, constant, global, local, parameter, shared, texture };
constexpr unsigned spaces = 9;

__constant__ int constant_word;
__device__ int global_word;

__global__ void write_global(int value) { global_word = value; }

// Every thread puts its number where only it can see it, the first of each block where the block can, and outputs what it finds
// in each space. Without SharedByBlock each thread has a word of its own of the block's shared memory.
template <bool SharedByBlock>
__global__ void look(int* out, int given, cudaTextureObject_t words) {
    const unsigned thread = threadIdx.x + blockIdx.x * block;
    __shared__ int of_block[block];
    int own[2];
    own[thread % 2] = static_cast<int>(thread); // an index that the compiler does not know: local memory
    own[(thread + 1) % 2] = -1;
    const unsigned at = SharedByBlock ? 0 : threadIdx.x;
    if (!SharedByBlock || threadIdx.x == 0) {
        of_block[at] = static_cast<int>(thread);
    }
    __syncthreads();
    const int found[spaces] = {static_cast<int>(3 * thread),
                               static_cast<int>(blockIdx.x),
                               static_cast<int>(threadIdx.x),
                               constant_word,
                               global_word,
                               own[thread % 2],
                               given,
                               of_block[at],
                               tex1Dfetch<int>(words, 0)};
#pragma unroll
    for (unsigned s = 0; s < spaces; ++s) {
        out[s * all_threads + thread] = found[s];
    }
}

constexpr int in_global = 587;
constexpr int in_texture = 759;
int given_to(unsigned grid) { return static_cast<int>(100 + grid); }

engine::sample found_by_all(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    std::vector<std::int32_t> right;
    for (unsigned grid = 0; grid < grids; ++grid) {
        for (unsigned s = 0; s < spaces; ++s) {
            for (unsigned thread = 0; thread < all_threads; ++thread) {
                const auto t = static_cast<std::int32_t>(thread);
                const auto first = static_cast<std::int32_t>(thread / block * block);
                const std::int32_t found[spaces] = {3 * t,          t / static_cast<std::int32_t>(block),
                                                    t - first,      given_to(grid),
                                                    in_global,      t,
                                                    given_to(grid), first,
                                                    in_texture};
                right.push_back(found[s]);
            }
        }
    }
    return {all_threads, {}, engine::bytes_of(right)};
}

template <bool SharedByBlock>
void run_grids(const engine::stage& on) {
    int* const word = on.temporary<int>(); // the beginning of an allocation, which is aligned for textures
    WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(word, &in_texture, sizeof(int), cudaMemcpyHostToDevice, on.stream));
    cudaResourceDesc what{};
    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = word;
    what.res.linear.desc = cudaCreateChannelDesc<int>();
    what.res.linear.sizeInBytes = sizeof(int);
    cudaTextureDesc how{};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t words = 0;
    WARPFOLD_CUDA_CHECK(cudaCreateTextureObject(&words, &what, &how, nullptr));
    engine::launch(on, "write_global", write_global, 1, 1, 0, in_global);
    for (unsigned grid = 0; grid < grids; ++grid) {
        const int given = given_to(grid);
        WARPFOLD_CUDA_CHECK(
            cudaMemcpyToSymbolAsync(constant_word, &given, sizeof given, 0, cudaMemcpyHostToDevice, on.stream));
        engine::launch(on, "look", look<SharedByBlock>, blocks, block, 0,
                       on.output<int>() + std::size_t{grid} * spaces * all_threads, given, words);
    }
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream));
    WARPFOLD_CUDA_CHECK(cudaDestroyTextureObject(words));
}

// The threads that find one value: "per-thread", "per-CTA", "per-grid", or "Context" where both grids find the same.
std::string shared_by(const engine::evidence& e, unsigned s) {
    const auto all = engine::view<std::int32_t>(e.result);
    std::set<std::int32_t> of_both;
    bool one_in_each_block = true;
    bool one_in_each_grid = true;
    for (unsigned grid = 0; grid < grids; ++grid) {
        std::set<std::int32_t> of_grid;
        for (unsigned b = 0; b < blocks; ++b) {
            const auto first = all.begin() + (grid * spaces + s) * all_threads + b * block;
            const std::set<std::int32_t> of_block(first, first + block);
            one_in_each_block = one_in_each_block && of_block.size() == 1;
            of_grid.insert(of_block.begin(), of_block.end());
        }
        one_in_each_grid = one_in_each_grid && of_grid.size() == 1;
        of_both.insert(of_grid.begin(), of_grid.end());
    }
    if (one_in_each_grid) {
        return of_both.size() == 1 ? "Context" : "per-grid";
    }
    return one_in_each_block ? "per-CTA" : "per-thread";
}

verdict as_in_the_table(const engine::evidence& e) {
    struct row {
        const char* name;
        space place;
        const char* sharing;
    };
    constexpr row table[] = {{".reg", reg, "per-thread"},       {".const", constant, "per-grid"},
                             {".global", global, "Context"},    {".local", local, "per-thread"},
                             {".param", parameter, "per-grid"}, {".shared", shared, "per-CTA"},
                             {".tex", texture, "Context"}};
    bool holds = true;
    std::string figure;
    for (const row& r : table) {
        const std::string here = shared_by(e, r.place);
        holds = holds && here == r.sharing;
        figure += (figure.empty() ? "" : ", ") + std::string(r.name) + " " + here;
    }
    return seen(holds, figure);
}

verdict special_registers(const engine::evidence& e) {
    const std::string of_block = shared_by(e, sreg_block);
    const std::string of_thread = shared_by(e, sreg_thread);
    const std::string figure = "%ctaid is " + of_block + ", %tid is " + of_thread;
    return of_block == "per-CTA" && of_thread != "per-CTA" ? holds_only_for("some, as %ctaid", figure)
                                                           : seen(of_block == "per-CTA", figure);
}

// In both grids the values of %tid in the place of those of %ctaid.
const auto all_as_tid = engine::planted("%tid in the place of %ctaid", [](engine::altered_evidence& e) {
    for (unsigned grid = 0; grid < grids; ++grid) {
        const auto begin = e.result.begin() + grid * spaces * all_threads * sizeof(int);
        std::copy_n(begin + sreg_thread * all_threads * sizeof(int), all_threads * sizeof(int),
                    begin + sreg_block * all_threads * sizeof(int));
    }
});

constexpr const char* section = "380, PTX State Spaces (2)";

} // namespace

engine::step_definition sharing() {
    return {.about = {"sharing", "who shares a state space", "ladder/memory/11_sharing.cu",
                      "two grids whose threads look for the same name in each space", section},
            .data = found_by_all,
            .run = run_grids<true>,
            .scratch_bytes = [](std::uint64_t) { return sizeof(int); },
            .claims = {
                {"sharing: .reg and .local per-thread, .shared per-CTA, .const and .param per-grid, .global and .tex "
                 "Context",
                 section,
                 engine::check(as_in_the_table)
                     .refuted_by(engine::mutant("a shared word for each thread", run_grids<false>))},
                {"sharing: .sreg per-CTA", section, engine::check(special_registers).refuted_by(all_as_tid)}}};
}

} // namespace warpfold::ladder::memory
