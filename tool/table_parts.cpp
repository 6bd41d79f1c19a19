// SPDX-License-Identifier: MIT
#include "tool/table_parts.hpp"

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
