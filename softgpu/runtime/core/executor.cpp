// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/executor.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

#include "softgpu/runtime/calls/call.hpp"

namespace softgpu::runtime {
namespace {

using stage = operation::stage;

constexpr unsigned most_threads = 512;
constexpr unsigned farthest_help = 32; // operations looked at before a waiting thread just sleeps

thread_local bool inside_host_function = false;
thread_local const operation* carried_out = nullptr;

} // namespace

bool in_host_function() noexcept { return inside_host_function; }

const operation* current_operation() noexcept { return carried_out; }

executor& executor::instance() {
    static executor& only = *new executor;
    return only;
}

executor::executor() : parallel_(std::max(1u, std::thread::hardware_concurrency())) {
    // A child has none of its parent's threads: what was under way there is over for it.
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
        o->watchers = 0;
    }
    unfinished_.clear();
    ready_.clear();
    granted_.clear();
    threads_ = idle_ = running_ = waiting_ = 0;
}

void executor::choose_schedule(std::optional<std::uint64_t> seed) {
    const guard lock(mutex_);
    adversarial_ = seed.has_value();
    random_.seed(seed.value_or(0));
}

void executor::add_watcher(order_watcher& watcher) {
    const guard lock(mutex_);
    watchers_.push_back(&watcher);
}

void executor::remove_watcher(order_watcher& watcher) {
    const guard lock(mutex_);
    std::erase(watchers_, &watcher);
}

bool executor::is_adversarial() {
    const guard lock(mutex_);
    return adversarial_;
}

void executor::issue(const operation_pointer& what, std::span<const operation_pointer> before, bool caller_waits) {
    const guard lock(mutex_);
    what->id = ++last_id_;
    what->at = stage::waiting;
    for (const operation_pointer& b : before) {
        if (b != nullptr && b->at != stage::done) {
            b->after.push_back(what);
            what->before.push_back(b);
            ++what->left;
        }
    }
    for (order_watcher* const watcher : watchers_) {
        watcher->issued(*what, before);
    }
    what->place = unfinished_.insert(unfinished_.end(), what);
    if (what->left == 0) {
        make_ready(what);
        if (!caller_waits || what->kind == operation_kind::host) {
            pass_on();
        }
    }
}

void executor::make_ready(const operation_pointer& what) {
    if (what->kind == operation_kind::mark) {
        complete(what);
        return;
    }
    what->at = stage::ready;
    what->ready_since = clock::now();
    // The list is short: one operation a stream at most.
    const auto at = std::upper_bound(ready_.begin(), ready_.end(), what, [](const auto& a, const auto& b) {
        return a->priority < b->priority;
    });
    ready_.insert(at, what);
}

