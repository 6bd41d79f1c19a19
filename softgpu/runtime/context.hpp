// SPDX-License-Identifier: MIT
// The one context of a process: its card, its memory, its streams and pools, and the error that a kernel has left.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/cards.hpp"
#include "softgpu/runtime/event.hpp"
#include "softgpu/runtime/host_memory.hpp"
#include "softgpu/runtime/managed.hpp"
#include "softgpu/runtime/pool.hpp"
#include "softgpu/runtime/stream.hpp"

namespace softgpu::runtime {

using locked = std::unique_lock<std::mutex>;

// What the environment asks for.
struct settings {
    const card* device = nullptr; // SOFTGPU_DEVICE, else H100
    unsigned workers = 0;         // SOFTGPU_WORKERS; 0: all of the host's
    bool count = true;            // SOFTGPU_COUNT is not 0
    std::string counters_path;    // SOFTGPU_COUNTERS; empty: none
};

// Everything that cudaDeviceReset throws away.
struct device_state {
    explicit device_state(std::uint64_t memory_bytes) : memory(memory_bytes) {}

    memory::device_memory memory;
    host_allocations pinned{memory};
    managed_ranges managed;
    std::unordered_set<std::unique_ptr<stream>, by_address, by_address> streams;
    std::unordered_set<std::unique_ptr<event>, by_address, by_address> events;
    memory_pools pools{memory};
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
    // Waits for all work, that is: brings to light the error that a kernel may have left, and throws it.
    void synchronize();
    // Notes a kernel's error; the first one stays until reset().
    void poison(error e) noexcept;
    [[nodiscard]] bool poisoned() const noexcept { return fault_.load() != error::success; }
    [[nodiscard]] error fault() const noexcept { return fault_.load(); }

    // Runs one piece of the device's work, in the order of issue and without the context's lock, so that other threads
    // get on meanwhile. A context that a kernel has poisoned runs nothing more.
    template <class Work>
    void submit(locked& lock, Work&& work) {
        lock.unlock();
        {
            const std::lock_guard turn(queue_);
            if (!poisoned()) {
                work();
            }
        }
        lock.lock();
    }

    // cudaDeviceReset: as good as new, but the program's kernels and variables stay registered.
    void reset();

    stream* checked(stream* s) const; // throws invalid_resource_handle for what is no stream
    event& checked(event* e) const;   // likewise
    [[nodiscard]] std::uint64_t next_id() noexcept { return ++last_id_; }

private:
    explicit context(settings s);

    settings settings_;
    std::mutex mutex_;
    std::mutex queue_;
    std::unique_ptr<device_state> state_;
    std::atomic<error> fault_{error::success};
    std::atomic<bool> fault_is_known_{false};
    std::uint64_t last_id_ = 0;
};

// The settings as the environment has them now. Throws failure.
[[nodiscard]] settings read_settings();

} // namespace softgpu::runtime
