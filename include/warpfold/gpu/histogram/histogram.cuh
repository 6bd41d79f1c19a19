// SPDX-License-Identifier: MIT
// Histograms on a GPU: the kernel, the number of blocks and the shared memory of a call.
//
//  method   counters                                                      chosen when                  file
//  whole    32 bits in shared memory, copies; split over up to 3 blocks   they fit                     kernels.cuh
//  packed   8 bits in shared memory, overflows go to global memory        they fit in up to 9 blocks   kernels.cuh
//  sorted   32 bits in shared memory, of one partition of the bins        more than 2 blocks pack      partitioned.cuh
//  direct   global memory, in passes that the L2 cache holds              more bins, or few samples    kernels.cuh
//  few      one per value, 32 copies; one warp clears the counts          few 8-bit samples            byte_samples.cuh
//
// `sorted` needs memory, 2 bytes a sample. Where that is missing, in the workspace or on the device, bins are `packed` or
// `direct`.
//
// 8-bit samples of one channel have a kernel of their own for `whole`, with 64 copies (byte_samples.cuh). Weighted
// histograms have one in kernels.cuh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "warpfold/detail/bins/channels.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/histogram/byte_samples.cuh"
#include "warpfold/gpu/histogram/kernels.cuh"
#include "warpfold/gpu/histogram/partitioned.cuh"

namespace warpfold::detail {

enum class histogram_method { whole, packed, direct, few };

// How the samples of a call are counted.
struct histogram_plan {
    histogram_method method = histogram_method::direct;
    unsigned blocks = 1;
    unsigned shared = 0; // bytes per block
    histogram_layout layout;
    std::optional<partition_layout> partitions; // if they are sorted, should there be memory
};

// What a plan depends on besides the call's arguments.
struct histogram_facts {
    unsigned multiprocessors, shared_of_block, shared_of_multiprocessor, cache;

