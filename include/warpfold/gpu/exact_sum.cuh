// SPDX-License-Identifier: MIT
// Exact sums on a GPU in one launch. Every block adds up its share in windows of a fixed place, and posts their sums, a
// few integers; the last block collects and rounds them. Only a block that met numbers out of the window's reach has a
// long accumulator to add to the one in global memory, and a fence to pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/block/reduce.cuh"
#include "warpfold/gpu/exact_block.cuh"
#include "warpfold/gpu/load.cuh"
#include "warpfold/gpu/target.hpp"
#include "warpfold/host/exact_sum.hpp"
#include "warpfold/tuning/exact_sum.hpp"

namespace warpfold::detail {

inline constexpr tuning::exact_sum exact_tuning = tuning::exact_sum_default;

// In global memory, all zero between calls.
template <class T, unsigned Factors>
struct exact_memory {
    static constexpr unsigned words = exact_kind<T, Factors>::levels;

    unsigned long long limb[exact_layout<T, Factors>::limbs];
    unsigned long long met;
    unsigned long long box[1]; // `words` for each block: its sums, four times, and 1, and 2 where it added to the limbs

    static std::size_t bytes(unsigned blocks) {
        return sizeof(exact_memory) + std::size_t{blocks} * words * sizeof(unsigned long long);
    }
};

// The thread's share of n terms in vectors of 16 bytes, which all inputs have at the same places.
template <class T, unsigned Factors>
__device__ void add_vectors(exact_thread<T, Factors>& to, const T* const (&in)[Factors], std::uint64_t n) {
    // A product takes more registers than a sum, and one of floats more levels.
    constexpr unsigned fewer = Factors == 1 ? 1 : 16 / sizeof(T);
    constexpr unsigned loads = exact_tuning.loads < fewer ? 1 : exact_tuning.loads / fewer;
    constexpr unsigned width = vector_view<T>::width;
    const vector_view<T> view(in[0], n);
    const unsigned lane = threadIdx.x % warp::lanes;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
    const std::uint64_t warp_first = std::uint64_t{blockIdx.x} * blockDim.x + (threadIdx.x - lane);
    // The first warp has the elements before and behind the vectors too.
    bool extra = warp_first == 0 && view.vectors * width != n;
    const std::uint64_t edge = lane < view.head ? lane : view.tail + (lane - view.head);
    for (std::uint64_t first = warp_first; first < view.vectors || extra; first += loads * threads) {
        T x[Factors][loads * width + 1];
        unsigned groups = loads;
        uint4 loaded[Factors][loads];
        if (first + (loads - 1) * threads + warp::lanes <= view.vectors) {
#pragma unroll
            for (unsigned g = 0; g < loads; ++g) {
#pragma unroll
                for (unsigned f = 0; f < Factors; ++f) {
                    loaded[f][g] =
                        __ldcs(reinterpret_cast<const uint4*>(in[f] + view.head) + first + lane + g * threads);
                }
            }
        } else {
            groups = 0;
#pragma unroll
            for (unsigned g = 0; g < loads; ++g) {
                const std::uint64_t at = first + g * threads;
                groups += at < view.vectors ? 1 : 0;
#pragma unroll
                for (unsigned f = 0; f < Factors; ++f) {
                    loaded[f][g] = at + lane < view.vectors
                                       ? __ldcs(reinterpret_cast<const uint4*>(in[f] + view.head) + at + lane)
                                       : uint4{};
                }
            }
        }
#pragma unroll
        for (unsigned f = 0; f < Factors; ++f) {
#pragma unroll
            for (unsigned j = 0; j < loads * width; ++j) {
                x[f][j] = element_of<T>(loaded[f][j / width], j % width);
            }
            x[f][loads * width] = extra && edge < n ? in[f][edge] : T(0);
        }
        to.template add<loads, width>(x, groups, extra, [&](unsigned f, unsigned j) {
            const std::uint64_t vector = first + lane + j / width * threads;
            if (j == loads * width) {
                return extra && edge < n ? in[f][edge] : T(0);
            }
            return vector < view.vectors ? in[f][view.head + vector * width + j % width] : T(0);
        });
        extra = false;
    }
}

// The same of inputs that are no arrays, or lie at different distances from a 16-byte boundary.
template <class T, unsigned Factors, class Read>
__device__ void add_elements(exact_thread<T, Factors>& to, std::uint64_t n, const Read& read) {
    constexpr unsigned loads = 8 / Factors;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
    const unsigned lane = threadIdx.x % warp::lanes;
    for (std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + (threadIdx.x - lane); first < n;
         first += loads * threads) {
        T x[Factors][loads + 1];
        const auto again = [&](unsigned f, unsigned j) {
            const std::uint64_t k = first + lane + j * threads;
            return j < loads && k < n ? read(f, k) : T(0);
        };
#pragma unroll
        for (unsigned j = 0; j <= loads; ++j) {
#pragma unroll
            for (unsigned f = 0; f < Factors; ++f) {
                x[f][j] = again(f, j);
            }
        }
        to.template add<loads, 1>(x, loads, false, again);
    }
}

template <class T, class In>
__device__ void add_share(exact_thread<T, 1>& to, std::uint64_t n, const In& in) {
    if constexpr (std::is_pointer_v<In>) {
        const T* const arrays[1] = {in};
        add_vectors<T, 1>(to, arrays, n);
    } else {
        add_elements<T, 1>(to, n, [&](unsigned, std::uint64_t k) { return static_cast<T>(in[k]); });
    }
}
template <class T, class A, class B>
__device__ void add_share(exact_thread<T, 2>& to, std::uint64_t n, const A& a, const B& b) {
    if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
        if ((reinterpret_cast<std::uintptr_t>(a) - reinterpret_cast<std::uintptr_t>(b)) % 16 == 0) {
            const T* const arrays[2] = {a, b};
            return add_vectors<T, 2>(to, arrays, n);
        }
    }
    add_elements<T, 2>(
        to, n, [&](unsigned f, std::uint64_t k) { return f == 0 ? static_cast<T>(a[k]) : static_cast<T>(b[k]); });
}

