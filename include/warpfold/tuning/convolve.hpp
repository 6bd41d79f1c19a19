// SPDX-License-Identifier: MIT
// How convolve, correlate and their separable forms are launched on a GPU. See policy.hpp.
//
// Which kernel makes a result depends on the two fields whose names end with max_results and max_mask; kernels add up the
// products of a result in different orders, so these fields change the last bits of results. The others do not. Every
// order keeps the error bound of convolve.hpp.
#pragma once

#include <bit>
#include <cstdint>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

// Kernels:
//   line        arrays of one dimension: masks of sizes known to the compiler, and longer ones
//   slide       images, masks of sizes known to the compiler: a warp's strip of columns goes down through the image
//   few         images with few results
//   tile        all other masks; it has no field here
struct convolve_kernels {
    int line_block_threads = 256;
    int line_groups_per_thread = 2; // of four results; samples of 8 and 16 bits have one group of 16 bytes instead
    int long_line_block_threads = 128;
    int slide_block_threads = 128;
    int slide_stages = 4; // rows of samples that a warp has in shared memory or in flight, a power of two
    // A thread has eight columns of samples of 8 and 16 bits for masks up to so wide, else four columns.
    int slide_eight_columns_max_width = 9;
    int slide_eight_columns_max_separable_width = 15;

    bool operator==(const convolve_kernels&) const = default;
};

template <convolve_kernels Kernels = convolve_kernels{}>
struct convolve_policy {
    static constexpr primitive calls = primitive::convolve;
    static constexpr convolve_kernels kernels = Kernels;
    static_assert(is_block_size(static_cast<unsigned>(Kernels.line_block_threads)) &&
                      is_block_size(static_cast<unsigned>(Kernels.long_line_block_threads)) &&
                      is_block_size(static_cast<unsigned>(Kernels.slide_block_threads)),
                  "convolve_kernels: the threads of a block are not a multiple of 32 from 32 to 1024");
    static_assert(Kernels.line_groups_per_thread >= 1, "convolve_kernels: line_groups_per_thread is less than 1");
    static_assert(Kernels.slide_stages >= 2 && std::has_single_bit(static_cast<unsigned>(Kernels.slide_stages)),
                  "convolve_kernels: slide_stages is not a power of two from 2 on");

    // A long mask of a line up to so many values: a thread has 8 results, else 16.
    int long_line_eight_results_max_mask = 64;
    // Blocks of a slide are so many times those that the device holds at once, unless strips get shorter or longer than
    // these numbers of rows of results. The longest strips depend on the width of the mask, for samples of 4 bytes; the
    // last number holds for all samples, and for separable masks up to 9 wide.
    int slide_waves = 1;
    int slide_strip_min_rows = 4;
    int slide_strip_max_rows_3_wide = 4;
    int slide_strip_max_rows_5_wide = 6;
    int slide_strip_max_rows_7_wide = 32;
    std::int64_t few_max_results = 131072;

    // Defaults of an architecture:
    //   9.0            Measured on an H100 (docs/results/library/convolve-h100.md): the values above.
    //   7.5            Derived: few_max_results is 1,000 for each of the 40 multiprocessors of a T4, as on 9.0.
    //   8.0            Derived: the same for the 108 of an A100.
    //   8.6, 8.9, 12.x Derived: as 9.0; an RTX 4090 has 128 multiprocessors, an H100 132.
    //   10.x           As 9.0, until measured.
    static constexpr convolve_policy of(unsigned compute_capability) {
        convolve_policy policy;
        if (compute_capability < 80) {
            policy.few_max_results = 40000;
        } else if (compute_capability == 80) {
            policy.few_max_results = 108000;
        }
        return policy;
    }

    // Throws invalid_argument where a value cannot work.
    constexpr void check() const {
        const auto least = [](const char* field, std::int64_t value, unsigned smallest) {
            check_field(field, value < 0 ? 0 : static_cast<std::uint64_t>(value), smallest);
        };
        least("convolve_policy: slide_waves", slide_waves, 1);
        least("convolve_policy: slide_strip_min_rows", slide_strip_min_rows, 1);
        least("convolve_policy: slide_strip_max_rows_3_wide", slide_strip_max_rows_3_wide, 1);
        least("convolve_policy: slide_strip_max_rows_5_wide", slide_strip_max_rows_5_wide, 1);
        least("convolve_policy: slide_strip_max_rows_7_wide", slide_strip_max_rows_7_wide, 1);
    }
};

} // namespace warpfold::tuning