    static histogram_facts of_device() {
        return {device_attribute<cudaDevAttrMultiProcessorCount>(),
                device_attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>(),
                device_attribute<cudaDevAttrMaxSharedMemoryPerMultiprocessor>(),
                device_attribute<cudaDevAttrL2CacheSize>()};
    }
};

inline unsigned divided_up(std::uint64_t a, std::uint64_t b) { return static_cast<unsigned>((a + b - 1) / b); }

// The partitions of `codes` counters if n samples are sorted; none if they are not.
template <class Policy = tuning::histogram_policy<>>
std::optional<partition_layout> plan_partitions(const histogram_facts& facts, std::uint64_t n, std::uint64_t codes,
                                                const Policy& policy = {}) {
    constexpr unsigned threads = Policy::kernels.partition_block_threads;
    const std::uint64_t packed = (codes + facts.shared_of_block - 1) / facts.shared_of_block;
    if (packed <= policy.partition_min_packed_blocks || n < policy.partition_min_samples || codes > 1u << 30) {
        return std::nullopt;
    }
    const auto made =
        partition_layout::of(static_cast<unsigned>(codes), facts.shared_of_block, policy.partition_max_bins, threads,
                             threads * Policy::kernels.partition_samples_per_thread, policy.partition_chunk_samples);
    return made.parts <= std::min({most_partitions, 4 * threads, 4 * Policy::kernels.block_threads}) &&
                   partition_shared_bytes(made) + 256 <= facts.shared_of_block
               ? std::optional(made)
               : std::nullopt;
}

// Bytes of the lists of n samples.
inline std::size_t partition_bytes(const partition_layout& layout, std::uint64_t n) {
    return partition_lists::bytes(layout, std::min(n, layout.chunk));
}

// Plans n samples of `bytes` bytes and `codes` counters. `edges` bytes of edges are copied to shared memory if they
// fit.
template <class Policy = tuning::histogram_policy<>>
histogram_plan plan_histogram(const histogram_facts& facts, std::uint64_t n, unsigned bytes, unsigned codes,
                              std::size_t edges, const Policy& policy = {}) {
    constexpr unsigned threads = Policy::kernels.block_threads;
    const bool with_edges_near = edges != 0 && edges <= facts.shared_of_block / 4;
    const unsigned room = facts.shared_of_block - (with_edges_near ? static_cast<unsigned>(edges) + 16 : 0);
    histogram_plan plan;
    plan.layout.once = n * bytes > facts.cache;
    const unsigned whole = divided_up(codes, (room / 4 - 1) / 32 * 32), packed = divided_up(codes, room / 32 * 32);
    const bool few = n / policy.private_min_samples_per_counter < codes && codes > policy.block_min_samples;
    if (!few && whole <= policy.full_counters_max_blocks) {
        plan.method = histogram_method::whole;
        plan.layout.parts = whole;
    } else if (!few && packed <= policy.packed_counters_max_blocks) {
        plan.method = histogram_method::packed;
        plan.layout.parts = packed;
    } else {
        const std::uint64_t blocks = (n * bytes + 16 * threads - 1) / (16 * threads);
        const unsigned resident = facts.multiprocessors * policy.direct_blocks_per_multiprocessor;
        plan.blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, resident));
        plan.layout.parts = n < codes ? 1 : divided_up(std::uint64_t{codes} * 4, policy.pass_max_bytes);
        plan.layout.part_codes = divided_up(codes, plan.layout.parts);
        plan.layout.copies = n / plan.blocks < policy.block_min_samples ? 0 : 4096;
        plan.shared = plan.layout.copies * 8;
        return plan;
    }
    auto& layout = plan.layout;
    layout.part_codes = layout.parts == 1 ? codes : (divided_up(codes, layout.parts) + 31) / 32 * 32;
    if (plan.method == histogram_method::whole) {
        while (layout.copies < 32 && block::histogram::words(layout.part_codes, layout.copies * 2) * 4 <=
                                         std::min(room, policy.copies_max_bytes)) {
            layout.copies *= 2;
        }
        plan.shared = block::histogram::words(layout.part_codes, layout.copies) * 4;
    } else {
        plan.shared = (layout.part_codes + 3) / 4 * 4;
    }
    if (edges != 0 && plan.shared + edges + 16 <= facts.shared_of_block) {
        layout.edges_at = (plan.shared + 15) / 16 * 16;
        plan.shared = layout.edges_at + static_cast<unsigned>(edges);
        // A table pays if a block has many samples.
        const unsigned rest = facts.shared_of_block - std::min(facts.shared_of_block, (plan.shared + 15) / 16 * 16);
        const auto cells = static_cast<unsigned>(
            std::min<std::uint64_t>({rest / 4, policy.edge_table_max_cells, policy.edge_table_cells_per_bin * codes,
                                     n / facts.multiprocessors}));
        if (plan.method == histogram_method::whole && codes < most_table_edges && cells >= std::max(codes / 8, 256u)) {
            layout.cells_at = (plan.shared + 15) / 16 * 16;
            layout.cells = cells;
            plan.shared = layout.cells_at + 4 * cells;
        }
    }
    if (layout.parts > 1) {
        layout.once = false;
    }
    const unsigned fit = std::max(1u, facts.shared_of_multiprocessor / (plan.shared + 1024));
    const unsigned most = plan.method == histogram_method::packed ? policy.packed_blocks_per_multiprocessor
                                                                  : policy.blocks_per_multiprocessor;
    const unsigned resident = facts.multiprocessors * std::min(fit, most);
    const std::uint64_t worth = n / std::max(policy.block_min_samples, layout.part_codes);
    std::uint64_t groups = std::clamp<std::uint64_t>(worth, 1, std::max(1u, resident / layout.parts));
    groups = std::max(groups, n >> 31); // 32-bit counters hold the samples of a block
    plan.blocks = static_cast<unsigned>(groups * layout.parts);
    return plan;
}

