// SPDX-License-Identifier: MIT
// What a user writes without this library: CUB and NCCL.
#pragma once

#include <memory>

#include <cub/cub.cuh>
#include <cuda/std/functional>

#include "benchmarks/ranks/rank_of_gpu.cuh"

namespace ranks_benchmark {

// By hand: CUB's reduction or scan of the part, and NCCL between them. The sum of floats by ncclAllReduce, so its order is
// NCCL's.
static __global__ void add_before_kernel(const float* totals, int rank, float* before) {
    float sum = 0;
    for (int r = 0; r < rank; ++r) {
        sum += totals[r];
    }
    *before = sum;
}

struct by_hand {
    by_hand(const rank_of_gpu& r_, std::uint64_t n_) : r(r_), n(n_), in(n), out(std::max<std::uint64_t>(n, 64)) {
        fill_uniform(in, r.stream);
        std::size_t of_scan = 0;
        WARPFOLD_CHECK_CUDA(cub::DeviceReduce::Sum(nullptr, bytes, in.data, out.data, n));
        WARPFOLD_CHECK_CUDA(cub::DeviceScan::ExclusiveScan(nullptr, of_scan, in.data, out.data, cuda::std::plus<>{},
                                                           cub::FutureValue<float>(totals.data), n));
        bytes = std::max(bytes, of_scan);
        WARPFOLD_CHECK_CUDA(cudaMalloc(&workspace, bytes));
    }
    by_hand(const by_hand&) = delete;
    by_hand& operator=(const by_hand&) = delete;
    ~by_hand() { (void)cudaFree(workspace); }
    void reduce() {
        std::size_t room = bytes;
        (void)cub::DeviceReduce::Sum(workspace, room, in.data, out.data, n, r.stream);
        (void)ncclAllReduce(out.data, out.data, 1, ncclFloat, ncclSum, r.comm.get(), r.stream);
    }
    void scan() {
        const int rank = r.comm.rank();
        std::size_t room = bytes;
        (void)cub::DeviceReduce::Sum(workspace, room, in.data, totals.data + rank, n, r.stream);
        (void)ncclAllGather(totals.data + rank, totals.data, 1, ncclFloat, r.comm.get(), r.stream);
        add_before_kernel<<<1, 1, 0, r.stream>>>(totals.data, rank, totals.data + 32);
        room = bytes;
        (void)cub::DeviceScan::ExclusiveScan(workspace, room, in.data, out.data, cuda::std::plus<>{},
                                             cub::FutureValue<float>(totals.data + 32), n, r.stream);
    }

    const rank_of_gpu& r;
    std::uint64_t n;
    device_array<float> in, out, totals{33};
    std::size_t bytes = 0;
    void* workspace = nullptr;
};

template <class Member>
auto call_by_hand(Member member) {
    return [member](const rank_of_gpu& r, std::uint64_t n) -> std::function<void()> {
        auto made = std::make_shared<by_hand>(r, n);
        return [made, member] { ((*made).*member)(); };
    };
}

} // namespace ranks_benchmark
