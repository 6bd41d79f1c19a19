// SPDX-License-Identifier: MIT
// Reproducible folds and scans of a rank's part on a GPU: a block of threads a piece, which it takes in blocks of elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "warpfold/detail/scan_options.hpp"
#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/ranks/gpu_target.cuh"
#include "warpfold/ranks/reproducible/host.hpp"
#include "warpfold/ranks/reproducible/tree.hpp"

namespace warpfold::detail {

inline constexpr unsigned tree_threads = 256;

// In shared memory: the leaves of 2^level elements, then the levels above; the last one is the node's value.
template <class V>
struct tree_levels {
    static constexpr unsigned levels = detail::block_levels<V>(std::size_t{1} << 14);

    union {
        V node[std::size_t{2} << levels];
    };
    __device__ tree_levels() {}

    // Returns the place of the node's value. By all threads, which meet at the end.
    WARPFOLD_CALLS_ANY
    template <class Step>
    __device__ V* fold(const Step& step, std::uint64_t at, unsigned level) {
        const unsigned n = 1u << level;
        for (unsigned k = threadIdx.x; k < n; k += tree_threads) {
            node[k] = step.leaf(at + k);
        }
        __syncthreads();
        V* of = node;
        for (unsigned w = n; w > 1; w /= 2) {
            for (unsigned k = threadIdx.x; k < w / 2; k += tree_threads) {
                of[w + k] = step.join(of[2 * k], of[2 * k + 1]);
            }
            __syncthreads();
            of += w;
        }
        return of;
    }
    // After fold(): the results. The nodes above the leaves become prefixes.
    WARPFOLD_CALLS_ANY
    template <class Step>
    __device__ void scan(const Step& step, std::uint64_t at, unsigned level, const V& before, bool has_before) {
        V* of = node + (2u << level) - 2;
        if (threadIdx.x == 0 && level == 0) {
            step.emit(at, *of, before, has_before);
        }
        if (threadIdx.x == 0) {
            *of = before;
        }
        __syncthreads();
        for (unsigned w = 1; w < 1u << level; w *= 2) {
            V* const halves = of - 2 * w;
            const bool are_leaves = 2 * w == 1u << level;
            for (unsigned k = threadIdx.x; k < w; k += tree_threads) {
                const bool has = has_before || k != 0;
                const V prefix = of[k], left = halves[2 * k];
                const V right = has ? step.join(prefix, left) : left;
                if (are_leaves) {
                    const V last = halves[2 * k + 1];
                    step.emit(at + 2 * k, left, prefix, has);
                    step.emit(at + 2 * k + 1, last, right, true);
                } else {
                    halves[2 * k] = prefix;
                    halves[2 * k + 1] = right;
                }
            }
            __syncthreads();
            of = halves;
        }
    }
};

// Calls work(block, place of its value, what is before it) for the blocks of a piece.
WARPFOLD_CALLS_ANY
template <class Step, class Work>
__device__ void each_tree_block(const Step& step, const tree_node& piece, std::uint64_t first,
                                tree_levels<typename Step::node>& memory, const Work& work) {
    using V = typename Step::node;
    const unsigned level = piece.level < tree_levels<V>::levels ? piece.level : tree_levels<V>::levels;
    for (std::uint64_t k = 0; k < std::uint64_t{1} << (piece.level - level); ++k) {
        const tree_node block{piece.first + (k << level), level};
        work(block, memory.fold(step, block.first - first, level));
    }
}

// A piece of a rank's part, which begins with element `first` of the whole array; `there`: it has elements.
struct piece_of_part {
    tree_node piece;
    std::uint64_t first;
    bool there;
};

// A part whose place the host knows. piece(k), of one thread: there for each block of a grid of count() blocks at least.
struct known_part {
    [[nodiscard]] __device__ piece_of_part piece(std::uint64_t k) const { return {pieces[k], first, true}; }

