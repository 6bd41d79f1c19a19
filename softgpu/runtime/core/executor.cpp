// SPDX-License-Identifier: MIT
// The life of an operation, and waits for it. executor_schedule.cpp chooses which one begins.
#include "softgpu/runtime/core/executor.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <pthread.h>
#include <thread>
#include <utility>

#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

using stage = operation::stage;

thread_local bool inside_host_function = false;
thread_local const operation* running_operation = nullptr;

} // namespace

const operation* current_operation() noexcept { return running_operation; }

executor& executor::instance() {
    static executor& only = *new executor;
    return only;
}

executor::executor() : parallel_(std::max(1u, std::thread::hardware_concurrency())) {
    // A forked child has none of its parent's threads: the operations under way are finished for it.
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().abandon_in_child(); });
}

void executor::abandon_in_child() noexcept {
    new (&mutex_) std::mutex;
    new (&wake_) std::condition_variable;
    new (&done_) std::condition_variable;
    for (const operation_pointer& o : unfinished_) {
        o->at = stage::done;
        o->before.clear();
        o->after.clear();
        o->waiting_threads = 0;
    }
    unfinished_.clear();
    ready_.clear();
    drawn_.clear();
    threads_ = idle_ = running_ = quiet_ = waiting_ = timed_waits_ = 0;
}

void executor::add_observer(operation_observer& observer) {
    const guard lock(mutex_);
    observers_.push_back(&observer);
}

void executor::remove_observer(operation_observer& observer) {
    const guard lock(mutex_);
    std::erase(observers_, &observer);
}

void executor::issue(const operation_pointer& what, std::span<const operation_pointer> before, bool caller_waits) {
    const guard lock(mutex_);
    what->id = ++last_id_;
    what->at = stage::waiting;
    for (const operation_pointer& b : before) {
        if (b != nullptr && b->at != stage::done) {
            b->after.push_back(what);
            what->before.push_back(b);
            ++what->pending;
        }
    }
    for (operation_observer* const observer : observers_) {
        observer->issued(*what, before);
    }
    what->place = unfinished_.insert(unfinished_.end(), what);
    if (what->pending == 0) {
        make_ready(what);
        if (!caller_waits || what->kind == operation_kind::host) {
            wake_for_ready();
        }
    }
}

// Iterates from mark to mark instead of recursing, because a stream may hold many marks.
void executor::complete(const operation_pointer& what) {
    const auto now = clock::now();
    bool awaited = false;
    std::vector<operation_pointer> over{what};
    while (!over.empty()) {
        const operation_pointer o = std::move(over.back());
        over.pop_back();
        o->at = stage::done;
        for (operation_observer* const observer : observers_) {
            observer->finished(*o);
        }
        o->finished = now;
        o->run = nullptr;
        o->before.clear();
        awaited = awaited || o->waiting_threads != 0;
        waiting_ -= std::exchange(o->waiting_threads, 0u); // they go on, whenever the host runs them
        unfinished_.erase(o->place);
        for (const operation_pointer& next : o->after) {
            if (--next->pending == 0) {
                if (next->kind == operation_kind::mark) {
                    over.push_back(next);
                } else {
                    make_ready(next);
                }
            }
        }
        o->after.clear();
    }
    moved_ = now;
    if (awaited || timed_waits_ != 0 ||
        adversarial_) { // in the adversarial schedule any waiting thread may draw the next operation
        done_.notify_all();
    }
}

void executor::run(guard& lock, const operation_pointer& what) {
    moved_ = clock::now();
    const std::function<void()> work = std::move(what->run);
    if (what->kind == operation_kind::host) {
        for (operation_observer* const observer : observers_) {
            observer->host_waited(*what);
        }
    }
    lock.unlock();
    const bool outermost = !inside_host_function;
    inside_host_function = inside_host_function || what->kind == operation_kind::host;
    const operation* const outer = std::exchange(running_operation, what.get());
    work();
    running_operation = outer;
    inside_host_function = !outermost;
    lock.lock();
    --running_;
    complete(what);
}

