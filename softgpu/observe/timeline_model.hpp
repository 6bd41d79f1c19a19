// SPDX-License-Identifier: MIT
// Timelines on cards that are predicted (docs/model.md): kernels take what the model of the card says, the rest goes by the
// rules of timeline.hpp.
#pragma once

#include <string>
#include <vector>

#include "softgpu/observe/timeline.hpp"

namespace softgpu::observe {

struct predicted_machine {
    std::string card; // "h200"
    timeline_machine machine;
    std::vector<double> seconds; // of each operation of a log; 0: it is no kernel, or was not predicted
    double launch_next = 0;      // seconds of a launch behind other work in its stream
};

// Seconds of the log's fills and copies, one after the other. A fill, and a copy within the device, is launched as a kernel is.
[[nodiscard]] double seconds_of_moves(const operation_log& log, const predicted_machine& on);

// As the other model_of(). What has no prediction goes by the machine's rules.
[[nodiscard]] timeline model_of(const operation_log& log, const predicted_machine& on);

} // namespace softgpu::observe

// Exported as softgpu_record_operations is: the cards that are predicted, with the seconds of the operations whose recording
// was completed last. None where nothing is predicted.
extern "C" void softgpu_predicted_operations(std::vector<softgpu::observe::predicted_machine>* to);
