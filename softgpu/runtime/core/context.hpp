// SPDX-License-Identifier: MIT
// The device as the program uses it: its memory, its streams and events, the order of work, and the sticky error that a
// failed kernel leaves. A process has one context per device (core/device_group.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "softgpu/check/session.hpp"
#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/core/device_part.hpp"
#include "softgpu/runtime/core/handle_set.hpp"
#include "softgpu/runtime/core/settings.hpp"
#include "softgpu/runtime/core/streams/event.hpp"
#include "softgpu/runtime/core/streams/stream_table.hpp"

namespace softgpu::runtime {

using locked = std::unique_lock<std::mutex>;

class context;
class device_group;

// What the accounts and the program's code do in the life of a context.
struct context_hooks {
    // Creates the checks of memories in these addresses; nullptr: none are on.
    std::function<std::unique_ptr<check::session>(const settings&, const memory::address_space&)> begin_checks;
    // A call has synchronised: launch records and printed text go to the program. Called without the context's lock.
    std::function<void(const settings&)> deliver;
    // cudaDeviceReset, after all work is finished: before the device's memory goes, and when there is a new one.
    std::function<void(context&)> before_reset;
    std::function<void(context&)> after_reset;
};

// What all devices of a process have in common.
struct device_commons {
    std::mutex mutex; // one lock for all, so that a call can use several devices
    std::uint64_t last_id = per_thread_stream_id;
    std::unique_ptr<memory::address_space> addresses; // of the devices' memories by number, then of `managed`
    // Of managed variables, which no reset discards. nullptr if there is one device: they are in its memory then.
    std::unique_ptr<memory::device_memory> managed;
    std::unique_ptr<check::session> checks; // nullptr: none
};

// Everything that cudaDeviceReset discards.
struct device_state {
    device_state(const settings& options, device_commons& commons, int number);
    ~device_state();
    device_state(const device_state&) = delete;
    device_state& operator=(const device_state&) = delete;

    device_commons& commons;
    memory::device_memory memory;
    stream_table streams;
    handle_set<event> events;
    std::map<limit, std::uint64_t> limits; // that cudaDeviceSetLimit has set
    cache_preference cache = cache_preference::none;
    unsigned flags = 8; // cudaDeviceMapHost, always on
    device_parts parts{memory};
};

class context {
public:
    // The device of this number in a group, which outlives it.
    context(settings s, context_hooks hooks, device_group& group, device_commons& commons, int number);

    [[nodiscard]] int number() const noexcept { return number_; }
    [[nodiscard]] device_group& group() noexcept { return group_; }
    // Whether it is the only device of the process.
    [[nodiscard]] bool is_alone() const noexcept { return alone_; }
    [[nodiscard]] std::mutex& mutex() noexcept { return commons_.mutex; }
    [[nodiscard]] const settings& options() const noexcept { return settings_; }
    // Whether the program has called the runtime: the driver's current context is then the primary context.
    [[nodiscard]] bool is_used_by_runtime() const noexcept { return used_by_runtime_.load(std::memory_order_relaxed); }
    void use_by_runtime() noexcept {
        if (!is_used_by_runtime()) {
            used_by_runtime_.store(true, std::memory_order_relaxed);
        }
    }
    [[nodiscard]] const card& device() const noexcept { return *settings_.device; }
    [[nodiscard]] device_state& state() noexcept { return *state_; }
    [[nodiscard]] memory::device_memory& memory() noexcept { return state_->memory; }
    [[nodiscard]] const memory::device_memory& memory() const noexcept { return state_->memory; }
    [[nodiscard]] stream_table& streams() noexcept { return state_->streams; }
    // A subsystem's objects of this device memory.
    template <class Part>
    [[nodiscard]] Part& part() {
        return state_->parts.get<Part>();
    }

    // The sticky error: a failed kernel sets it, a synchronising call reports it, and from then on every call that uses the
    // device fails with it, until reset(). Only the first one is kept.
    void set_sticky_error(error e) noexcept;
    [[nodiscard]] error sticky_error() const noexcept { return sticky_error_.load(); }
    [[nodiscard]] bool has_failed() const noexcept { return sticky_error() != error::success; }
    // Throws the sticky error if it has been reported.
    void require_usable() const;

    // Ends every synchronising call, after its wait: delivers records and printed text, then reports, that is throws, the
    // sticky error. Unlocks meanwhile.
    void finish_synchronization(locked& lock);
    // How often the host has waited for the device.
    [[nodiscard]] std::uint64_t synchronizations() const noexcept { return synchronizations_; }
    // Waits for all work of this device issued so far, then finish_synchronization().
    void synchronize(locked& lock);
    // The same for the work of all devices.
    void synchronize_all(locked& lock);
    // Waits for one operation (nullptr: none), then finish_synchronization().
    void wait(locked& lock, const operation_pointer& what);
    // Queries an operation (nullptr: done). If it is finished, or a kernel has failed, finish_synchronization(). Throws
    // not_ready if it is not finished.
    void require_done(locked& lock, const operation_pointer& what);
    // Waits until nothing runs on any device and no other thread can issue work; the lock keeps it so.
    void wait_until_idle(locked& lock);

    // Puts an operation at a stream's end; it also comes after `also`. Device work is skipped once a kernel has failed; host
    // functions test that themselves. `work` must not throw. Throws if the stream is capturing (core/streams/capture_rules.hpp).
    operation_pointer issue(stream& on, operation_kind kind, std::function<void()> work,
                            const operation_pointer& also = nullptr, bool caller_waits = false);
    // The same after these operations, independent of streams. `stream` is its id for reports, `within` as in `operation`.
    operation_pointer issue_after(std::span<const operation_pointer> before, operation_kind kind,
                                  std::function<void()> work, int priority, std::uint64_t stream,
                                  bool caller_waits = false, const operation_pointer& within = nullptr);
    operation_pointer mark(stream& on, const operation_pointer& also = nullptr) {
        return issue(on, operation_kind::mark, nullptr, also);
    }
    // For an event with a shared state: the record begins, and what is returned ends it.
    [[nodiscard]] std::function<void()> begin_record(event& e);
    // The operation of an event's last record, of whatever process: nullptr, if it is finished or there was none.
    [[nodiscard]] const operation_pointer& record_of(event& e);
    // An operation that is finished when all work of a stream is; for the legacy default stream also the work of the streams
    // that it waits for. nullptr: there was no work.
    [[nodiscard]] operation_pointer tail(stream& on);

    // Applies another schedule, while idle.
    void change_settings(settings s);
    // cudaDeviceReset: waits for all work, of all devices, and starts with empty memory. Registered kernels and variables stay.
    void reset(locked& lock);

    // Look handles up; throw invalid_resource_handle for unknown ones.
    stream& checked(stream* s) { return streams().find(s); }
    event& checked(event* e) const;
    // A number that no stream, capture or other object of any device has.
    [[nodiscard]] std::uint64_t next_id() noexcept { return ++commons_.last_id; }

private:
    settings settings_;
    context_hooks hooks_;
    device_group& group_;
    device_commons& commons_;
    int number_;
    std::uint64_t synchronizations_ = 0;
    bool alone_;
    std::unique_ptr<device_state> state_;
    std::atomic<error> sticky_error_{error::success};
    std::atomic<bool> reported_{false}; // the sticky error
    std::atomic<bool> used_by_runtime_{false};
};

} // namespace softgpu::runtime
