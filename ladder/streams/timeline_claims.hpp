// SPDX-License-Identifier: MIT
// What the claims of the laboratory of streams are checked with: the step's timeline, on the software GPU the model's, on a
// GPU the one measured.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/step.hpp"
#include "softgpu/observe/timeline.hpp"

namespace warpfold::ladder::streams {

using device_engine = softgpu::observe::engine;
using softgpu::observe::timeline;
using softgpu::observe::timeline_event;
using timeline_check = std::function<verdict(const engine::evidence&, const timeline&)>;

// `inner` where there is a timeline with enough in it to show something.
[[nodiscard]] engine::check on_timeline(timeline_check inner);

// In each stream one operation begins when the one before is over, in the order of issue. Refuted by an operation that
// begins with the one before it.
[[nodiscard]] engine::check streams_are_in_order();
// Both engines work at the same time, or never do. Refuted by the steps "one", and "two".
[[nodiscard]] engine::check engines_overlap(device_engine a, device_engine b);
[[nodiscard]] engine::check engines_never_overlap();
// This step takes less time than another, or more: no difference where their spreads overlap. On a GPU the timing with the
// smaller median counts, cold or warm. Refuted by the other step in its place.
[[nodiscard]] engine::check shorter_than(const std::string& other);
[[nodiscard]] engine::check longer_than(const std::string& other);
// The medians are within a tenth of each other. Refuted by the step "one" in its place.
[[nodiscard]] engine::check as_long_as(const std::string& other);

// Seconds during which both engines work.
[[nodiscard]] double overlap(const timeline& t, device_engine a, device_engine b);
// Seconds during which two operations both run.
[[nodiscard]] double overlap(const timeline_event& a, const timeline_event& b);
[[nodiscard]] std::string microseconds(double seconds);
// A change of the step's timeline.
[[nodiscard]] engine::counterexample retimed(std::string what,
                                             std::function<void(std::vector<timeline_event>&)> change);

} // namespace warpfold::ladder::streams
