// SPDX-License-Identifier: MIT
// Scans on a GPU: the choice of the kernel. Each kernel is one launch and one pass over memory.
//
//   kernel              plan, launch     chosen for                                        tile prefix
//   one_tile_kernel     short.cuh        arrays of up to some 64 MiB                       all_tiles_prefix
//   persistent_kernel   persistent.cuh   longer arrays                                     running_prefix
//   one_tile_kernel     general.cuh      segments; elements or values of over 16 bytes     all_tiles_prefix up to 1,025 tiles, else grouped_prefix
//   counted_scan_kernel general.cuh      a number of elements that is on the device        the same
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/element_count.hpp"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/scan/elements.cuh"
#include "warpfold/gpu/scan/general.cuh"
#include "warpfold/gpu/scan/persistent.cuh"
#include "warpfold/gpu/scan/short.cuh"

namespace warpfold::detail {

template <class Elements>
inline constexpr bool is_general_v = Elements::options_type::segmented || sizeof(typename Elements::T) > 16 ||
                                     sizeof(typename Elements::U) > 16 || sizeof(typename Elements::A) > 16;

template <gpu_target On>
struct scan_engine<On> {
    template <class In, class N, class Out, class Map, class Op, class Options>
    static void run(const On& on, const In& in, const N& number, const Out& out, const Map& map, const Op& op,
                    const Options& options, const char* call) {
        using Elements = scan_elements<In, Out, Map, Op, Options>;
        const call_device scope;
        const auto policy = policy_of<tuning::scan_policy<>>(on);
        using kernels = kernels_of<std::remove_const_t<decltype(policy)>>;
        const auto count = detail::checked_count(number, call);
        const Elements elements(in, out, map, op, options, count.most);
        if constexpr (is_general_v<Elements> || is_count_at_v<N>) {
            launch_general(on, policy, elements, count, call);
        } else if (const auto shape = short_shape::of(policy, elements); shape.tiles != 0) {
            launch_short<kernels>(on, elements, shape, call);
        } else {
            launch_persistent<kernels>(on, elements, call);
        }
    }
};

// Bytes of workspace that are enough for any scan of up to n elements of T into U, folded in A.
template <class T, class U, class A, class Policy>
std::size_t scan_workspace_bytes(const Policy& policy, std::uint64_t n) {
    using Elements = scan_elements<const T*, U*, identity_map, sum, scan_options<A, A, no_segments, false, false>>;
    std::size_t bytes = grouped_prefix<A, false>::bytes(general_layout<Policy, Elements::bytes>::most_tiles(policy, n));
    if constexpr (!is_general_v<Elements>) {
        using Plan = persistent_plan<kernels_of<Policy>, Elements>;
        const std::uint64_t most = n + Elements::run;
        const unsigned blocks = Plan::resident_blocks * device_attribute<cudaDevAttrMultiProcessorCount>();
        bytes = std::max(bytes, short_shape::workspace_bytes<A>(policy, most, Elements::run));
        bytes = std::max(bytes, tile_ring<A>::bytes(Plan::slots_of(Plan::tiles_of(most), blocks)));
    }
    return bytes;
}

} // namespace warpfold::detail
