// SPDX-License-Identifier: MIT
// The account of all launches, in the order of issue: given to the observer by the next call that synchronises, and written
// to the file that SOFTGPU_COUNTERS names (and the profile to that of SOFTGPU_PROFILE, the timeline to that of
// SOFTGPU_TIMELINE).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "softgpu/observe/launch_record.hpp"

namespace softgpu::runtime {

struct settings;

class journal {
public:
    static journal& instance();

    // The process has begun to use the runtime: the files that the environment asks for are there from now on, so that a
    // process which does not end by exit() leaves them too.
    void begin(const settings& options) noexcept;
    // false: a child that was forked from the process which began.
    [[nodiscard]] bool is_of_this_process() const;

    // What has run so far goes to the observer of before.
    void set_observer(observe::launch_observer observer, void* user);
    // The place of a launch in the order of issue.
    [[nodiscard]] std::uint64_t next_launch() noexcept { return ++launches_; }
    [[nodiscard]] std::uint64_t launches() const noexcept { return launches_; }
    // From now on launches that end are copied to this list, by their place in the order of issue, until its end.
    using launch_list = std::map<std::uint64_t, observe::launch_record>;
    void begin_list(launch_list& list);
    void end_list(launch_list& list);
    // A launch is over. Called by any thread.
    void add(const settings& options, std::uint64_t launch, observe::launch_record record);
    // One that was refused: for lists only.
    void add_refused(observe::launch_record record);
    // Gives the observer what has run and it has not seen. To be called without the context's lock, by a thread of the
    // program: the observer may call the runtime.
    void deliver();
    // From now on every launch is written at once: nothing else will come after it.
    void end(const settings& options) noexcept;

private:
    enum class moment { under_way, end, after_end };

    // Writes what there is, if the environment asks for it. Trouble is one line on stderr for each file.
    void write(const settings& options, moment now) noexcept;
    // The same where that has taken little of the process's time so far.
    void write_now_and_then(const settings& options) noexcept;

    std::recursive_mutex delivering_;
    std::mutex mutex_;
    observe::launch_observer observer_ = nullptr;
    void* user_ = nullptr;
    std::atomic<std::uint64_t> launches_{0};
    launch_list unseen_;  // by the observer
    launch_list records_; // for the file
    std::vector<launch_list*> lists_;
    bool ended_ = false;
    std::atomic<int> process_{0}; // that has begun; 0: none

    std::mutex writing_;
    std::chrono::steady_clock::time_point began_{};
    std::chrono::steady_clock::duration spent_{};
};

} // namespace softgpu::runtime
