// SPDX-License-Identifier: MIT
// A card as the model has it: figures from a file, each with its unit and source (softgpu/predict/cards/).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "softgpu/observe/instruction_mix.hpp"

namespace softgpu::predict {

// One line: the file, the figure, and what is wrong with it.
struct card_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct card {
    std::string key;                 // "h200"
    std::string name;                // "NVIDIA H200 SXM"
    unsigned compute_capability = 0; // 90 of "9.0"
#define SOFTGPU_FIGURE(field, unit, least, most) double field = 0;
#include "softgpu/predict/figures.def"
#undef SOFTGPU_FIGURE
};

// Reads {"key": ..., "name": ..., "compute_capability": "9.0", "figures": {NAME: {"value": ..., "unit": ..., "source": ...}, ...}}. `file` is its name
// in messages. Throws card_error for what is no JSON, and for a figure that is missing, unknown, absurd, in another unit or
// without a source.
[[nodiscard]] card parse_card(std::string_view text, const std::string& file);
// The same of a file. Throws card_error if it cannot be read.
[[nodiscard]] card read_card(const std::string& path);

// Cycles until a result can be used; global loads take `global_load` cycles.
[[nodiscard]] observe::latency_table latencies_of(const card& c, double global_load);
// Lanes a cycle and multiprocessor; 0: another bound has the class.
[[nodiscard]] observe::by_class<double> throughputs_of(const card& c);

} // namespace softgpu::predict
