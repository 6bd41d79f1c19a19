// SPDX-License-Identifier: MIT
// The times that the lectures publish, as they stand on the slides.
#pragma once

#include <array>
#include <string>

namespace warpfold::ladder::reduce::published {

// Kernels 1 to 7 on a G80 (CC 1.0, 86.4 GB/s): 2^22 ints, 128 threads; milliseconds (759 and 380, "Performance for 4M
// element reduction").
inline constexpr std::array<double, 7> g80_ms{8.054, 3.456, 1.722, 0.965, 0.536, 0.381, 0.268};

// The same kernels on a Tesla K40m: 2^26 ints, 1024 threads; seconds (Kharagpur, "Reduction 7: Analysis").
inline constexpr std::array<double, 7> k40m_s{0.03276, 0.02312, 0.01939, 0.01104, 0.00836, 0.00769, 0.00277};

// One round on a Tesla T4, milliseconds, of 16, 64, 256 and 1024 times 2^20 floats, first with 256 threads, then with
// 1024 (587, "Experimental Results"). sum_unroll, 1024 threads, N=64: 4.24.
using t4_times = std::array<double, 8>;
inline constexpr t4_times t4_sum_mod{2.10, 9.76, 22.62, 74.22, 3.56, 7.66, 26.81, 109.24};
inline constexpr t4_times t4_sum_idx{1.75, 8.00, 14.06, 53.13, 2.47, 5.35, 18.43, 73.48};
inline constexpr t4_times t4_sum_seq{1.35, 6.25, 10.40, 42.46, 2.06, 4.50, 15.56, 61.37};
inline constexpr t4_times t4_sum_unroll{1.23, 5.68, 9.13, 38.00, 1.94, 4.24, 14.65, 57.55};
inline constexpr t4_times t4_sum_warp{0.84, 3.76, 6.74, 27.99, 1.35, 3.00, 10.36, 41.01};

// "2.33x on the G80, 1.42x on the K40m": kernel `k` (2 to 7) against the one before.
[[nodiscard]] std::string step_speedup(unsigned k);
// "1.20x to 1.61x on the T4".
[[nodiscard]] std::string t4_speedup(const t4_times& slower, const t4_times& faster);

} // namespace warpfold::ladder::reduce::published
