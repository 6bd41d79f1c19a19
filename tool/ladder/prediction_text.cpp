// SPDX-License-Identifier: MIT
#include "tool/ladder/prediction_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "report/number.hpp"

namespace warpfold::tool {

std::vector<softgpu::observe::prediction> predictions_of(const std::vector<softgpu::observe::launch_record>& launches) {
    std::vector<softgpu::observe::prediction> all;
    std::vector<double> longest;
    for (const auto& launch : launches) {
        const auto& one = launch.predictions;
        if (one.empty()) {
            return {};
        }
        all.resize(one.size());
        longest.resize(one.size(), -1);
        for (std::size_t k = 0; k < one.size(); ++k) {
            softgpu::observe::prediction sum = one[k].nanoseconds > longest[k] ? one[k] : all[k];
            longest[k] = std::max(longest[k], one[k].nanoseconds);
            sum.nanoseconds = all[k].nanoseconds + one[k].nanoseconds;
            sum.cold_nanoseconds = all[k].cold_nanoseconds + one[k].cold_nanoseconds;
            sum.dram_read_bytes = all[k].dram_read_bytes + one[k].dram_read_bytes;
            sum.dram_write_bytes = all[k].dram_write_bytes + one[k].dram_write_bytes;
            sum.cold_dram_read_bytes = all[k].cold_dram_read_bytes + one[k].cold_dram_read_bytes;
            sum.cold_dram_write_bytes = all[k].cold_dram_write_bytes + one[k].cold_dram_write_bytes;
            all[k] = std::move(sum);
        }
    }
    return all;
}

std::string predictions_text(const ladder::ladder_report& r, const report::style& look) {
    using report::align;
    report::table table({{"step", align::left},
                         {"card", align::left},
                         {"launches"},
                         {"cold\nµs"},
                         {"warm\nµs"},
                         {"bound", align::left},
                         {"of roof"},
                         {"next", align::left}});
    bool any = false;
    for (const auto& step : r.steps) {
        for (const auto& p : predictions_of(step.launches)) {
            any = true;
            table.add_row({{step.id},
                           {p.card},
                           {std::to_string(step.launches.size())},
                           {report::figure(p.cold_nanoseconds / 1000, 4)},
                           {report::figure(p.nanoseconds / 1000, 4)},
                           {p.bound},
                           {report::figure(p.share_of_roof * 100, 2) + " %"},
                           {p.next_bound}});
        }
    }
    return any ? "\nPredicted by a model (docs/model.md), not measured; bounds of the longest launch\n" +
                     table.text(look)
               : "";
}

} // namespace warpfold::tool
