// SPDX-License-Identifier: MIT
// Counters per instruction of all kernels, summed over launches, for the file that SOFTGPU_PROFILE names.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/machine/launch.hpp"
#include "softgpu/observe/json.hpp"

namespace softgpu::runtime {

class profile {
public:
    static profile& instance();

    // Call after a launch, while its module is loaded.
    void add(machine::module& owner, const machine::kernel& kernel, const std::string& demangled,
             const std::string& symbol, const std::vector<observe::point_counts>& counts);
    // Throws std::runtime_error if the file cannot be written.
    void write(const std::string& path, const observe::device_facts& device, bool finished);

private:
    std::size_t find(const observe::kernel_profile& fresh);

    std::mutex mutex_;
    std::vector<observe::kernel_profile> kernels_;
    std::map<std::pair<const machine::kernel*, std::string>, std::size_t> known_; // index in kernels_
};

} // namespace softgpu::runtime
