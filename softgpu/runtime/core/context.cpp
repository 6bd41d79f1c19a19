// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/context.hpp"

#include <chrono>
#include <utility>

#include "softgpu/memory/peers.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"

namespace softgpu::runtime {

device_state::device_state(const settings& options, device_commons& common, int number)
    : commons(common), memory(options.device->memory_bytes, *common.addresses, static_cast<unsigned>(number)) {
    if (options.devices > 1) {
        memory::peers::join(memory);
    }
    if (commons.checks != nullptr) {
        commons.checks->add(memory, options.devices > 1 ? number : -1);
    }
}

device_state::~device_state() {
    if (commons.checks != nullptr) {
        commons.checks->remove(memory);
    }
    memory::peers::leave(memory);
}

context::context(settings s, context_hooks hooks, device_group& group, device_commons& commons, int number)
    : settings_(std::move(s)),
      hooks_(std::move(hooks)),
      group_(group),
      commons_(commons),
      number_(number),
      alone_(settings_.devices == 1),
      state_(std::make_unique<device_state>(settings_, commons_, number_)) {
    executor::instance().choose_schedule(settings_.seed);
}

void context::set_sticky_error(error e) noexcept {
    error none = error::success;
    sticky_error_.compare_exchange_strong(none, e);
}

void context::require_usable() const {
    if (reported_) {
        fail(sticky_error_);
    }
}

void context::finish_synchronization(locked& lock) {
    ++synchronizations_;
    lock.unlock();
    hooks_.deliver(settings_);
    lock.lock();
    reported_ = has_failed();
    require_usable();
}

void context::synchronize(locked& lock) {
    lock.unlock();
    executor::instance().wait_for_all_of(number_);
    lock.lock();
    finish_synchronization(lock);
}

void context::synchronize_all(locked& lock) {
    lock.unlock();
    executor::instance().wait_for_all();
    lock.lock();
    finish_synchronization(lock);
}

void context::wait(locked& lock, const operation_pointer& what) {
    if (what != nullptr) {
        lock.unlock();
        executor::instance().wait(what);
        lock.lock();
    }
    finish_synchronization(lock);
}

void context::require_done(locked& lock, const operation_pointer& what) {
    lock.unlock();
    const bool done = executor::instance().is_done(what);
    lock.lock();
    if (done || has_failed()) {
        finish_synchronization(lock);
    }
    require(done, error::not_ready);
}

void context::wait_until_idle(locked& lock) {
    do {
        lock.unlock();
        executor::instance().wait_for_all();
        hooks_.deliver(settings_);
        lock.lock();
    } while (!executor::instance().wait_for_all(std::chrono::milliseconds(0)));
}

operation_pointer context::issue(stream& on, operation_kind kind, std::function<void()> work,
                                 const operation_pointer& also, bool caller_waits) {
    require_not_capturing(streams(), on);
    std::vector<operation_pointer> first = streams().before(on);
    first.push_back(also);
    on.last = issue_after(first, kind, std::move(work), on.priority, on.id, caller_waits);
    streams().appended(on);
    return on.last;
}

operation_pointer context::issue_after(std::span<const operation_pointer> before, operation_kind kind,
                                       std::function<void()> work, int priority, std::uint64_t stream,
                                       bool caller_waits, const operation_pointer& within) {
    auto made = std::make_shared<operation>();
    made->kind = kind;
    made->priority = priority;
    made->stream = stream;
    made->device = number_;
    made->within = within;
    if (kind == operation_kind::device) {
        made->run = [this, work = std::move(work)] {
            if (!has_failed()) {
                work();
            }
        };
    } else {
        made->run = std::move(work);
    }
    executor::instance().issue(made, before, caller_waits);
    return made;
}

std::function<void()> context::begin_record(event& e) {
    e.shared_record = e.shared->record();
    return [shared = e.shared, record = e.shared_record] { shared->finish(record); };
}

const operation_pointer& context::record_of(event& e) {
    if (e.shared == nullptr || e.shared_record == e.shared->last_record()) {
        return e.recorded;
    }
    const std::uint64_t record = e.shared->last_record();
    e.recorded = nullptr;
    if (!e.shared->is_finished(record)) {
        e.recorded = issue_after(
            {}, operation_kind::host, [shared = e.shared, record] { shared->wait(record); }, least_priority,
            legacy_stream_id);
        e.shared_record = record;
    }
    return e.recorded;
}

operation_pointer context::tail(stream& on) {
    require_not_capturing(streams(), on);
    return &on == &streams().legacy() ? mark(on) : on.last;
}

void context::change_settings(settings s) {
    const bool other_schedule = s.seed != settings_.seed || s.seed_from != settings_.seed_from;
    settings_ = std::move(s);
    if (other_schedule) {
        executor::instance().choose_schedule(settings_.seed);
    }
}

void context::reset(locked& lock) {
    wait_until_idle(lock);
    hooks_.before_reset(*this);
    state_.reset(); // first, because the new memory takes its addresses
    state_ = std::make_unique<device_state>(settings_, commons_, number_);
    sticky_error_ = error::success;
    reported_ = false;
    hooks_.after_reset(*this);
}

event& context::checked(event* e) const {
    require(state_->events.find(e) != state_->events.end(), error::invalid_resource_handle);
    return *e;
}

} // namespace softgpu::runtime
