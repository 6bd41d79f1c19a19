// SPDX-License-Identifier: MIT
// What claims of the ladders and laboratories are checked with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladder/frame/step.hpp"

namespace warpfold::ladder::frame {

using counters = softgpu::observe::counters;
using comparison = std::function<verdict(const evidence& here, const study_step& other)>;

// `inner` where the launches were counted; else the claim cannot be seen.
[[nodiscard]] check counted(check inner);
// `inner` with an earlier step of the same run, both counted.
[[nodiscard]] check compared(std::string other, comparison inner);
// Holds where this step's cold median is below the other's, which has to have run on the same n; `published` is what the
// lecture has, if anything.
[[nodiscard]] check faster_than(std::string other, std::string published = {});
// What the lecture says of the result that it is: wrong, where a step's lesson is its fault.
[[nodiscard]] check comes_out_wrong();

[[nodiscard]] counters total(const std::vector<softgpu::observe::launch_record>& launches);
[[nodiscard]] std::uint64_t bank_conflicts(const counters& c);
// One value for each barrier interval of the launch from `first` on, `count` of them; 0 where there are no more.
[[nodiscard]] std::vector<std::uint64_t> by_interval(const softgpu::observe::launch_record& launch, std::size_t first,
                                                     std::size_t count,
                                                     std::function<std::uint64_t(const counters&)> of);
[[nodiscard]] double barriers_per_warp(const softgpu::observe::launch_record& launch);
[[nodiscard]] std::uint64_t sum(const std::vector<std::uint64_t>& values);
// log2, rounded up: iterations of a doubling stride.
[[nodiscard]] unsigned log2_up(std::uint64_t n);

} // namespace warpfold::ladder::frame
