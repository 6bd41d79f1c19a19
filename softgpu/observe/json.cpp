// SPDX-License-Identifier: MIT
#include "softgpu/observe/json.hpp"

#include <cstdint>

#include "softgpu/observe/json_parts.hpp"
#include "softgpu/observe/whole_file.hpp"

namespace softgpu::observe {
namespace {

using json = nlohmann::ordered_json;

json counters_of(const counters& c) {
    json out = json::object();
    for_each_counter(
        c, [&](std::string_view name, std::uint64_t value, std::string_view) { out[std::string(name)] = value; });
    out["average_active_lanes"] = c.average_active_lanes();
    return out;
}

json interval_of(const counters& c) {
    json out = json::object();
    for_each_counter(c, [&](std::string_view name, std::uint64_t value, std::string_view) {
        if (value != 0) {
            out[std::string(name)] = value;
        }
    });
    return out;
}

} // namespace

std::string to_json(const launch_record& record) {
    json out;
    if (record.device >= 0) {
        out["device"] = record.device;
    }
    out["kernel"] = record.kernel;
    out["symbol"] = record.symbol;
    if (!record.launched_by.empty()) {
        out["launched_by"] = record.launched_by;
    }
    out["grid"] = record.grid;
    out["block"] = record.block;
    out["dynamic_shared_bytes"] = record.dynamic_shared_bytes;
    out["static_shared_bytes"] = record.static_shared_bytes;
    out["seconds"] = record.seconds;
    if (!record.fault.empty()) {
        out["fault"] = record.fault;
    }
    out["counters"] = counters_of(record.total);
    if (!record.predictions.empty()) {
        out["predictions"] = predictions_json(record.predictions);
    }
    out["intervals"] = json::array();
    for (const counters& c : record.by_interval) {
        out["intervals"].push_back(interval_of(c));
    }
    return text_of(out);
}

void write_launches(const std::string& path, const device_facts& device, std::span<const launch_record> launches,
                    bool finished) {
    whole_file file(path);
    file.put("{\"device\":" + text_of(facts_json(device)) + (finished ? "" : ",\n\"unfinished\":true") +
             ",\n\"launches\":[");
    for (std::size_t i = 0; i < launches.size(); ++i) {
        file.put((i == 0 ? "\n" : ",\n") + to_json(launches[i]));
    }
    file.put("\n]}\n");
    file.commit();
}

} // namespace softgpu::observe
