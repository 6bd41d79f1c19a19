// SPDX-License-Identifier: MIT
// The checks of one launch: its serial numbers, its place among other operations, and its findings.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "softgpu/check/findings/finding.hpp"
#include "softgpu/check/order/launch_point.hpp"
#include "softgpu/check/order/order.hpp"
#include "softgpu/check/order/release_graph.hpp"
#include "softgpu/check/session.hpp"

namespace softgpu::machine {
struct changed_tensor_maps; // inspect/async/tensor_map_checks.cpp
}

namespace softgpu::check {

class launch_checks {
public:
    launch_checks(session& owner, std::uint64_t blocks);
    ~launch_checks();
    launch_checks(const launch_checks&) = delete;
    launch_checks& operator=(const launch_checks&) = delete;

    session& owner;
    const std::shared_ptr<release_graph> kept_graph = std::make_shared<release_graph>(); // children refer to it
    release_graph& graph = *kept_graph;
    std::shared_ptr<machine::changed_tensor_maps> changed_maps; // under graph's mutex; made when it is needed

    // The launch is this operation; to be called before its blocks start.
    void join_order(const operation_note& note, std::string name, std::shared_ptr<const stamp_reader> reader);
    // nullptr where nothing is known of the operations' order.
    [[nodiscard]] order* operations() noexcept { return record_ == nullptr ? nullptr : owner.operations(); }
    [[nodiscard]] const operation_record& record() const noexcept { return *record_; }
    [[nodiscard]] const record_pointer& kept_record() const noexcept { return record_; }
    // Whether the access of another launch that left the stamp comes before this one, which that launch or one below it has
    // launched.
    [[nodiscard]] bool was_launched_after(const operation_record& other, stamp s, bool of_write);
    [[nodiscard]] bool is_below(const operation_record& other) const noexcept {
        return record_->note.launched_at != nullptr && record_->note.launched_at->is_below(other);
    }
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

    // Findings that count as one: the same check, kind and instructions of the kernel.
    struct alike {
        check_set check;
        std::string_view kind;
        bool is_note;
        std::uint64_t first; // instruction
        std::uint64_t second;
        unsigned apart; // distinguishes findings of the same two instructions; the reporter chooses the numbers

        auto operator<=>(const alike&) const = default;
    };
    // true: a finding like it exists; its count is increased.
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
