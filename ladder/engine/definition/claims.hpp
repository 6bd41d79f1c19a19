// SPDX-License-Identifier: MIT
// The checks behind the claims of all ladders: guards that say why a claim cannot be seen, comparisons with other steps, and
// readings of the counters.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladder/engine/definition/integers.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::engine {

using counters = softgpu::observe::counters;
using comparison = std::function<verdict(const evidence& here, const step_result& other)>;

// `inner` where the step launched something; else the claim cannot be seen.
[[nodiscard]] check launched(check inner);
// `inner` where the launches were counted as well.
[[nodiscard]] check counted(check inner);
// `inner` with an earlier step of the same run, both launched.
[[nodiscard]] check launched_with(std::string other, comparison inner);
// `inner` with an earlier step of the same run, both counted.
[[nodiscard]] check compared(std::string other, comparison inner);
// Never seen: no run can show the claim.
[[nodiscard]] check unseen_because(std::string why);
// Holds where this step's cold median is below the other's on the same n; `published` is the lecture's figure, if any.
[[nodiscard]] check faster_than(std::string other, std::string published = {});
// Holds where the result is wrong, as the lecture says of a faulty step.
[[nodiscard]] check comes_out_wrong();

// Sums over launches.
[[nodiscard]] counters total(const std::vector<softgpu::observe::launch_record>& launches);
[[nodiscard]] counters total(const step_result& step);
[[nodiscard]] std::uint64_t bank_conflicts(const counters& c);
// One value for each barrier interval of the launch from `first` on, `count` of them; 0 past the last interval.
[[nodiscard]] std::vector<std::uint64_t> by_interval(const softgpu::observe::launch_record& launch, std::size_t first,
                                                     std::size_t count,
                                                     std::function<std::uint64_t(const counters&)> of);
// Barriers of its block that a warp arrives at, on average.
[[nodiscard]] double barriers_per_warp(const softgpu::observe::launch_record& launch);
[[nodiscard]] std::uint64_t sum(const std::vector<std::uint64_t>& values);

} // namespace warpfold::ladder::engine
