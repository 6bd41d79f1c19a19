// SPDX-License-Identifier: MIT
// The cards that SOFTGPU_PREDICT names, and what the model says of each launch on them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "softgpu/machine/trace.hpp"
#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/timeline_model.hpp"
#include "softgpu/predict/model.hpp"

namespace softgpu::runtime {

// Reads the cards' files. Throws failure if one is not valid. To be called once, before the first launch.
void load_predicted_cards(const std::vector<std::string>& files);
// Of module::trace(): two tables a card. Empty: nothing is predicted.
[[nodiscard]] std::span<const observe::latency_table> predicted_latencies() noexcept;
// Likewise: a card has rules of its own for what lanes access together.
[[nodiscard]] bool predicted_by_lanes() noexcept;

// The cards as machines of a timeline, in the order of their predictions. Without seconds of operations.
[[nodiscard]] std::vector<observe::predicted_machine> predicted_machines();

// One launch while it runs. Both of two launches would use the caches, so one waits for the other, until no block of that one
// has ended for a second: the other one may wait for what this one does. Then it is not predicted.
class launch_prediction final : public machine::launch_trace {
public:
    // `host`: memory of the host that kernels reach.
    launch_prediction(const predict::launch_shape& shape, std::vector<predict::host_lines> host);
    ~launch_prediction() override;
    launch_prediction(const launch_prediction&) = delete;
    launch_prediction& operator=(const launch_prediction&) = delete;

    std::unique_ptr<machine::block_trace> begin() override;
    // False: another launch was running.
    [[nodiscard]] bool is_alone() const noexcept;
    // The launch is over: one prediction a card; none where it was not alone.
    [[nodiscard]] std::vector<observe::prediction> predictions(const observe::counters& total,
                                                               const observe::instruction_mix& mix);

    struct sums;

private:
    std::unique_ptr<sums> sums_;
};

} // namespace softgpu::runtime
