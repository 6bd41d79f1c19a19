// SPDX-License-Identifier: MIT
#include "softgpu/runtime/device/run_grid.hpp"

#include "softgpu/runtime/device/device_functions.hpp"
#include "softgpu/runtime/device/nested_grids.hpp"

namespace softgpu::runtime {

void run_grid(context& gpu, const kernel_work& work, std::uint64_t launch) {
    const auto run = [](nested_grids& all, nested_grid& g, std::uint64_t number, bool amid_parent) {
        device_functions functions(all, g);
        run_kernel(all.gpu(), g.parent == nullptr ? all.root() : std::get<kernel_work>(g.work), number,
                   {.runtime = &functions, .launched_by = g.operation->launched_by, .amid_another = amid_parent});
    };
    nested_grids(gpu, work, launch, run).run();
}

} // namespace softgpu::runtime
