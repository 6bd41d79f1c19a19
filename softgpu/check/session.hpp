// SPDX-License-Identifier: MIT
// The checks of a process: which are on, the memories of its devices and their shadow, and where findings go.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "softgpu/check/findings/finding.hpp"
#include "softgpu/check/findings/memories.hpp"
#include "softgpu/check/order/order.hpp"
#include "softgpu/check/shadow/global_shadow.hpp"
#include "softgpu/check/shadow/serial_numbers.hpp"
#include "softgpu/memory/device_memory.hpp"

namespace softgpu::check {

class session : public memory::watcher {
public:
    // Of memories in these addresses; the sink outlives it. Throws std::system_error.
    session(check_set checks, findings& sink, std::uint64_t base, std::uint64_t bytes);
    // Of one memory, which outlives it.
    session(check_set checks, findings& sink, memory::device_memory& only);
    virtual ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    [[nodiscard]] check_set checks() const noexcept { return checks_; }
    [[nodiscard]] bool has(check_set which) const noexcept { return (checks_ & which) != 0; }
    [[nodiscard]] findings& sink() noexcept { return sink_; }
    [[nodiscard]] const memories& all_memories() const noexcept { return memories_; }
    [[nodiscard]] global_shadow& shadow() noexcept { return shadow_; }
    // nullptr where races are not looked for.
    [[nodiscard]] order* operations() noexcept { return order_ ? &*order_ : nullptr; }

    // Watches a memory, or ends that, while nothing runs. `device`: its number where there are several.
    void add(memory::device_memory& one, int device = -1);
    void remove(memory::device_memory& one);

    // The host, or a copy, has written these bytes.
    void written(std::uint64_t at, std::uint64_t bytes) noexcept { shadow_.set_valid(at, bytes, true); }
    void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) noexcept {
        shadow_.copy_valid(to, from, bytes);
    }

    // An error of the host: a call whose arguments are invalid.
    void host_finding(std::string kind, std::string message, std::uint64_t at);
    // An operation waits for a value of memory that nothing writes.
    void report_deadlock(std::string message, std::uint64_t at);
    // The allocations of now are older than the checks: they count as written.
    void take_over();
    // Reports the allocations of a memory after this one that still exist, at the end of the program or of a part of it.
    // `idle`: addresses that graphs keep for memory which they have freed.
    void find_leaks(const memory::device_memory& of, std::uint64_t after = 0,
                    const std::set<memory::address>& idle = {});

    // A launch begins: serial numbers in a row for its blocks. 0: there are none, and races in global memory are not found.
    [[nodiscard]] std::uint64_t begin_launch(std::uint64_t blocks);
    void end_launch() noexcept;
    [[nodiscard]] serial_numbers& serials() noexcept { return serials_; }

    void allocated(const memory::allocation& a) override;
    void released(const memory::allocation& a) override;

private:
    void add_finding(check_set of, std::string kind, std::string message, std::uint64_t at);
    void add_leak(std::string message, std::uint64_t at);

    check_set checks_;
    findings& sink_;
    memories memories_;
    global_shadow shadow_;
    serial_numbers serials_;
    std::optional<order> order_;
};

} // namespace softgpu::check
