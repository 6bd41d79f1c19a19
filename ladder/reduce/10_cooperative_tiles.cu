// SPDX-License-Identifier: MIT
// Step 10: cooperative groups. The block is partitioned into tiles, each tile reduces by cg::reduce, and the first tile
// reduces what the tiles left. (380 "And More...": "__syncwarp() or Cooperative Groups".)
// A tile must be whole: its size is the largest power of two, 32 at most, that divides the block. Blocks of an odd
// number of threads have tiles of one.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/device/unrolled_tree.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

namespace cg = cooperative_groups;

template <unsigned tile_size, class T, class Op>
__global__ void reduce_tiles(const T* input, T* partial, std::uint64_t n) {
    T* const scratch = shared_scratch<T>();
    const Op op;
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<tile_size>(block);

    const T of_tile = cg::reduce(tile, add_at_grid_stride<T, Op>(input, n), op);
    if (tile.thread_rank() == 0) {
        scratch[tile.meta_group_rank()] = of_tile;
    }
    block.sync();
    if (tile.meta_group_rank() == 0) {
        T mine = Op::identity();
        for (unsigned k = tile.thread_rank(); k < tile.meta_group_size(); k += tile_size) {
            mine = op(mine, scratch[k]);
        }
        mine = cg::reduce(tile, mine, op);
        if (tile.thread_rank() == 0) {
            partial[blockIdx.x] = mine;
        }
    }
}

namespace {

unsigned tile_of(unsigned block) { return std::min(block & (0u - block), 32u); }

struct cooperative_tiles_round {
    template <unsigned tile_size, class T, class Op>
    static void launch_tiles(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        launch(c, "reduce_tiles", reduce_tiles<tile_size, T, Op>, c.device.block / tile_size * sizeof(T), in, out, n);
    }
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        switch (tile_of(c.device.block)) {
        case 32: return launch_tiles<32, T, Op>(c, in, n, out);
        case 16: return launch_tiles<16, T, Op>(c, in, n, out);
        case 8: return launch_tiles<8, T, Op>(c, in, n, out);
        case 4: return launch_tiles<4, T, Op>(c, in, n, out);
        case 2: return launch_tiles<2, T, Op>(c, in, n, out);
        default: return launch_tiles<1, T, Op>(c, in, n, out);
        }
    }
};

std::uint64_t height_tiles(const shape& device, std::uint64_t n, unsigned round) {
    const unsigned tile = tile_of(device.block);
    return elements_each(device, n, round) + 1 + 2 * log2_up(tile) + divide_up(device.block / tile, tile);
}

verdict one_value_a_tile(const engine::evidence& e) {
    const auto stored = e.first().total.shared_store_bytes / e.element_bytes() / e.blocks();
    const unsigned tile = tile_of(e.block());
    return seen(stored == e.block() / tile, std::to_string(stored) +
                                                " elements stored in shared memory by a block, tiles of " +
                                                std::to_string(tile));
}

} // namespace

reduction cooperative_tiles() {
    return {.about = {"10", "cooperative groups", "ladder/reduce/10_cooperative_tiles.cu",
                      "tiles of threads with a name, whose collective operations synchronise who takes part",
                      "380, And More..."},
            .blocks = many_each,
            .height = height_tiles,
            .rounds = rounds_of<cooperative_tiles_round>(),
            .claims = {
                {"shuffle in cooperative thread groups: shared memory takes one value a tile", "380, Variants",
                 engine::counted(one_value_a_tile).refuted_by(engine::step_in_place("8"))},
                {"one barrier of the block is left", "beyond the lectures",
                 engine::counted(one_barrier_a_warp).refuted_by(engine::step_in_place("8"))},
            }};
}

} // namespace warpfold::ladder::reduce