// Few 8-bit samples: small blocks, but not so many that their additions to the counts dominate.
template <class Policy>
void plan_few_values(histogram_plan& plan, const histogram_facts& facts, std::uint64_t n, const Policy& policy) {
    if (n <= std::uint64_t{policy.few_bytes_max_per_multiprocessor} * facts.multiprocessors) {
        plan.method = histogram_method::few;
        const unsigned each = divided_up(n, policy.few_bytes_per_block);
        const unsigned twice = divided_up(n, 2 * policy.few_bytes_per_block);
        plan.blocks =
            twice <= 1 ? 1 : std::min({each, std::max(policy.few_bytes_blocks, twice), facts.multiprocessors});
    }
}

template <class Kernel>
void need_shared(const Kernel& kernel, unsigned bytes) {
    if (bytes > 48 * 1024) {
        WARPFOLD_CHECK_CUDA(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    }
}

template <class Of>
std::size_t bytes_of_edges(const Of& of) {
    if constexpr (stages_edges_v<Of>) {
        return (std::size_t{of.bins} + 1) * sizeof(*of.bin.edges);
    } else {
        return 0;
    }
}

template <class Of>
void check_edge_arrays(const Of& of, const char* call) {
    detail::each_binner(of, [call](const auto& bin) {
        using Binner = std::remove_cvref_t<decltype(bin)>;
        if constexpr (with_edges<Binner>) {
            detail::check_array(bin.edges, std::uint64_t{bin.bins} + 1, call);
        } else if constexpr (reads_range<Binner>) {
            detail::check_array(bin.range, 1, call);
        }
    });
}

template <gpu_target On>
struct histogram_engine<On> {
    using kernels = kernels_of<policy_t<tuning::histogram_policy<>, On>>;

    template <class In, class N, class Counter, class Of>
    static void count(const On& on, const In& in, const N& number, Counter* counts, const Of& of, update mode,
                      const char* call) {
        const std::uint64_t n = detail::checked_count(number, call).most;
        using S = element_t<In>;
        constexpr bool values = sizeof(S) == 1 && std::is_integral_v<S> && Of::channels <= 16;
        const histogram_code<S, Of, values> code{of};
        const call_device scope;
        const auto policy = policy_of<tuning::histogram_policy<>>(on);
        const histogram_facts facts = histogram_facts::of_device();
        histogram_plan plan =
            plan_histogram(facts, n, sizeof(S), code.count(), values ? 0 : bytes_of_edges(of), policy);
        if (values && Of::channels == 1 && std::is_pointer_v<In> && of.bins <= 1024) {
            plan_few_values(plan, facts, n, policy);
        }
        if constexpr (!values) {
            const auto partitions = plan_partitions(facts, n, code.count(), policy);
            if (partitions && (on.memory == nullptr || partition_bytes(*partitions, n) <= on.memory->bytes())) {
                plan.partitions = partitions;
            }
        }
        run(on, in, number, counts, code, mode, plan, call);
    }

    // Runs a plan.
    template <class In, class N, class Counter, class Code>
    static void run(const On& on, const In& in, const N& number, Counter* counts, const Code& code, update mode,
                    histogram_plan plan, const char* call) {
        const auto elements = detail::checked_count(number, call);
        using Count = std::remove_cv_t<decltype(elements)>;
        const std::uint64_t n = elements.most;
        detail::check_array(in, n, call);
        detail::check_array(counts, code.of.bins, call);
        check_edge_arrays(code.of, call);
        if constexpr (!Code::values) {
            if (n != 0 && plan.partitions &&
                sort_and_count(on, in, elements, counts, code, mode, *plan.partitions, call)) {
                return;
            }
        }
        const bool inside = prepare_counts(on, counts, code.of.bins, mode, plan);
        if (n == 0) {
            if (inside) {
                WARPFOLD_CHECK_CUDA(cudaMemsetAsync(counts, 0, code.of.bins * sizeof(Counter), on.stream));
            }
            return;
        }
        const call_memory memory(on, inside && plan.blocks > 1 ? sizeof(histogram_control) : 0, 0, call);
        auto* const control = static_cast<histogram_control*>(memory.slots());
        constexpr unsigned threads = kernels::value.block_threads;
        if constexpr (Code::values && Code::channels == 1 && std::is_pointer_v<In>) {
            if (plan.method == histogram_method::few) {
                histogram_few_values_kernel<kernels>
                    <<<plan.blocks, kernels::value.few_bytes_block_threads + 32, 0, on.stream>>>(
                        in, elements, code, counts, plan.layout, control);
                WARPFOLD_CHECK_CUDA(cudaGetLastError());
                return;
            }
        }
        if constexpr (Code::values && Code::channels == 1) {
            const auto kernel = histogram_values_kernel<kernels, In, Count, Code, Counter>;
            constexpr unsigned shared = 256 * value_copies * 4;
            need_shared(kernel, shared);
            kernel<<<plan.blocks, threads, shared, on.stream>>>(in, elements, code, counts, plan.layout, control);
        } else if (plan.method == histogram_method::whole) {
            const auto kernel = histogram_kernel<kernels, In, Count, Code, Counter>;
            need_shared(kernel, plan.shared);
            kernel<<<plan.blocks, threads, plan.shared, on.stream>>>(in, elements, code, counts, plan.layout, control);
        } else if constexpr (!Code::values) {
            if (plan.method == histogram_method::packed) {
                const auto kernel = histogram_packed_kernel<kernels, In, Count, Code, Counter>;
                need_shared(kernel, plan.shared);
                kernel<<<plan.blocks, threads, plan.shared, on.stream>>>(in, elements, code, counts, plan.layout);
            } else {
                histogram_direct_kernel<kernels>
                    <<<plan.blocks, threads, plan.shared, on.stream>>>(in, elements, code, counts, plan.layout);
            }
        }
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }

    template <class In, class Weights, class N, class Sum, class Of>
    static void weigh(const On& on, const In& in, const Weights& weights, const N& number, Sum* sums, const Of& of,
                      update mode, const char* call) {
        const auto elements = detail::checked_count(number, call);
        using Count = std::remove_cv_t<decltype(elements)>;
        const std::uint64_t n = elements.most;
        detail::check_array(in, n, call);
        detail::check_array(weights, n, call);
        detail::check_array(sums, of.bins, call);
        check_edge_arrays(of, call);
        const call_device scope;
        const auto policy = policy_of<tuning::histogram_policy<>>(on);
        const histogram_facts facts = histogram_facts::of_device();
        constexpr unsigned threads = kernels::value.block_threads;
        histogram_plan plan;
        const std::uint64_t bytes = std::uint64_t{of.bins} * sizeof(Sum);
        if (bytes <= facts.shared_of_block && n / 2 >= of.bins) {
            plan.method = histogram_method::whole;
            plan.layout.part_codes = of.bins;
            const unsigned room = std::min(facts.shared_of_block, policy.copies_max_bytes);
            while (plan.layout.copies < 32 && bytes * plan.layout.copies * 2 <= room) {
                plan.layout.copies *= 2;
            }
            plan.shared = static_cast<unsigned>(bytes * plan.layout.copies);
        }
        const unsigned fit = std::clamp(facts.shared_of_multiprocessor / (plan.shared + 1024), 1u,
                                        policy.direct_blocks_per_multiprocessor);
        plan.blocks = static_cast<unsigned>(
            std::clamp<std::uint64_t>(n / std::max(of.bins, 4 * threads), 1, facts.multiprocessors * fit));
        const bool inside = prepare_counts(on, sums, of.bins, mode, plan);
        if (n == 0 && !inside) {
            return;
        }
        const call_memory memory(on, inside && plan.blocks > 1 ? sizeof(histogram_control) : 0, 0, call);
        const auto kernel = weighted_histogram_kernel<kernels, In, Weights, Count, Of, Sum>;
        need_shared(kernel, plan.shared);
        kernel<<<plan.blocks, threads, plan.shared, on.stream>>>(in, weights, elements, of, sums, plan.layout,
                                                                 static_cast<histogram_control*>(memory.slots()));
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }

    // The counts are allocated besides the workspace.
    template <class Work>
    static std::vector<std::uint64_t> values(const On& on, std::uint32_t bins, const Work& work, const char* call) {
        const gpu own = detail::without_workspace(on);
        const call_memory memory(own, 0, bins * sizeof(std::uint64_t), call);
        auto* const counts = static_cast<std::uint64_t*>(memory.data());
        work(counts);
        std::vector<std::uint64_t> got(bins);
        WARPFOLD_CHECK_CUDA(
            cudaMemcpyAsync(got.data(), counts, bins * sizeof(std::uint64_t), cudaMemcpyDeviceToHost, on.stream));
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        return got;
    }

private:
    // False, without an effect, if the device does not have the memory.
    template <class In, class Count, class Counter, class Code>
    static bool sort_and_count(const On& on, const In& in, const Count& elements, Counter* counts, const Code& code,
                               update mode, partition_layout layout, const char* call) {
        layout.before = samples_before(in);
        const std::uint64_t n = elements.most, bytes = partition_bytes(layout, n);
        std::optional<call_memory> of_workspace;
        std::optional<stream_ordered_memory> owned; // call_memory would clear the lists
        if (on.memory != nullptr) {
            of_workspace.emplace(on, 0, bytes, call);
        } else {
            try {
                owned.emplace(on.stream, bytes, on.resource);
            } catch (const out_of_memory&) {
                return false;
            } catch (const std::bad_alloc&) { // of the caller's resource
                return false;
            }
        }
        partition_lists lists(owned ? owned->data() : of_workspace->data(), layout, std::min(n, layout.chunk));
        if (owned) {
            WARPFOLD_CHECK_CUDA(cudaMemsetAsync(lists.totals, 0, partition_lists::totals_bytes(layout), on.stream));
        }
        if (mode == update::overwrite) {
            WARPFOLD_CHECK_CUDA(cudaMemsetAsync(counts, 0, code.of.bins * sizeof(Counter), on.stream));
        }
        const auto sort = partition_samples_kernel<kernels, In, Count, Code>;
        const auto add = count_partitions_kernel<kernels, Count, Counter>;
        const unsigned shared = partition_shared_bytes(layout), counters = (layout.bins + layout.parts) * 4;
        need_shared(sort, shared);
        need_shared(add, counters);
        const unsigned multiprocessors = device_attribute<cudaDevAttrMultiProcessorCount>();
        for (std::uint64_t begin = 0; begin < n; begin += layout.chunk) {
            const unsigned tiles = layout.tiles(std::min(n - begin, layout.chunk));
            sort<<<std::min(tiles, multiprocessors * kernels::value.partition_resident_blocks),
                   kernels::value.partition_block_threads, shared, on.stream>>>(in, elements, begin, code, layout,
                                                                                lists);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
            add<<<multiprocessors, kernels::value.block_threads, counters, on.stream>>>(elements, begin, counts,
                                                                                        code.count(), layout, lists);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
        return true;
    }

    // Clears the counts before the launch, unless mode is add or the kernel clears them. Returns true if the kernel
    // does.
    template <class Counter>
    static bool prepare_counts(const On& on, Counter* counts, std::uint32_t bins, update mode, histogram_plan& plan) {
        if (mode == update::add) {
            return false;
        }
        const bool inside = (plan.method == histogram_method::whole || plan.method == histogram_method::few) &&
                            bins <= policy_of<tuning::histogram_policy<>>(on).kernel_clears_max_counts &&
                            (plan.blocks == 1 || on.memory != nullptr);
        if (inside) {
            plan.layout.zeroed = bins;
        } else {
            WARPFOLD_CHECK_CUDA(cudaMemsetAsync(counts, 0, bins * sizeof(Counter), on.stream));
        }
        return inside;
    }
};

} // namespace warpfold::detail
