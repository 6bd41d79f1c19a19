// SPDX-License-Identifier: MIT
// JSON that the files of launches, profiles and timelines share.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "softgpu/observe/device_facts.hpp"

namespace softgpu::observe {

[[nodiscard]] nlohmann::ordered_json facts_json(const device_facts& device);

// A text that is no UTF-8 is written with replacement characters.
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& j);

} // namespace softgpu::observe
