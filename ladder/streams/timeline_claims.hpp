// SPDX-License-Identifier: MIT
// What the claims of the laboratory of streams are checked with: the step's timeline, on the software GPU the model's, on a
// GPU the one measured.
#pragma once

#include <string>

#include "ladder/frame/claims.hpp"
#include "ladder/frame/step.hpp"
#include "softgpu/observe/timeline.hpp"

namespace warpfold::ladder::streams {

using softgpu::observe::engine;
using softgpu::observe::timeline;
using softgpu::observe::timeline_event;
using timeline_check = std::function<verdict(const frame::evidence&, const timeline&)>;

// `inner` where there is a timeline with enough in it to show something.
[[nodiscard]] frame::check on_timeline(timeline_check inner);

// In each stream one operation begins when the one before is over, in the order of issue.
[[nodiscard]] frame::check streams_are_in_order();
// Both engines work at the same time; or never do.
[[nodiscard]] frame::check engines_overlap(engine a, engine b);
[[nodiscard]] frame::check engines_never_overlap();
// This step takes less time than an earlier one, by a tenth at least; or about as long. On a GPU the smaller of the medians, cold and warm, counts.
[[nodiscard]] frame::check shorter_than(std::string other);
[[nodiscard]] frame::check as_long_as(std::string other);

// Seconds during which both engines work.
[[nodiscard]] double overlap(const timeline& t, engine a, engine b);
// Seconds during which two operations both run.
[[nodiscard]] double overlap(const timeline_event& a, const timeline_event& b);
[[nodiscard]] std::string microseconds(double seconds);

} // namespace warpfold::ladder::streams
