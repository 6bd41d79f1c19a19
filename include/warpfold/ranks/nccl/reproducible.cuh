// SPDX-License-Identifier: MIT
// Reproducible reductions and scans over ranks of NCCL, enqueued: the host knows neither where its part begins nor any value.
// Two gathers: the frames with the lengths of the parts, from which a kernel makes their bounds; then the nodes of all parts
// (reproducible/tree.hpp), as many of each rank as any part can have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/indexed.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/ranks/nccl/first_index.cuh"
#include "warpfold/ranks/nccl/frames.cuh"
#include "warpfold/ranks/nccl/segmented_scan.cuh"
#include "warpfold/ranks/reproducible/calls.hpp"
#include "warpfold/ranks/reproducible/gpu.cuh"

namespace warpfold {

class nccl_communicator;

namespace detail {

inline constexpr unsigned nodes_of_rank = 128;

// Bytes of a rank's nodes in the second gather.
template <class V>
inline constexpr std::size_t nodes_slot = std::max(second_slot, sizeof(V) * nodes_of_rank);

// The slots of all ranks.
template <class V>
struct slots_of_nodes {
    [[nodiscard]] __host__ __device__ V* of(int rank) const {
        return reinterpret_cast<V*>(at + static_cast<std::size_t>(rank) * nodes_slot<V>);
    }

    unsigned char* at;
};

// In device memory: whether the ranks agree, how many elements precede the part in memory, and where parts begin in the
// order of the tree, ranks + 1 numbers.
struct tree_bounds_at {
    static constexpr std::size_t words(std::size_t ranks) { return ranks + 3; }

    [[nodiscard]] __device__ bool is_there() const { return at[0] != 0; }
    [[nodiscard]] __host__ __device__ std::uint64_t* first() const { return at + 1; }
    [[nodiscard]] __device__ std::uint64_t& operator[](int k) const { return at[2 + k]; }

    std::uint64_t* at;
};

template <bool Reverse>
struct bounds_of_frames {
    __device__ std::uint64_t operator()(const rank_frame* frames, int ranks) const {
        if (threadIdx.x == 0) {
            *bounds.first() = first_of_frames{rank}(frames, ranks);
            bounds[0] = 0;
            for (int k = 0; k < ranks; ++k) {
                bounds[k + 1] = bounds[k] + frames[Reverse ? ranks - 1 - k : k].n;
            }
        }
        return 1;
    }
    __device__ static std::uint64_t refused() { return 0; }

    tree_bounds_at bounds;
    int rank;
};

// This rank's part, the `me`-th in the order of the tree. Its pieces have `level` levels at most.
struct gathered_part {
    [[nodiscard]] __device__ tree_pieces pieces(unsigned of_level) const {
        return {bounds[me], bounds[me + 1], of_level};
    }
    [[nodiscard]] __device__ piece_of_part piece(std::uint64_t k) const {
        if (!bounds.is_there()) {
            return {};
        }
        const tree_pieces all = pieces(level);
        return k < all.count() ? piece_of_part{all[k], bounds[me], true} : piece_of_part{};
    }

