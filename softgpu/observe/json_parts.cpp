// SPDX-License-Identifier: MIT
#include "softgpu/observe/json_parts.hpp"

namespace softgpu::observe {

using json = nlohmann::ordered_json;

json facts_json(const device_facts& device) {
    json facts;
    facts["name"] = device.name;
    facts["card"] = device.key;
    facts["software"] = true;
    facts["compute_capability"] = std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
    facts["multiprocessors"] = device.multiprocessors;
    facts["clock_khz"] = device.clock_khz;
    facts["memory_clock_khz"] = device.memory_clock_khz;
    facts["memory_bus_bits"] = device.memory_bus_bits;
    facts["memory_bytes"] = device.memory_bytes;
    facts["l2_bytes"] = device.l2_bytes;
    return facts;
}

std::string text_of(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

} // namespace softgpu::observe
