// SPDX-License-Identifier: MIT
// How the context comes to be, how it fails, and how it is reset.
#include "softgpu/runtime/core/context.hpp"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/printed.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {
namespace {

std::atomic<context*> the_context{nullptr};
std::atomic<bool> in_forked_child{false}; // of a process that had the context

[[noreturn]] void fail_in_child() {
    static std::atomic<bool> said{false};
    fail(error::initialization_error,
         said.exchange(true) ? ""
                             : "this process was forked from one that had used CUDA already: it has no device; fork before "
                               "the first call");
}

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
}

const card* read_card() {
    const std::string_view asked = environment("SOFTGPU_DEVICE");
    if (asked.empty()) {
        return &all_cards().front();
    }
    const card* found = find_card(asked);
    if (found == nullptr) {
        std::string names;
        for (const card& c : all_cards()) {
            names += names.empty() ? "" : ", ";
            names += c.key;
        }
        fail(error::invalid_device, "SOFTGPU_DEVICE=" + std::string(asked) + " names no card; there are " + names);
    }
    return found;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    return wrong == std::errc{} && end == text.data() + text.size();
}

unsigned read_workers() {
    const std::string_view asked = environment("SOFTGPU_WORKERS");
    unsigned workers = 0;
    if (!asked.empty()) {
        if (!read_number(asked, workers) || workers > 4096) {
            fail(error::initialization_error,
                 "SOFTGPU_WORKERS=" + std::string(asked) + " is no number of threads from 0 (all) to 4096");
        }
    }
    return workers;
}

std::optional<std::uint64_t> read_seed() {
    const std::string_view schedule = environment("SOFTGPU_SCHEDULE");
    if (schedule.empty() || schedule == "fair") {
        return std::nullopt;
    }
    if (schedule != "adversarial") {
        fail(error::initialization_error,
             "SOFTGPU_SCHEDULE=" + std::string(schedule) + " is no schedule; there are fair and adversarial");
    }
    std::uint64_t seed = 0;
    const std::string_view asked = environment("SOFTGPU_SEED");
    if (!asked.empty() && !read_number(asked, seed)) {
        fail(error::initialization_error, "SOFTGPU_SEED=" + std::string(asked) + " is no number");
    }
    return seed;
}

double read_deadlock_seconds(double standard) {
    const std::string asked(environment("SOFTGPU_DEADLOCK_SECONDS"));
    if (asked.empty()) {
        return standard;
    }
    char* end = nullptr;
    const double seconds = std::strtod(asked.c_str(), &end);
    if (*end != '\0' || !(seconds >= 0 && seconds <= 1e9)) {
        fail(error::initialization_error, "SOFTGPU_DEADLOCK_SECONDS=" + asked + " is no number of seconds");
    }
    return seconds;
}

// In the name of a file, %p is the process, %t the nanosecond at which it began to use the runtime, and %% a percent
// sign: every process of several has a file of its own, also those that exec() puts in another's place.
std::string read_path(const char* variable) {
    const std::string_view asked = environment(variable);
    std::string path;
    for (std::size_t k = 0; k < asked.size(); ++k) {
        const char next = asked[k] == '%' && k + 1 < asked.size() ? asked[k + 1] : '\0';
        if (next == 'p') {
            path += std::to_string(::getpid());
        } else if (next == 't') {
            path += std::to_string(std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
        } else if (next != '%') {
            path += asked[k];
            continue;
        } else {
            path += '%';
        }
        ++k;
    }
    return path;
}

check::check_set read_checks() {
    const std::string_view asked = environment("SOFTGPU_CHECK");
    try {
        return asked.empty() ? 0 : check::parse_checks(asked);
    } catch (const std::invalid_argument& e) {
        fail(error::initialization_error, std::string("SOFTGPU_CHECK: ") + e.what());
    }
}

} // namespace

device_state::device_state(const settings& options)
    : memory(options.device->memory_bytes), checks(checking::begin(options, memory)) {}

settings read_settings() {
    settings s;
    s.device = read_card();
    s.workers = read_workers();
    s.seed = read_seed();
    s.deadlock_seconds = read_deadlock_seconds(s.deadlock_seconds);
    s.counters_path = read_path("SOFTGPU_COUNTERS");
    s.profile_path = read_path("SOFTGPU_PROFILE");
    s.timeline_path = read_path("SOFTGPU_TIMELINE");
    s.count = environment("SOFTGPU_COUNT") != "0" || !s.profile_path.empty() || !s.timeline_path.empty();
    s.checks = read_checks();
    s.check_json_path = read_path("SOFTGPU_CHECK_JSON");
    return s;
}

namespace {

// A call after another must not say again what is wrong with the environment.
settings read_settings_once_said() {
    static std::string& said = *new std::string;
    try {
        return read_settings();
    } catch (failure& f) {
        if (f.message == said) {
            f.message.clear();
        } else {
            said = f.message;
        }
        throw;
    }
}

} // namespace

