// SPDX-License-Identifier: MIT
// The peer that ships with CUDA: cub::DeviceReduce::Reduce, its temporary storage allocated beforehand.
#pragma once

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include "ladder/reduce/definition/operations.hpp"
#include "ladder/reduce/definition/reduction.hpp"
#include "ladder/reduce/definition/table.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::reduce::cub_peer {

// The operator that CUB specialises, where it means the same as ours.
template <class Op>
struct known_operator {
    using type = Op;
};
template <class T>
struct known_operator<sum<T>> {
    using type = ::cuda::std::plus<>;
};
template <class T>
struct known_operator<product<T>> {
    using type = ::cuda::std::multiplies<>;
};
template <>
struct known_operator<minimum<std::int32_t>> {
    using type = ::cuda::minimum<>;
};
template <>
struct known_operator<maximum<std::int32_t>> {
    using type = ::cuda::maximum<>;
};
template <>
struct known_operator<minimum<std::int64_t>> {
    using type = ::cuda::minimum<>;
};
template <>
struct known_operator<maximum<std::int64_t>> {
    using type = ::cuda::maximum<>;
};

struct step {
    template <class T, class Op>
    static std::size_t workspace(const shape& /*device*/, std::uint64_t n) {
        std::size_t bytes = 0;
        const typename known_operator<Op>::type op{};
        WARPFOLD_CUDA_CHECK(cub::DeviceReduce::Reduce(nullptr, bytes, static_cast<const T*>(nullptr),
                                                      static_cast<T*>(nullptr), n, op, Op::identity()));
        return bytes;
    }
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        std::size_t bytes = c.workspace_bytes;
        const typename known_operator<Op>::type op{};
        WARPFOLD_CUDA_CHECK(cub::DeviceReduce::Reduce(c.workspace, bytes, in, out, n, op, Op::identity(), c.on.stream));
    }
};

} // namespace warpfold::ladder::reduce::cub_peer

// The tables of one element type, which the registration puts together.
#define WARPFOLD_CUB_PEER(name, type)                                                                                  \
    namespace warpfold::ladder::reduce::cub_peer {                                                                     \
    std::array<round_function, operation_count> rounds_##name() { return rounds_of_type<step, type>(); }               \
    std::array<workspace_function, operation_count> workspace_##name() { return workspace_of_type<step, type>(); }     \
    }
