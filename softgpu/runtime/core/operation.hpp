// SPDX-License-Identifier: MIT
// An operation: a launch, a copy, a fill, a host function, or a mark, which does nothing and is finished as soon as all
// operations before it are.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace softgpu::check {
struct launch_point;
struct moment;
} // namespace softgpu::check

namespace softgpu::runtime {

struct operation;
using operation_pointer = std::shared_ptr<operation>;

enum class operation_kind : std::uint8_t { mark, device, host };

struct operation : std::enable_shared_from_this<operation> {
    operation_kind kind = operation_kind::mark;
    int priority = 0;                              // of its stream: smaller runs first
    std::uint64_t stream = 0;                      // id, for reports
    int device = 0;                                // number
    std::function<void()> run;                     // not for a mark. Must not throw; runs without any lock held.
    std::shared_ptr<const check::moment> moment{}; // its place in the order that the checks observe
    std::uint64_t observed_by = 0;                 // which observation of the order `moment` belongs to; 0: none

    // Of work within another operation, which is over only when this is: a kernel's children, a conditional node's body.
    operation_pointer within{};  // nullptr: it is within none
    bool is_last_within = false; // a tail launch
    std::string launched_by{};   // the kernel that launched it, demangled
    std::shared_ptr<const check::launch_point> launched_at{};

    // The rest belongs to the executor and is guarded by its mutex.
    enum class stage : std::uint8_t { fresh, waiting, ready, running, done };
    stage at = stage::fresh;
    std::uint64_t id = 0;              // in the order of issue, from 1
    std::uint32_t pending = 0;         // operations that it still waits for
    std::uint32_t waiting_threads = 0; // threads that wait for it
    std::vector<operation_pointer> before;
    std::vector<operation_pointer> after;
    std::chrono::steady_clock::time_point ready_since;
    std::chrono::steady_clock::time_point finished;
    std::list<operation_pointer>::iterator place;
};

} // namespace softgpu::runtime
