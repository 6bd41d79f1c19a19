// SPDX-License-Identifier: MIT
// Which operation begins next, and on which thread.
#include <algorithm>
#include <system_error>
#include <thread>

#include "softgpu/runtime/core/executor.hpp"

namespace softgpu::runtime {
namespace {

using stage = operation::stage;

constexpr unsigned most_threads = 512;
constexpr unsigned search_limit = 32; // operations that a waiting thread examines for one that it can run

} // namespace

void executor::choose_schedule(std::optional<std::uint64_t> seed) {
    const guard lock(mutex_);
    adversarial_ = seed.has_value();
    random_.seed(seed.value_or(0));
}

void executor::make_ready(const operation_pointer& what) {
    if (what->kind == operation_kind::mark) {
        complete(what);
        return;
    }
    what->at = stage::ready;
    what->ready_since = clock::now();
    // The list is short: at most one operation per stream.
    const auto at = std::upper_bound(ready_.begin(), ready_.end(), what,
                                     [](const auto& a, const auto& b) { return a->priority < b->priority; });
    ready_.insert(at, what);
}

// To be called by a thread that leaves ready operations to others.
void executor::wake_for_ready() {
    if (ready_.empty()) {
        return;
    }
    wake_thread();
}

void executor::wake_thread() {
    if (idle_ != 0) {
        wake_.notify_one();
    } else if (threads_ < most_threads) {
        try {
            // Detached: threads end with the process, independent of the order in which libraries are unloaded.
            std::thread([this] { serve(); }).detach();
            ++threads_;
        } catch (const std::system_error&) {
            // The host's limit of threads: the existing threads and those that wait run the rest.
        }
    }
}

void executor::begin(const operation_pointer& what) {
    what->at = stage::running;
    ++running_;
    moved_ = clock::now();
}

// Adversarial schedule. A thread of the runtime runs the operation, which may wait for what the caller does next.
void executor::start_random_operation() {
    const auto at = ready_.begin() + static_cast<std::ptrdiff_t>(random_() % ready_.size());
    begin(*at);
    drawn_.push_back(*at);
    ready_.erase(at);
    wake_thread();
}

bool executor::may_start_random() const {
    return !ready_.empty() && (running_ == quiet_ || clock::now() >= next_random_start());
}

// Time spent waiting for a thread does not count, so that a busy host does not change the order.
executor::clock::time_point executor::next_random_start() const {
    return (drawn_.empty() ? moved_ : clock::now()) + adversarial_patience;
}

operation_pointer executor::take_first() {
    operation_pointer first = ready_.front();
    ready_.erase(ready_.begin());
    return first;
}

// Takes a ready device operation that the target waits for, directly or indirectly; nullptr: none found. Host functions run
// only on threads of the runtime.
operation_pointer executor::take_dependency_of(const operation_pointer& target) {
    std::vector<operation*> seen{target.get()};
    for (std::size_t k = 0; k < seen.size() && k < search_limit; ++k) {
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
        if (!drawn_.empty()) {
            const operation_pointer next = drawn_.front();
            drawn_.pop_front();
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
        const auto due = adversarial_                     ? std::max(next_random_start(), since + adversarial_patience)
                         : running_ - quiet_ >= parallel_ ? since + patience
                                                          : now;
        if (now < due) {
            ++idle_;
            wake_.wait_until(lock, due);
            --idle_;
        } else if (adversarial_) {
            start_random_operation();
        } else {
            const operation_pointer next = take_first();
            begin(next);
            wake_for_ready();
            run(lock, next);
        }
    }
}

bool executor::others_may_run(bool quiet) {
    const guard lock(mutex_);
    return waiting_ == 0 || running_ - quiet_ > (quiet ? 0u : 1u) || !ready_.empty() || !drawn_.empty();
}

void executor::count_quiet(int more) {
    const guard lock(mutex_);
    quiet_ += static_cast<unsigned>(more);
    wake_for_ready();
    if (adversarial_) {
        done_.notify_all(); // another operation may start
    }
}

} // namespace softgpu::runtime
