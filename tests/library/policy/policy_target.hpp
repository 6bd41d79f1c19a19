// SPDX-License-Identifier: MIT
// A target with a policy, made as gpu is: gpu_with<policy>{stream, &memory}. As `gpu` in an anonymous namespace it is the
// target of the tests that follow there.
#pragma once

#include <type_traits>

#include "warpfold/gpu/core/target.hpp"

namespace warpfold::tests {

template <const auto& Policy>
struct gpu_with : tuned_gpu<std::remove_cvref_t<decltype(Policy)>, gpu> {
    using tuned = tuned_gpu<std::remove_cvref_t<decltype(Policy)>, gpu>;

    gpu_with(cudaStream_t stream = nullptr, workspace* memory = nullptr) : tuned(gpu{stream, memory}.with(Policy)) {}
};

} // namespace warpfold::tests
