// SPDX-License-Identifier: MIT
// The engine's shared library as the command sees it. The command loads it after the CUDA runtime of its choice; the engine
// loads the library of each ladder when it is first used. Plain C++20, no CUDA header.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ladder/engine/definition/report.hpp"
#include "ladder/engine/sources.hpp"

namespace warpfold::ladder {

class ladder_engine {
public:
    virtual ~ladder_engine() = default;
    [[nodiscard]] virtual device_description device() const = 0;
    // Names of the catalogue, in its order, whose libraries are there.
    [[nodiscard]] virtual std::vector<std::string> ladders() const = 0;
    // Throws bad_request for a name that is not in the catalogue, std::runtime_error where its library is not built.
    [[nodiscard]] virtual std::vector<step_description> steps(const std::string& ladder) const = 0;
    // Throws as steps() does; bad_request for an unknown step, and for n, a block or an offset that the ladder or the device
    // does not take; std::runtime_error for a CUDA error outside a step.
    [[nodiscard]] virtual ladder_report run(const ladder_request& request) = 0;
    [[nodiscard]] virtual std::span<const source_file> sources() const = 0;
};

} // namespace warpfold::ladder

// What the command looks up.
extern "C" warpfold::ladder::ladder_engine* warpfold_ladder_engine();
