// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/host_thread.hpp"

#include <mutex>
#include <unordered_set>

namespace softgpu::runtime::host_thread {
namespace {

struct all_threads {
    std::mutex mutex;
    std::unordered_set<std::uint64_t> running;
    std::uint64_t next = 0;
};

// Never destroyed: threads end after static destructors too.
all_threads& all() {
    static all_threads& only = *new all_threads;
    return only;
}

constexpr std::uint64_t none = ~std::uint64_t{0};
thread_local std::uint64_t own = none; // also for calls of destructors that run after the one below

struct presence {
    presence() {
        const std::lock_guard lock(all().mutex);
        own = all().next++;
        all().running.insert(own);
    }
    ~presence() {
        const std::lock_guard lock(all().mutex);
        all().running.erase(own);
    }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
};

} // namespace

std::uint64_t number() {
    if (own == none) {
        thread_local const presence here;
    }
    return own;
}

bool has_ended(std::uint64_t number) {
    const std::lock_guard lock(all().mutex);
    return !all().running.contains(number);
}

} // namespace softgpu::runtime::host_thread