// Adds what the other blocks have posted, and empties their boxes. Whether one of them added to the limbs of the memory
// is told by `limbs_too`.
template <unsigned Words, unsigned Halves>
__device__ void collect_sums(unsigned long long* boxes, unsigned count, long_integers<Words * Halves>& to,
                             bool& limbs_too) {
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
        unsigned long long word[Words];
        unsigned long long all;
        do {
            all = 1;
#pragma unroll
            for (unsigned w = 0; w < Words; ++w) {
                asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                             : "=l"(word[w])
                             : "l"(__cvta_generic_to_global(boxes + k * Words + w))
                             : "memory");
                all &= word[w];
            }
        } while (all == 0);
#pragma unroll
        for (unsigned w = 0; w < Words; ++w) {
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(boxes + k * Words + w)),
                         "l"(0ull)
                         : "memory");
            const long long sum = static_cast<long long>(word[w]) >> 2;
            if constexpr (Halves == 1) {
                to.of[w] += sum;
            } else {
                to.of[2 * w] += sum & 0xffffffff;
                to.of[2 * w + 1] += sum >> 32;
            }
            limbs_too = limbs_too || (word[w] & 2) != 0;
        }
    }
}

template <class T, class Out, class... Ins>
__global__ void __launch_bounds__(exact_tuning.threads, exact_tuning.blocks_per_multiprocessor)
    exact_kernel(std::uint64_t n, Out out, exact_memory<T, sizeof...(Ins)>* memory, Ins... ins) {
    constexpr unsigned factors = sizeof...(Ins);
    using kind = exact_kind<T, factors>;
    using layout = exact_layout<T, factors>;
    constexpr unsigned levels = kind::levels;
    __shared__ exact_block<T, factors> outliers;
    __shared__ block::reduce_storage<long_integers<levels>> storage;
    __shared__ block::reduce_storage<long_integers<2 * levels>> wide_storage;
    __shared__ unsigned limbs_too;

    outliers.clear();
    limbs_too = 0;
    __syncthreads();
    exact_thread<T, factors> thread(&outliers);
    add_share(thread, n, ins...);
    long_integers<levels> mine = thread.finish();
    mine = block::reduce(mine, add_integers{}, storage);
    __syncthreads();

    const unsigned last = gridDim.x - 1;
    if (blockIdx.x != last) {
        const bool touched = outliers.touched != 0;
        if (touched) {
            for (unsigned k = threadIdx.x; k < layout::limbs; k += blockDim.x) {
                const long long part = outliers.evened(k);
                if (part != 0) {
                    atomicAdd(&memory->limb[k], static_cast<unsigned long long>(part));
                }
            }
            if (threadIdx.x == 0 && outliers.met != 0) {
                atomicOr(&memory->met, static_cast<unsigned long long>(outliers.met));
            }
            __threadfence();
            __syncthreads();
        }
        if (threadIdx.x == 0) {
#pragma unroll
            for (unsigned w = 0; w < levels; ++w) {
                const unsigned long long word = static_cast<unsigned long long>(mine.of[w]) << 2 | (touched ? 3 : 1);
                asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(
                                 __cvta_generic_to_global(memory->box + blockIdx.x * levels + w)),
                             "l"(word)
                             : "memory");
            }
        }
        return;
    }
    // Blocks start in the order of their index: the others run by now, and none waits for anybody.
    long_integers<2 * levels> sums{};
    bool theirs = false;
    constexpr std::uint64_t few = std::uint64_t{1} << 22; // so many terms fit in 64 bits
    if (last == 0 || n <= few) {
        if (threadIdx.x != 0) {
            mine = {};
        }
        if (last != 0) {
            collect_sums<levels, 1>(memory->box, last, mine, theirs);
            mine = block::reduce(mine, add_integers{}, storage);
        }
#pragma unroll
        for (unsigned w = 0; w < levels; ++w) {
            sums.of[2 * w] = mine.of[w] & 0xffffffff;
            sums.of[2 * w + 1] = mine.of[w] >> 32;
        }
    } else {
        if (threadIdx.x == 0) {
#pragma unroll
            for (unsigned w = 0; w < levels; ++w) {
                sums.of[2 * w] = mine.of[w] & 0xffffffff;
                sums.of[2 * w + 1] = mine.of[w] >> 32;
            }
        }
        collect_sums<levels, 2>(memory->box, last, sums, theirs);
        sums = block::reduce(sums, add_integers{}, wide_storage);
    }
    if (theirs) {
        atomicOr(&limbs_too, 1u);
    }
    __syncthreads();

    constexpr int lowest_place = kind::highest - exact_window<levels>::depth - layout::lowest;
    if (outliers.touched == 0 && limbs_too == 0) {
        if (threadIdx.x == 0) {
            // Two limbs below the last level, so that no number has to be shifted up.
            constexpr int skipped = (lowest_place / 32 - 2) * 32;
            constexpr unsigned count =
                static_cast<unsigned>(lowest_place - skipped + exact_window<levels>::depth + 96) / 32 + 3;
            std::int64_t limb[count] = {};
#pragma unroll
            for (unsigned w = 0; w < levels; ++w) {
                const unsigned place = static_cast<unsigned>(lowest_place - skipped) + (levels - 1 - w) * exact_spacing;
                const to_limbs add{limb};
                add_integer(sums.of[2 * w], place, add);
                add_integer(sums.of[2 * w + 1], place + 32, add);
            }
            *out = rounded<T>(limb, count, layout::lowest + skipped);
        }
        return;
    }
    if (limbs_too != 0) {
        __threadfence();
        for (unsigned k = threadIdx.x; k < layout::limbs; k += blockDim.x) {
            outliers.limb[k] += atomicExch(&memory->limb[k], 0ull);
        }
        if (threadIdx.x == 0) {
            outliers.met |= static_cast<unsigned>(atomicExch(&memory->met, 0ull));
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        auto* const limb = reinterpret_cast<std::int64_t*>(outliers.limb);
        const to_limbs add{limb};
        for (unsigned w = 0; w < levels; ++w) {
            const unsigned place = static_cast<unsigned>(lowest_place) + (levels - 1 - w) * exact_spacing;
            add_integer(sums.of[2 * w], place, add);
            add_integer(sums.of[2 * w + 1], place + 32, add);
        }
        *out = rounded<T>(limb, layout::limbs, layout::lowest, outliers.met);
    }
}

