// SPDX-License-Identifier: MIT
// The one context of a process: its card, its memory, its streams and pools, and the error that a kernel has left.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "softgpu/check/session.hpp"
#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/memory/arrays.hpp"
#include "softgpu/runtime/cards/cards.hpp"
#include "softgpu/runtime/core/event.hpp"
#include "softgpu/runtime/graph/graph.hpp"
#include "softgpu/runtime/memory/host_memory.hpp"
#include "softgpu/runtime/memory/managed.hpp"
#include "softgpu/runtime/memory/pools.hpp"
#include "softgpu/runtime/core/stream.hpp"
#include "softgpu/runtime/texture/texture_object.hpp"

namespace softgpu::runtime {

using locked = std::unique_lock<std::mutex>;

// What the environment asks for.
struct settings {
    const card* device = nullptr; // SOFTGPU_DEVICE, else H100
    unsigned workers = 0;         // SOFTGPU_WORKERS; 0: all of the host's
    bool count = true;            // SOFTGPU_COUNT is not 0
    std::optional<std::uint64_t> seed; // SOFTGPU_SEED (else 0) where SOFTGPU_SCHEDULE is adversarial
    std::uint64_t seed_from = 0;  // the launch from which on the seed counts
    // SOFTGPU_DEADLOCK_SECONDS: how long all threads of a kernel may only wait; 0: for ever.
    double deadlock_seconds = 3;
    std::string counters_path;    // SOFTGPU_COUNTERS; empty: none
    std::string profile_path;     // SOFTGPU_PROFILE; empty: none
    std::string timeline_path;    // SOFTGPU_TIMELINE; empty: none
    check::check_set checks = 0;  // SOFTGPU_CHECK
    std::string check_json_path;  // SOFTGPU_CHECK_JSON; empty: none
};

// Everything that cudaDeviceReset throws away.
struct device_state {
    explicit device_state(const settings& options);

    memory::device_memory memory;
    std::unique_ptr<check::session> checks; // nullptr: none
    host_allocations pinned{memory};
    managed_ranges managed;
    stream legacy{.id = legacy_stream_id};
    std::unordered_map<std::thread::id, stream> of_threads; // each thread's default stream
    std::unordered_set<std::unique_ptr<stream>, by_address, by_address> streams;
    std::vector<operation_pointer> of_destroyed; // what blocking streams that are gone still do
    std::unordered_set<std::unique_ptr<event>, by_address, by_address> events;
    memory_pools pools{memory};
    array_state arrays;
    texture_state textures;
    std::unordered_set<memory::address> freeing; // once their streams get there
    graph_state graphs;
    std::map<limit, std::uint64_t> limits;
    cache_preference cache = cache_preference::none;
    unsigned flags = 8; // cudaDeviceMapHost, always on
};

class context {
public:
    // Made by the first call that needs it and never destroyed: static constructors and destructors of the program may
    // call the runtime. Throws failure where the environment asks for what there is not.
    static context& current();
    // nullptr before the first call of current().
    static context* existing() noexcept;

    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
    [[nodiscard]] const settings& options() const noexcept { return settings_; }
    [[nodiscard]] const card& device() const noexcept { return *settings_.device; }
    [[nodiscard]] device_state& state() noexcept { return *state_; }
    [[nodiscard]] memory::device_memory& memory() noexcept { return state_->memory; }

    // Throws the error that a kernel has left, once a synchronising call has brought it to light.
    void must_be_alive() const;
    // What every call does that synchronises, once what it waited for is over: hands the records of launches on, and brings
    // to light, and throws, the error that a kernel may have left. Unlocks meanwhile.
    void bring_to_light(locked& lock);
    // Waits for all work issued so far, then the same.
    void synchronize(locked& lock);
    // Waits for one operation (nullptr: none), then the same.
    void wait(locked& lock, const operation_pointer& what);
    // Notes a kernel's error; the first one stays until reset().
    void poison(error e) noexcept;
    [[nodiscard]] bool poisoned() const noexcept { return fault_.load() != error::success; }
    [[nodiscard]] error fault() const noexcept { return fault_.load(); }

    // What has to be over before the next operation of a stream: its last one and, between the legacy default stream and
    // those that do not avoid it, the other's.
    [[nodiscard]] std::vector<operation_pointer> before(const stream& on);
    // Puts an operation at a stream's end, after `also` as well. The device's work is not done where a kernel has failed before; a host function sees to that
    // by itself. The work must not throw.
    operation_pointer issue(stream& on, operation_kind kind, std::function<void()> work,
                            const operation_pointer& also = nullptr, bool caller_waits = false);
    operation_pointer issue_after(std::span<const operation_pointer> before, operation_kind kind,
                                  std::function<void()> work, int priority, std::uint64_t stream,
                                  bool caller_waits = false);
    operation_pointer mark(stream& on, const operation_pointer& also = nullptr) {
        return issue(on, operation_kind::mark, nullptr, also);
    }
    // What is over when all that a stream was given is over, and for the legacy default stream all that the streams were
    // given that it waits for; nullptr where there was nothing.
    [[nodiscard]] operation_pointer tail(stream& on);
    // A stream is about to go: the legacy default stream still waits for what it was given.
    void retire(const stream& s);

    // Waits until nothing runs and nobody can issue anything; the lock keeps it so.
    void come_to_rest(locked& lock);
    // Another schedule from now on, at rest, and, where begin_checks says so, checks that begin anew: what is allocated
    // counts as written then.
    void change(settings s, bool begin_checks);

    // cudaDeviceReset: as good as new, but the program's kernels and variables stay registered. Waits for all work.
    void reset(locked& lock);

    stream& checked(stream* s);       // throws invalid_resource_handle for what is no stream
    event& checked(event* e) const;   // likewise
    [[nodiscard]] std::uint64_t next_id() noexcept { return ++last_id_; }

private:
    explicit context(settings s);

    settings settings_;
    std::mutex mutex_;
    std::unique_ptr<device_state> state_;
    std::atomic<error> fault_{error::success};
    std::atomic<bool> fault_is_known_{false};
    std::uint64_t last_id_ = per_thread_stream_id;
};

// The settings as the environment has them now. Throws failure.
[[nodiscard]] settings read_settings();

} // namespace softgpu::runtime
