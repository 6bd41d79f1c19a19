// SPDX-License-Identifier: MIT
// The records of all launches in the order of issue. The next synchronising call gives them to the observer. They are also
// written to the file that SOFTGPU_COUNTERS names; the files of SOFTGPU_PROFILE and SOFTGPU_TIMELINE are written with it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "softgpu/observe/launch_record.hpp"
#include "softgpu/runtime/core/settings.hpp"

namespace softgpu::runtime {

class journal {
public:
    static journal& instance();

    // The process has made its first CUDA call: creates the files, so that a process that does not end by exit() leaves them
    // too.
    void begin(const settings& options) noexcept;

    // To be called after deliver(): launches that are finished belong to the previous observer.
    void set_observer(observe::launch_observer observer, void* user);
    // Gives finished launches to the observer. Call without the context's lock, on a thread of the program, because the
    // observer may call the runtime.
    void deliver();

    // The next launch's number in the order of issue, from 1.
    [[nodiscard]] std::uint64_t next_launch() noexcept { return ++launches_; }
    [[nodiscard]] std::uint64_t launches() const noexcept { return launches_; }

    // Launches that finish are also copied to this list, by number, until end_list().
    using launch_list = std::map<std::uint64_t, observe::launch_record>;
    void begin_list(launch_list& list);
    void end_list(launch_list& list);

    // A launch is finished. Any thread may call this.
    void add(const settings& options, std::uint64_t launch, observe::launch_record record);
    // A launch was refused: for the lists only.
    void add_refused(const observe::launch_record& record);

    // Writes the files, the first few times or if that has taken a small part of the process's time so far.
    void write_now_and_then(const settings& options) noexcept;
    // Writes the files for the last time. A launch that finishes later is written at once.
    void end(const settings& options) noexcept;

private:
    enum class moment { under_way, end, after_end };

    // Writes the files that the environment names. A failure is one line on stderr per file.
    void write(const settings& options, moment now) noexcept;

    std::recursive_mutex delivering_;
    std::mutex mutex_;
    observe::launch_observer observer_ = nullptr;
    void* user_ = nullptr;
    std::atomic<std::uint64_t> launches_{0};
    launch_list undelivered_;
    launch_list records_; // for the file
    std::vector<launch_list*> lists_;
    bool ended_ = false;

    std::mutex writing_;
    std::chrono::steady_clock::time_point began_{};
    std::chrono::steady_clock::duration spent_{}; // on writing
    int writes_ = 0;
};

} // namespace softgpu::runtime