    tree_bounds_at bounds;
    int me;
    unsigned level;
};

// Groups of pieces, one a thread: what a single thread folds is short then.
inline constexpr unsigned group_levels = 4;

// Calls go(node, k) for the pieces of a group, k: their numbers.
template <class Go>
__device__ void each_piece_of_group(const tree_pieces& pieces, unsigned level, const tree_node& group, const Go& go) {
    const std::uint64_t k = pieces.index_of(group.first);
    const unsigned more = group.level > level ? group.level - level : 0;
    for (std::uint64_t i = 0; i < std::uint64_t{1} << more; ++i) {
        go(tree_node{group.first + (i << level), more == 0 ? group.level : level}, k + i);
    }
}

// One block. The values of the groups, and the nodes that all of the part grows together to.
template <class Step>
__global__ void __launch_bounds__(tree_threads)
    join_pieces_kernel(Step step, gathered_part part, const typename Step::node* values, typename Step::node* groups,
                       typename Step::node* nodes) {
    using V = typename Step::node;
    if (!part.bounds.is_there()) {
        return;
    }
    const tree_pieces pieces = part.pieces(part.level), all = part.pieces(part.level + group_levels);
    for (std::uint64_t j = threadIdx.x; j < all.count(); j += tree_threads) {
        tree_stack<V, 16> joined;
        detail::each_piece_of_group(pieces, part.level, all[j], [&](const tree_node& node, std::uint64_t k) {
            joined.push(node, values[k], step);
        });
        groups[j] = joined.value(0);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        tree_stack<V, nodes_of_rank> joined;
        for (std::uint64_t j = 0; j < all.count(); ++j) {
            joined.push(all[j], groups[j], step);
        }
        for (unsigned k = 0; k < joined.size(); ++k) {
            nodes[k] = joined.value(k);
        }
    }
}

// Pushes the nodes of the first `parts` parts.
template <bool Reverse, class V, class Step>
__device__ void push_nodes(tree_stack<V>& stack, const tree_bounds_at& bounds, int parts, int ranks,
                           const slots_of_nodes<V>& nodes, const Step& step) {
    for (int k = 0; k < parts; ++k) {
        const V* of = nodes.of(Reverse ? ranks - 1 - k : k);
        for (std::uint64_t at = bounds[k], end = bounds[k + 1]; at != end; ++of) {
            const tree_node node = detail::node_at(at, end, 63);
            stack.push(node, *of, step);
            at += std::uint64_t{1} << node.level;
        }
    }
}

template <class A, class Op, class Step, class Result, class Out>
__global__ void fold_nodes_kernel(Step step, tree_bounds_at bounds, int ranks, slots_of_nodes<A> nodes, Result result,
                                  Out out) {
    if (bounds.is_there()) {
        tree_stack<A> all;
        detail::push_nodes<false>(all, bounds, ranks, ranks, nodes, step);
        *out = detail::with_one_nan(result(all.has_prefix() ? all.prefix() : Op::template identity<A>()));
    }
}

// One block. What precedes each piece.
template <bool Reverse, class Step>
__global__ void __launch_bounds__(tree_threads)
    prefix_pieces_kernel(Step step, gathered_part part, int ranks, slots_of_nodes<typename Step::node> nodes,
                         const typename Step::node* values, typename Step::node* groups,
                         typename Step::node* prefixes) {
    using V = typename Step::node;
    if (!part.bounds.is_there()) {
        return;
    }
    const tree_pieces pieces = part.pieces(part.level), all = part.pieces(part.level + group_levels);
    if (threadIdx.x == 0) {
        tree_stack<V> before;
        detail::push_nodes<Reverse>(before, part.bounds, part.me, ranks, nodes, step);
        for (std::uint64_t j = 0; j < all.count(); ++j) {
            const V value = groups[j];
            groups[j] = before.has_prefix() ? before.prefix() : V{};
            before.push(all[j], value, step);
        }
    }
    __syncthreads();
    for (std::uint64_t j = threadIdx.x; j < all.count(); j += tree_threads) {
        const tree_node group = all[j];
        tree_stack<V, 16> before(groups[j], group.first != 0);
        detail::each_piece_of_group(pieces, part.level, group, [&](const tree_node& node, std::uint64_t k) {
            prefixes[k] = before.has_prefix() ? before.prefix() : V{};
            before.push(node, values[k], step);
        });
    }
}

// The memory and the steps of a call whose nodes are `V`s.
template <gpu_target On, class V, bool Reverse>
class enqueued_tree {
public:
    using target = over_ranks<On, nccl_communicator>;

    enqueued_tree(const target& on, std::uint64_t n, const char* call)
        : on_(on),
          n_(n),
          call_(call),
          ranks_(on.comm->size()),
          level_(detail::piece_levels(n, rank_tree<On>::template block<V>)),
          most_(n == 0 ? 0 : tree_pieces::most(n, level_)),
          bounds_memory_(on.on, tree_bounds_at::words(static_cast<std::size_t>(ranks_))),
          nodes_memory_(on.on, static_cast<std::size_t>(ranks_) * nodes_slot<V>),
          values_(on.on, most_),
          groups_(on.on, n == 0 ? 0 : tree_pieces::most(n, level_ + group_levels)) {}

