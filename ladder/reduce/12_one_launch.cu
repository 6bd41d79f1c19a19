// SPDX-License-Identifier: MIT
// Step 12: one launch. Each block stores its value and takes a ticket; the block with the last ticket reduces the values of
// all blocks. This saves a second launch, which costs microseconds. (Beyond the lectures: 759 and 380 say that only a kernel
// launch synchronises all blocks; here no block waits for another, and the ticket tells the last one that it is the last.)
// The ticket counter wraps to zero with the last ticket, ready for the next launch.
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/device/shuffles.cuh"
#include "ladder/reduce/device/vectors.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void reduce_once(const T* input, T* result, std::uint64_t n, T* partial, unsigned* ticket) {
    __shared__ bool last;
    T* const scratch = shared_scratch<T>();
    const Op op;
    const unsigned tid = threadIdx.x;

    T mine = block_reduce<T, Op>(add_vectors<T, Op>(input, n), scratch);
    if (tid == 0) {
        partial[blockIdx.x] = mine;
        __threadfence(); // the value is there before the ticket is taken
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence(); // the others' values are read after it
    }
    __syncthreads();
    if (!last) {
        return;
    }

    mine = Op::identity();
    for (unsigned k = tid; k < gridDim.x; k += blockDim.x) {
        mine = op(mine, partial[k]);
    }
    mine = block_reduce<T, Op>(mine, scratch);
    if (tid == 0) {
        *result = mine;
    }
}

namespace {

constexpr std::size_t ticket_bytes = 256; // of the workspace, before the blocks' values

struct one_launch_round {
    template <class T, class Op>
    static std::size_t workspace(const shape& device, std::uint64_t n) {
        return ticket_bytes + many_each(device, n, 0) * sizeof(T);
    }
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        auto* const partial = reinterpret_cast<T*>(static_cast<unsigned char*>(c.workspace) + ticket_bytes);
        launch(c, "reduce_once", reduce_once<T, Op>, 32 * sizeof(T), in, out, n, partial,
               static_cast<unsigned*>(c.workspace));
    }
};

std::uint64_t height_once(const shape& device, std::uint64_t n, unsigned round) {
    const std::uint64_t blocks = many_each(device, n, round);
    return height_vectors(device, n, round) + divide_up(blocks, device.block) + height_warps(device.block);
}

verdict single_launch(const engine::evidence& e) {
    return seen(e.step.launches.size() == 1,
                count_of(e.step.launches.size(), "launch", "launches") + ", " + grids(e.step) + " blocks");
}

verdict one_atomic_a_block(const engine::evidence& e) {
    const auto lanes = e.first().total.atomic_lanes;
    return seen(lanes == e.blocks(), std::to_string(lanes) + " atomics for " + std::to_string(e.blocks()) + " blocks");
}

} // namespace

reduction one_launch() {
    return {.about = {"12", "one launch, the last block finishes", "ladder/reduce/12_one_launch.cu",
                      "blocks take tickets; the one with the last ticket reduces what the others left",
                      "beyond the lectures; 759, Problem: Global Synchronization"},
            .one_launch = true,
            .blocks = many_each,
            .height = height_once,
            .rounds = rounds_of<one_launch_round>(),
            .workspace = workspace_of<one_launch_round>(),
            .claims = {
                {"no second kernel is needed: the last block reduces what the others have left", "beyond the lectures",
                 engine::launched(single_launch).refuted_by(engine::step_in_place("11"))},
                {"one atomic a block", "beyond the lectures",
                 engine::counted(one_atomic_a_block).refuted_by(engine::step_in_place("11"))},
            }};
}

} // namespace warpfold::ladder::reduce
