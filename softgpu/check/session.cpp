// SPDX-License-Identifier: MIT
#include "softgpu/check/session.hpp"

#include <algorithm>

#include "softgpu/memory/host_page.hpp"

namespace softgpu::check {

namespace {

constexpr std::uint64_t most_kept_after_release = 1 << 20;

std::string extent_of(const memory::allocation& a) {
    const std::string size = std::to_string(a.bytes) + " bytes at " + hexadecimal(a.base);
    if (a.kind == memory::allocation_kind::array) {
        return a.name + ", " + size;
    }
    return a.name.empty() ? "allocation " + std::to_string(a.serial) + ", " + size : "variable " + a.name + ", " + size;
}

} // namespace

session::session(check_set checks, findings& sink, memory::device_memory& memory)
    : checks_(checks), sink_(sink), memory_(memory),
      shadow_(memory.shared_window(), memory.reserved_bytes(), checks) {
    memory_.watch(this);
    if (has(race)) {
        order_.emplace(*this);
    }
    if (has(check::memory) || has(race)) {
        memory_.keep_apart(); // freed memory may be met by what has no order to its free
    }
}

session::~session() {
    memory_.watch(nullptr);
    memory_.keep_apart(false);
}

void session::take_over() {
    for (const memory::allocation& a : memory_.list()) {
        written(a.base, a.bytes);
    }
}

void session::allocated(const memory::allocation& a) {
    // Only what cudaMalloc and malloc in kernels gave is known to be unwritten: the host may write to all else.
    const bool fresh = (a.kind == memory::allocation_kind::device && a.name.empty()) ||
                       a.kind == memory::allocation_kind::heap;
    shadow_.set_valid(a.base, a.bytes, !fresh);
    shadow_.forget_stamps(a.base, a.bytes);
}

// A launch that has no order to the free may still run: what it did there is to be named. Large ranges take too much room.
void session::released(const memory::allocation& a) {
    if (a.bytes > most_kept_after_release) {
        shadow_.forget_stamps(a.base, a.bytes);
    }
}

std::string session::describe(std::uint64_t at) const {
    if (const auto inside = memory_.find(at)) {
        return extent_of(*inside) + ", byte " + std::to_string(at - inside->base);
    }
    if (const auto freed = memory_.find_released(at)) {
        return "freed " + extent_of(*freed) + ", byte " + std::to_string(at - freed->base);
    }
    const auto near = memory_.nearest(at);
    if (!near) {
        return "nothing is allocated";
    }
    if (const char* const what = memory::far_place(memory_, *near, at)) {
        return what;
    }
    return at < near->base ? std::to_string(near->base - at) + " bytes before " + extent_of(*near)
                           : std::to_string(at - near->base - near->bytes) + " bytes behind the end of " +
                                 extent_of(*near);
}

void session::host_finding(std::string kind, std::string message, std::uint64_t at) {
    if (!has(check::memory)) {
        return;
    }
    finding f;
    f.check = check::memory;
    f.kind = std::move(kind);
    f.message = std::move(message);
    f.address = hexadecimal(at);
    f.allocation = describe(at);
    sink_.add(std::move(f));
}

void session::find_leaks(std::uint64_t after, const std::set<memory::address>& idle) {
    if (!has(leak)) {
        return;
    }
    for (const memory::allocation& a : memory_.list()) {
        const bool managed = a.kind == memory::allocation_kind::managed;
        const bool array = a.kind == memory::allocation_kind::array;
        if (a.serial <= after || idle.contains(a.base) ||
            (!array && ((a.kind != memory::allocation_kind::device && !managed) || !a.name.empty()))) {
            continue;
        }
        finding f;
        f.check = leak;
        f.kind = "leak";
        f.message = std::to_string(a.bytes) + " bytes of " +
                    (array ? a.name : std::string(managed ? "managed memory" : "device memory")) +
                    " were never freed: allocation " + std::to_string(a.serial);
        f.address = hexadecimal(a.base);
        sink_.add(std::move(f));
    }
}

std::uint64_t session::take_serials(std::uint64_t count, bool of_launch) {
    if (!has(race)) {
        return 0;
    }
    const std::lock_guard lock(mutex_);
    if (of_launch) {
        const bool alone = launches_.fetch_add(1) == 0;
        if (next_serial_ + count > most_serials && alone) {
            order_->forget_serials();
            shadow_.forget_all_stamps();
            next_serial_ = 1;
        }
    }
    // A launch with more blocks than there are numbers gives some of them to several blocks.
    const std::uint64_t taken = std::min(count, most_serials / 2);
    if (next_serial_ + taken > most_serials) {
        return 0;
    }
    next_serial_ += taken;
    return next_serial_ - taken;
}

launch_checks::launch_checks(session& session, std::uint64_t blocks) : owner(session), blocks_(blocks) {
    first_ = session.take_serials(blocks, true);
    held_ = std::min(blocks, most_serials / 2);
    floor_ = first_;
}

void launch_checks::join_order(const operation_note& note, std::string name, std::shared_ptr<const stamp_reader> reader) {
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
    if (owner.has(race)) {
        owner.end_launch();
    }
}

std::uint64_t launch_checks::serial_of(std::uint64_t block) const noexcept { return first_ + block % held_; }

std::uint64_t launch_checks::further_serial(std::uint64_t block) {
    const std::uint64_t serial = owner.take_serials(1, false);
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
