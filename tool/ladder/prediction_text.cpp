// SPDX-License-Identifier: MIT
#include "tool/ladder/prediction_text.hpp"

#include <cstddef>
#include <utility>

#include "report/number.hpp"

namespace warpfold::tool {

std::vector<softgpu::observe::prediction> predictions_of(const ladder::step_result& step) {
    std::vector<softgpu::observe::prediction> all;
    for (const auto& launch : step.launches) {
        const auto& one = launch.predictions;
        if (one.empty()) {
            return {};
        }
        all.resize(one.size());
        for (std::size_t k = 0; k < one.size(); ++k) {
            softgpu::observe::prediction& sum = all[k];
            // The bound of the launch that takes longest stands for all.
            if (sum.bounds.empty() || one[k].nanoseconds > sum.bounds.front().nanoseconds) {
                sum.bound = one[k].bound;
                sum.next_bound = one[k].next_bound;
                sum.share_of_roof = one[k].share_of_roof;
                sum.bounds = {{one[k].bound, one[k].nanoseconds}};
            }
            sum.card = one[k].card;
            sum.nanoseconds += one[k].nanoseconds;
            sum.cold_nanoseconds += one[k].cold_nanoseconds;
            sum.dram_read_bytes += one[k].dram_read_bytes;
            sum.dram_write_bytes += one[k].dram_write_bytes;
            sum.cold_dram_read_bytes += one[k].cold_dram_read_bytes;
            sum.cold_dram_write_bytes += one[k].cold_dram_write_bytes;
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
        for (const auto& p : predictions_of(step)) {
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
