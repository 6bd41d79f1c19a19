// SPDX-License-Identifier: MIT
// The peers beside the ladder: CUB, Thrust and a plain loop on the CPU.
#include "ladder/reduce/definition/blocks.hpp"
#include "ladder/reduce/definition/table.hpp"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

#define WARPFOLD_PEER_TABLES(peer)                                                                                     \
    namespace peer {                                                                                                   \
    std::array<round_function, operation_count> rounds_int32();                                                        \
    std::array<round_function, operation_count> rounds_int64();                                                        \
    std::array<round_function, operation_count> rounds_float32();                                                      \
    std::array<round_function, operation_count> rounds_float64();                                                      \
    std::array<workspace_function, operation_count> workspace_int32();                                                 \
    std::array<workspace_function, operation_count> workspace_int64();                                                 \
    std::array<workspace_function, operation_count> workspace_float32();                                               \
    std::array<workspace_function, operation_count> workspace_float64();                                               \
    }
WARPFOLD_PEER_TABLES(cub_peer)
WARPFOLD_PEER_TABLES(thrust_peer)
#undef WARPFOLD_PEER_TABLES

namespace {

std::uint64_t one(const shape& /*device*/, std::uint64_t /*n*/, unsigned /*round*/) { return 1; }

// Neither library states its tree. A bound that we take for granted: no thread adds more elements in sequence than fall
// to each of 128 threads a multiprocessor, and 256 more roundings do for tiles, warps, blocks and the second pass.
std::uint64_t height_assumed(const shape& device, std::uint64_t n, unsigned /*round*/) {
    return divide_up(n, std::uint64_t{128} * device.multiprocessors) + 256;
}

// The loop that anyone would write; floats are accumulated in double.
struct cpu_loop {
    template <class T, class Op>
    static void round(const launch_context& /*context*/, const T* in, std::uint64_t n, T* out) {
        if constexpr (std::is_same_v<T, float> && (std::is_same_v<Op, sum<T>> || std::is_same_v<Op, product<T>>)) {
            using wide = std::conditional_t<std::is_same_v<Op, sum<T>>, sum<double>, product<double>>;
            double all = wide::identity();
            for (std::uint64_t i = 0; i < n; ++i) {
                all = wide{}(all, static_cast<double>(in[i]));
            }
            *out = static_cast<float>(all);
        } else {
            T all = Op::identity();
            for (std::uint64_t i = 0; i < n; ++i) {
                all = Op{}(all, in[i]);
            }
            *out = all;
        }
    }
};

// Of the accumulator's type; see reduction::accumulates_in_double.
std::uint64_t height_loop(const shape& /*device*/, std::uint64_t n, unsigned /*round*/) { return n; }

} // namespace

reduction peer_cub() {
    return {.about = {"cub", "CUB DeviceReduce", "ladder/reduce/peers/peer_cub.cuh", "the library that ships with CUDA",
                      "", true},
            .one_launch = true,
            .blocks = one,
            .height = height_assumed,
            .rounds = {cub_peer::rounds_int32(), cub_peer::rounds_int64(), cub_peer::rounds_float32(),
                       cub_peer::rounds_float64()},
            .workspace = {cub_peer::workspace_int32(), cub_peer::workspace_int64(), cub_peer::workspace_float32(),
                          cub_peer::workspace_float64()}};
}

reduction peer_thrust() {
    return {.about = {"thrust", "Thrust reduce", "ladder/reduce/peers/peer_thrust.cuh",
                      "the call that most people make; its value comes back on the host", "", true},
            .one_launch = true,
            .delivers_on_host = true,
            .blocks = one,
            .height = height_assumed,
            .rounds = {thrust_peer::rounds_int32(), thrust_peer::rounds_int64(), thrust_peer::rounds_float32(),
                       thrust_peer::rounds_float64()},
            .workspace = {thrust_peer::workspace_int32(), thrust_peer::workspace_int64(),
                          thrust_peer::workspace_float32(), thrust_peer::workspace_float64()}};
}

reduction peer_cpu() {
    return {.about = {"cpu", "plain CPU loop", "ladder/reduce/peers/peers.cpp",
                      "one thread of the host, timed by the host's clock", "", true},
            .on_device = false,
            .one_launch = true,
            .delivers_on_host = true,
            .accumulates_in_double = true,
            .blocks = one,
            .height = height_loop,
            .rounds = rounds_of<cpu_loop>()};
}

} // namespace warpfold::ladder::reduce
