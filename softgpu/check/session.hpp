// SPDX-License-Identifier: MIT
// The checks of one device memory: which are on, what is known of the memory, and where findings go.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "softgpu/check/finding.hpp"
#include "softgpu/check/global_shadow.hpp"
#include "softgpu/check/order.hpp"
#include "softgpu/check/release_graph.hpp"
#include "softgpu/memory/device_memory.hpp"

namespace softgpu::check {

class session : public memory::watcher {
public:
    // Watches the memory until it ends; both outlive the session. Throws std::system_error.
    session(check_set checks, findings& sink, memory::device_memory& memory);
    virtual ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    [[nodiscard]] check_set checks() const noexcept { return checks_; }
    [[nodiscard]] bool has(check_set which) const noexcept { return (checks_ & which) != 0; }
    [[nodiscard]] findings& sink() noexcept { return sink_; }
    [[nodiscard]] memory::device_memory& memory() noexcept { return memory_; }
    [[nodiscard]] global_shadow& shadow() noexcept { return shadow_; }
    // nullptr where races are not looked for.
    [[nodiscard]] order* operations() noexcept { return order_ ? &*order_ : nullptr; }

    // The host, or a copy, has written these bytes.
    void written(std::uint64_t at, std::uint64_t bytes) noexcept { shadow_.set_valid(at, bytes, true); }
    void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) noexcept {
        shadow_.copy_valid(to, from, bytes);
    }

    // A mistake of the host: what a call was asked for and cannot do.
    void host_finding(std::string kind, std::string message, std::uint64_t at);
    // All that is allocated was so before the checks began: somebody may have written it.
    void take_over();
    // Says what is left, of the allocations after this one, for the end of the program or of a part of it. `idle`: places
    // that graphs keep for memory which they have freed.
    void find_leaks(std::uint64_t after = 0, const std::set<memory::address>& idle = {});

    // "384 bytes at 0x... (allocation 3)", or the variable's name; what is near where there is none.
    [[nodiscard]] std::string describe(std::uint64_t at) const;

    // `count` numbers in a row for the blocks of a launch; 0: there are none, races in global memory stay unseen.
    [[nodiscard]] std::uint64_t take_serials(std::uint64_t count, bool of_launch);
    void end_launch() noexcept { --launches_; }

    void allocated(const memory::allocation& a) override;
    void released(const memory::allocation& a) override;

private:
    check_set checks_;
    findings& sink_;
    memory::device_memory& memory_;
    global_shadow shadow_;
    std::optional<order> order_;
    std::mutex mutex_;
    std::uint64_t next_serial_ = 1;
    std::atomic<int> launches_{0};
};

// One launch.
class launch_checks {
public:
    launch_checks(session& owner, std::uint64_t blocks);
    ~launch_checks();
    launch_checks(const launch_checks&) = delete;
    launch_checks& operator=(const launch_checks&) = delete;

    session& owner;
    release_graph graph;

    // The launch is this operation; to be called before its blocks start.
    void join_order(const operation_note& note, std::string name, std::shared_ptr<const stamp_reader> reader);
    // nullptr where nothing is known of the operations' order.
    [[nodiscard]] order* operations() noexcept { return record_ == nullptr ? nullptr : owner.operations(); }
    [[nodiscard]] const operation_record& record() const noexcept { return *record_; }
    // It touches this allocation.
    void touch(std::uint64_t allocation);

    [[nodiscard]] std::uint64_t first_serial() const noexcept { return first_; }
    [[nodiscard]] std::uint64_t last_serial() const noexcept { return first_ + held_ - 1; }
    // Stamps with serials below it are in order.
    [[nodiscard]] std::uint64_t floor_serial() const noexcept { return floor_; }
    [[nodiscard]] bool stamps_global() const noexcept { return first_ != 0; }
    // Of the block with this number in the launch.
    [[nodiscard]] std::uint64_t serial_of(std::uint64_t block) const noexcept;
    // Another one for it; 0: there is none.
    [[nodiscard]] std::uint64_t further_serial(std::uint64_t block);
    // The block that a serial belongs to; ~0: none of this launch.
    [[nodiscard]] std::uint64_t block_of(std::uint64_t serial);

    // Findings that are alike: which check and kind, and which instructions of the kernel.
    struct alike {
        check_set check;
        std::string_view kind;
        bool is_note;
        std::uint64_t first; // instruction
        std::uint64_t second;
        unsigned apart; // tells those of the same two instructions from each other: numbers of the reporter's own

        auto operator<=>(const alike&) const = default;
    };
    // true: there is one like it already, which is counted once more.
    [[nodiscard]] bool count_again(const alike& which);
    [[nodiscard]] std::uint64_t times(const alike& which);
    void add(const alike& which, finding f);
    [[nodiscard]] bool has_found(std::string_view kind);
    // Hands all findings on, for the end of the launch.
    void hand_on();

private:
    std::uint64_t blocks_;
    std::uint64_t first_ = 0;
    std::uint64_t held_ = 0;
    std::uint64_t floor_ = 0;
    record_pointer record_;
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::uint64_t> further_;
    std::map<alike, finding> found_;
};

} // namespace softgpu::check
