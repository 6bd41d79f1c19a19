// SPDX-License-Identifier: MIT
// The explanation of a step as JSON.

#include "tool/explain/explanation.hpp"
#include "tool/ladder/json_parts.hpp"
#include "tool/ladder/ladder_json.hpp"

namespace warpfold::tool {
namespace {

using report::json;
using softgpu::observe::point_counts;

json counts(const point_counts& p) {
    json out;
    softgpu::observe::for_each_counter(p.counts, [&](std::string_view name, std::uint64_t value, std::string_view) {
        if (value != 0) {
            out[std::string(name)] = value;
        }
    });
    out["guarded_off"] = p.guarded_off;
    return out;
}

} // namespace

json json_of(const shown_file& file, const step_profile& profile) {
    json out;
    out["path"] = file.path;
    out["lines"] = json::array();
    const auto counted = profile.lines.find(file.path);
    for (const shown_line& line : file.lines) {
        json one;
        one["line"] = line.number;
        one["text"] = line.text;
        one["host"] = line.host;
        one["counters"] = nullptr;
        if (counted != profile.lines.end()) {
            if (const auto at = counted->second.find(line.number); at != counted->second.end()) {
                one["counters"] = counts(at->second);
            }
        }
        out["lines"].push_back(std::move(one));
    }
    return out;
}

json json_of(const bounds_of_step& bounds, const std::vector<costly_line>& costly) {
    if (bounds.all.empty()) {
        return nullptr;
    }
    json out;
    out["card"] = bounds.card;
    out["n"] = bounds.n;
    out["resources"] = json::array();
    for (const bound& b : bounds.all) {
        out["resources"].push_back({{"name", name_of(b.of)}, {"seconds", b.seconds}, {"figure", b.figure}});
    }
    out["lines"] = json_of(costly);
    return out;
}

namespace {

json next_json(const explanation& e, const next_step& next) {
    json out;
    out["id"] = next.about.id;
    out["title"] = next.about.title;
    out["idea"] = next.about.idea;
    out["source"] = next.about.source;
    out["n"] = next.profile.n;
    out["launches"] = json_of(next.profile.launches, next.profile.why_none.empty());
    out["note"] = text_or_null(next.note);
    out["difference"] = json::array();
    for (const changed_line& line : next.source) {
        json one;
        one["change"] = line.what == change::removed ? "-" : line.what == change::added ? "+" : " ";
        one["place"] = line.place;
        one["text"] = line.text;
        out["difference"].push_back(std::move(one));
    }
    out["counters"] = json::array();
    for (const changed_counter& c : next.counters) {
        json one;
        one["name"] = c.name;
        one["this"] = c.here;
        one["next"] = c.next;
        one["ratio"] = report::number(c.ratio);
        out["counters"].push_back(std::move(one));
    }
    out["beside_it"] = e.others;
    return out;
}

} // namespace

json json_of(const explanation& e) {
    json out;
    out["ladder"] = e.ladder;
    out["data"] = e.data;
    out["device"] = json_of(e.device);
    out["step"] = json_of(e.step, e.profile.why_none.empty() && e.step.on_device);
    out["note"] = text_or_null(e.note);
    out["launches"] = json_of(e.profile.launches, e.profile.why_none.empty());
    out["bounds"] = json_of(e.bounds, e.costly);
    if (!e.predicted.empty()) {
        out["predictions"] = json_of(e.predicted);
    }
    out["counters"] = json();
    out["counters"]["all"] = counts(e.profile.all);
    out["counters"]["in_no_line"] = counts(e.profile.elsewhere);
    out["files"] = json::array();
    for (const shown_file& file : e.files) {
        out["files"].push_back(json_of(file, e.profile));
    }
    out["next"] = e.next ? next_json(e, *e.next) : json(nullptr);
    return out;
}

} // namespace warpfold::tool