struct exact_shape {
    unsigned blocks = 1;
    unsigned threads = exact_tuning.threads;
};

template <class T, unsigned Factors>
exact_shape shape_of_exact(std::uint64_t n) {
    constexpr std::uint64_t each = 16 / sizeof(T);
    const std::uint64_t vectors = (n + each - 1) / each;
    exact_shape shape;
    if (vectors <= exact_tuning.one_block_vectors && n <= exact_tuning.one_block_elements) {
        const std::uint64_t threads = std::min<std::uint64_t>((vectors + 31) / 32 * 32, exact_tuning.threads);
        shape.threads = std::max(static_cast<unsigned>(threads), 32u);
        return shape;
    }
    const std::uint64_t most =
        std::uint64_t{device_attribute(cudaDevAttrMultiProcessorCount)} * exact_tuning.blocks_per_multiprocessor;
    shape.threads = vectors <= most * 256 ? std::min(256u, exact_tuning.threads) : exact_tuning.threads;
    shape.blocks = static_cast<unsigned>(std::min(most, (vectors + shape.threads - 1) / shape.threads));
    return shape;
}

template <>
struct exact_engine<gpu> {
    template <class T, class... Ins>
    static T value(const gpu& on, std::uint64_t n, const char* call, const Ins&... ins) {
        T got;
        const exact_shape shape = shape_of_exact<T, sizeof...(Ins)>(n);
        const call_memory memory(on, bytes<T, sizeof...(Ins)>(shape), sizeof(T), call);
        T* const out = static_cast<T*>(memory.data());
        launch<T>(on, shape, memory, n, out, call, ins...);
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(&got, out, sizeof(T), cudaMemcpyDeviceToHost, on.stream));
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        return got;
    }
    template <class T, class Out, class... Ins>
    static void into(const gpu& on, std::uint64_t n, const Out& out, const char* call, const Ins&... ins) {
        const exact_shape shape = shape_of_exact<T, sizeof...(Ins)>(n);
        const call_memory memory(on, bytes<T, sizeof...(Ins)>(shape), 0, call);
        launch<T>(on, shape, memory, n, out, call, ins...);
    }

private:
    template <class T, unsigned Factors>
    static std::size_t bytes(const exact_shape& shape) {
        return shape.blocks == 1 ? 0 : exact_memory<T, Factors>::bytes(shape.blocks);
    }
    template <class T, class Out, class... Ins>
    static void launch(const gpu& on, const exact_shape& shape, const call_memory& memory, std::uint64_t n,
                       const Out& out, const char* call, const Ins&... ins) {
        (check_array(ins, call), ...);
        exact_kernel<T><<<shape.blocks, shape.threads, 0, on.stream>>>(
            n, out, static_cast<exact_memory<T, sizeof...(Ins)>*>(memory.boxes()), ins...);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
};

} // namespace warpfold::detail
