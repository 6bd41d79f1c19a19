// SPDX-License-Identifier: MIT
// Exact sums that continue from launch to launch: every block adds its sums to limbs in global memory by integer
// atomics, whose order does not matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/gpu/exact_sum/exact_sum.cuh"

namespace warpfold::detail {

// In global memory.
template <class T, unsigned Factors = 1>
struct exact_limbs {
    static constexpr unsigned count = exact_layout<T, Factors>::limbs;

    long long limb[count];
    unsigned long long met;
};

struct global_limbs {
    __device__ void operator()(unsigned k, std::int64_t what) const {
        if (what != 0) {
            atomicAdd(reinterpret_cast<unsigned long long*>(limb + k), static_cast<unsigned long long>(what));
        }
    }

    long long* limb;
};

template <class Kernels, class T, class Count, class... Ins>
__global__ void __launch_bounds__(exact_threads<Kernels::value.max_block_threads, T, sizeof...(Ins)>,
                                  Kernels::value.resident_blocks)
    exact_add_kernel(Count count, exact_limbs<T, sizeof...(Ins)>* to, Ins... ins) {
    constexpr unsigned factors = sizeof...(Ins);
    using kind = window_parameters<T, factors>;
    constexpr unsigned levels = kind::levels;
    __shared__ block_accumulator<T, factors> outliers;
    __shared__ sum_storage<levels> storage;

    const bool left = detail::add_share<Kernels>(&outliers, &storage, count.value(), ins...);
    const level_sums<levels> mine = sum_of_block(storage);
    const global_limbs add{to->limb};
    if (threadIdx.x == 0) {
        constexpr int lowest_place = kind::highest - exact_window<levels>::depth - exact_layout<T, factors>::lowest;
#pragma unroll
        for (unsigned w = 0; w < levels; ++w) {
            add_integer(mine.of[w], static_cast<unsigned>(lowest_place) + (levels - 1 - w) * exact_spacing, add);
        }
        if (left && outliers.met != 0) {
            atomicOr(&to->met, static_cast<unsigned long long>(outliers.met));
        }
    }
    if (left && outliers.touched != 0) {
        for (unsigned k = threadIdx.x; k < exact_layout<T, factors>::limbs; k += blockDim.x) {
            add(k, outliers.carried(k));
        }
    }
}

// Carries between limbs until all but the last are below 2^32.
template <class T>
__global__ void carry_limbs_kernel(exact_limbs<T>* of) {
    long long carry = 0;
    for (unsigned k = 0; k + 1 < exact_limbs<T>::count; ++k) {
        const long long v = of->limb[k] + carry;
        of->limb[k] = v & 0xffffffff;
        carry = v >> 32;
    }
    of->limb[exact_limbs<T>::count - 1] += carry;
}

// A sum on the device. Kernels add to it in stream order.
template <class T, gpu_target On = gpu>
class exact_on_device {
public:
    // `memory`: exact_limbs<T> on the device. A block adds less than 2^36 to a limb, so limbs are carried after
    // `blocks_between` blocks.
    exact_on_device(const On& on, void* memory, std::uint64_t blocks_between = std::uint64_t{1} << 26)
        : stream_(on.stream),
          policy_(policy_of<tuning::exact_sum_policy<>>(on)),
          limbs_(static_cast<exact_limbs<T>*>(memory)),
          blocks_between_(blocks_between) {
        WARPFOLD_CHECK_CUDA(cudaMemsetAsync(limbs_, 0, sizeof(*limbs_), stream_));
    }
    template <class In>
    void add(const In& in, std::uint64_t n, const char* call) {
        detail::check_array(in, n, call);
        if (n == 0) {
            return;
        }
        const exact_shape shape = shape_of_exact<T, 1>(policy_, n);
        exact_add_kernel<kernels_of<policy>, T>
            <<<shape.blocks, shape.threads, 0, stream_>>>(known_count{n}, limbs_, in);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
        blocks_ += shape.blocks;
        if (blocks_ >= blocks_between_) {
            carry_limbs_kernel<T><<<1, 1, 0, stream_>>>(limbs_);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
            blocks_ = 0;
        }
    }
    // Waits for the stream and adds the sum to `to`.
    void fetch(long_accumulator<T, 1>& to) const {
        exact_limbs<T> got;
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(&got, limbs_, sizeof(got), cudaMemcpyDeviceToHost, stream_));
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(stream_));
        std::int64_t limb[exact_limbs<T>::count];
        std::copy_n(got.limb, exact_limbs<T>::count, limb);
        to.add_limbs(limb, static_cast<unsigned>(got.met));
    }

private:
    using policy = policy_t<tuning::exact_sum_policy<>, On>;

    cudaStream_t stream_;
    policy policy_;
    exact_limbs<T>* limbs_;
    std::uint64_t blocks_between_, blocks_ = 0;
};

template <gpu_target On>
struct exact_add_engine<On> {
    template <class T, class In>
    static void add(const On& on, long_accumulator<T, 1>& to, const In& in, std::uint64_t n, const char* call) {
        const gpu own = detail::without_workspace(on);
        const call_memory memory(own, 0, sizeof(exact_limbs<T>), call);
        exact_on_device<T, On> sum(on, memory.data());
        sum.add(in, n, call);
        sum.fetch(to);
    }
};

} // namespace warpfold::detail
