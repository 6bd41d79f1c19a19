// SPDX-License-Identifier: MIT
// Step 11: 16-byte loads. A warp requests 512 bytes at once, and more bytes are in flight for as many instructions. The
// elements before the first 16-byte boundary and after the last one are loaded one by one, so that any pointer and any
// length work. (380 "Access Via L1" names the 16-byte word; the lectures have no such kernel.)
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/device/shuffles.cuh"
#include "ladder/reduce/device/vectors.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void load_vectors(const T* input, T* partial, std::uint64_t n) {
    const T mine = block_reduce<T, Op>(add_vectors<T, Op>(input, n), shared_scratch<T>());
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine;
    }
}

namespace {

struct vector_loads_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        launch(c, "load_vectors", load_vectors<T, Op>, 32 * sizeof(T), in, out, n);
    }
};

verdict wide_requests(const engine::evidence& e) {
    const std::uint64_t bytes = e.n() * e.element_bytes();
    if (e.block() % 32 != 0) {
        return unseen("needs blocks of whole warps");
    }
    if (bytes < 512) {
        return unseen("the array is shorter than 512 bytes");
    }
    const auto& c = e.first().total;
    // What 512 bytes do not divide: the last vectors, and the single elements before and after them.
    const std::uint64_t least = bytes / 512;
    return seen(c.global_load_requests <= least + 3,
                number(static_cast<double>(c.global_load_bytes) / static_cast<double>(c.global_load_requests), 1) +
                    " bytes a request; " + std::to_string(c.global_load_requests) + " requests for " +
                    std::to_string(bytes) + " bytes");
}

verdict fewer_requests(const engine::evidence& e, const step_result& other) {
    const auto here = e.first().total.global_load_requests;
    const auto before = other.launches.front().total.global_load_requests;
    return seen(here < before, std::to_string(here) + " load requests, " + std::to_string(before) + " in step 9");
}

} // namespace

reduction vector_loads() {
    return {.about = {"11", "16-byte vector loads", "ladder/reduce/11_vector_loads.cu",
                      "each load brings 16 bytes a thread; the unaligned ends are loaded one by one",
                      "beyond the lectures; 380, Access Via L1, names the word size"},
            .blocks = many_each,
            .height = height_vectors,
            .rounds = rounds_of<vector_loads_round>(),
            .claims = {
                {"natively supported word sizes per thread: 16 bytes, so that a warp requests 512",
                 "380, Access Via L1", engine::counted(wide_requests).refuted_by(engine::step_in_place("9"))},
                {"fewer requests for the same bytes", "beyond the lectures", engine::compared("9", fewer_requests)},
            }};
}

} // namespace warpfold::ladder::reduce