    // The first gather. `all`: elements of all ranks, or null.
    void gather_lengths(const rank_signature& signature, std::uint64_t* all) {
        const rank_frame head = detail::frame_of(signature, n_, 0, nodes_slot<V>);
        std::uint64_t* const there = bounds().at;
        detail::fold_enqueued(on_, known_frame{head, on_.on.stream},
                              bounds_of_frames<Reverse>{bounds(), on_.comm->rank()}, there, all, call_);
    }
    [[nodiscard]] tree_bounds_at bounds() const { return tree_bounds_at{bounds_memory_.data()}; }

    // The second one.
    template <class Step>
    void gather_nodes(const Step& step) {
        V* const mine = nodes().of(on_.comm->rank());
        WARPFOLD_CHECK_CUDA(cudaMemsetAsync(mine, 0, nodes_slot<V>, stream()));
        if (n_ != 0) {
            fold_pieces_kernel<<<grid(), tree_threads, 0, stream()>>>(step, part(), values_.data());
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
            join_pieces_kernel<<<1, tree_threads, 0, stream()>>>(step, part(), static_cast<const V*>(values_.data()),
                                                                 groups_.data(), mine);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
        on_.comm->gather_on_device(mine, nodes().at, nodes_slot<V>, stream(), call_);
    }
    template <class Op, class Step, class Result, class Out>
    void fold(const Step& step, const Result& result, Out* out) {
        fold_nodes_kernel<V, Op><<<1, 1, 0, stream()>>>(step, bounds(), ranks_, nodes(), result, out);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
    template <class Step>
    void scan(const Step& step) {
        if (n_ != 0) {
            const typename rank_target<On>::template array<V> prefixes(on_.on, most_);
            prefix_pieces_kernel<Reverse><<<1, tree_threads, 0, stream()>>>(
                step, part(), ranks_, nodes(), static_cast<const V*>(values_.data()), groups_.data(), prefixes.data());
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
            scan_pieces_kernel<<<grid(), tree_threads, 0, stream()>>>(step, part(),
                                                                      static_cast<const V*>(prefixes.data()));
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
    }

private:
    [[nodiscard]] cudaStream_t stream() const { return on_.on.stream; }
    [[nodiscard]] gathered_part part() const {
        return {bounds(), Reverse ? ranks_ - 1 - on_.comm->rank() : on_.comm->rank(), level_};
    }
    [[nodiscard]] slots_of_nodes<V> nodes() const { return {nodes_memory_.data()}; }
    [[nodiscard]] unsigned grid() const { return static_cast<unsigned>(most_); }

    const target& on_;
    std::uint64_t n_;
    const char* call_;
    int ranks_;
    unsigned level_;
    std::uint64_t most_;
    typename rank_target<On>::template array<std::uint64_t> bounds_memory_;
    typename rank_target<On>::template array<unsigned char> nodes_memory_;
    typename rank_target<On>::template array<V> values_, groups_;
};

template <class Map, class T, bool Backwards>
auto map_of_tree(const Map& map, const std::uint64_t* first, std::uint64_t last) {
    if constexpr (takes_index_v<Map, T>) {
        return map_from_device<Map, Backwards>{map, first, last};
    } else {
        return map;
    }
}

template <gpu_target On>
struct reduce_engine<reproducible_ranks<On, nccl_communicator>> {
    using target = reproducible_ranks<On, nccl_communicator>;
    using plain = reduce_engine<over_ranks<On, nccl_communicator>>;

    template <class A, class In, class N, class Map, class Op, class Result>
    static auto value(const target& on, const In& in, const N& elements, const Map& map, const Op& op,
                      const Result& result, const char* call) {
        if constexpr (is_located_v<Result>) { // is so by itself
            return plain::template value<A>(on.ranks, in, elements, map, op, result, call);
        } else {
            using R = std::remove_cvref_t<decltype(result(std::declval<const A&>()))>;
            struct returned {
                std::uint64_t all;
                alignas(16) unsigned char value[sizeof(R)];
            };
            return call_scope<target>::run(on, call, [&] {
                auto* const place =
                    new (on.ranks.comm->pinned_result(sizeof(returned), on.ranks.on.stream, call)) returned{};
                enqueue<A>(on, in, elements, map, op, result, reinterpret_cast<R*>(place->value), &place->all, call);
                on.ranks.comm->check_enqueued(on.ranks.on.stream, call);
                if constexpr (std::is_same_v<Op, extremes_operation>) {
                    detail::require_elements(place->all, call);
                }
                R got;
                std::memcpy(static_cast<void*>(&got), place->value, sizeof(R));
                return got;
            });
        }
    }
    template <class A, class In, class N, class Map, class Op, class Result, class Out>
    static void into(const target& on, const In& in, const N& elements, const Map& map, const Op& op,
                     const Result& result, const Out& out, const char* call) {
        static_assert(std::is_pointer_v<Out>, "over ranks of GPUs an output is a pointer");
        if constexpr (is_located_v<Result>) {
            plain::template into<A>(on.ranks, in, elements, map, op, result, out, call);
        } else {
            call_scope<target>::run(on, call, [&] {
                if (on.ranks.has_result()) {
                    detail::check_array(out, 1, call);
                }
                enqueue<A>(on, in, elements, map, op, result, on.ranks.has_result() ? out : nullptr, nullptr, call);
            });
        }
    }

private:
    template <class A, class In, class N, class Map, class Op, class Result, class Out>
    static void enqueue(const target& on, const In& in, const N& elements, const Map& map, const Op& op,
                        const Result& result, Out* out, std::uint64_t* all, const char* call) {
        static_assert(!is_count_at_v<N>, "over ranks the number of elements is an integer");
        const std::uint64_t n = detail::checked_count(elements, call).value();
        detail::check_array(in, n, call);
        detail::check_root(on.ranks, call);
        enqueued_tree<On, A, false> tree(on.ranks, n, call);
        tree.gather_lengths(
            detail::signature_of<element_t<In>, A, Map, Op, Result, reproducible_call>(call, on.ranks.root), all);
        const auto from = detail::map_of_tree<Map, element_t<In>, false>(map, tree.bounds().first(), 0);
        const fold_step<A, In, std::remove_cv_t<decltype(from)>, Op> step{in, from, op};
        tree.gather_nodes(step);
        if (out != nullptr) {
            tree.template fold<Op>(step, result, out);
        }
    }
};

template <gpu_target On>
struct scan_engine<reproducible_ranks<On, nccl_communicator>> {
    using target = reproducible_ranks<On, nccl_communicator>;

    template <class In, class Out, class Map, class Op, class How>
    static void run(const target& on, const In& in, std::uint64_t n, const Out& out, const Map& map, const Op& op,
                    const How& how, const char* call) {
        using A = typename How::value;
        using T = element_t<In>;
        detail::check_root(on.ranks, call);
        const auto signature =
            detail::signature_of<T, A, written_t<Out>, Map, Op, How, reproducible_call>(call, on.ranks.root);
        using V = std::conditional_t<How::segmented, open_segment<A>, A>;
        enqueued_tree<On, V, How::reverse> tree(on.ranks, n, call);
        const std::uint64_t last = n == 0 ? 0 : n - 1;
        const auto of = detail::map_of_tree<Map, T, How::reverse>(map, tree.bounds().first(), How::reverse ? last : 0);
        const auto with = [&](const auto& elements, const auto& results, const auto& flags) {
            tree.gather_lengths(signature, nullptr); // nothing fails between the gathers but the device
            using Elements = std::remove_cvref_t<decltype(elements)>;
            using Results = std::remove_cvref_t<decltype(results)>;
            using Of = std::remove_cv_t<decltype(of)>;
            const scan_step<A, Elements, Results, Of, Op, step_options<How>> step{
                {elements, of, op}, results, {how.first}};
            if constexpr (How::segmented) {
                using Flags = std::remove_cvref_t<decltype(flags)>;
                run_tree(tree, segmented_step<How::reverse, A, Elements, Results, Of, Op, Flags, step_options<How>>{
                                   step, flags});
            } else {
                run_tree(tree, step);
            }
        };
        detail::with_flags(on.ranks, how.segments, n, [&](const auto& flags) {
            if constexpr (How::reverse) {
                with(elements_down<In>{in, last}, elements_down<Out>{out, last},
                     elements_down<std::remove_cvref_t<decltype(flags)>>{flags, last});
            } else {
                with(in, out, flags);
            }
        });
    }

private:
    template <class Tree, class Step>
    static void run_tree(Tree& tree, const Step& step) {
        tree.gather_nodes(step);
        tree.scan(step);
    }
};

} // namespace detail
} // namespace warpfold