context& context::current() {
    if (context* made = the_context.load(std::memory_order_acquire)) {
        if (in_forked_child.load(std::memory_order_relaxed)) {
            fail_in_child();
        }
        return *made;
    }
    static std::mutex& making = *new std::mutex;
    const std::lock_guard lock(making);
    if (the_context.load(std::memory_order_relaxed) == nullptr) {
        the_context.store(new context(read_settings_once_said()), std::memory_order_release);
        journal::instance().begin(the_context.load()->options());
        pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; });
    }
    return *the_context.load(std::memory_order_relaxed);
}

context* context::existing() noexcept { return the_context.load(std::memory_order_acquire); }

context::context(settings s)
    : settings_(std::move(s)), state_(std::make_unique<device_state>(settings_)) {
    executor::instance().choose_schedule(settings_.seed);
    operation_journals::begin(settings_);
}

void context::must_be_alive() const {
    if (fault_is_known_) {
        fail(fault_);
    }
}

void context::bring_to_light(locked& lock) {
    lock.unlock();
    journal::instance().deliver();
    show_printed();
    lock.lock();
    fault_is_known_ = poisoned();
    must_be_alive();
}

void context::synchronize(locked& lock) {
    lock.unlock();
    executor::instance().wait_for_all();
    lock.lock();
    bring_to_light(lock);
}

void context::wait(locked& lock, const operation_pointer& what) {
    if (what != nullptr) {
        lock.unlock();
        executor::instance().wait(what);
        lock.lock();
    }
    bring_to_light(lock);
}

void context::poison(error e) noexcept {
    error none = error::success;
    fault_.compare_exchange_strong(none, e);
}

std::vector<operation_pointer> context::before(const stream& on) {
    std::vector<operation_pointer> found{on.last};
    if (&on == &state_->legacy) {
        for (const auto& [thread, s] : state_->of_threads) {
            found.push_back(s.last);
        }
        for (const auto& s : state_->streams) {
            if (s->blocking()) {
                found.push_back(s->last);
            }
        }
        found.insert(found.end(), state_->of_destroyed.begin(), state_->of_destroyed.end());
    } else if (on.blocking()) {
        found.push_back(state_->legacy.last);
    }
    return found;
}

operation_pointer context::issue(stream& on, operation_kind kind, std::function<void()> work,
                                 const operation_pointer& also, bool caller_waits) {
    require_not_capturing(*this, on);
    std::vector<operation_pointer> first = before(on);
    first.push_back(also);
    on.last = issue_after(first, kind, std::move(work), on.priority, on.id, caller_waits);
    if (&on == &state_->legacy) {
        state_->of_destroyed.clear(); // before this one now, and so before all that follows it
    }
    return on.last;
}

operation_pointer context::issue_after(std::span<const operation_pointer> before, operation_kind kind,
                                       std::function<void()> work, int priority, std::uint64_t stream,
                                       bool caller_waits) {
    auto made = std::make_shared<operation>();
    made->kind = kind;
    made->priority = priority;
    made->stream = stream;
    if (kind == operation_kind::device) {
        made->run = [this, work = std::move(work)] {
            if (!poisoned()) {
                work();
            }
        };
    } else {
        made->run = std::move(work);
    }
    executor::instance().issue(made, before, caller_waits);
    return made;
}

operation_pointer context::tail(stream& on) {
    require_not_capturing(*this, on);
    return &on == &state_->legacy ? mark(on) : on.last;
}

void context::retire(const stream& s) {
    if (s.blocking() && s.last != nullptr) {
        std::erase_if(state_->of_destroyed,
                      [](const operation_pointer& o) { return executor::instance().finished(o).has_value(); });
        state_->of_destroyed.push_back(s.last);
    }
}

void context::reset(locked& lock) {
    lock.unlock();
    executor::instance().wait_for_all();
    journal::instance().deliver();
    show_printed();
    lock.lock();
    registry::instance().unload();
    checking::memory_ends(poisoned());
    state_.reset();
    state_ = std::make_unique<device_state>(settings_);
    fault_ = error::success;
    fault_is_known_ = false;
    registry::instance().reload_managed(*this);
}

void context::come_to_rest(locked& lock) {
    do {
        lock.unlock();
        executor::instance().wait_for_all();
        journal::instance().deliver();
        show_printed();
        lock.lock();
    } while (!executor::instance().wait_for_all(std::chrono::milliseconds(0)));
}

void context::change(settings s, bool begin_checks) {
    const bool other_schedule = s.seed != settings_.seed || s.seed_from != settings_.seed_from;
    settings_ = std::move(s);
    if (other_schedule) {
        executor::instance().choose_schedule(settings_.seed);
    }
    if (begin_checks) {
        state_->checks.reset(); // first: there is one at a time
        state_->checks = checking::begin(settings_, state_->memory);
    }
    if (begin_checks && state_->checks != nullptr) {
        state_->checks->take_over();
    }
}

stream& context::checked(stream* s) {
    if (is_legacy(s)) {
        return state_->legacy;
    }
    if (is_default(s)) {
        stream& own = state_->of_threads[std::this_thread::get_id()];
        own.id = per_thread_stream_id;
        return own;
    }
    require(state_->streams.find(s) != state_->streams.end(), error::invalid_resource_handle);
    return *s;
}

event& context::checked(event* e) const {
    require(state_->events.find(e) != state_->events.end(), error::invalid_resource_handle);
    return *e;
}

} // namespace softgpu::runtime
