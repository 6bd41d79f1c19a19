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

namespace {

json bounds_json(const std::vector<bound_time>& bounds) {
    json out = json::object();
    for (const bound_time& b : bounds) {
        out[b.name] = b.nanoseconds;
    }
    return out;
}

} // namespace

json predictions_json(const std::vector<prediction>& predictions) {
    json all = json::object();
    for (const prediction& p : predictions) {
        json& out = all[p.card];
        out["nanoseconds"] = p.nanoseconds;
        out["cold_nanoseconds"] = p.cold_nanoseconds;
        out["bound"] = p.bound;
        out["share_of_roof"] = p.share_of_roof;
        out["next_bound"] = p.next_bound;
        out["bounds"] = bounds_json(p.bounds);
        out["cold_bounds"] = bounds_json(p.cold_bounds);
        out["launch_nanoseconds"] = p.launch_nanoseconds;
        out["l1_load_hit_rate"] = p.l1_load_hit_rate;
        out["l2_read_hit_rate"] = p.l2_read_hit_rate;
        out["cold_l2_read_hit_rate"] = p.cold_l2_read_hit_rate;
        out["dram_read_bytes"] = p.dram_read_bytes;
        out["dram_write_bytes"] = p.dram_write_bytes;
        out["cold_dram_read_bytes"] = p.cold_dram_read_bytes;
        out["cold_dram_write_bytes"] = p.cold_dram_write_bytes;
    }
    return all;
}

std::string text_of(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

} // namespace softgpu::observe
