// SPDX-License-Identifier: MIT
// JSON that the files of launches, profiles and timelines share.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "softgpu/observe/device_facts.hpp"
#include "softgpu/observe/prediction.hpp"

namespace softgpu::observe {

[[nodiscard]] nlohmann::ordered_json facts_json(const device_facts& device);

// {"h200": {"nanoseconds": ..., "cold_nanoseconds": ..., "bound": ..., ...}, ...}
[[nodiscard]] nlohmann::ordered_json predictions_json(const std::vector<prediction>& predictions);

// A text that is no UTF-8 is written with replacement characters.
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& j);

} // namespace softgpu::observe
