// SPDX-License-Identifier: MIT
// A GPU as the target of a rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/exact_sum/accumulator.cuh"
#include "warpfold/ranks/target.hpp"

namespace warpfold::detail {

template <class T>
__global__ void add_counts_kernel(T* to, const T* from, std::uint64_t n) {
    for (std::uint64_t k = blockIdx.x * 256ull + threadIdx.x; k < n; k += gridDim.x * 256ull) {
        to[k] += from[k];
    }
}

template <gpu_target On>
struct rank_target<On> {
    static constexpr bool is_device = true;

    static void wait(const On& on) { WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream)); }
    template <class T>
    class array {
    public:
        array(const On& on, std::uint64_t n, bool zero = false) : memory_(on.stream, n * sizeof(T), on.resource) {
            if (zero && n != 0) {
                WARPFOLD_CHECK_CUDA(cudaMemsetAsync(memory_.data(), 0, n * sizeof(T), on.stream));
            }
        }
        [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }

    private:
        stream_ordered_memory memory_;
    };

    template <class T>
    static void read(const On& on, T* to, const T* from, std::uint64_t n) {
        copy(on, to, from, n, cudaMemcpyDeviceToHost);
    }
    template <class T>
    static void write(const On& on, T* to, const T* from, std::uint64_t n) {
        copy(on, to, from, n, cudaMemcpyHostToDevice);
    }
    template <class Out, class R>
    static void put(const On& on, const Out& out, const R& value) {
        static_assert(std::is_pointer_v<Out>, "over ranks of GPUs an output is a pointer");
        const auto converted = static_cast<std::remove_pointer_t<Out>>(value);
        write(on, out, &converted, 1);
    }
    template <class T>
    static array<T> allocate(const On& on, std::uint64_t n) {
        return array<T>(on, n);
    }
    // to[k] = from[k], or to[k] + from[k], in stream order.
    template <class T>
    static void store(const On& on, T* to, const T* from, std::uint64_t n, bool add) {
        const unsigned blocks = static_cast<unsigned>(std::min<std::uint64_t>((n + 255) / 256, 1024));
        if (add && n != 0) {
            add_counts_kernel<<<blocks, 256, 0, on.stream>>>(to, from, n);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        } else if (n != 0) {
            WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToDevice, on.stream));
        }
    }
    template <class T, class... Ins>
    static void add_exact(const On& on, long_accumulator<T, sizeof...(Ins)>& to, std::uint64_t n, const char* call,
                          const Ins&... ins) {
        (detail::check_array(ins, n, call), ...);
        using limbs = exact_limbs<T, sizeof...(Ins)>;
        const gpu own = detail::without_workspace(on);
        const call_memory memory(own, 0, sizeof(limbs), call);
        auto* const sums = static_cast<limbs*>(memory.data());
        enqueue_exact<T>(on, sums, n, ins...);
        limbs got;
        read(on, &got, static_cast<const limbs*>(sums), 1);
        std::int64_t limb[limbs::count];
        std::copy_n(got.limb, limbs::count, limb);
        to.add_limbs(limb, static_cast<unsigned>(got.met));
    }
    // Adds the terms to limbs of the device, in stream order.
    template <class T, class... Ins>
    static void enqueue_exact(const On& on, exact_limbs<T, sizeof...(Ins)>* to, std::uint64_t n, const Ins&... ins) {
        if (n != 0) {
            using policy = policy_t<tuning::exact_sum_policy<>, On>;
            const exact_shape shape = shape_of_exact<T, sizeof...(Ins)>(policy_of<tuning::exact_sum_policy<>>(on), n);
            exact_add_kernel<kernels_of<policy>, T>
                <<<shape.blocks, shape.threads, 0, on.stream>>>(known_count{n}, to, ins...);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
    }

private:
    template <class T>
    static void copy(const On& on, T* to, const T* from, std::uint64_t n, cudaMemcpyKind kind) {
        if (n != 0) {
            WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(to, from, n * sizeof(T), kind, on.stream));
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        }
    }
};

} // namespace warpfold::detail