// Without recursion from mark to mark: a stream may be full of them.
void executor::complete(const operation_pointer& what) {
    const auto now = clock::now();
    bool watched = false;
    std::vector<operation_pointer> over{what};
    while (!over.empty()) {
        const operation_pointer o = std::move(over.back());
        over.pop_back();
        o->at = stage::done;
        for (order_watcher* const watcher : watchers_) {
            watcher->finished(*o);
        }
        o->finished = now;
        o->run = nullptr;
        o->before.clear();
        watched = watched || o->watchers != 0;
        unfinished_.erase(o->place);
        for (const operation_pointer& next : o->after) {
            if (--next->left == 0) {
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
    if (watched || adversarial_) { // there, any thread that waits may have to choose what goes on
        done_.notify_all();
    }
}

// Whoever leaves something ready behind sees to it that a thread is there to take it.
void executor::pass_on() {
    if (ready_.empty()) {
        return;
    }
    call_a_thread();
}

void executor::call_a_thread() {
    if (idle_ != 0) {
        wake_.notify_one();
    } else if (threads_ < most_threads) {
        try {
            // Detached: they end with the process, whatever order it takes its libraries down in.
            std::thread([this] { serve(); }).detach();
            ++threads_;
        } catch (const std::system_error&) {
            // The host gives no more: those that there are go on, and who waits runs it.
        }
    }
}

void executor::begin(const operation_pointer& what) {
    what->at = stage::running;
    ++running_;
    moved_ = clock::now();
}

// The adversarial schedule: a thread of the runtime runs it, as it may wait for what the caller does next.
void executor::grant_one() {
    const auto at = ready_.begin() + static_cast<std::ptrdiff_t>(random_() % ready_.size());
    begin(*at);
    granted_.push_back(*at);
    ready_.erase(at);
    call_a_thread();
}

bool executor::may_grant() const { return !ready_.empty() && (running_ == 0 || clock::now() >= due_to_grant()); }

// Time that an operation waits for its thread does not count: a busy host must not change the order.
executor::clock::time_point executor::due_to_grant() const {
    return (granted_.empty() ? moved_ : clock::now()) + adversarial_patience;
}

void executor::run(guard& lock, const operation_pointer& what) {
    moved_ = clock::now();
    const std::function<void()> work = std::move(what->run);
    if (what->kind == operation_kind::host) {
        for (order_watcher* const watcher : watchers_) {
            watcher->host_waited(*what);
        }
    }
    lock.unlock();
    const bool outside = !inside_host_function;
    inside_host_function = inside_host_function || what->kind == operation_kind::host;
    const operation* const outer = std::exchange(carried_out, what.get());
    work();
    carried_out = outer;
    inside_host_function = !outside;
    lock.lock();
    --running_;
    complete(what);
}

operation_pointer executor::take() {
    const operation_pointer first = ready_.front();
    ready_.erase(ready_.begin());
    return first;
}

// Something that is ready and that the target waits for, directly or not; no host function, which belongs to a thread of
// the runtime.
operation_pointer executor::take_before(const operation_pointer& target) {
    std::vector<operation*> seen{target.get()};
    for (std::size_t k = 0; k < seen.size() && k < farthest_help; ++k) {
        operation* const o = seen[k];
        if (o->at == stage::ready && o->kind == operation_kind::device) {
            const auto at = std::ranges::find_if(ready_, [o](const auto& r) { return r.get() == o; });
            operation_pointer found = *at;
            ready_.erase(at);
            return found;
        }
        for (const operation_pointer& b : o->before) {
            if (b->at != stage::done) {
                seen.push_back(b.get());
            }
        }
    }
    return nullptr;
}

void executor::serve() {
    guard lock(mutex_);
    for (;;) {
        if (!granted_.empty()) {
            const operation_pointer next = granted_.front();
            granted_.pop_front();
            run(lock, next);
            continue;
        }
        if (ready_.empty()) {
            ++idle_;
            wake_.wait(lock);
            --idle_;
            continue;
        }
        const auto now = clock::now();
        const auto since = ready_.front()->ready_since;
        const auto due = adversarial_             ? std::max(due_to_grant(), since + adversarial_patience)
                         : running_ >= parallel_ ? since + patience
                                                 : now;
        if (now < due) {
            ++idle_;
            wake_.wait_until(lock, due);
            --idle_;
        } else if (adversarial_) {
            grant_one();
        } else {
            const operation_pointer next = take();
            begin(next);
            pass_on();
            run(lock, next);
        }
    }
}

bool executor::may_more_come() {
    const guard lock(mutex_);
    return waiting_ == 0 || running_ > 1 || !ready_.empty() || !granted_.empty();
}

void executor::wait(guard& lock, const operation_pointer& what) {
    ++waiting_;
    while (what->at != stage::done) {
        if (adversarial_ && may_grant()) {
            grant_one();
        }
        if (const operation_pointer next = adversarial_ ? nullptr : take_before(what); next != nullptr) {
            begin(next);
            run(lock, next);
            continue;
        }
        pass_on();
        ++what->watchers;
        if (adversarial_) {
            done_.wait_until(lock, due_to_grant());
        } else {
            done_.wait(lock);
        }
        --what->watchers;
    }
    --waiting_;
    pass_on();
    for (order_watcher* const watcher : watchers_) {
        watcher->host_waited(*what);
    }
}

void executor::wait(const operation_pointer& what) {
    require(!inside_host_function, error::not_permitted);
    if (what != nullptr) {
        guard lock(mutex_);
        wait(lock, what);
    }
}

void executor::wait_for_all() {
    require(!inside_host_function, error::not_permitted);
    guard lock(mutex_);
    const std::uint64_t newest = last_id_;
    for (;;) {
        // The newest first: most others are over with it.
        const auto last = std::find_if(unfinished_.rbegin(), unfinished_.rend(),
                                       [newest](const auto& o) { return o->id <= newest; });
        if (last == unfinished_.rend()) {
            break;
        }
        wait(lock, operation_pointer(*last));
    }
    for (order_watcher* const watcher : watchers_) {
        watcher->host_waited_for_all();
    }
}

bool executor::wait_for_all(std::chrono::milliseconds at_most) noexcept {
    const auto end = clock::now() + at_most;
    guard lock(mutex_);
    while (!unfinished_.empty() && clock::now() < end) {
        if (adversarial_ && may_grant()) {
            grant_one();
        }
        pass_on();
        const operation_pointer last = unfinished_.back();
        ++last->watchers;
        done_.wait_until(lock, adversarial_ ? std::min(end, due_to_grant()) : end);
        --last->watchers;
    }
    return unfinished_.empty();
}

bool executor::is_done(const operation_pointer& what) {
    if (what == nullptr) {
        return true;
    }
    guard lock(mutex_);
    if (adversarial_ && what->at != stage::done && running_ == 0 && !ready_.empty() && !inside_host_function) {
        grant_one();
        done_.wait_until(lock, due_to_grant(), [this] { return running_ == 0; });
    }
    const bool done = what->at == stage::done;
    for (order_watcher* const watcher : watchers_) {
        if (done) {
            watcher->host_waited(*what);
        }
    }
    return done;
}

std::optional<executor::clock::time_point> executor::finished(const operation_pointer& what) {
    const guard lock(mutex_);
    return what->at == stage::done ? std::optional(what->finished) : std::nullopt;
}

} // namespace softgpu::runtime
