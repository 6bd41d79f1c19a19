// SPDX-License-Identifier: MIT
// One piece of the device's work with what has to be over before it: a launch, a copy, a host function, or a mark that
// does nothing and is over as soon as all before it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

namespace softgpu::check {
struct moment;
}

namespace softgpu::runtime {

struct operation;
using operation_pointer = std::shared_ptr<operation>;

enum class operation_kind : std::uint8_t { mark, device, host };

struct operation {
    operation_kind kind = operation_kind::mark;
    int priority = 0;            // of its stream: smaller goes first
    std::uint64_t stream = 0;    // id, for reports
    std::function<void()> run;   // not of a mark. Must not throw; runs without any lock held.
    std::shared_ptr<const check::moment> when{}; // its place in the order, where somebody watches it
    std::uint64_t watched_by = 0;                // who does: a place in another's order says nothing

    // The executor's own, guarded by its mutex.
    enum class stage : std::uint8_t { fresh, waiting, ready, running, done };
    stage at = stage::fresh;
    std::uint64_t id = 0;        // in the order of issue, from 1
    std::uint32_t left = 0;      // operations that it still waits for
    std::uint32_t watchers = 0;  // threads that wait for it
    std::vector<operation_pointer> before;
    std::vector<operation_pointer> after;
    std::chrono::steady_clock::time_point ready_since;
    std::chrono::steady_clock::time_point finished;
    std::list<operation_pointer>::iterator place;
};

} // namespace softgpu::runtime