void executor::wait(guard& lock, const operation_pointer& what) {
    if (what->at != stage::done) {
        ++waiting_;
        ++what->waiting_threads;
    }
    while (what->at != stage::done) {
        if (adversarial_ && may_start_random()) {
            start_random_operation();
        }
        if (const operation_pointer next = adversarial_ ? nullptr : take_dependency_of(what); next != nullptr) {
            begin(next);
            run(lock, next);
            continue;
        }
        wake_for_ready();
        if (adversarial_) {
            done_.wait_until(lock, next_random_start());
        } else {
            done_.wait(lock);
        }
    }
    wake_for_ready();
    for (operation_observer* const observer : observers_) {
        observer->host_waited(*what);
    }
}

void executor::run_within(const operation_pointer& what, std::span<const operation_pointer> after) {
    {
        const guard lock(mutex_);
        what->id = ++last_id_;
        what->at = stage::running;
        for (operation_observer* const observer : observers_) {
            observer->issued(*what, after);
        }
    }
    const operation* const outer = std::exchange(running_operation, what.get());
    const std::function<void()> work = std::move(what->run);
    work();
    running_operation = outer;
    const guard lock(mutex_);
    what->at = stage::done;
    what->finished = clock::now();
    for (operation_observer* const observer : observers_) {
        observer->finished(*what);
    }
}

operation_pointer executor::this_threads_operation() {
    return running_operation == nullptr ? nullptr
                                        : std::const_pointer_cast<operation>(running_operation->shared_from_this());
}

void executor::add_dependency(const operation_pointer& what, const operation_pointer& too) {
    const guard lock(mutex_);
    if (too->at != stage::done) {
        too->after.push_back(what);
        what->before.push_back(too);
        ++what->pending;
    }
}

void executor::wait(const operation_pointer& what) {
    require(!inside_host_function, error::not_permitted);
    if (what != nullptr) {
        guard lock(mutex_);
        wait(lock, what);
    }
}

void executor::wait_for_all() { wait_for_all(std::nullopt); }

void executor::wait_for_all_of(int device) { wait_for_all(std::optional(device)); }

operation_pointer executor::last_unfinished(std::optional<int> device, std::uint64_t newest) const {
    const auto last = std::find_if(unfinished_.rbegin(), unfinished_.rend(),
                                   [&](const auto& o) { return o->id <= newest && (!device || o->device == *device); });
    return last == unfinished_.rend() ? nullptr : *last;
}

void executor::wait_for_all(std::optional<int> device) {
    require(!inside_host_function, error::not_permitted);
    guard lock(mutex_);
    const std::uint64_t newest = last_id_;
    // The newest first: most others finish before it.
    while (const operation_pointer last = last_unfinished(device, newest)) {
        wait(lock, last);
    }
    for (operation_observer* const observer : observers_) {
        observer->host_waited_for_all(device);
    }
}

bool executor::wait_for_all(std::chrono::milliseconds at_most, std::optional<int> device) noexcept {
    const auto end = clock::now() + at_most;
    guard lock(mutex_);
    operation_pointer last = last_unfinished(device);
    while (last != nullptr && clock::now() < end) {
        if (adversarial_ && may_start_random()) {
            start_random_operation();
        }
        wake_for_ready();
        ++timed_waits_;
        done_.wait_until(lock, adversarial_ ? std::min(end, next_random_start()) : end);
        --timed_waits_;
        last = last_unfinished(device);
    }
    return last == nullptr;
}

bool executor::is_done(const operation_pointer& what) {
    if (what == nullptr) {
        return true;
    }
    guard lock(mutex_);
    if (adversarial_ && what->at != stage::done && running_ == quiet_ && !ready_.empty() && !inside_host_function) {
        start_random_operation();
        done_.wait_until(lock, next_random_start(), [this] { return running_ == quiet_; });
    }
    const bool done = what->at == stage::done;
    for (operation_observer* const observer : observers_) {
        if (done) {
            observer->host_waited(*what);
        }
    }
    return done;
}

std::optional<executor::clock::time_point> executor::finished(const operation_pointer& what) {
    const guard lock(mutex_);
    return what->at == stage::done ? std::optional(what->finished) : std::nullopt;
}

} // namespace softgpu::runtime
