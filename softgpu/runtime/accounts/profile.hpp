// SPDX-License-Identifier: MIT
// Counters by instruction of all kernels, summed over launches, for the file that SOFTGPU_PROFILE names.
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

    // After a launch, while its module is there.
    void add(machine::module& owner, const machine::kernel& kernel, const std::string& demangled,
             const std::string& symbol, const std::vector<observe::point_counts>& counts);
    // Throws std::runtime_error where it cannot be written.
    void write(const std::string& path, const observe::device_facts& device, bool finished);

private:
    std::size_t find(const observe::kernel_profile& fresh);

    std::mutex mutex_;
    std::vector<observe::kernel_profile> kernels_;
    std::map<std::pair<const machine::kernel*, std::string>, std::size_t> known_; // place in kernels_
};

} // namespace softgpu::runtime
