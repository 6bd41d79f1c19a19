// SPDX-License-Identifier: MIT
// Calls of the library as steps: on a GPU with a workspace that is taken once, so that no call allocates; on the software
// GPU in the order of the stream, so that the checks see all of it.
#pragma once

#include <cstddef>
#include <memory>

#include "ladder/frame/step.hpp"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::ladder::frame {

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

} // namespace warpfold::ladder::frame