    tree_pieces pieces;
    std::uint64_t first;
};

template <class Step, class Part>
__global__ void __launch_bounds__(tree_threads) fold_pieces_kernel(Step step, Part part, typename Step::node* values) {
    using V = typename Step::node;
    __shared__ tree_levels<V> memory;
    __shared__ piece_of_part mine;
    if (threadIdx.x == 0) {
        mine = part.piece(blockIdx.x);
    }
    __syncthreads();
    if (!mine.there) {
        return;
    }
    tree_stack<V, 48> nodes; // used by thread 0
    detail::each_tree_block(step, mine.piece, mine.first, memory, [&](const tree_node& block, const V* value) {
        if (threadIdx.x == 0) {
            nodes.push(block, *value, step);
        }
        __syncthreads();
    });
    if (threadIdx.x == 0) {
        values[blockIdx.x] = nodes.value(0);
    }
}

template <class Step, class Part>
__global__ void __launch_bounds__(tree_threads)
    scan_pieces_kernel(Step step, Part part, const typename Step::node* prefixes) {
    using V = typename Step::node;
    __shared__ tree_levels<V> memory;
    __shared__ piece_of_part mine;
    if (threadIdx.x == 0) {
        mine = part.piece(blockIdx.x);
    }
    __syncthreads();
    if (!mine.there) {
        return;
    }
    tree_stack<V, 48> nodes(prefixes[blockIdx.x], mine.piece.first != 0);
    detail::each_tree_block(step, mine.piece, mine.first, memory, [&](const tree_node& block, const V* value) {
        const V total = *value;
        const V before = nodes.prefix();
        const bool has_before = nodes.has_prefix();
        nodes.push(block, total, step);
        __syncthreads();
        memory.scan(step, block.first - mine.first, block.level, before, has_before);
    });
}

template <class Begins>
__global__ void set_flags_kernel(Begins begins, std::uint64_t count, std::uint64_t n, std::uint8_t* flags) {
    for (std::uint64_t k = blockIdx.x * 256ull + threadIdx.x; k < count; k += gridDim.x * 256ull) {
        if (const auto begin = static_cast<std::uint64_t>(begins[k]); begin < n) {
            flags[begin] = 1;
        }
    }
}

template <gpu_target On>
struct rank_tree<On> {
    template <class V>
    static constexpr unsigned block = tree_levels<V>::levels;

    template <class Step>
    static auto fold(const On& on, const Step& step, const tree_pieces& pieces, std::uint64_t first) {
        using V = typename Step::node;
        std::vector<V> values(pieces.count());
        if (!values.empty()) {
            const auto memory = rank_target<On>::template allocate<V>(on, values.size());
            fold_pieces_kernel<<<grid(pieces), tree_threads, 0, on.stream>>>(step, known_part{pieces, first},
                                                                             memory.data());
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
            rank_target<On>::read(on, values.data(), static_cast<const V*>(memory.data()), values.size());
        }
        return values;
    }
    template <class Step>
    static void scan(const On& on, const Step& step, const tree_pieces& pieces, std::uint64_t first,
                     const std::vector<typename Step::node>& prefixes) {
        using V = typename Step::node;
        const auto memory = rank_target<On>::template allocate<V>(on, prefixes.size());
        rank_target<On>::write(on, memory.data(), prefixes.data(), prefixes.size());
        scan_pieces_kernel<<<grid(pieces), tree_threads, 0, on.stream>>>(step, known_part{pieces, first},
                                                                         static_cast<const V*>(memory.data()));
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
    template <class Begins>
    static void set_flags(const On& on, std::uint8_t* flags, const offsets<Begins>& of, std::uint64_t n) {
        if (n != 0) {
            WARPFOLD_CHECK_CUDA(cudaMemsetAsync(flags, 0, n, on.stream));
        }
        if (of.count != 0) {
            const unsigned blocks = static_cast<unsigned>(std::min<std::uint64_t>((of.count + 255) / 256, 1024));
            set_flags_kernel<<<blocks, 256, 0, on.stream>>>(of.begins, of.count, n, flags);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
    }

private:
    static unsigned grid(const tree_pieces& pieces) { return static_cast<unsigned>(pieces.count()); }
};

} // namespace warpfold::detail
