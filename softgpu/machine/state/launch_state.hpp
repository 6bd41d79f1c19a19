// SPDX-License-Identifier: MIT
// A launch while it runs: what its workers share. The handlers are compiled once per instruction set of the host and all of
// them share this, so everything here is plain data.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/state/worker.hpp"
#include "softgpu/memory/device_memory.hpp"

namespace softgpu::check {
class launch_checks;
}

namespace softgpu::machine {

inline constexpr int turn_budget = 20000; // backward branches until others get their turn

struct launch_state {
    const launch_request* request = nullptr;
    memory::device_memory* memory = nullptr;
    std::uint32_t shared_bytes = 0; // static and dynamic
    std::uint32_t local_bytes = 0;  // per thread
    std::uint32_t parameter_bytes = 0;
    memory::address constant_base = 0; // of the parameters, where their address is taken
    memory::address grid_workspace = 0;
    std::atomic<std::uint64_t> next_cluster{0};
    std::uint64_t blocks = 0;
    std::uint32_t cluster_blocks = 1;
    std::uint64_t clusters = 0;
    std::atomic<bool> stop{false};
    int turn = turn_budget;                // backward branches until others get their turn
    std::atomic<unsigned> restless{0};     // workers that do not only wait; see run/schedule/deadlock.hpp
    std::atomic<std::uint64_t> changes{0}; // how often one of them came to do something again
    std::mutex fault_mutex;
    fault first_fault;
    std::string kernel_name;
    kernel* of = nullptr;
    module::implementation* home = nullptr;                     // of its module
    const program_code* code = nullptr;                         // of the kernel
    std::vector<std::pair<std::uint64_t, std::string>> printed; // what blocks have printed, with their numbers
    check::launch_checks* checks = nullptr;                     // where the launch is checked
    const check::shadow_view* shadow = nullptr;
    bool check_races = false;
    bool check_init = false;
};

} // namespace softgpu::machine
