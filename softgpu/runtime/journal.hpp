// SPDX-License-Identifier: MIT
// The account of all launches: given to the observer, and written to the file that SOFTGPU_COUNTERS names.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "softgpu/observe/launch_record.hpp"

namespace softgpu::runtime {

struct settings;

class journal {
public:
    static journal& instance();

    void set_observer(observe::launch_observer observer, void* user);
    // To be called without the context's lock: the observer may call the runtime.
    void add(const settings& options, observe::launch_record record);
    // Writes what there is, if the environment asks for it. Trouble is one line on stderr.
    void write(const settings& options) noexcept;
    // From now on every launch is written at once: nothing else will come after it.
    void end(const settings& options) noexcept;

private:
    std::mutex mutex_;
    observe::launch_observer observer_ = nullptr;
    void* user_ = nullptr;
    std::vector<observe::launch_record> records_;
    bool ended_ = false;
};

} // namespace softgpu::runtime
