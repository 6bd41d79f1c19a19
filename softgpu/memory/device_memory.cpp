// SPDX-License-Identifier: MIT
#include "softgpu/memory/device_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "softgpu/memory/alignment.hpp"

namespace softgpu::memory {

namespace {

constexpr std::uint64_t least_gap = 1024;         // between allocations that are kept apart
constexpr std::uint64_t whole_pages = 1ull << 21; // ranges of this size and more go back to the host when released

// What an allocation takes off the heap's limit: it and its header, as a heap in one piece would have it.
std::uint64_t heap_cost(std::uint64_t bytes) { return round_up(bytes, 16) + 16; }

// What the host can still give without swapping, by its own estimate; all of it where the host does not say.
std::uint64_t host_available() {
    std::ifstream facts("/proc/meminfo");
    std::string key;
    std::uint64_t kib = 0;
    std::string unit;
    while (facts >> key >> kib >> unit) {
        if (key == "MemAvailable:") {
            return kib * 1024;
        }
    }
    return ~0ull;
}

} // namespace

std::uint64_t device_memory::reserved_for(std::uint64_t capacity) noexcept {
    // Twice the capacity of addresses, so that fragments never stand in the way of what the card could give.
    return windows * window_bytes + round_up(gap_bytes, whole_pages) + 2 * round_up(capacity, whole_pages);
}

device_memory::device_memory(std::uint64_t capacity, address_space& in, unsigned part)
    : space_(in),
      part_(part),
      capacity_(capacity),
      host_share_(std::min(capacity, host_available())),
      reserved_bytes_(reserved_for(capacity)),
      arena_(space_.open(part)) {
    mprotect(reinterpret_cast<void*>(arena_), windows * window_bytes + gap_bytes, PROT_NONE);
    free_ranges_.emplace(arena_ + windows * window_bytes + gap_bytes,
                         reserved_bytes_ - windows * window_bytes - gap_bytes);
}

device_memory::device_memory(std::uint64_t capacity, std::unique_ptr<address_space> own)
    : device_memory(capacity, *own, 0) {
    own_ = std::move(own);
}

device_memory::device_memory(std::uint64_t capacity)
    : device_memory(capacity, std::make_unique<address_space>(reserved_for(capacity), 1)) {}

device_memory::~device_memory() { space_.close(part_); }

address device_memory::allocate(std::uint64_t bytes, allocation_kind kind, std::string name) {
    return allocate(bytes, kind, std::move(name), alignment);
}

address device_memory::allocate(std::uint64_t bytes, allocation_kind kind, std::string name, std::uint64_t page) {
    if (bytes > available()) {
        throw out_of_memory("softgpu: out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                            std::to_string(available()) + " available");
    }
    const std::unique_lock lock(mutex_);
    const std::uint64_t taken = round_up(taken_by(bytes), page);
    const std::uint64_t with_room = taken + page - alignment;
    address base = take(with_room);
    while (base == 0 && !released_order_.empty()) {
        forget_oldest();
        base = take(with_room);
    }
    if (base == 0) {
        throw out_of_memory("softgpu: out of memory: no free range of " + std::to_string(bytes) + " bytes");
    }
    if (page != alignment) {
        const address first = base;
        base = round_up(base, page);
        for (const auto& [at, rest] :
             {std::pair(first, base - first), std::pair(base + taken, first + with_room - base - taken)}) {
            if (rest != 0) {
                give(at, rest);
            }
        }
        try {
            share_pages(base, base + taken, true);
        } catch (const std::system_error& e) {
            give(base, taken);
            throw out_of_memory(std::string("softgpu: out of memory: ") + e.what());
        }
    }
    const auto made =
        allocations_.emplace(base, allocation{base, bytes, kind, std::move(name), space_.next_serial(), taken}).first;
    used_ += round_up(std::max<std::uint64_t>(bytes, 1), alignment);
    if (watcher_ != nullptr) {
        watcher_->allocated(made->second);
    }
    return base;
}

std::uint64_t device_memory::taken_by(std::uint64_t bytes) const {
    const std::uint64_t whole = round_up(std::max<std::uint64_t>(bytes, 1), alignment);
    return apart_ ? whole + least_gap : whole;
}

void device_memory::watch(watcher* who) {
    const std::unique_lock lock(mutex_);
    watcher_ = who;
    if (watcher_ != nullptr) {
        for (const auto& [base, a] : allocations_) {
            watcher_->allocated(a);
        }
    }
}

void device_memory::keep_apart(bool on) {
    const std::unique_lock lock(mutex_);
    apart_ = on;
}

std::optional<allocation> device_memory::find_released(address at) const {
    const std::shared_lock lock(mutex_);
    auto after = released_.upper_bound(at);
    if (after == released_.begin()) {
        return std::nullopt;
    }
    const allocation& candidate = std::prev(after)->second;
    return candidate.contains(at, 1) ? std::optional(candidate) : std::nullopt;
}

std::vector<allocation> device_memory::list() const {
    const std::shared_lock lock(mutex_);
    std::vector<allocation> all;
    for (const auto& [base, a] : allocations_) {
        all.push_back(a);
    }
    return all;
}

bool device_memory::release(address base) {
    const std::unique_lock lock(mutex_);
    const auto found = allocations_.find(base);
    if (found == allocations_.end() || !reserves(base) || found->second.kind == allocation_kind::heap ||
        found->second.kind == allocation_kind::mapped) {
        return false;
    }
    const std::uint64_t taken = found->second.taken;
    const allocation gone = found->second;
    allocations_.erase(found);
    used_ -= round_up(std::max<std::uint64_t>(gone.bytes, 1), alignment);
    if (watcher_ != nullptr) {
        watcher_->released(gone);
    }
    if (taken >= whole_pages) {
        const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
        const address first = round_up(base, page);
        const address last = (base + taken) / page * page;
        if (shared_.empty() || madvise(reinterpret_cast<void*>(first), last - first, MADV_REMOVE) != 0) {
            madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
        }
    }
    if (apart_) {
        keep_released(gone, taken);
    } else {
        give(base, taken);
    }
    return true;
}

void device_memory::keep_released(const allocation& gone, std::uint64_t taken) {
    released_.emplace(gone.base, gone);
    released_order_.emplace(++release_serial_, std::pair(gone.base, taken));
    released_bytes_ += taken;
    while (released_bytes_ > quarantine_bytes && released_order_.size() > 1) {
        forget_oldest();
    }
}

void device_memory::forget_oldest() {
    const auto [at, extent] = released_order_.begin()->second;
    released_order_.erase(released_order_.begin());
    released_.erase(at);
    released_bytes_ -= extent;
    give(at, extent);
}

address device_memory::take(std::uint64_t taken) {
    const auto fit = std::find_if(free_ranges_.begin(), free_ranges_.end(),
                                  [taken](const auto& range) { return range.second >= taken; });
    if (fit == free_ranges_.end()) {
        return 0;
    }
    const address base = fit->first;
    const std::uint64_t left = fit->second - taken;
    free_ranges_.erase(fit);
    if (left != 0) {
        free_ranges_.emplace(base + taken, left);
    }
    return base;
}

void device_memory::give(address base, std::uint64_t taken) {
    auto range = free_ranges_.emplace(base, taken).first;
    const auto after = std::next(range);
    if (after != free_ranges_.end() && range->first + range->second == after->first) {
        range->second += after->second;
        free_ranges_.erase(after);
    }
    if (range != free_ranges_.begin()) {
        const auto before = std::prev(range);
        if (before->first + before->second == range->first) {
            before->second += range->second;
            free_ranges_.erase(range);
        }
    }
}

address device_memory::allocate_on_heap(std::uint64_t bytes, std::uint64_t limit) {
    if (bytes == 0 || bytes > limit) {
        return 0;
    }
    const std::uint64_t cost = heap_cost(bytes);
    const std::unique_lock lock(mutex_);
    if (heap_used_ > limit || cost > limit - heap_used_) {
        return 0;
    }
    const std::uint64_t taken = taken_by(bytes);
    const address base = take(taken);
    if (base != 0) {
        heap_used_ += cost;
        const auto made =
            allocations_.emplace(base, allocation{base, bytes, allocation_kind::heap, {}, space_.next_serial(), taken})
                .first;
        if (watcher_ != nullptr) {
            watcher_->allocated(made->second);
        }
    }
    return base;
}

bool device_memory::release_on_heap(address base) {
    const std::unique_lock lock(mutex_);
    const auto found = allocations_.find(base);
    if (found == allocations_.end() || found->second.kind != allocation_kind::heap) {
        return false;
    }
    const std::uint64_t taken = found->second.taken;
    const allocation gone = found->second;
    heap_used_ -= heap_cost(gone.bytes);
    allocations_.erase(found);
    if (watcher_ != nullptr) {
        watcher_->released(gone);
    }
    if (apart_) {
        keep_released(gone, taken);
    } else {
        give(base, taken);
    }
    return true;
}

address device_memory::place_code(const void* what) {
    const std::unique_lock lock(mutex_);
    auto at = std::find(code_.begin(), code_.end(), what);
    if (at == code_.end()) {
        at = std::find(code_.begin(), code_.end(), nullptr);
        at = at == code_.end() ? code_.insert(at, what) : at;
        *at = what;
    }
    return arena_ + 2 * window_bytes + code_step * (static_cast<std::uint64_t>(at - code_.begin()) + 1);
}

void device_memory::remove_code(const void* what) {
    const std::unique_lock lock(mutex_);
    std::replace(code_.begin(), code_.end(), what, static_cast<const void*>(nullptr));
}

const void* device_memory::code_at(address at) const {
    const std::uint64_t offset = at - (arena_ + 2 * window_bytes);
    const std::shared_lock lock(mutex_);
    return offset % code_step == 0 && offset != 0 && offset / code_step <= code_.size() ? code_[offset / code_step - 1]
                                                                                        : nullptr;
}

void device_memory::adopt(void* host, std::uint64_t bytes, allocation_kind kind) {
    const std::unique_lock lock(mutex_);
    const auto base = reinterpret_cast<address>(host);
    allocations_.insert_or_assign(base, allocation{base, bytes, kind, {}, space_.next_serial(), 0});
}

bool device_memory::disown(void* host) {
    const std::unique_lock lock(mutex_);
    const auto base = reinterpret_cast<address>(host);
    if (reserves(base)) {
        return false;
    }
    return allocations_.erase(base) == 1;
}

std::optional<allocation> device_memory::find(address at, std::uint64_t length) const {
    const std::shared_lock lock(mutex_);
    auto after = allocations_.upper_bound(at);
    if (after == allocations_.begin()) {
        return std::nullopt;
    }
    const allocation& candidate = std::prev(after)->second;
    return candidate.contains(at, length) ? std::optional(candidate) : std::nullopt;
}

std::optional<allocation> device_memory::nearest(address at) const {
    const std::shared_lock lock(mutex_);
    const auto after = allocations_.upper_bound(at);
    const allocation* best = nullptr;
    std::uint64_t distance = ~0ull;
    if (after != allocations_.end()) {
        best = &after->second;
        distance = after->first - at;
    }
    if (after != allocations_.begin()) {
        const allocation& before = std::prev(after)->second;
        const address end = before.base + before.bytes;
        if ((at < end ? 0 : at - end) <= distance) {
            best = &before;
        }
    }
    return best == nullptr ? std::nullopt : std::optional(*best);
}

std::uint64_t device_memory::available() const {
    const std::uint64_t card = capacity_ - std::min(capacity_, used());
    return std::min(card, host_available());
}

// The host's memory is taken as it was at the start: allocations that nobody has touched do not lower it. Only a loss to
// others that is more than their usual ups and downs counts, so that what is called free can be allocated.
std::uint64_t device_memory::unused() const {
    const std::uint64_t taken = used();
    const std::uint64_t reachable = std::min(capacity_, host_available()) + taken;
    if (reachable < host_share_ - host_share_ / 16) {
        host_share_ = reachable;
    }
    return host_share_ - std::min<std::uint64_t>(host_share_, taken);
}

} // namespace softgpu::memory
