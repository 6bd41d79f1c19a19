// SPDX-License-Identifier: MIT
// Runs operations on the host's threads as soon as all before them are over, or, in the adversarial schedule, one at a
// time in an order drawn from a seed, as late as CUDA allows.
//
// Every operation that is ready gets a thread of its own sooner or later, whatever the others do: a kernel may spin on what
// another stream's kernel, or the host, writes. As many as the host has cores start at once, a further one when it has
// waited for `patience`. A thread that waits for an operation runs what is ready before it by itself (not in the adversarial schedule:
// what it would run may wait for what it does next).
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

// Who wants to know which operation comes after which. Called under the executor's lock; must not call back.
class order_watcher {
public:
    virtual ~order_watcher() = default;
    // after: all operations that it directly waits for, also those that are over already; null pointers mean nothing.
    virtual void issued(operation& what, std::span<const operation_pointer> after) = 0;
    virtual void finished(const operation& what) = 0;
    // The host goes on only after this operation: the calling thread has waited for it, or is the host function.
    virtual void host_waited(const operation& what) = 0;
    // ... after all operations.
    virtual void host_waited_for_all() = 0;
};

class executor {
public:
    using clock = std::chrono::steady_clock;

    static constexpr std::chrono::milliseconds patience{2};
    // In the adversarial schedule: how long nothing may have moved before another operation starts. A program that polls
    // memory without a call of the runtime gets on thereby.
    static constexpr std::chrono::milliseconds adversarial_patience{1000};

    // Made by the first caller and never destroyed: its threads are detached.
    static executor& instance();

    // seed: of the adversarial schedule. Where nothing runs and nobody issues anything meanwhile.
    void choose_schedule(std::optional<std::uint64_t> seed);
    void add_watcher(order_watcher& watcher);
    void remove_watcher(order_watcher& watcher);

    // Has it run once all of `before` is over (null pointers are skipped). The caller will wait for it at once: no other
    // thread is woken for its sake.
    void issue(const operation_pointer& what, std::span<const operation_pointer> before, bool caller_waits = false);
    // Throws not_permitted in a host function: what it waits for may wait for itself.
    void wait(const operation_pointer& what);
    // Waits for everything issued so far.
    void wait_for_all();
    // The same, no longer than this; false: there is work left.
    bool wait_for_all(std::chrono::milliseconds at_most) noexcept;
    // Whether it is over. In the adversarial schedule asking lets one operation run first, so that polling ends.
    bool is_done(const operation_pointer& what);
    [[nodiscard]] std::optional<clock::time_point> finished(const operation_pointer& what);
    [[nodiscard]] bool is_adversarial();
    // For the only operation that runs: false where no other can start before it ends, and a thread of the host waits. What
    // runs then is alone with the memory of the device, unless other threads of the host do more.
    [[nodiscard]] bool may_more_come();

private:
    executor();
    using guard = std::unique_lock<std::mutex>;

    void make_ready(const operation_pointer& what);
    void complete(const operation_pointer& what);
    void pass_on();
    void call_a_thread();
    void begin(const operation_pointer& what);
    void run(guard& lock, const operation_pointer& what);
    void grant_one();
    [[nodiscard]] bool may_grant() const;
    [[nodiscard]] clock::time_point due_to_grant() const;
    void serve();
    operation_pointer take();
    operation_pointer take_before(const operation_pointer& target);
    void wait(guard& lock, const operation_pointer& what);
    void abandon_in_child() noexcept;

    std::mutex mutex_;
    std::condition_variable wake_; // something is ready
    std::condition_variable done_; // an operation that somebody watches is over
    std::list<operation_pointer> unfinished_; // in the order of issue
    std::vector<operation_pointer> ready_;
    std::deque<operation_pointer> granted_; // the adversarial schedule has chosen them, no thread has them yet
    std::uint64_t last_id_ = 0;
    unsigned parallel_ = 1;
    unsigned threads_ = 0;
    unsigned idle_ = 0;
    unsigned running_ = 0;
    unsigned waiting_ = 0; // threads of the host, for an operation
    bool adversarial_ = false;
    std::mt19937_64 random_;
    clock::time_point moved_; // when an operation last began or ended
    std::vector<order_watcher*> watchers_;
};

// The operation that this thread carries out, or nullptr.
[[nodiscard]] const operation* current_operation() noexcept;
// Whether this thread runs a host function or callback now.
[[nodiscard]] bool in_host_function() noexcept;

} // namespace softgpu::runtime
