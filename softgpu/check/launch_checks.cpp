// SPDX-License-Identifier: MIT
#include "softgpu/check/launch_checks.hpp"

#include <algorithm>

#include "softgpu/check/shadow/stamp.hpp"

namespace softgpu::check {

launch_checks::launch_checks(session& session, std::uint64_t blocks) : owner(session), blocks_(blocks) {
    first_ = session.begin_launch(blocks);
    held_ = std::min(blocks, most_serials / 2);
    floor_ = first_;
}

void launch_checks::join_order(const operation_note& note, std::string name,
                               std::shared_ptr<const stamp_reader> reader) {
    if (note.when == nullptr || owner.operations() == nullptr) {
        return;
    }
    record_ = std::make_shared<operation_record>();
    record_->note = note;
    record_->name = std::move(name);
    record_->first_serial = first_;
    record_->serials = first_ == 0 ? 0 : held_;
    record_->reader = std::move(reader);
    floor_ = owner.operations()->begin_kernel(record_);
}

bool launch_checks::was_launched_after(const operation_record& other, stamp s, bool of_write) {
    if (!is_below(other)) {
        return false;
    }
    const std::uint64_t block = owner.operations()->block_of(other, time_of(s) >> serial_time_bits);
    return record_->note.launched_at->follows(other, block, s, of_write);
}

void launch_checks::touch(std::uint64_t allocation) {
    const std::lock_guard lock(mutex_);
    record_->allocations.insert(allocation);
}

bool launch_checks::count_again(const alike& which) {
    const std::lock_guard lock(mutex_);
    const auto found = found_.find(which);
    if (found == found_.end()) {
        return false;
    }
    ++found->second.times;
    return true;
}

std::uint64_t launch_checks::times(const alike& which) {
    const std::lock_guard lock(mutex_);
    const auto found = found_.find(which);
    return found == found_.end() ? 0 : found->second.times;
}

void launch_checks::add(const alike& which, finding f) {
    const std::lock_guard lock(mutex_);
    const auto [at, fresh] = found_.try_emplace(which, std::move(f));
    if (!fresh) {
        ++at->second.times;
    }
}

bool launch_checks::has_found(std::string_view kind) {
    const std::lock_guard lock(mutex_);
    return std::any_of(found_.begin(), found_.end(), [&](const auto& f) { return f.first.kind == kind; });
}

void launch_checks::hand_on() {
    const std::lock_guard lock(mutex_);
    // A racing read that came before the write finds nothing written: that is the race's doing.
    const auto races = [&](std::uint64_t source) {
        return std::any_of(found_.begin(), found_.end(), [&](const auto& other) {
            const auto& [which, f] = other;
            return which.check == race && !f.is_note && (which.first == source || which.second == source);
        });
    };
    for (auto& [which, f] : found_) {
        if (which.check == init && races(which.first)) {
            continue;
        }
        owner.sink().add(std::move(f));
    }
    found_.clear();
}

launch_checks::~launch_checks() {
    if (record_ != nullptr) {
        owner.operations()->end_kernel(record_);
    }
    hand_on();
    owner.end_launch();
}

std::uint64_t launch_checks::serial_of(std::uint64_t block) const noexcept { return first_ + block % held_; }

std::uint64_t launch_checks::further_serial(std::uint64_t block) {
    const std::uint64_t serial = owner.serials().take(1);
    if (serial != 0) {
        const std::lock_guard lock(mutex_);
        further_.emplace(serial, block);
        if (record_ != nullptr) {
            owner.operations()->further_serial(record_, serial, block);
        }
    }
    return serial;
}

std::uint64_t launch_checks::block_of(std::uint64_t serial) {
    if (serial >= first_ && serial - first_ < held_) {
        return serial - first_;
    }
    const std::lock_guard lock(mutex_);
    const auto found = further_.find(serial);
    return found == further_.end() ? ~0ull : found->second;
}

} // namespace softgpu::check
