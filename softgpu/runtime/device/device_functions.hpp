// SPDX-License-Identifier: MIT
// The functions of CUDA's device runtime (cuda_device_runtime_api.h), for the threads of one grid.
#pragma once

#include "softgpu/machine/device_runtime.hpp"

namespace softgpu::runtime {

class nested_grids;
struct nested_grid;

class device_functions final : public machine::device_runtime {
public:
    device_functions(nested_grids& all, nested_grid& of) : all_(all), of_(of) {}

    bool call(machine::device_call& by) override;

private:
    nested_grids& all_;
    nested_grid& of_;
};

} // namespace softgpu::runtime
