// SPDX-License-Identifier: MIT
// Runs operations on threads of the host. There are two schedules. The fair one runs an operation as soon as all operations
// before it are finished. The adversarial one runs one operation at a time, in an order drawn from a seed, as late as CUDA
// allows.
//
// In the fair schedule every ready operation gets a thread of its own in the end, because a kernel may spin on memory that
// another stream's kernel or the host writes. As many operations as the host has cores start at once; each further one
// starts after it has been ready for `patience`. A thread that waits for an operation runs ready operations that come
// before it. It does not in the adversarial schedule, where such an operation may wait for what this thread does next.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "softgpu/runtime/core/operation.hpp"

namespace softgpu::runtime {

// Observes the order of operations. Called under the executor's lock; must not call the executor.
class operation_observer {
public:
    virtual ~operation_observer() = default;
    // after: all operations that `what` directly waits for, finished ones too; null pointers mean nothing.
    virtual void issued(operation& what, std::span<const operation_pointer> after) = 0;
    virtual void finished(const operation& what) = 0;
    // The host continues only after this operation: the calling thread has waited for it, or runs it as a host function.
    virtual void host_waited(const operation& what) = 0;
    // The calling thread has waited for all operations; with `of` those of this device.
    virtual void host_waited_for_all(std::optional<int> of) = 0;
};

class executor {
public:
    using clock = std::chrono::steady_clock;

    static constexpr std::chrono::milliseconds patience{2};
    // Adversarial schedule: after this long without progress another operation starts beside those that run. This lets a
    // program continue that polls memory without calling the runtime.
    static constexpr std::chrono::milliseconds adversarial_patience{1000};

    // Created by the first caller and never destroyed, because its threads are detached.
    static executor& instance();

    // seed: the adversarial schedule's; none: the fair schedule. Call only while nothing runs and nothing is issued.
    void choose_schedule(std::optional<std::uint64_t> seed);
    void add_observer(operation_observer& observer);
    void remove_observer(operation_observer& observer);

    // Runs `what` after all of `before` (null pointers are skipped). caller_waits: the caller waits for it right away and
    // runs it itself, so no other thread is woken.
    void issue(const operation_pointer& what, std::span<const operation_pointer> before, bool caller_waits = false);
    // Throws not_permitted in a host function, which could wait for itself.
    void wait(const operation_pointer& what);
    // Runs `what`, which is within the operation that this thread runs, now. `after`: those within the same one that it
    // follows; they are over.
    void run_within(const operation_pointer& what, std::span<const operation_pointer> after);
    // The operation that this thread runs, or nullptr.
    [[nodiscard]] static operation_pointer this_threads_operation();
    // While `before` runs: `what`, which waits for it, also waits for `too`.
    void add_dependency(const operation_pointer& what, const operation_pointer& too);
    // Waits for everything issued so far. Throws not_permitted in a host function.
    void wait_for_all();
    // The same for the operations of one device.
    void wait_for_all_of(int device);
    // Waits at most this long, for one device or for all; returns false if operations are left.
    bool wait_for_all(std::chrono::milliseconds at_most, std::optional<int> device = std::nullopt) noexcept;
    // Whether it is finished. In the adversarial schedule the query first lets one operation run, so that polling ends.
    bool is_done(const operation_pointer& what);
    // When it finished, if it has.
    [[nodiscard]] std::optional<clock::time_point> finished(const operation_pointer& what);
    // Called by the operation that runs. Returns false if it runs alone: no other operation is running or ready, and a
    // thread of the host waits for one. The device's memory then changes only if another thread of the program acts.
    // quiet: the operation is within a quiet_wait.
    [[nodiscard]] bool others_may_run(bool quiet = false);
    // While it lives, the operation that this thread runs waits for what others write to memory: it counts as none that runs.
    class quiet_wait {
    public:
        quiet_wait() { instance().count_quiet(1); }
        ~quiet_wait() { instance().count_quiet(-1); }
        quiet_wait(const quiet_wait&) = delete;
        quiet_wait& operator=(const quiet_wait&) = delete;
    };

private:
    executor();
    using guard = std::unique_lock<std::mutex>;

    void count_quiet(int more);
    void make_ready(const operation_pointer& what);
    void complete(const operation_pointer& what);
    void wake_for_ready();
    void wake_thread();
    void begin(const operation_pointer& what);
    void run(guard& lock, const operation_pointer& what);
    void start_random_operation();
    [[nodiscard]] bool may_start_random() const;
    [[nodiscard]] clock::time_point next_random_start() const;
    void serve();
    operation_pointer take_first();
    operation_pointer take_dependency_of(const operation_pointer& target);
    void wait(guard& lock, const operation_pointer& what);
    void wait_for_all(std::optional<int> device);
    // Of this device or of all, up to this id; nullptr: none is left.
    [[nodiscard]] operation_pointer last_unfinished(std::optional<int> device, std::uint64_t newest = ~0ull) const;
    void abandon_in_child() noexcept;

    std::mutex mutex_;
    std::condition_variable wake_;            // an operation is ready
    std::condition_variable done_;            // an operation that a thread waits for is finished
    std::list<operation_pointer> unfinished_; // in the order of issue
    std::vector<operation_pointer> ready_;
    std::deque<operation_pointer> drawn_; // by the adversarial schedule; no thread has taken them yet
    std::uint64_t last_id_ = 0;
    unsigned parallel_ = 1;
    unsigned threads_ = 0;
    unsigned idle_ = 0;
    unsigned running_ = 0;
    unsigned quiet_ = 0;   // of those that run
    unsigned waiting_ = 0; // threads of the host that wait for an operation which is not finished
    unsigned timed_waits_ = 0;
    bool adversarial_ = false;
    std::mt19937_64 random_;
    clock::time_point moved_; // when an operation last began or finished
    std::vector<operation_observer*> observers_;
};

// The operation that this thread runs, or nullptr.
[[nodiscard]] const operation* current_operation() noexcept;

} // namespace softgpu::runtime
