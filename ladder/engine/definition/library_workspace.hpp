// SPDX-License-Identifier: MIT
// The target of a step that calls the library: on a GPU with a workspace that is allocated once, so that no timed call
// allocates; on the software GPU without one, so that the checks see every allocation.
#pragma once

#include <cstddef>
#include <memory>

#include "ladder/engine/definition/step.hpp"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::ladder::engine {

class kept_workspace {
public:
    [[nodiscard]] gpu target(const stage& on, std::size_t bytes) {
        if (on.software) {
            return {on.stream};
        }
        if (!memory_ || memory_->bytes() < bytes) {
            memory_ = std::make_unique<workspace>(bytes);
        }
        return {on.stream, memory_.get()};
    }

private:
    std::unique_ptr<workspace> memory_;
};

} // namespace warpfold::ladder::engine
