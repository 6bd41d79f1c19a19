// SPDX-License-Identifier: MIT
#include "tool/ladder/json_parts.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

#include "softgpu/observe/json_parts.hpp"

namespace warpfold::tool {

using report::json;
using report::number;

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json microseconds(const std::optional<ladder::timing>& timing, double ladder::timing::*which) {
    return timing ? number((*timing).*which * 1e6) : json(nullptr);
}

json json_of(const std::vector<ladder::claim>& claims) {
    json out = json::array();
    for (const auto& claim : claims) {
        json one;
        one["text"] = claim.text;
        one["lecture"] = claim.lecture;
        one["holds"] = claim.holds ? json(*claim.holds) : json(nullptr);
        one["figure"] = claim.figure;
        if (!claim.qualified.empty()) {
            one["qualified"] = claim.qualified;
        }
        one["refuted_by"] = claim.refuted_by.empty() ? json(nullptr) : json(claim.refuted_by);
        if (claim.refutation) {
            one["refutation"] = {{"holds", claim.refutation->holds ? json(*claim.refutation->holds) : json(nullptr)},
                                 {"figure", claim.refutation->figure}};
        }
        out.push_back(std::move(one));
    }
    return out;
}

json json_of(const ladder::device_description& device) {
    json out;
    out["name"] = device.name;
    out["software"] = device.software;
    out["compute_capability"] = std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
    out["multiprocessors"] = device.multiprocessors;
    out["memory_bytes"] = device.memory_bytes;
    out["l2_bytes"] = device.l2_bytes;
    out["threads_per_block"] = device.threads_per_block;
    out["driver"] = text_or_null(device.driver);
    out["runtime"] = text_or_null(device.runtime);
    out["read_gb_per_s"] = number(device.read_gb_per_s);
    out["copy_gb_per_s"] = number(device.copy_gb_per_s);
    return out;
}

json json_of(const softgpu::observe::counters& counters) {
    json out;
    softgpu::observe::for_each_counter(counters, [&](std::string_view name, std::uint64_t value, std::string_view) {
        out[std::string(name)] = value;
    });
    out["average_active_lanes"] = counters.average_active_lanes();
    return out;
}

json json_of(const std::vector<softgpu::observe::launch_record>& launches, bool counted) {
    json out = json::array();
    for (const auto& launch : launches) {
        json one;
        one["kernel"] = launch.kernel;
        one["symbol"] = launch.symbol;
        one["grid"] = launch.grid;
        one["block"] = launch.block;
        one["dynamic_shared_bytes"] = launch.dynamic_shared_bytes;
        one["static_shared_bytes"] = launch.static_shared_bytes;
        one["fault"] = text_or_null(launch.fault);
        one["counters"] = counted ? json_of(launch.total) : json(nullptr);
        if (!launch.predictions.empty()) {
            one["predictions"] = softgpu::observe::predictions_json(launch.predictions);
        }
        out.push_back(std::move(one));
    }
    return out;
}

} // namespace warpfold::tool
