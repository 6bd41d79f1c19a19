// SPDX-License-Identifier: MIT
// Chunked calls on a GPU. While kernels process one chunk, the next is copied, and host threads read those after it.
// Partial results are combined on the device, in the order of the chunks.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "warpfold/detail/bins/channels.hpp"
#include "warpfold/detail/chunked/fold.hpp"
#include "warpfold/detail/chunked/plan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/detail/scan_call.hpp"
#include "warpfold/gpu/chunked/copies.hpp"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/exact_sum/accumulator.cuh"
#include "warpfold/gpu/histogram/histogram.cuh"
#include "warpfold/gpu/reduce/reduce.cuh"
#include "warpfold/gpu/scan/scan.cuh"

namespace warpfold::detail {

// `map`, with *carry added before the element at `place` unless carry is nullptr.
template <class A, class Map, class Op>
struct carried_map {
    template <class T>
    __device__ A operator()(const T& x, std::uint64_t index) const {
        const A own = static_cast<A>(detail::mapped(map, x, index + first));
        return index == place && carry != nullptr ? static_cast<A>(op(*carry, own)) : own;
    }

    Map map;
    Op op;
    const A* carry;
    std::uint64_t place, first;
};

template <gpu_target On>
struct chunked_engine<On> {
    template <class Source, class Fold>
    static typename Fold::value fold(const On& on, Source& source, const Fold& fold, const chunked_options& options,
                                     std::uint64_t& n, const char* call) {
        using T = typename Source::element;
        using V = typename Fold::value;
        const chunked_plan plan = plan_chunks(source, options);
        const stream_ordered_memory memory(on.stream, sizeof(V), on.resource);
        auto* const total = static_cast<V*>(memory.data());
        bool fresh = fold.initial == nullptr;
        if (fresh) {
            // Includes padding, since all bytes are copied back.
            WARPFOLD_CHECK_CUDA(cudaMemsetAsync(total, 0, sizeof(V), on.stream));
        } else {
            WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(total, fold.initial, sizeof(V), cudaMemcpyHostToDevice, on.stream));
        }
        const auto fold_chunk = [&](const auto& in, std::uint64_t count, std::uint64_t first) {
            const accumulating_output<V, decltype(fold.more)> place{total, fold.more, fresh};
            reduce_engine<On>::template into<typename Fold::folded>(on, in, count, fold.template map_at<T>(first),
                                                                    fold.op, fold.result_at(in, first), place, call);
            fresh = false;
        };
        n = for_chunks(on, source, plan, options, fold_chunk);
        if (Fold::continues && n == 0 && fresh) {
            fold_chunk(view_of(std::as_const(source), nullptr), 0, 0);
        }
        V got;
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(&got, total, sizeof(V), cudaMemcpyDeviceToHost, on.stream));
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        return got;
    }

    template <class Source, class Bins>
    static std::vector<std::uint64_t> count(const On& on, Source& source, const Bins& bins,
                                            const chunked_options& options, const char* call) {
        return histogram_engine<On>::values(
            on, bins.count(),
            [&](std::uint64_t* counts) {
                for_chunks(on, source, plan_chunks(source, options), options,
                           [&](const auto& in, std::uint64_t n, std::uint64_t) {
                               count_samples(on, in, n, counts, bins, update::add, call);
                           });
            },
            call);
    }

    template <class Source>
    static long_accumulator<typename Source::element, 1> exact(const On& on, Source& source,
                                                               const chunked_options& options, const char* call) {
        using T = typename Source::element;
        const stream_ordered_memory memory(on.stream, sizeof(exact_limbs<T>), on.resource);
        exact_on_device<T, On> sum(on, memory.data());
        for_chunks(on, source, plan_chunks(source, options), options,
                   [&](const auto& in, std::uint64_t n, std::uint64_t) { sum.add(in, n, call); });
        long_accumulator<T, 1> total;
        sum.fetch(total);
        return total;
    }

    // There is room for one element on both sides of a chunk's results. The one next to the previous chunk gets the
    // carry, so an exclusive scan is the inclusive one moved by one element.
    template <bool Inclusive, bool Reverse, class A, class Source, class Sink, class Map, class Op, class Initial>
    static void scan(const On& on, Source& source, Sink& sink, const Map& map, const Op& op, const Initial& initial,
                     const chunked_options& options, const char* call) {
        const bool source_direct = goes_direct(source), sink_direct = goes_direct(sink);
        const chunked_plan plan = plan_read_and_write(source, options, !source_direct, !sink_direct);
        const std::size_t in_bytes = source_direct ? 0 : aligned_bytes(plan.each * stored_bytes(source));
        const std::size_t out_bytes = sink_direct ? 0 : aligned_bytes(plan.each * sizeof(A));
        transfer_buffers own;
        transfer_buffers& buffers = options.buffers != nullptr ? *options.buffers : own;
        const unsigned slots = plan.policy.host_buffers;
        unsigned char* pinned = nullptr;
        if (in_bytes + out_bytes != 0) {
            pinned = static_cast<unsigned char*>(buffers.reserve((in_bytes + out_bytes) * slots));
        }
        chunked_downloads<Sink> results(on, sink, plan,
                                        slots_in(pinned + slots * in_bytes, sink_direct ? 0 : slots, out_bytes));
        chunked_uploads<Source> chunks(on, source, plan, slots_in(pinned, source_direct ? 0 : slots, in_bytes), Reverse,
                                       options);
        const A* before = nullptr; // the last result of the previous chunk
        for (auto chunk = chunks.next(); chunk.at.count != 0; chunk = chunks.next()) {
            const std::uint64_t n = chunk.at.count;
            check_room(sink, chunk.at.first + n, call);
            A* const out = results.room();
            A* const carry = Reverse ? out + n : out - 1;
            bool carries = true;
            if (before != nullptr) {
                WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(carry, before, sizeof(A), cudaMemcpyDeviceToDevice, on.stream));
            } else if constexpr (std::is_same_v<Initial, no_initial>) {
                carries = false;
            } else {
                WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(carry, &initial, sizeof(A), cudaMemcpyHostToDevice, on.stream));
            }
            const carried_map<A, Map, Op> carried{map, op, carries ? carry : nullptr, Reverse ? n - 1 : 0,
                                                  chunk.at.first};
            const auto in = view_of(std::as_const(source), chunk.data);
            if constexpr (Reverse) {
                scan_call<true>(call, on, in, n, out, carried, op, reversed);
            } else {
                scan_call<true>(call, on, in, n, out, carried, op);
            }
            chunks.used();
            results.send(Inclusive ? out : (Reverse ? out + 1 : out - 1), chunk.at);
            before = Reverse ? out : out + n - 1;
        }
        results.finish(chunks.finish());
    }

private:
    // work(in, n, first) enqueues the work of a chunk in the target's stream. Returns the number of elements.
    template <class Source, class Work>
    static std::uint64_t for_chunks(const On& on, Source& source, const chunked_plan& plan,
                                    const chunked_options& options, const Work& work) {
        const bool direct = goes_direct(source);
        const std::size_t bytes = aligned_bytes(plan.each * stored_bytes(source));
        transfer_buffers own;
        transfer_buffers& buffers = options.buffers != nullptr ? *options.buffers : own;
        const unsigned slots = plan.policy.host_buffers;
        chunked_uploads<Source> chunks(
            on, source, plan, direct ? std::vector<void*>() : slots_in(buffers.reserve(slots * bytes), slots, bytes),
            false, options);
        for (auto chunk = chunks.next(); chunk.at.count != 0; chunk = chunks.next()) {
            work(view_of(std::as_const(source), chunk.data), chunk.at.count, chunk.at.first);
            chunks.used();
        }
        return chunks.finish();
    }
};

} // namespace warpfold::detail
