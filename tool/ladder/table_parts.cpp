// SPDX-License-Identifier: MIT
#include "tool/ladder/table_parts.hpp"

#include "report/number.hpp"

namespace warpfold::tool {

using report::figure;
using report::style;
using report::tone;

std::string figure_or_none(const std::optional<double>& value, int digits) {
    return value ? figure(*value, digits) : none;
}

std::string fixed_or_none(const std::optional<double>& value, int decimals) {
    return value ? fmt::format("{:.{}f}", *value, decimals) : none;
}

std::string percent_or_none(const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", *value * 100) : none;
}

std::vector<report::column> event_columns() {
    return {{"instr.\nper\nelement"},  {"lanes\nof 32"}, {"wave-\nfronts\nper\nrequest"},
            {"sectors\nper\nrequest"}, {"bus\nused"},    {"barriers\nper warp"}};
}

std::vector<report::cell> event_cells(const step_figures& f) {
    return {{figure_or_none(f.instructions_per_element)}, {fixed_or_none(f.active_lanes, 1)},
            {fixed_or_none(f.wavefronts_per_request, 2)}, {fixed_or_none(f.sectors_per_request, 2)},
            {percent_or_none(f.bus_utilisation)},         {fixed_or_none(f.barriers_per_warp, 1)}};
}

std::string spread(const ladder::timing& timing) {
    return fmt::format("{}–{}", figure(timing.low * 1e6), figure(timing.high * 1e6));
}

std::string step_in_words(const ladder::step_description& step, const std::vector<ladder::claim>& claims,
                          const std::string& caution, const style& look) {
    constexpr std::size_t indent = 4;
    const std::string blanks(indent, ' ');
    std::string head = fmt::format("{} – {}", step.title, step.source);
    head += step.lecture.empty() ? "" : fmt::format(" ({})", step.lecture);
    std::string out = "\n" + report::paragraph(step.id + "  ", head, look.width);
    out += step.idea.empty() ? "" : report::paragraph(blanks, step.idea, look.width);
    for (const auto& claim : claims) {
        out += claim_text(claim, indent, look);
    }
    out += caution.empty() ? "" : report::paragraph(blanks + "! ", caution, look.width);
    return out;
}

std::string device_lines(const ladder::device_description& d, const style& look) {
    std::string device = fmt::format("{}, compute capability {}.{}, {} multiprocessors", d.name, d.compute_major,
                                     d.compute_minor, d.multiprocessors);
    if (d.software) {
        device += "; no GPU: kernels run on the host's cores, and events are counted, not times";
    } else {
        device += d.driver.empty() ? "" : fmt::format(", driver {}", d.driver);
        device += d.runtime.empty() ? "" : fmt::format(", runtime {}", d.runtime);
    }
    std::string out = report::paragraph("", "Device: " + device, look.width);
    if (d.read_gb_per_s || d.copy_gb_per_s) {
        out +=
            report::paragraph("",
                              fmt::format("Ceilings measured in this run: read {} GB/s, copy {} GB/s (read + written)",
                                          figure_or_none(d.read_gb_per_s, 4), figure_or_none(d.copy_gb_per_s, 4)),
                              look.width);
    }
    return out;
}

std::string claim_text(const ladder::claim& claim, std::size_t indent, const style& look) {
    const char* mark = !claim.holds ? "–" : *claim.holds ? "✓" : "✗";
    const tone as = !claim.holds ? tone::faint : *claim.holds ? tone::good : tone::bad;
    std::string text = claim.text;
    if (!claim.figure.empty()) {
        text += " → " + claim.figure;
    }
    if (!claim.lecture.empty()) {
        text += " [" + claim.lecture + "]";
    }
    // The mark is coloured after the layout, which would count the colour's bytes.
    std::string out = report::paragraph(fmt::format("{:{}}{} ", "", indent, mark), text, look.width);
    return out.replace(indent, std::string_view(mark).size(), report::coloured(mark, as, look));
}

} // namespace warpfold::tool
